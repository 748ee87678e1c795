#include "sim/workload/frames.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "traces/base/error.h"

namespace corun {

namespace {

constexpr double kRefreshRates[] = {24, 25, 30, 40, 45, 48, 50, 60, 72, 75, 90, 100, 120, 144, 165, 240};

[[noreturn]] void refuse(const Timeline& timeline, std::string what, std::string help) {
  throw Error(ErrorKind::kUnsupported, SourceLocation{timeline.provenance().source_file}, std::move(what),
              std::move(help));
}

/// Frames of the program that presents most, the desktop's compositor apart.
std::vector<FrameRecord> frames_of_the_game(const Timeline& timeline, Workload& workload) {
  std::vector<std::size_t> count(timeline.swapchains().size());
  for (const FrameRecord& frame : timeline.frames()) ++count[frame.swapchain];
  const auto is_compositor = [&](std::size_t chain) {
    return timeline.text(timeline.swapchains()[chain].application) == "dwm.exe";
  };
  std::size_t best = 0;
  for (std::size_t chain = 1; chain < count.size(); ++chain)
    if (std::make_pair(!is_compositor(chain), count[chain]) > std::make_pair(!is_compositor(best), count[best]))
      best = chain;
  if (count.size() > 1)
    workload.notes.push_back(fmt::format("{} of {} swap chains replayed: {} with {} frames", 1, count.size(),
                                         timeline.text(timeline.swapchains()[best].application), count[best]));
  std::vector<FrameRecord> frames;
  for (const FrameRecord& frame : timeline.frames())
    if (frame.swapchain == best) frames.push_back(frame);
  return frames;
}

/// GPU time of a frame; -1 where the log does not tell.
std::int64_t gpu_time(const FrameRecord& frame, const WorkloadOptions& options) {
  if (frame.gpu_busy_ns >= 0) return frame.gpu_busy_ns;
  if (frame.gpu_begin_ns >= 0 && frame.gpu_end_ns >= frame.gpu_begin_ns) return frame.gpu_end_ns - frame.gpu_begin_ns;
  if (options.gpu_busy_ratio > 0 && frame.interval_ns >= 0)
    return std::llround(static_cast<double>(frame.interval_ns) * options.gpu_busy_ratio);
  return -1;
}

double median_interval(const std::vector<FrameRecord>& frames, double quantile) {
  std::vector<std::int64_t> intervals;
  for (const FrameRecord& frame : frames)
    if (frame.interval_ns > 0) intervals.push_back(frame.interval_ns);
  if (intervals.empty()) return 0.0;
  const auto at = intervals.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(intervals.size() - 1));
  std::nth_element(intervals.begin(), at, intervals.end());
  return static_cast<double>(*at);
}

/// The vsync period that paced the log; 0 if its intervals do not sit on one.
Duration paced_period(const std::vector<FrameRecord>& frames, double mean_gpu_ns) {
  const double median = median_interval(frames, 0.5);
  const double spread = median_interval(frames, 0.75) - median_interval(frames, 0.25);
  if (median <= 0 || spread > 0.15 * median || mean_gpu_ns > 0.9 * median) return Duration{0};
  for (const double rate : kRefreshRates)
    if (std::abs(median * rate / 1e9 - 1.0) < 0.01) return Duration{std::llround(1e9 / rate)};
  return Duration{0};
}

void add_frame(Workload& workload, Duration gap, Duration gpu, std::uint32_t visits, Time start) {
  Job job;
  job.first_step = static_cast<std::uint32_t>(workload.steps.size());
  job.first_op = static_cast<std::uint32_t>(workload.ops.size());
  job.recorded_start = start;
  const Duration later = std::min(kLaterVisit, gpu / visits);
  for (std::uint32_t visit = 0; visit < visits; ++visit) {
    WorkOp op;
    op.kind = OpKind::kRender;
    op.duration = visit == 0 ? gpu - later * (visits - 1) : later;
    const auto index = static_cast<std::uint32_t>(workload.ops.size());
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{visit == 0 ? gap : Duration{0}, StepKind::kSubmit, index});
    ++job.op_count;
  }
  job.step_count = visits;
  workload.jobs.push_back(job);
}

}  // namespace

Workload workload_from_frames(const Timeline& timeline, const WorkloadOptions& options) {
  if (timeline.frames().empty())
    refuse(timeline, "this capture holds neither operations nor frames", "record GPU activities (CUDA) or frames");
  if (!timeline.fidelity().per_frame)
    refuse(timeline, "this log samples frames now and then; it does not hold every frame",
           "log with log_interval=0 (MangoHud) or use a per-frame capture");
  Workload workload;
  workload.job_kind = JobKind::kFrame;
  workload.names = {"frame"};
  const std::vector<FrameRecord> frames = frames_of_the_game(timeline, workload);

  std::vector<std::int64_t> gpu;
  double gpu_sum = 0, interval_sum = 0;
  for (const FrameRecord& frame : frames) {
    gpu.push_back(gpu_time(frame, options));
    gpu_sum += static_cast<double>(std::max<std::int64_t>(0, gpu.back()));
    interval_sum += static_cast<double>(std::max<std::int64_t>(0, frame.interval_ns));
  }
  workload.present_period = paced_period(frames, gpu_sum / static_cast<double>(frames.size()));
  const bool host_bound = workload.present_period == Duration{0} && interval_sum > 1.1 * gpu_sum;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (gpu[i] < 0) continue;
    std::int64_t cpu = frames[i].cpu_busy_ns;
    if (cpu < 0) cpu = host_bound ? std::max<std::int64_t>(0, frames[i].interval_ns) : 0;
    const std::uint32_t captured = std::max(1u, frames[i].visits);
    const std::uint32_t visits = options.visits_per_frame > 0 ? options.visits_per_frame : captured;
    add_frame(workload, Duration{cpu}, Duration{gpu[i]}, visits, time_from_ns(frames[i].present_ns));
  }
  if (workload.jobs.empty())
    refuse(timeline, "this log does not say how long the GPU worked on its frames",
           "state gpu_busy_ratio: 60% (GPU time per frame time), or capture with GPU timing on");
  if (workload.jobs.size() < frames.size())
    workload.notes.push_back(fmt::format("{} of {} frames say nothing of their GPU time and are left out",
                                         frames.size() - workload.jobs.size(), frames.size()));
  const std::int64_t between = frames.back().present_ns - frames.front().present_ns;
  const auto intervals = static_cast<std::int64_t>(frames.size()) - 1;
  // The last frame lasts as long as the others do, so that passes follow one another as frames do.
  workload.recorded_span = Duration{between > 0 ? between + between / intervals : std::llround(gpu_sum)};
  predict_from_means(workload);
  if (host_bound) workload.notes.push_back("frame intervals exceed GPU time: taken as bound by the host");
  workload.check();
  return workload;
}

}  // namespace corun
