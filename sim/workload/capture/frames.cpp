#include "sim/workload/capture/frames.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "sim/device/work.h"
#include "sim/workload/capture/frame_draws.h"
#include "sim/workload/capture/steady_start.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::uint32_t kMostVisits = 64;                         // as an experiment may state
constexpr std::int64_t kLongestFrame_ns = 1'000'000'000'000'000;  // eleven days
constexpr double kRefreshRates[] = {24, 25, 30, 40, 45, 48, 50, 60, 72, 75, 90, 100, 120, 144, 165, 240};

[[noreturn]] void refuse(const Timeline& timeline, std::string what, std::string help) {
  throw Error(ErrorKind::kUnsupported, SourceLocation{timeline.provenance().source_file}, std::move(what),
              std::move(help));
}

std::int64_t gpu_span(const FrameRecord& frame) {
  return frame.gpu_begin_ns >= 0 && frame.gpu_end_ns >= frame.gpu_begin_ns ? frame.gpu_end_ns - frame.gpu_begin_ns : -1;
}

/// What is longer is no frame, and sums of such would leave what 64 bits hold.
void refuse_long_frames(const Timeline& timeline) {
  for (const FrameRecord& frame : timeline.frames()) {
    const std::int64_t gpu_ns = std::max(frame.gpu_busy_ns, gpu_span(frame));
    const std::int64_t host_ns = std::max(frame.cpu_busy_ns, frame.interval_ns);
    if (gpu_ns <= to_ns(kLongestOp) && host_ns <= kLongestFrame_ns) continue;
    refuse(timeline,
           fmt::format("the frame shown at {:.6f} s took {:.3g} s of the GPU, and {:.3g} s in all",
                       static_cast<double>(frame.present_ns) * 1e-9, static_cast<double>(gpu_ns) * 1e-9,
                       static_cast<double>(host_ns) * 1e-9),
           fmt::format("a frame takes {:.0f} s of a GPU at most, and eleven days in all", to_seconds(kLongestOp)));
  }
}

/// Frames of the program that presents most, the desktop's compositor apart.
std::vector<FrameRecord> frames_of_the_game(const Timeline& timeline, Workload& workload) {
  std::vector<std::size_t> count(timeline.swapchains().size());
  for (const FrameRecord& frame : timeline.frames()) ++count[frame.swapchain];
  const auto is_compositor = [&](std::size_t chain) {
    return timeline.text(timeline.swapchains()[chain].application) == "dwm.exe";
  };
  const auto rank = [&](std::size_t chain) {
    return std::make_tuple(count[chain] > 0, !is_compositor(chain), count[chain]);
  };
  std::size_t best = 0;
  for (std::size_t chain = 1; chain < count.size(); ++chain)
    if (rank(chain) > rank(best)) best = chain;
  if (count.size() > 1)
    workload.notes.push_back(fmt::format("{} of {} swap chains replayed: {} with {} frames", 1, count.size(),
                                         timeline.text(timeline.swapchains()[best].application), count[best]));
  std::vector<FrameRecord> frames;
  for (const FrameRecord& frame : timeline.frames())
    if (frame.swapchain == best) frames.push_back(frame);
  return frames;
}

/// GPU time of a frame; -1 where the log does not have it.
std::int64_t gpu_time(const FrameRecord& frame, const WorkloadOptions& options) {
  if (frame.gpu_busy_ns >= 0) return frame.gpu_busy_ns;
  if (gpu_span(frame) >= 0) return gpu_span(frame);
  if (options.gpu_busy_ratio > 0 && frame.interval_ns >= 0)
    return std::llround(static_cast<double>(frame.interval_ns) * options.gpu_busy_ratio);
  return -1;
}

double interval_at(const std::vector<FrameRecord>& frames, double quantile) {
  std::vector<std::int64_t> intervals;
  for (const FrameRecord& frame : frames)
    if (frame.interval_ns > 0) intervals.push_back(frame.interval_ns);
  if (intervals.empty()) return 0.0;
  const auto at = intervals.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(intervals.size() - 1));
  std::nth_element(intervals.begin(), at, intervals.end());
  return static_cast<double>(*at);
}

/// The median interval, where the others are within `spread` of it and the GPU has time to spare; else 0.
double steady_interval(const std::vector<FrameRecord>& frames, double mean_gpu_ns, double spread) {
  const double median = interval_at(frames, 0.5);
  const bool is_steady = interval_at(frames, 0.75) - interval_at(frames, 0.25) <= spread * median;
  return is_steady && mean_gpu_ns <= 0.9 * median ? median : 0.0;
}

/// The period of a display's refresh rate; 0 if it is none.
Duration refresh_period(double interval_ns) {
  for (const double rate : kRefreshRates)
    if (std::abs(interval_ns * rate / 1e9 - 1.0) < 0.01) return Duration{std::llround(1e9 / rate)};
  return Duration{0};
}

