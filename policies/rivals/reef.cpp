/// REEF - best-effort clients keep few kernels on the device and none is added while a real-time client has work.
/// Source:      M. Han, H. Zhang, R. Chen, H. Chen, "Microsecond-scale preemption for concurrent GPU-accelerated DNN
///              inferences", OSDI 2022; of it REEF-N, the variant for GPUs whose runtime is closed.
///              Artifact: SJTU-IPADS/reef (src/reef/server/scheduler.cpp).
/// Hears:       submissions, launches, completions.      Needs: kernels of all clients in one context.
/// Decides:     real-time clients launch whenever they like. A best-effort client may have as many operations on the
///              device as its device queue is deep; while a real-time client has work it launches nothing and waits on
///              the host side. What it has launched runs on. It goes on when the real-time clients have no work left.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/parts/high_priority.h"

namespace corun {

namespace {

class Reef : public Policy {
 public:
  explicit Reef(const Parameters& parameters)
      : depth_(static_cast<std::uint32_t>(parameters.integer("device_queue"))) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }

  void decide(const GpuView& view, Actions& actions) override {
    const bool is_real_time = high_priority_has_work(view);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (is_high_priority(view, client)) {
        actions.open(client.id);
      } else {
        actions.close(client.id);
        if (!client.waiting.empty()) fill_queue(client, is_real_time, actions);
      }
    }
  }

 private:
  void fill_queue(const ClientView& client, bool is_real_time, Actions& actions) const {
    if (is_real_time) return actions.hold(client.id, {"real_time_work", 0, 0, ""});
    const auto waiting = static_cast<std::uint32_t>(client.waiting.size());
    const std::uint32_t passing = std::min(waiting, depth_ - std::min(depth_, client.in_flight));
    if (passing > 0) actions.admit(client.id, passing);
    if (waiting > passing)
      actions.hold(client.id, {"device_queue", static_cast<double>(client.in_flight + passing) + 1.0,
                               static_cast<double>(depth_), "kernels"});
  }

  const std::uint32_t depth_;
};

}  // namespace

PolicyDescriptor reef_policy() {
  PolicyDescriptor policy;
  policy.name = "reef";
  policy.summary = "Best-effort clients keep few operations on the device and add none while a real-time one has work.";
  policy.source =
      "M. Han, H. Zhang, R. Chen, H. Chen, \"Microsecond-scale preemption for concurrent GPU-accelerated DNN "
      "inferences\", OSDI 2022 (REEF-N); artifact SJTU-IPADS/reef";
  policy.deviations = {
      "Work on the device is not reset: a real-time client may wait for a whole device queue. REEF-N ends kernels that "
      "have not begun at once, and REEF on open drivers running ones too.",
      "No dynamic kernel padding: best-effort kernels are not merged into real-time ones.",
      "A real-time task is all that is submitted and not completed; the artifact knows whole inferences.",
      "Any number of real-time clients: all those of the highest rank.",
  };
  policy.parameters.integer("device_queue", 2)
      .range(1, 1024, "operations")
      .means("Most operations of one best-effort client on the device.")
      .from("artifact, scheduler.cpp (1024 in its mode without reset)");
  policy.needs.shared_context = true;
  policy.create = [](const Parameters& values) { return std::make_unique<Reef>(values); };
  return policy;
}

}  // namespace corun
