#include "policies/pilotfish/parameters.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

ParameterDescriptor duration(std::string name, Duration default_value, Duration maximum, std::string meaning,
                             std::string source) {
  return {.name = std::move(name),
          .type = ParameterType::kDuration,
          .default_value = default_value,
          .unit = "",
          .minimum = 0.0,
          .maximum = static_cast<double>(to_ns(maximum)),
          .choices = {},
          .meaning = std::move(meaning),
          .source = std::move(source)};
}

ParameterDescriptor number(std::string name, ParameterType type, ParameterValue default_value, std::string unit,
                           double minimum, double maximum, std::string meaning, std::string source) {
  return {.name = std::move(name),
          .type = type,
          .default_value = std::move(default_value),
          .unit = std::move(unit),
          .minimum = minimum,
          .maximum = maximum,
          .choices = {},
          .meaning = std::move(meaning),
          .source = std::move(source)};
}

ParameterDescriptor choice(std::string name, std::string default_value, std::vector<std::string> choices,
                           std::string meaning, std::string source) {
  return {.name = std::move(name),
          .type = ParameterType::kChoice,
          .default_value = std::move(default_value),
          .unit = "",
          .choices = std::move(choices),
          .meaning = std::move(meaning),
          .source = std::move(source)};
}

ParameterDescriptor flag(std::string name, bool default_value, std::string meaning, std::string source) {
  return {.name = std::move(name),
          .type = ParameterType::kBoolean,
          .default_value = default_value,
          .unit = "",
          .choices = {},
          .meaning = std::move(meaning),
          .source = std::move(source)};
}