/// The vsync period that paced the log; 0 if its intervals do not sit on one.
Duration paced_period(const std::vector<FrameRecord>& frames, double mean_gpu_ns) {
  return refresh_period(steady_interval(frames, mean_gpu_ns, 0.15));
}

/// The period of a limiter in the game, 0 where there is none: frames come at a beat, and their hosts seem to work
/// longer than a beat and the GPU's part allow, since what they sleep before the next frame counts as work.
Duration limiter_period(const std::vector<FrameRecord>& frames, double mean_gpu_ns) {
  const double beat = steady_interval(frames, mean_gpu_ns, 0.03);
  double host_ns = 0;
  for (const FrameRecord& frame : frames) host_ns += static_cast<double>(std::max<std::int64_t>(frame.cpu_busy_ns, 0));
  if (beat == 0.0 || host_ns / static_cast<double>(frames.size()) + mean_gpu_ns < 1.02 * beat) return Duration{0};
  const Duration refresh = refresh_period(beat);
  return refresh > Duration{0} ? refresh : Duration{std::llround(beat)};
}

/// Device times of a frame's operations: the draws of its first visit, then its later visits.
std::vector<Duration> cut(const FrameDraws& draws, std::int64_t present_ns, Duration gpu, std::uint32_t visits) {
  const Duration later = std::min(kLaterVisit, gpu / visits);
  std::vector<Duration> pieces = draws.cut(present_ns, gpu - later * (visits - 1));
  pieces.insert(pieces.end(), visits - 1, later);
  return pieces;
}

void add_frame(Workload& workload, Duration gap, const std::vector<Duration>& pieces, Time start) {
  Job job;
  job.first_step = static_cast<std::uint32_t>(workload.steps.size());
  job.first_op = static_cast<std::uint32_t>(workload.ops.size());
  job.recorded_start = start;
  job.step_count = job.op_count = static_cast<std::uint32_t>(pieces.size());
  for (const Duration piece : pieces) {
    WorkOp op;
    op.kind = OpKind::kRender;
    op.duration = piece;
    const auto index = static_cast<std::uint32_t>(workload.ops.size());
    op.continues = index > job.first_op;
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{index == job.first_op ? gap : Duration{0}, StepKind::kSubmit, index});
  }
  workload.jobs.push_back(job);
}

/// Most that a frame's host can have worked: where the GPU is never without work and the host never idle either, it
/// waits for the GPU within its calls, and its least busy frames show how long it works. No limit elsewhere.
std::int64_t most_host_work(const std::vector<FrameRecord>& frames, const WorkloadOptions& options) {
  double host_sum_ns = 0, gpu_sum_ns = 0, interval_sum_ns = 0;
  std::vector<std::int64_t> host_ns;
  for (const FrameRecord& frame : frames) {
    const std::int64_t gpu_ns = gpu_time(frame, options);
    if (gpu_ns < 0 || frame.cpu_busy_ns < 0 || frame.interval_ns < 0) continue;
    host_ns.push_back(frame.cpu_busy_ns);
    host_sum_ns += static_cast<double>(frame.cpu_busy_ns);
    gpu_sum_ns += static_cast<double>(gpu_ns);
    interval_sum_ns += static_cast<double>(frame.interval_ns);
  }
  if (host_ns.empty() || std::min(host_sum_ns, gpu_sum_ns) < interval_sum_ns * 0.9) return INT64_MAX;
  const auto quartile = host_ns.begin() + static_cast<std::ptrdiff_t>(host_ns.size() / 4);
  std::ranges::nth_element(host_ns, quartile);
  return *quartile;
}

/// What all frames together show, and the GPU time of each; -1 where the log does not have it.
struct Load {
  std::vector<std::int64_t> gpu_ns;
  double gpu_sum_ns = 0;
  Duration present_period{};
  Duration limiter_period{};
  std::int64_t most_host_work_ns = INT64_MAX;
  bool is_host_bound = false;
};

Load load_of(const std::vector<FrameRecord>& frames, const WorkloadOptions& options) {
  Load load;
  double interval_sum_ns = 0;
  for (const FrameRecord& frame : frames) {
    load.gpu_ns.push_back(gpu_time(frame, options));
    load.gpu_sum_ns += static_cast<double>(std::max<std::int64_t>(0, load.gpu_ns.back()));
    interval_sum_ns += static_cast<double>(std::max<std::int64_t>(0, frame.interval_ns));
  }
  const double mean_gpu_ns = load.gpu_sum_ns / static_cast<double>(frames.size());
  load.present_period = paced_period(frames, mean_gpu_ns);
  load.limiter_period = limiter_period(frames, mean_gpu_ns);
  load.most_host_work_ns = most_host_work(frames, options);
  load.is_host_bound = load.present_period == Duration{0} && interval_sum_ns > 1.1 * load.gpu_sum_ns;
  return load;
}

