/// XSched fixed priority - the queues of the highest rank that is ready run, all others are suspended.
/// Source:      W. Shen et al., "XSched: preemptive scheduling for diverse XPUs", OSDI 2025.
///              Artifact: XpuOS/xsched (sched/src/policy/hpf.cpp, preempt/src/xqueue/launch_worker.cpp).
/// Hears:       submissions, launches, completions.      Needs: nothing.
/// Decides:     a queue may launch while no queue of a higher rank is ready; a suspended queue's commands in flight run
///              on, so a preemption waits for as many of them as the threshold lets in.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/parts/high_priority.h"
#include "policies/xsched/queues.h"

namespace corun {

namespace {

class XschedFixedPriority : public Policy {
 public:
  explicit XschedFixedPriority(const Parameters& parameters) : queues_(parameters) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }
  bool buffers_launches() const override { return queues_.has_buffer(); }

  void on_joined(const GpuView& view, ClientId client) override { queues_.on_joined(view, client); }
  void on_launched(const GpuView&, ClientId client, const OpView&) override { queues_.on_launched(client); }
  void on_completed(const GpuView& view, ClientId client, const OpView&, Duration) override {
    queues_.on_completed(view, client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    const auto is_safe = [&](const ClientView& client) { return is_high_priority(view, client); };
    queues_.run_highest(view, rank_of, is_safe, "higher_priority", actions);
  }

 private:
  XQueues queues_;
};

}  // namespace

PolicyDescriptor xsched_fixed_priority_policy() {
  PolicyDescriptor policy = xsched_policy("xsched_fixed_priority", "sched/src/policy/hpf.cpp");
  policy.summary = "Among clients with work, those of the highest rank launch; few operations of each are in flight.";
  policy.deviations.push_back(
      "Priorities are the clients' ranks: interactive ones above best-effort ones, then as stated; the artifact gets a "
      "number per queue.");
  policy.deviations.push_back(
      "Clients of the highest rank have no threshold, since nothing preempts them; the artifact's have a large one.");
  policy.parameters = xqueue_parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<XschedFixedPriority>(values); };
  return policy;
}

}  // namespace corun