void add_window_parameters(std::vector<ParameterDescriptor>& table) {
  table.push_back(target_period_parameter(std::chrono::microseconds{16'600}, "artifact: 16.6ms"));
  table.push_back(choice("budget", "relative", {"relative", "absolute"},
                         "A window is a length of time spent from when it is noticed, or ends when the frame is due.",
                         "artifact: relative; absolute is ours"));
  table.push_back(duration("initial_slice", 10ms, 1s,
                           "Time to spend before the first frame has ended; an absolute budget has none.",
                           "artifact, kernel hook"));
  table.push_back(duration("margin", Duration{}, 100ms, "Time kept free at the end of every window.", "ours"));
  table.push_back(duration("overcommit", Duration{}, 100ms,
                           "How far a kernel may be predicted to overrun the window and still be admitted.",
                           "paper names the idea; ours"));
  table.push_back(notify_poll_parameter(1ms, "artifact, flip thread"));
  table.push_back(launch_retry_parameter(2ms, "artifact, launch hook"));
  table.push_back(flag("charge_unfinished", true,
                       "Whether work in flight is charged to the next window; an absolute budget always charges it.",
                       "artifact: true in PF, false in SOFT mode"));
  table.push_back(flag("gate_on_rendering", false,
                       "Whether nothing is admitted while a frame is rendered; an absolute budget always does so.",
                       "artifact: false in PF, true in SOFT mode"));
  table.push_back(flag("intra_frame_gaps", false,
                       "Whether gaps inside a frame are windows, too, as long as the same gap of the frame before.",
                       "LEGO (HPCA 2026) names the loss; ours"));
  table.push_back(duration("min_gap", std::chrono::microseconds{500}, 100ms,
                           "Gaps inside a frame that were shorter in the frame before are left alone.",
                           "ours, from the lengths that LEGO measured"));
}

void add_predictor_parameters(std::vector<ParameterDescriptor>& table) {
  table.push_back(choice("predictor", "name_mean",
                         {"name_mean", "name_shape_mean", "position_in_iteration", "ewma", "quantile"},
                         "Mean of the solo profile by kernel name, or by name and launch shape; or what was measured "
                         "at the same place of the iteration, or by name and grid, as a moving mean or a quantile.",
                         "artifact: name_mean; the others are ours"));
  table.push_back(number("quantile", ParameterType::kReal, 0.95, "ratio", 0.5, 0.999,
                         "Which quantile of the newest 64 measurements the predictor `quantile` takes.", "ours"));
  table.push_back(number("ewma_weight", ParameterType::kReal, 0.2, "ratio", 0.01, 1.0,
                         "Weight of the newest measurement in the predictor `ewma`.", "ours"));
  table.push_back(choice("unknown_kernel", "run", {"run", "defer"},
                         "A kernel without prediction is run at once, alone, and timed; or takes a whole window of its "
                         "own.",
                         "artifact: run; defer is ours"));
}

void add_guarantee_parameters(std::vector<ParameterDescriptor>& table) {
  table.push_back(choice("guarantee", "none", {"none", "soft", "hard"},
                         "Whether a filler that still works when a frame begins is killed: never, once more frames "
                         "than soft_drop_limit were dropped, or at once.",
                         "paper; none since the artifact's measuring mode takes its request back before it is read"));
  table.push_back(duration("tolerance", 1ms, 100ms,
                           "Left-over predicted work, or lateness of it, that is no reason for a kill.",
                           "artifact, render hook"));
  table.push_back(number("soft_drop_limit", ParameterType::kInteger, std::int64_t{1}, "frames", 0, 1000,
                         "Dropped frames among the last soft_window_frames that a soft guarantee bears.", "ours"));
  table.push_back(number("soft_window_frames", ParameterType::kInteger, std::int64_t{60}, "frames", 1, 100'000,
                         "Over how many frames a soft guarantee counts dropped ones.", "ours"));
  table.push_back(duration("kill_latency", 1ms, 100ms, "Time from the begin of a frame to the kill.",
                           "artifact: the filler's side polls; 50us would be an event"));
  table.push_back(number("snapshot_every", ParameterType::kInteger, std::int64_t{240}, "frames", 0, 1'000'000,
                         "Frames between snapshots of a filler's memory; 0 takes none; without a guarantee there are "
                         "none either.",
                         "artifact, flip thread"));
}

void add_resource_parameters(std::vector<ParameterDescriptor>& table) {
  table.push_back(memory_fit_parameter());
  table.push_back(number("pcie_reserve", ParameterType::kReal, 0.0, "ratio", 0.0, 0.95,
                         "Share of each direction of the host link that fillers' copies leave to the games.",
                         "paper names the reserve; the artifact has none"));
  table.push_back(number("max_inflight_kernels", ParameterType::kInteger, std::int64_t{0}, "kernels", 0, 1'000'000,
                         "Kernels that a filler may have in flight; 0 sets no limit but the driver's launch queue.",
                         "artifact: no limit"));
}

}  // namespace

ParameterDescriptor target_period_parameter(Duration default_value, std::string source) {
  return duration("target_period", default_value, 1s,
                  "Expected time from one frame's begin to the next; 0 takes each game's own pacing.",
                  std::move(source));
}

ParameterDescriptor notify_poll_parameter(Duration default_value, std::string source) {
  return duration("notify_poll", default_value, 100ms,
                  "Period at which the filler's side looks for news of the games; 0 notices at once.",
                  std::move(source));
}

ParameterDescriptor launch_retry_parameter(Duration default_value, std::string source) {
  return duration("launch_retry", default_value, 100ms,
                  "How long a launch that may not pass sleeps before it looks again; 0 wakes it by events.",
                  std::move(source));
}

ParameterDescriptor memory_fit_parameter() {
  return flag("require_memory_fit", true,
              "Whether a filler waits while its memory does not fit beside that of the games and of fillers before it.",
              "paper: no swapping");
}

std::vector<ParameterDescriptor> pilotfish_parameters() {
  std::vector<ParameterDescriptor> table;
  add_window_parameters(table);
  add_predictor_parameters(table);
  add_guarantee_parameters(table);
  add_resource_parameters(table);
  return table;
}

}  // namespace corun
