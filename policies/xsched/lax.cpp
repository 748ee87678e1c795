/// XSched laxity - a client gives way while it has time to spare, and goes first once it has not.
/// Source:      W. Shen et al., "XSched: preemptive scheduling for diverse XPUs", OSDI 2025.
///              Artifact: XpuOS/xsched (sched/src/policy/lax.cpp, include/xsched/hint.h).
/// Hears:       submissions, launches, completions.      Needs: nothing.
/// Decides:     a client with a laxity has its lax priority until it has been ready for that long, then its critical
///              priority; one without has priority 0. The ready queues of the highest priority run.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>

#include "policies/builtin.h"
#include "policies/xsched/queues.h"

namespace corun {

namespace {

constexpr double kMillisecond = 1e6;

class XschedLax : public Policy {
 public:
  explicit XschedLax(const Parameters& parameters)
      : queues_(parameters),
        laxities_(parameters.by_client("laxity")),
        lax_priority_(parameters.integer("lax_priority")),
        critical_priority_(parameters.integer("critical_priority")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }
  bool buffers_launches() const override { return queues_.has_buffer(); }

  void on_joined(const GpuView& view, ClientId client) override {
    queues_.on_joined(view, client);
    ready_since_.resize(view.clients.size(), kNever);
    ready_since_[client.value] = view.now;
  }
  void on_submitted(const GpuView& view, ClientId client, const OpView&) override {
    if (queues_.has_become_ready(view, view.client(client))) ready_since_[client.value] = view.now;
  }
  void on_launched(const GpuView&, ClientId client, const OpView&) override { queues_.on_launched(client); }
  void on_completed(const GpuView& view, ClientId client, const OpView&, Duration) override {
    queues_.on_completed(view, client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    const auto priority = [&](const ClientView& client) { return priority_of(view, client); };
    const auto is_safe = [](const ClientView&) { return false; };
    queues_.run_highest(view, priority, is_safe, "time_to_spare", actions);
    for (const ClientView& client : view.clients)
      if (queues_.is_ready(view, client) && has_laxity(client) && critical_at(client) > view.now)
        actions.wake_at(critical_at(client));
  }

 private:
  bool has_laxity(const ClientView& client) const {
    return laxities_.contains(client.name) ||
           (client.role == Role::kInteractive && client.frame_period > Duration::zero());
  }

  Time critical_at(const ClientView& client) const {
    const auto given = laxities_.find(client.name);
    const Duration laxity = given != laxities_.end()
                                ? Duration{static_cast<std::int64_t>(given->second * kMillisecond)}
                                : std::max(Duration::zero(), client.frame_period - client.frame.gpu_busy);
    return ready_since_[client.id.value] + laxity;
  }

  std::int64_t priority_of(const GpuView& view, const ClientView& client) const {
    if (!queues_.is_ready(view, client) || !has_laxity(client)) return 0;
    return view.now < critical_at(client) ? lax_priority_ : critical_priority_;
  }

  XQueues queues_;
  const ByClient laxities_;  // ms
  const std::int64_t lax_priority_;
  const std::int64_t critical_priority_;
  std::vector<Time> ready_since_;  // by client
};

ParameterTable parameters() {
  ParameterTable table = xqueue_parameters();
  table.by_client("laxity")
      .range(0.0, 1e5, "ms")
      .means("How long a client may be delayed from the moment it has work.")
      .from("artifact: a hint of the program; none by default");
  table.integer("lax_priority", -1)
      .range(-255, 255)
      .means("Priority of a client with a laxity that is not used up; clients without one have 0.")
      .from("artifact: a hint of the program; ours: below the others");
  table.integer("critical_priority", 1)
      .range(-255, 255)
      .means("Priority of a client whose laxity is used up.")
      .from("artifact: a hint of the program; ours: above the others");
  return table;
}

}  // namespace

PolicyDescriptor xsched_lax_policy() {
  PolicyDescriptor policy = xsched_policy("xsched_lax", "sched/src/policy/lax.cpp");
  policy.summary =
      "A client gives way as long as its laxity lasts and goes first afterwards; few operations are in flight.";
  policy.deviations.push_back(
      "An interactive client without a given laxity has its frame period less its newest frame's GPU time (ours); the "
      "artifact knows hints alone.");
  policy.deviations.push_back(
      "One lax and one critical priority for all clients that have a laxity; the artifact has a pair for each.");
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<XschedLax>(values); };
  return policy;
}

}  // namespace corun
