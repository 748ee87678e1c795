/// Stream priority - kernels of clients that matter more go first in a context that all share.
/// Source:      the priority of a stream: reference of the driver's call that creates a stream with one.
/// Hears:       clients joining and leaving.      Needs: a shared context.
/// Decides:     each client has one level for all its kernels: the one stated by name, else the highest for
///              interactive clients, else its owner's priority. Every gate is open. Pending kernels of a higher level
///              are dispatched first; running blocks are not displaced.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <cmath>

#include "policies/builtin.h"
#include "policies/mechanisms/device_setting.h"

namespace corun {

namespace {

constexpr std::int32_t kHighest = 5;

class StreamPriority : public DeviceSetting {
 public:
  explicit StreamPriority(const Parameters& parameters) : levels_(parameters.by_client("priorities")) {}

 private:
  void set(const ClientView& client, Actions& actions) const override {
    actions.set_priority(client.id, level_of(client));
  }

  std::int32_t level_of(const ClientView& client) const {
    const auto named = levels_.find(client.name);
    if (named != levels_.end()) return static_cast<std::int32_t>(std::lround(named->second));
    if (client.role == Role::kInteractive) return kHighest;
    return std::clamp(client.priority, 0, kHighest - 1);
  }

  const ByClient levels_;
};

}  // namespace

PolicyDescriptor stream_priority_policy() {
  PolicyDescriptor policy;
  policy.name = "stream_priority";
  policy.summary = "Kernels of clients that matter more are dispatched first in a context that all share.";
  policy.source =
      "the driver's stream priorities: CUDA Driver API reference, stream management (a hint for pending work, compute "
      "kernels alone, no preemption of what runs)";
  policy.deviations = {
      "A program gives a priority to each of its streams; here all kernels of a client have the same.",
      "Real streams of one program share a context; here all clients do, as under MPS.",
      "The blocks of a running kernel come free all together, at the end of a wave.",
  };
  policy.parameters.by_client("priorities")
      .range(0, kHighest)
      .means(
          "Level of a client's kernels, higher goes first; the others have 5 if interactive, else their own priority, "
          "at most 4.")
      .from("levels: six on recent parts (driver's stream priority range); their assignment: ours");
  policy.needs.shared_context = true;
  policy.create = [](const Parameters& values) { return std::make_unique<StreamPriority>(values); };
  return policy;
}

}  // namespace corun
