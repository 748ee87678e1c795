#include "sim/solo/recorded.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "sim/run/open_gates.h"
#include "sim/run/simulation.h"

namespace corun {

namespace {

constexpr std::size_t kFramesOfATail = 100;

class Ends : public Recorder {
 public:
  void on_op(const OpFact& op) override {
    first_begin = std::min(first_begin, op.begin);
    last_end = std::max(last_end, op.end);
  }
  void on_frame(const FrameFact& frame) override { presents.push_back(frame.present); }

  Time first_begin = kNever, last_end = kRunStart;
  std::vector<Time> presents;
};

std::optional<FrameTail> tail_of(const std::vector<Time>& presents) {
  if (presents.size() <= kFramesOfATail) return std::nullopt;
  std::vector<std::int64_t> times;
  for (std::size_t i = 1; i < presents.size(); ++i) times.push_back(to_ns(presents[i] - presents[i - 1]));
  std::ranges::sort(times, std::greater<>());
  const auto slowest = static_cast<std::ptrdiff_t>(times.size() / 100);
  const auto sum = static_cast<double>(std::accumulate(times.begin(), times.begin() + slowest, std::int64_t{0}));
  return FrameTail{1e9 * static_cast<double>(slowest) / sum, static_cast<double>(times[slowest]) * 1e-6};
}

std::vector<Time> recorded_presents(const Workload& workload) {
  std::vector<Time> presents;
  for (const Job& job : workload.jobs) presents.push_back(job.recorded_start);
  return presents;
}

/// Presents may run ahead of the GPU; the figures of a log then count the ends of its frames, as the replay does.
void take_recorded_frames(const Workload& workload, RecordedReplay& found) {
  if (workload.jobs.size() < 2) return;
  found.recorded = workload.jobs.back().recorded_start - workload.jobs.front().recorded_start;
  found.recorded_tail = tail_of(recorded_presents(workload));
  if (!workload.recorded_frames || !(workload.recorded_frames->fps > 0)) return;
  const FrameFigures& figures = *workload.recorded_frames;
  const auto intervals = static_cast<double>(workload.jobs.size() - 1);
  found.recorded = Duration{std::llround(1e9 * intervals / figures.fps)};
  if (found.recorded_tail) found.recorded_tail = FrameTail{figures.fps_1low, 1e3 * figures.frame_time_p99_s};
}

}  // namespace

RecordedReplay replay_as_recorded(const ClientSpec& client, const DeviceSpec& device) {
  constexpr std::int64_t kPatience = 4;
  const Workload& workload = *client.workload;
  const bool has_frames = workload.job_kind == JobKind::kFrame;
  RecordedReplay found;
  found.recorded = workload.recorded_span;
  if (has_frames) take_recorded_frames(workload, found);
  OpenGates policy;
  const RunInput input{.device = device,
                       .clients = {client},
                       .policy = &policy,
                       .policy_name = "solo",
                       .horizon = kPatience * workload.recorded_span + std::chrono::milliseconds(1)};
  Ends ends;
  const RunResult result = simulate(input, ends);
  if (result.jobs_finished[0] < workload.jobs.size()) return found;
  if (!has_frames) {
    found.replayed = ends.last_end - ends.first_begin;
    return found;
  }
  if (ends.presents.size() < 2) return found;
  found.replayed = ends.presents.back() - ends.presents.front();
  found.replayed_tail = tail_of(ends.presents);
  return found;
}

}  // namespace corun
