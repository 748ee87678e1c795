#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/policy/descriptor.h"
#include "sim/policy/policy.h"

namespace corun {

/// XSched's preemptible command queues at level 1, one per client, as every xsched_* policy uses them: a queue that may
/// run launches its commands in order while fewer than `threshold` are in its log; a suspended one launches nothing,
/// and what it has launched runs on. The log forgets commands a batch at a time, when the last of the batch has
/// completed, so between `threshold - batch_size + 1` and `threshold` commands are in flight while the host keeps up.
///
/// Its owner forwards what it hears, and states in each decision for every client whether its queue may run.
/// Single-threaded; nothing is thrown.
class XQueues {
 public:
  /// Reads `threshold` and `batch_size` of the table below. A batch larger than the threshold counts as one of its
  /// size.
  explicit XQueues(const Parameters& parameters);

  void on_joined(const GpuView& view, ClientId client);
  void on_launched(ClientId client) { ++launched_[client.value]; }

  /// Lets the queue launch what it has room for, or suspends it because of `rule`.
  void run(const ClientView& client, Actions& actions) const;
  static void suspend(const ClientView& client, std::string_view rule, Actions& actions);

  /// Runs those queues that stand highest among the ready ones, by `standing(client)`, and suspends the others. Queues
  /// of which `is_safe(client)` says that nothing can suspend them launch without a threshold: their hosts go on, as
  /// the artifact's do into the queue's buffer.
  template <class Standing, class IsSafe>
  void run_highest(const GpuView& view, Standing standing, IsSafe is_safe, std::string_view rule,
                   Actions& actions) const;

 private:
  std::uint64_t logged(const ClientView& client) const;

  const std::uint64_t threshold_;
  const std::uint64_t batch_;
  std::vector<std::uint64_t> launched_;  // by client
};

/// A queue is ready from its first command until all have completed.
inline bool is_ready(const ClientView& client) {
  return client.is_present && (client.in_flight > 0 || !client.waiting.empty());
}

template <class Standing, class IsSafe>
void XQueues::run_highest(const GpuView& view, Standing standing, IsSafe is_safe, std::string_view rule,
                          Actions& actions) const {
  const ClientView* highest = nullptr;
  for (const ClientView& client : view.clients)
    if (is_ready(client) && (highest == nullptr || standing(*highest) < standing(client))) highest = &client;
  for (const ClientView& client : view.clients) {
    if (!client.is_present) continue;
    if (is_safe(client)) {
      actions.open(client.id);
    } else if (highest == nullptr || !(standing(client) < standing(*highest))) {
      run(client, actions);
    } else {
      suspend(client, rule, actions);
    }
  }
}

/// The rows `threshold` and `batch_size`, with which the parameter table of every xsched_* policy begins.
ParameterTable xqueue_parameters();

/// The descriptor of an xsched_* policy without its summary, own deviations, table and factory.
PolicyDescriptor xsched_policy(std::string name, std::string part);

}  // namespace corun
