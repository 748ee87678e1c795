/// Constant launches - at most so many best-effort kernels are launched per frame, whatever they are.
/// Source:      a baseline in the artifact of PilotFish (USENIX ATC 2022): Chen-Binghao/PilotFish, mode CSPEED.
/// Hears:       submissions, launches, frames.      Needs: frame events.
/// Decides:     the end of a frame grants launches_per_frame launches, first come, first served; when they are spent,
///              kernels wait for the next frame. Copies pass.
/// Parameters:  see the descriptor below. The artifact's number, 20000, is more than any program launches in a frame;
///              60 is a number that limits.
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/pilotfish/parameters.h"
#include "policies/pilotfish/quota.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;

class ConstantLaunches : public Policy {
 public:
  explicit ConstantLaunches(const Parameters& parameters)
      : launches_per_frame_(static_cast<std::uint64_t>(parameters.integer("launches_per_frame"))),
        quota_(parameters.duration("notify_poll"), parameters.duration("launch_retry")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = true}; }

  void on_left(const GpuView& view, ClientId) override {
    if (!has_game(view)) quota_.reset();
  }
  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    quota_.on_launched(view, client, op);
  }
  void on_frame(const GpuView& view, ClientId, FrameEvent event) override {
    if (event == FrameEvent::kEnd) quota_.grant(view.now, launches_per_frame_);
  }
  void decide(const GpuView& view, Actions& actions) override { quota_.decide(view, actions); }

 private:
  const std::uint64_t launches_per_frame_;
  LaunchQuota quota_;
};

}  // namespace

PolicyDescriptor constant_launches_policy() {
  PolicyDescriptor policy;
  policy.name = "constant_launches";
  policy.summary = "At most so many best-effort kernels are launched per frame, whatever they are.";
  policy.source = "a baseline of PilotFish (USENIX ATC 2022); artifact Chen-Binghao/PilotFish, mode CSPEED";
  policy.deviations = {
      "launches_per_frame is 60; the artifact's 20000 is more than programs launch in a frame.",
      "Several games: the end of a frame of any of them grants anew.",
  };
  policy.parameters.integer("launches_per_frame", 60)
      .range(1, 1'000'000, "kernels")
      .means("Kernels that the best-effort clients may launch per frame, together.")
      .from("ours; artifact: 20000, with the advice to set it");
  add_notify_poll(policy.parameters, 1ms, "artifact, flip thread");
  add_launch_retry(policy.parameters, 2ms, "artifact, launch hook");
  policy.needs.frame_events = true;
  policy.create = [](const Parameters& values) { return std::make_unique<ConstantLaunches>(values); };
  return policy;
}

}  // namespace corun
