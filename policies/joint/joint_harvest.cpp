/// Joint harvest - chooses the games' quality levels and the fillers' shares of each frame period together.
/// Source:      ours, after dJay (SoCC 2015), which knows no fillers, and PilotFish (USENIX ATC 2022), which chooses no
///              levels. docs/policies/joint_harvest.md says what that gains.
/// Hears:       everything.      Needs: frame events, quality levels, predictions.
/// Decides:     every game has a menu of levels, as dJay predicts them, and every filler one of shares of the period,
///              worth filler_weight times its throughput. One Multiple Choice Knapsack chooses an item of each whose
///              summed GPU time fits in the budget. Games get their levels as under dJay. Kernels of fillers run as
///              under PilotFish: between frames, if predicted to fit before the next one; those within their filler's
///              share go first.
/// Parameters:  see parameters.cpp (each with unit and origin).
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/djay/djay.h"
#include "policies/joint/parameters.h"
#include "policies/joint/shares.h"
#include "policies/parts/rendering.h"
#include "policies/pilotfish/pilotfish.h"

namespace corun {

namespace {

class JointHarvest : public Policy {
 public:
  explicit JointHarvest(const Parameters& parameters)
      : levels_(parameters), gate_(parameters), shares_(filler_share_settings(parameters)) {}

  void on_joined(const GpuView& view, ClientId client) override {
    levels_.on_joined(view, client);
    gate_.on_joined(view, client);
    shares_.joined(view, client);
  }

  void on_left(const GpuView& view, ClientId client) override {
    levels_.on_left(view, client);
    gate_.on_left(view, client);
  }

  void on_submitted(const GpuView& view, ClientId client, const OpView& op) override {
    gate_.on_submitted(view, client, op);
  }

  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    gate_.on_launched(view, client, op);
  }

  void on_completed(const GpuView& view, ClientId client, const OpView& op, Duration device_time) override {
    gate_.on_completed(view, client, op, device_time);
    if (op.is_kernel()) shares_.completed(client, device_time);
  }

  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override {
    levels_.on_frame(view, client, event);
    gate_.on_frame(view, client, event);
  }

  void on_shadow(const GpuView& view, ClientId client, const ShadowFrame& shadow) override {
    levels_.on_shadow(view, client, shadow);
  }

  void on_copied(const GpuView& view, ClientId client, CopyEvent event) override {
    gate_.on_copied(view, client, event);
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (shares_.look(view, gate_)) levels_.share_budget(view, shares_.menus());
    shares_.grant(levels_.chosen_for_others());
    levels_.decide_games(view, actions);
    ShareRule rule(shares_, gate_, view);
    gate_.decide_fillers(view, rule, actions);
  }

  bool kills() const override { return gate_.kills(); }

  std::uint32_t admits_ahead(const GpuView& view, const ClientView& client) const override {
    const Duration most = ShareRule(shares_, gate_, view).sure(view, client.id);
    return gate_.admits_ahead_within(most, view, client);
  }

 private:
  Djay levels_;
  PilotFish gate_;
  FillerShares shares_;
};

}  // namespace

PolicyDescriptor joint_harvest_policy() {
  PolicyDescriptor policy;
  policy.name = "joint_harvest";
  policy.summary = "Quality levels of games and fillers' shares of each frame period are chosen together.";
  policy.source =
      "ours, after dJay (SoCC 2015) and PilotFish (USENIX ATC 2022); both are described under their own names";
  policy.deviations = {
      "dJay chooses levels as if there were no fillers, and PilotFish takes what they leave: `filler_weight: 0`. Here "
      "levels give way to fillers, too, at the price that filler_weight states.",
      "A filler's throughput counts in proportion to its share until it has waited for nothing for 30 periods; what "
      "else slows it down in company is not predicted.",
      "Shares order the fillers among each other and are reserved against levels, not against frames: what frames "
      "leave is spare, and PilotFish's windows give it to fillers. `spare: none` keeps it free.",
      "Windows end before the next frame (`budget: absolute`), and news and launches come at once, as in "
      "pilotfish_absolute; the artifact's constants are `budget: relative, notify_poll: 1ms, launch_retry: 2ms, "
      "predictor: name_mean`.",
      "Shadow frames take no time of a share: next to fillers that use all that levels leave, the profiler learns from "
      "frames alone.",
      "The objective max_min is left out: qualities and throughputs have no common smallest one.",
      "All that departs in djay and pilotfish departs here.",
  };
  policy.parameters = joint_harvest_parameters();
  policy.needs.frame_events = true;
  policy.needs.quality_levels = true;
  policy.needs.predictions = true;
  policy.create = [](const Parameters& values) { return std::make_unique<JointHarvest>(values); };
  return policy;
}

}  // namespace corun
