#include "sim/workload/capture/frames.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "sim/device/work.h"
#include "sim/workload/capture/frame_draws.h"
#include "sim/workload/capture/frame_pace.h"
#include "sim/workload/capture/steady_start.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::uint32_t kMostVisits = 64;                         // as an experiment may state
constexpr std::int64_t kLongestFrame_ns = 1'000'000'000'000'000;  // eleven days

[[noreturn]] void refuse(const Timeline& timeline, std::string what, std::string help) {
  throw Error(ErrorKind::kUnsupported, SourceLocation{timeline.provenance().source_file}, std::move(what),
              std::move(help));
}

/// What is longer is no frame, and sums of such would leave what 64 bits hold.
void refuse_long_frames(const Timeline& timeline) {
  for (const FrameRecord& frame : timeline.frames()) {
    const std::int64_t gpu_ns = std::max(frame.gpu_busy_ns, frame.gpu_span_ns());
    const std::int64_t host_ns = std::max(frame.cpu_busy_ns, frame.interval_ns);
    if (gpu_ns <= to_ns(kLongestOp) && host_ns <= kLongestFrame_ns) continue;
    refuse(timeline,
           fmt::format("the frame shown at {:.6f} s took {:.3g} s of the GPU, and {:.3g} s in all",
                       static_cast<double>(frame.present_ns) * 1e-9, static_cast<double>(gpu_ns) * 1e-9,
                       static_cast<double>(host_ns) * 1e-9),
           fmt::format("a frame takes {:.0f} s of a GPU at most, and eleven days in all", to_seconds(kLongestOp)));
  }
}

/// Device times of a frame's operations: the draws of its first visit, then its later visits.
std::vector<Duration> cut(const FrameDraws& draws, std::int64_t present_ns, Duration gpu, std::uint32_t visits) {
  const Duration later = std::min(kLaterVisit, gpu / visits);
  std::vector<Duration> pieces = draws.cut(present_ns, gpu - later * (visits - 1));
  pieces.insert(pieces.end(), visits - 1, later);
  return pieces;
}

void add_frame(Workload& workload, Duration gap, Duration bubble, const std::vector<Duration>& pieces, Time start) {
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
    if (!op.continues) op.dispatch_gap = bubble;
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{index == job.first_op ? gap : Duration{0}, StepKind::kSubmit, index});
  }
  workload.jobs.push_back(job);
}

template <class Row>
void erase_first(std::vector<Row>& rows, std::size_t count) {
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
}

void leave_out_start(FrameLog& log, std::vector<std::string>& notes) {
  std::vector<std::int64_t> lengths_ns;
  for (std::size_t i = 0; i < log.frames.size(); ++i)
    lengths_ns.push_back(std::max({log.gpu_ns[i], log.frames[i].cpu_busy_ns, log.frames[i].interval_ns}));
  const std::size_t first = steady_start(lengths_ns);
  if (first == 0) return;
  const std::int64_t span_ns = log.frames[first].present_ns - log.frames.front().present_ns;
  notes.push_back(fmt::format("left out: {} frame{} in {:.3g} s before its frames are steady; keep_start keeps them",
                              first, first == 1 ? "" : "s", static_cast<double>(span_ns) * 1e-9));
  erase_first(log.frames, first);
  erase_first(log.gpu_ns, first);
}

/// Frames without a GPU time cannot be replayed.
void leave_out_untimed(FrameLog& log, std::vector<std::string>& notes) {
  const std::size_t all = log.frames.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (log.gpu_ns[i] < 0) continue;
    log.frames[kept] = log.frames[i];
    log.gpu_ns[kept++] = log.gpu_ns[i];
  }
  log.frames.resize(kept);
  log.gpu_ns.resize(kept);
  if (kept < all && kept > 0)
    notes.push_back(fmt::format("{} of {} frames say nothing of their GPU time and are left out", all - kept, all));
}

void add_frames(Workload& workload, const FrameLog& log, const FramePace& pace, const FrameDraws& draws,
                const WorkloadOptions& options) {
  for (std::size_t i = 0; i < log.frames.size(); ++i) {
    const std::uint32_t captured = std::clamp(log.frames[i].visits, 1U, kMostVisits);
    const std::uint32_t visits = options.visits_per_frame > 0 ? options.visits_per_frame : captured;
    const std::int64_t present_ns = log.frames[i].present_ns;
    add_frame(workload, pace.host[i], pace.bubble[i], cut(draws, present_ns, Duration{log.gpu_ns[i]}, visits),
              time_from_ns(present_ns));
  }
}

