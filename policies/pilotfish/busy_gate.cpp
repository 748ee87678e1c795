/// Busy gate - best-effort kernels are launched whenever no frame is being rendered, however long they are.
/// Source:      a baseline in the artifact of PilotFish (USENIX ATC 2022): Chen-Binghao/PilotFish, main_busy.
/// Hears:       submissions, launches, frames.      Needs: frame events.
/// Decides:     a kernel passes if and only if no game renders at that instant; one that may not sleeps and looks
///              again. How long it will run is not asked: it may run into the next frame. Copies pass.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/parts/rendering.h"
#include "policies/parts/sleeping_fillers.h"
#include "policies/pilotfish/parameters.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;

class BusyGate : public Policy {
 public:
  explicit BusyGate(const Parameters& parameters) : fillers_(parameters.duration("launch_retry")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = true}; }

  void on_launched(const GpuView& view, ClientId client, const OpView&) override {
    if (view.client(client).role == Role::kBestEffort) fillers_.on_launched(client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (!close_fillers_while_games_run(view, actions) || !fillers_.find_waiting(view)) return;
    Idle rule(is_rendering(view));
    fillers_.admit(view, rule, actions);
  }

 private:
  class Idle : public AdmissionRule {
   public:
    explicit Idle(bool is_rendering) : is_rendering_(is_rendering) {}
    Verdict judge(const ClientView&, const OpView& op) const override {
      return is_rendering_ && op.is_kernel() ? Verdict{{"rendering", 0, 0, ""}} : Verdict::pass();
    }
    void take(const ClientView&, const OpView&) override {}

   private:
    const bool is_rendering_;
  };

  SleepingFillers fillers_;
};

}  // namespace

PolicyDescriptor busy_gate_policy() {
  PolicyDescriptor policy;
  policy.name = "busy_gate";
  policy.summary = "Best-effort kernels are launched whenever no frame is being rendered, however long they are.";
  policy.source = "a baseline of PilotFish (USENIX ATC 2022); artifact Chen-Binghao/PilotFish, main_busy";
  policy.deviations = {
      "Rendering begins and ends on the device's clock; the artifact learns it from fences, up to 1 ms late.",
      "Several games: nothing passes while one of them renders.",
  };
  add_launch_retry(policy.parameters, 1ms, "artifact, main_busy");
  policy.needs.frame_events = true;
  policy.create = [](const Parameters& values) { return std::make_unique<BusyGate>(values); };
  return policy;
}

}  // namespace corun
