#include "policies/pilotfish/parameters.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

void add_window_parameters(ParameterTable& table) {
  add_target_period(table, kUsualPeriod, "artifact: 16.6ms");
  table.choice("budget", {"relative", "absolute"})
      .means("A window is a length of time spent from when it is noticed, or ends when the frame is due.")
      .from("artifact: relative; absolute is ours");
  table.duration("initial_slice", 10ms)
      .range(0s, 1s)
      .means("Time to spend before the first frame has ended; an absolute budget has none.")
      .from("artifact, kernel hook");
  table.duration("margin", 0s).range(0s, 100ms).means("Time kept free at the end of every window.").from("ours");
  table.duration("overcommit", 0s)
      .range(0s, 100ms)
      .means("How far a kernel may be predicted to overrun the window and still be admitted.")
      .from("paper names the idea; ours");
  add_notify_poll(table, 1ms, "artifact, flip thread");
  add_launch_retry(table, 2ms, "artifact, launch hook");
  table.boolean("charge_unfinished", true)
      .means("Whether work in flight is charged to the next window; an absolute budget always charges it.")
      .from("artifact: true in PF, false in SOFT mode");
  table.boolean("gate_on_rendering", false)
      .means("Whether nothing is admitted while a frame is rendered; an absolute budget always does so.")
      .from("artifact: false in PF, true in SOFT mode");
  table.boolean("intra_frame_gaps", false)
      .means("Whether gaps inside a frame are windows, too, as long as the same gap of the frame before.")
      .from("LEGO (HPCA 2026) names the loss; ours");
  table.duration("min_gap", 500us)
      .range(0s, 100ms)
      .means("Gaps inside a frame that were shorter in the frame before are left alone.")
      .from("ours, from the lengths that LEGO measured");
}

void add_predictor_parameters(ParameterTable& table) {
  table.choice("predictor", {"name_mean", "name_shape_mean", "position_in_iteration", "ewma", "quantile"})
      .means(
          "Mean of the solo profile by kernel name, or by name and launch shape; or what was measured at the same "
          "place of the iteration, or by name and grid, as a moving mean or a quantile.")
      .from("artifact: name_mean; the others are ours");
  table.ratio("quantile", 0.95)
      .range(0.5, 0.999)
      .means("Which quantile of the newest 64 measurements the predictor `quantile` takes.")
      .from("ours");
  table.ratio("ewma_weight", 0.2)
      .range(0.01, 1.0)
      .means("Weight of the newest measurement in the predictor `ewma`.")
      .from("ours");
  table.choice("unknown_kernel", {"run", "defer"})
      .means("A kernel without prediction is run at once, alone, and timed; or takes a whole window of its own.")
      .from("artifact: run; defer is ours");
}

void add_guarantee_parameters(ParameterTable& table) {
  table.choice("guarantee", {"none", "soft", "hard"})
      .means(
          "Whether a filler whose work has not ended in time is killed: never, once more frames than soft_drop_limit "
          "were dropped, or at once.")
      .from("paper; none since the artifact's measuring mode takes its request back before it is read");
  table.choice("preempt", {"stragglers", "leftover", "either"})
      .means(
          "What is not in time: a kernel that had run longer than predicted when a frame began, predicted work that is "
          "left, or either.")
      .from("abstract: stragglers; artifact: leftover; either is ours");
  table.choice("decide_at", {"frame_begin", "frame_end"})
      .means("When that is looked at: a frame begins, or one has been rendered.")
      .from("notes on the paper: at once, frame_begin; artifact: frame_end");
  table.duration("tolerance", 1ms)
      .range(0s, 100ms)
      .means("Predicted work left, or overrun of a kernel, that is no reason for a kill.")
      .from("artifact, render hook");
  table.integer("soft_drop_limit", 1)
      .range(0, 1000, "frames")
      .means("Dropped frames among the last soft_window_frames that a soft guarantee bears.")
      .from("ours");
  table.integer("soft_window_frames", 60)
      .range(1, 100'000, "frames")
      .means("Over how many frames a soft guarantee counts dropped ones.")
      .from("ours");
  table.duration("kill_latency", 1ms)
      .range(0s, 100ms)
      .means("Time from that moment to the kill.")
      .from("artifact: the filler's side polls; 50us would be an event");
  table.integer("snapshot_every", 240)
      .range(0, 1'000'000, "frames")
      .means("Frames between snapshots of a filler's memory; 0 takes none; without a guarantee there are none either.")
      .from("artifact, flip thread");
}

void add_resource_parameters(ParameterTable& table) {
  add_memory_fit(table);
  table.ratio("pcie_reserve", 0.0)
      .range(0.0, 0.95)
      .means("Share of each direction of the host link that fillers' copies leave to the games.")
      .from("paper names the reserve; the artifact has none");
  table.integer("max_inflight_kernels", 0)
      .range(0, 1'000'000, "kernels")
      .means("Kernels that a filler may have in flight; 0 sets no limit but the driver's launch queue.")
      .from("artifact: no limit");
}

}  // namespace

void add_target_period(ParameterTable& table, Duration default_value, std::string source) {
  table.duration("target_period", default_value)
      .range(0s, 1s)
      .means("Expected time from one frame's start to the next; 0 takes each game's own pacing.")
      .from(std::move(source));
}

void add_notify_poll(ParameterTable& table, Duration default_value, std::string source) {
  table.duration("notify_poll", default_value)
      .range(0s, 100ms)
      .means("Period at which the filler's side looks for news of the games; 0 notices at once.")
      .from(std::move(source));
}

void add_launch_retry(ParameterTable& table, Duration default_value, std::string source) {
  table.duration("launch_retry", default_value)
      .range(0s, 100ms)
      .means("How long a launch that may not pass sleeps before it looks again; 0 wakes it by events.")
      .from(std::move(source));
}

void add_memory_fit(ParameterTable& table) {
  table.boolean("require_memory_fit", true)
      .means("Whether a filler waits while its memory does not fit with that of the games and of fillers before it.")
      .from("paper: no swapping");
}

ParameterTable pilotfish_parameters() {
  ParameterTable table;
  add_window_parameters(table);
  add_predictor_parameters(table);
  add_guarantee_parameters(table);
  add_resource_parameters(table);
  return table;
}

}  // namespace corun