/// The last frame lasts as long as the others do, so that passes follow one another as frames do.
Duration span_of(const FrameLog& log) {
  if (log.frames.size() < 2) return Duration{log.gpu_ns.front()};
  const std::int64_t between_ns = log.frames.back().present_ns - log.frames.front().present_ns;
  const auto intervals = static_cast<std::int64_t>(log.frames.size()) - 1;
  if (between_ns > 0) return Duration{between_ns + between_ns / intervals};
  std::int64_t sum_ns = 0;
  for (const std::int64_t ns : log.gpu_ns) sum_ns += ns;
  return Duration{sum_ns};
}

[[noreturn]] void refuse_unknown_gpu_times(const Timeline& timeline, const FrameLog& log) {
  std::string what = "this log does not say how long the GPU worked on its frames";
  if (log.bounds)
    what += fmt::format("; by when frames ended on it, for {:.0f} to {:.0f} % of the frame time",
                        100 * log.bounds->least, 100 * log.bounds->most);
  refuse(timeline, what,
         log.bounds
             ? "state gpu_busy_ratio (GPU time per frame time) between these; GPU load as monitors show it is near it"
             : "state gpu_busy_ratio: 60% (GPU time per frame time), or capture with GPU timing on");
}

[[noreturn]] void refuse_sampled(const Timeline& timeline, const FrameLog& log) {
  std::string help = "log with log_interval=0 (MangoHud) or use a per-frame capture";
  if (log.chain.gpu_load_ppm > 0)
    help +=
        fmt::format("; gpu_busy_ratio: {:.0f}% is what this one says of the GPU's load", log.chain.gpu_load_ppm * 1e-4);
  refuse(timeline, "this log samples frames now and then; it does not hold every frame", help);
}

std::string note_of_gpu_times(const FrameLog& log, double stated_ratio) {
  if (log.source == GpuTimeSource::kEnds)
    return "its GPU times are those from the end of one frame on the GPU to the next: it worked without a break";
  if (log.source == GpuTimeSource::kStated)
    return fmt::format(
        "{}{:.3g} % of frame times, so a frame that its host delayed counts as long on the GPU: the 1 % low and the "
        "99th percentile are not those of the game",
        kStatedGpuTimes, 100 * stated_ratio);
  if (log.source == GpuTimeSource::kLoad)
    return fmt::format(
        "warning: its GPU times are taken from the GPU's load, {:.0f} % of the frame time, in which the "
        "work of other programs counts; gpu_busy_ratio states another share",
        100 * log.gpu_share());
  return "";
}

void add_notes_of_pace(const FrameLog& log, const FramePace& pace, double stated_ratio,
                       std::vector<std::string>& notes) {
  if (log.is_still())
    notes.push_back(
        "warning: all its frames take the GPU the same time: a menu or a still picture, which says little of the game");
  if (const std::string note = note_of_gpu_times(log, stated_ratio); !note.empty()) notes.push_back(note);
  if (pace.limiter_period > Duration{0})
    notes.push_back(
        fmt::format("its frames wait for a limiter of {:.4g}/s, which counts as their host's work: of that, {}",
                    1e9 / static_cast<double>(to_ns(pace.limiter_period)),
                    pace.is_host_known
                        ? "only what follows a frame's first submission is kept"
                        : "nothing is kept; with another pacing, or a faster one, its host may be slower than this"));
  const double percent = std::min(100.0, 100 * log.gpu_share());
  if (pace.is_gpu_bound)
    notes.push_back(
        fmt::format("its GPU works {:.0f} % of the time: waits of its host for the GPU are not taken as work{}",
                    percent, log.counts_ends() ? ", and a frame counts when its GPU work ends" : ""));
  else if (pace.vsync_period == Duration{0} && pace.limiter_period == Duration{0})
    notes.push_back(fmt::format("its GPU works {:.0f} % of the time: taken as bound by the host", percent));
}

