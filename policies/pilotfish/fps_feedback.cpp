/// FPS feedback - the number of best-effort launches per frame grows while the frame rate is held, and halves when not.
/// Source:      a baseline in the artifact of PilotFish (USENIX ATC 2022): Chen-Binghao/PilotFish.
/// Hears:       submissions, launches, frames.      Needs: frame events.
/// Decides:     at the end of every frame the rate over the last fps_window frames is compared with target_fps; the
///              next frame's launches are gain_up times as many if it is reached, gain_down times if not, and never
///              fewer than n0. Copies pass.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <deque>

#include "policies/builtin.h"
#include "policies/pilotfish/parameters.h"
#include "policies/pilotfish/quota.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;

constexpr double kMostLaunches = 1e6;

class FpsFeedback : public Policy {
 public:
  explicit FpsFeedback(const Parameters& parameters)
      : least_fps_(parameters.real("target_fps") - parameters.real("slack")),
        gain_up_(parameters.real("gain_up")),
        gain_down_(parameters.real("gain_down")),
        n0_(parameters.real("n0")),
        window_(static_cast<std::size_t>(parameters.integer("fps_window"))),
        quota_(parameters.duration("notify_poll"), parameters.duration("launch_retry")),
        launches_(n0_) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = true}; }

  void on_joined(const GpuView& view, ClientId client) override {
    presents_.resize(view.clients.size());
    presents_[client.value].clear();
  }
  void on_left(const GpuView& view, ClientId client) override {
    presents_[client.value].clear();
    if (has_game(view)) return;
    quota_.reset();
    launches_ = n0_;
  }
  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    quota_.on_launched(view, client, op);
  }
  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override {
    if (event != FrameEvent::kEnd) return;
    std::deque<Time>& presents = presents_[client.value];
    presents.push_back(view.now);
    if (presents.size() > window_) presents.pop_front();
    const double gain = all_reach_the_target() ? gain_up_ : gain_down_;
    launches_ = std::clamp(launches_ * gain, n0_, kMostLaunches);
    quota_.grant(view.now, static_cast<std::uint64_t>(launches_));
  }
  void decide(const GpuView& view, Actions& actions) override { quota_.decide(view, actions); }

 private:
  bool all_reach_the_target() const {
    return std::ranges::all_of(presents_, [&](const std::deque<Time>& presents) {
      if (presents.size() < 2) return true;
      const double frames = static_cast<double>(presents.size() - 1);
      return frames >= least_fps_ * to_seconds(presents.back() - presents.front());
    });
  }

  const double least_fps_;
  const double gain_up_;
  const double gain_down_;
  const double n0_;
  const std::size_t window_;
  LaunchQuota quota_;
  double launches_;
  std::vector<std::deque<Time>> presents_;  // by client, the newest
};

ParameterTable parameters() {
  ParameterTable table;
  table.real("target_fps", 60).range(1, 1000, "fps").means("Frame rate that the games are to reach.").from("artifact");
  table.real("slack", 0.5)
      .range(0, 100, "fps")
      .means("How far below the target a rate counts as reached.")
      .from("ours");
  table.ratio("gain_up", 1.2)
      .range(1, 10)
      .means("Factor on the launches per frame while the rate is reached.")
      .from("artifact");
  table.ratio("gain_down", 0.5)
      .range(0.01, 1)
      .means("Factor on the launches per frame while it is not.")
      .from("artifact");
  table.real("n0", 1).range(1, 1e6, "kernels").means("Launches per frame at first, and the fewest.").from("artifact");
  table.integer("fps_window", 61)
      .range(2, 10'000, "frames")
      .means("Presents over which the rate is measured.")
      .from("artifact");
  add_notify_poll(table, 1ms, "artifact, flip thread");
  add_launch_retry(table, 2ms, "artifact, launch hook");
  return table;
}

}  // namespace

PolicyDescriptor fps_feedback_policy() {
  PolicyDescriptor policy;
  policy.name = "fps_feedback";
  policy.summary = "Best-effort launches per frame grow while the frame rate is held, and halve when it is not.";
  policy.source = "a baseline of PilotFish (USENIX ATC 2022); artifact Chen-Binghao/PilotFish";
  policy.deviations = {
      "Each frame counts once; the artifact's hook sees two presents a frame, and halves the rate.",
      "The end of a frame's GPU work stands for its present, of which no policy is notified.",
      "A rate counts as reached from `slack` below the target: a game that vsync holds at exactly the target is never "
      "above it, and one missed frame in the window is a whole frame per second.",
      "Several games: the lowest of their rates counts, at the end of a frame of any of them.",
  };
  policy.parameters = parameters();
  policy.needs.frame_events = true;
  policy.create = [](const Parameters& values) { return std::make_unique<FpsFeedback>(values); };
  return policy;
}

}  // namespace corun