/// Before a limited game's first submission, its work cannot be distinguished from its sleep.
std::int64_t host_time(const FrameRecord& frame, const Load& load) {
  if (frame.cpu_busy_ns >= 0 && load.limiter_period > Duration{0})
    return frame.submit_ns < 0 ? 0 : std::clamp<std::int64_t>(frame.present_ns - frame.submit_ns, 0, frame.cpu_busy_ns);
  if (frame.cpu_busy_ns >= 0) return std::min(frame.cpu_busy_ns, load.most_host_work_ns);
  return load.is_host_bound ? std::max<std::int64_t>(0, frame.interval_ns) : 0;
}

void leave_out_start(std::vector<FrameRecord>& frames, const WorkloadOptions& options, Workload& workload) {
  const Load load = load_of(frames, options);
  std::vector<std::int64_t> lengths_ns;
  for (std::size_t i = 0; i < frames.size(); ++i)
    lengths_ns.push_back(std::max(load.gpu_ns[i], host_time(frames[i], load)));
  const std::size_t first = steady_start(lengths_ns);
  if (first == 0) return;
  const std::int64_t span_ns = frames[first].present_ns - frames.front().present_ns;
  workload.notes.push_back(
      fmt::format("left out: {} frame{} in {:.3g} s before its frames are steady; keep_start keeps them", first,
                  first == 1 ? "" : "s", static_cast<double>(span_ns) * 1e-9));
  frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(first));
}

void add_frames(Workload& workload, const std::vector<FrameRecord>& frames, const Load& load, const FrameDraws& draws,
                const WorkloadOptions& options) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (load.gpu_ns[i] < 0) continue;
    const std::uint32_t captured = std::clamp(frames[i].visits, 1U, kMostVisits);
    const std::uint32_t visits = options.visits_per_frame > 0 ? options.visits_per_frame : captured;
    const std::int64_t present_ns = frames[i].present_ns;
    add_frame(workload, Duration{host_time(frames[i], load)}, cut(draws, present_ns, Duration{load.gpu_ns[i]}, visits),
              time_from_ns(present_ns));
  }
}

/// The last frame lasts as long as the others do, so that passes follow one another as frames do.
Duration span_of(const std::vector<FrameRecord>& frames, const Load& load) {
  const std::int64_t between_ns = frames.back().present_ns - frames.front().present_ns;
  const auto intervals = static_cast<std::int64_t>(frames.size()) - 1;
  return Duration{between_ns > 0 ? between_ns + between_ns / intervals : std::llround(load.gpu_sum_ns)};
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
  refuse_long_frames(timeline);
  std::vector<FrameRecord> frames = frames_of_the_game(timeline, workload);
  if (!options.keep_start) leave_out_start(frames, options, workload);
  const FrameDraws draws(timeline, frames.front().swapchain, options.draw);
  const Load load = load_of(frames, options);
  add_frames(workload, frames, load, draws, options);
  if (workload.jobs.empty())
    refuse(timeline, "this log does not say how long the GPU worked on its frames",
           "state gpu_busy_ratio: 60% (GPU time per frame time), or capture with GPU timing on");
  workload.notes.push_back(draws.note());
  const auto has_many_visits = [](const FrameRecord& frame) { return frame.visits > kMostVisits; };
  if (const auto many = std::ranges::count_if(frames, has_many_visits); many > 0 && options.visits_per_frame == 0)
    workload.notes.push_back(
        fmt::format("{} of {} frames say that the GPU worked on them in more than {} visits: taken as {}", many,
                    frames.size(), kMostVisits, kMostVisits));
  if (workload.jobs.size() < frames.size())
    workload.notes.push_back(fmt::format("{} of {} frames say nothing of their GPU time and are left out",
                                         frames.size() - workload.jobs.size(), frames.size()));
  if (load.limiter_period > Duration{0})
    workload.notes.push_back(
        fmt::format("its frames wait for a limiter of {:.4g}/s, which counts as their host's work: of that, only what "
                    "follows a frame's first submission is kept",
                    1e9 / static_cast<double>(to_ns(load.limiter_period))));
  if (load.most_host_work_ns < INT64_MAX)
    workload.notes.push_back(fmt::format(
        "its host waits for the GPU within its calls, which counts as work: {} a frame at most are kept, the "
        "lower quartile",
        format_duration(Duration{load.most_host_work_ns})));
  if (load.is_host_bound) workload.notes.push_back("frame intervals exceed GPU time: taken as bound by the host");
  workload.present_period = load.present_period;
  workload.limiter_period = load.limiter_period;
  workload.recorded_span = span_of(frames, load);
  predict_from_means(workload);
  workload.check();
  return workload;
}

}  // namespace corun