bool is_like(const FrameFigures& alone, const FrameFigures& recorded) {
  const auto off = [](double a, double b) { return std::abs(a / b - 1); };
  return off(alone.fps, recorded.fps) <= 0.02 && off(alone.fps_1low, recorded.fps_1low) <= 0.05 &&
         off(alone.frame_time_p99_s, recorded.frame_time_p99_s) <= 0.05;
}

std::string text_of(const FrameFigures& figures) {
  return fmt::format("{:.4g} fps (1 % low {:.4g}, p99 {:.4g} ms)", figures.fps, figures.fps_1low,
                     1e3 * figures.frame_time_p99_s);
}

/// A replay that is not as it was recorded says so.
void compare_with_recorded(const FrameLog& log, const FramePace& pace, std::vector<std::string>& notes) {
  constexpr std::size_t kEnough = 30;
  const std::optional<FrameFigures> recorded = log.figures(), by_ends = log.figures_by_ends();
  if (!recorded || log.frames.size() < kEnough) return;
  const FrameFigures alone = figures_alone(log, pace);
  if (is_like(alone, *recorded)) return;
  const bool is_like_ends = by_ends && is_like(alone, *by_ends);
  notes.push_back(fmt::format("{}alone, its frames come at {}, and were recorded at {}: {}",
                              is_like_ends ? "" : "warning: ", text_of(alone), text_of(*recorded),
                              is_like_ends ? "its presents run ahead of its GPU, whose work ended as in the replay"
                              : log.gpu_share() > 1.02 ? "its GPU times are longer than the time that passed"
                              : pace.vsync_period > Duration{0}
                                  ? "its presents come between the ticks of the display, on which frames are shown"
                                  : "its presents and the ends of its GPU work keep different times"));
}

}  // namespace

PacedLog paced_log(const Timeline& timeline, const WorkloadOptions& options) {
  if (timeline.frames().empty())
    refuse(timeline, "this capture holds neither operations nor frames", "record GPU activities (CUDA) or frames");
  refuse_long_frames(timeline);
  PacedLog paced{frame_log(timeline, options), {}, {}};
  FrameLog& log = paced.log;
  paced.notes = log.notes;
  if (!timeline.fidelity().per_frame) refuse_sampled(timeline, log);
  if (log.source == GpuTimeSource::kNone) refuse_unknown_gpu_times(timeline, log);
  if (!options.keep_start) leave_out_start(log, paced.notes);
  leave_out_untimed(log, paced.notes);
  if (log.frames.empty()) refuse_unknown_gpu_times(timeline, log);
  paced.pace = pace_of(log);
  add_notes_of_pace(log, paced.pace, options.gpu_busy_ratio, paced.notes);
  compare_with_recorded(log, paced.pace, paced.notes);
  return paced;
}

Workload workload_from_frames(const Timeline& timeline, const WorkloadOptions& options) {
  const PacedLog paced = paced_log(timeline, options);
  const FrameLog& log = paced.log;
  Workload workload;
  workload.job_kind = JobKind::kFrame;
  workload.names = {"frame"};
  const FrameDraws draws(timeline, log.frames.front().swapchain, options.draw);
  workload.notes = {draws.note()};
  workload.notes.insert(workload.notes.end(), paced.notes.begin(), paced.notes.end());
  add_frames(workload, log, paced.pace, draws, options);
  const auto has_many_visits = [](const FrameRecord& frame) { return frame.visits > kMostVisits; };
  if (const auto many = std::ranges::count_if(log.frames, has_many_visits); many > 0 && options.visits_per_frame == 0)
    workload.notes.push_back(
        fmt::format("{} of {} frames say that the GPU worked on them in more than {} visits: taken as {}", many,
                    log.frames.size(), kMostVisits, kMostVisits));
  workload.present_period = paced.pace.vsync_period;
  workload.limiter_period = paced.pace.limiter_period;
  workload.queued_ahead = paced.pace.queued_ahead;
  workload.recorded_frames = log.figures();
  workload.recorded_span = span_of(log);
  predict_from_means(workload);
  workload.check();
  return workload;
}

bool may_have_low_clock(const Workload& workload) {
  const Duration period = std::max(workload.limiter_period, workload.present_period);
  if (workload.job_kind != JobKind::kFrame || period <= Duration{} || workload.jobs.empty()) return false;
  return to_seconds(workload.device_time()) <
         kFullClockShare * to_seconds(period) * static_cast<double>(workload.jobs.size());
}

}  // namespace corun
