#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "policies/parts/high_priority.h"
#include "sim/policy/descriptor.h"
#include "sim/policy/policy.h"

namespace corun {

/// XSched's preemptible command queues at level 1, one per client, as every xsched_* policy uses them: a queue that may
/// run launches its commands in order while fewer than `threshold` are in its log; a suspended one launches nothing,
/// and what it has launched runs on. The log forgets commands a batch at a time, when the last of the batch has
/// completed, so between `threshold - batch_size + 1` and `threshold` commands are in flight while the host keeps up.
/// Commands that may not be launched yet are in the queue's buffer, and the host goes on.
///
/// Its owner forwards what it hears, and states in each decision for every client whether its queue may run.
/// Single-threaded; nothing is thrown.
class XQueues {
 public:
  /// Reads the table below. A batch larger than the threshold counts as one of its size.
  explicit XQueues(const Parameters& parameters);

  /// For Policy::buffers_launches.
  bool has_buffer() const { return has_buffer_; }

  void on_joined(const GpuView& view, ClientId client);
  void on_launched(ClientId client) { ++queues_[client.value].launched; }
  void on_completed(const GpuView& view, ClientId client);

  /// A queue is ready from its first command until it has had none for `idle_after`.
  bool is_ready(const GpuView& view, const ClientView& client) const {
    return client.is_present && (has_work(client) || view.now < idle_at(client));
  }
  /// Whether the only command of a queue, submitted just now, has made it ready.
  bool has_become_ready(const GpuView& view, const ClientView& client) const {
    return client.in_flight == 0 && client.waiting.size() <= 1 && view.now >= idle_at(client);
  }
  /// Requests a decision when the next queue that is ready without work becomes idle.
  void wake_when_idle(const GpuView& view, Actions& actions) const;

  /// Lets the queue launch what it has room for, or suspends it because of `rule`.
  void run(const ClientView& client, Actions& actions) const;
  static void suspend(const ClientView& client, std::string_view rule, Actions& actions);

  /// Runs those queues that stand highest among the ready ones, by `standing(client)`, and suspends the others. Queues
  /// of which `is_safe(client)` says that nothing can suspend them launch without a threshold: no preemption waits for
  /// them, and a host without a buffer would wait for its own commands.
  template <class Standing, class IsSafe>
  void run_highest(const GpuView& view, Standing standing, IsSafe is_safe, std::string_view rule,
                   Actions& actions) const;

 private:
  struct Queue {
    std::uint64_t launched = 0;
    Time idle_at = kRunStart;  // unless work comes before
  };

  std::uint64_t logged(const ClientView& client) const;
  Time idle_at(const ClientView& client) const { return queues_[client.id.value].idle_at; }

  const std::uint64_t threshold_;
  const std::uint64_t batch_;
  const bool has_buffer_;
  const Duration idle_after_;
  std::vector<Queue> queues_;  // by client
};

template <class Standing, class IsSafe>
void XQueues::run_highest(const GpuView& view, Standing standing, IsSafe is_safe, std::string_view rule,
                          Actions& actions) const {
  const ClientView* highest = nullptr;
  for (const ClientView& client : view.clients)
    if (is_ready(view, client) && (highest == nullptr || standing(*highest) < standing(client))) highest = &client;
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
  wake_when_idle(view, actions);
}

/// The rows `threshold`, `batch_size`, `buffer` and `idle_after`, with which the parameter table of every xsched_*
/// policy begins.
ParameterTable xqueue_parameters();

/// The descriptor of an xsched_* policy without its summary, own deviations, table and factory.
PolicyDescriptor xsched_policy(std::string name, std::string part);

}  // namespace corun
