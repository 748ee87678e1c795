#include "sim/workload/capture/frame_log.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "traces/base/error.h"

namespace corun {

namespace {

constexpr double kMoreThanPossible = 1.02;  // GPU time over frame time
constexpr double kCloseBounds = 0.06;       // of the frame time: what a GPU that never idles leaves open
constexpr double kStillSpread = 0.005;
constexpr std::size_t kEnoughForStill = 100;

/// The runs of the file with the number of frames of each.
std::map<std::uint32_t, std::size_t> runs_of(const Timeline& timeline) {
  std::map<std::uint32_t, std::size_t> runs;
  for (const FrameRecord& frame : timeline.frames()) ++runs[timeline.swapchains()[frame.swapchain].run];
  return runs;
}

std::uint32_t chosen_run(const Timeline& timeline, const WorkloadOptions& options, FrameLog& log) {
  const std::map<std::uint32_t, std::size_t> runs = runs_of(timeline);
  if (options.run > 0 && !runs.contains(options.run) && !(options.run == 1 && runs.contains(0)))
    throw Error(ErrorKind::kUnsupported, SourceLocation{timeline.provenance().source_file},
                fmt::format("`run: {}`: the file holds {} run{} of frames", options.run, runs.size(),
                            runs.size() == 1 ? "" : "s"));
  if (runs.contains(0)) return 0;
  const auto longest = std::ranges::max_element(runs, {}, [](const auto& run) { return run.second; });
  const std::uint32_t run = options.run > 0 ? options.run : longest->first;
  if (runs.size() > 1)
    log.notes.push_back(fmt::format("run {} of {} replayed, {}: {} frames", run, runs.size(),
                                    options.run > 0 ? "as stated" : "the longest; `run` chooses", runs.at(run)));
  return run;
}

/// Index of the swap chain to replay.
std::uint32_t chosen_chain(const Timeline& timeline, std::uint32_t run, FrameLog& log) {
  std::vector<std::size_t> count(timeline.swapchains().size());
  for (const FrameRecord& frame : timeline.frames()) ++count[frame.swapchain];
  std::size_t best = 0, chains = 0;
  const auto rank = [&](std::size_t chain) {
    const SwapchainRecord& record = timeline.swapchains()[chain];
    return std::make_tuple(record.run == run && count[chain] > 0, timeline.text(record.application) != "dwm.exe",
                           count[chain]);
  };
  for (std::size_t chain = 0; chain < count.size(); ++chain) {
    chains += timeline.swapchains()[chain].run == run ? 1 : 0;
    if (rank(chain) > rank(best)) best = chain;
  }
  if (chains > 1)
    log.notes.push_back(fmt::format("{} of {} swap chains replayed: {} with {} frames", 1, chains,
                                    timeline.text(timeline.swapchains()[best].application), count[best]));
  return static_cast<std::uint32_t>(best);
}

/// Version 1 of PresentMon leaves out what follows from other columns: between two presents, the host works.
void fill_in_host_work(std::vector<FrameRecord>& frames) {
  for (std::size_t i = 1; i < frames.size(); ++i) {
    FrameRecord& frame = frames[i];
    if (frame.cpu_busy_ns >= 0 || frame.interval_ns < 0 || frames[i - 1].in_present_ns < 0) continue;
    frame.cpu_busy_ns = std::max<std::int64_t>(0, frame.interval_ns - frames[i - 1].in_present_ns);
  }
}

struct Range {
  std::int64_t least_ns = 0, most_ns = 0;
};

/// How long the GPU can have worked on a frame, by when it and the frame before ended: it worked all the time after the
/// present call (nothing is submitted then), and began no sooner than the frame's host and the end of the frame before.
std::optional<Range> range_of(const FrameRecord& before, const FrameRecord& frame) {
  if (frame.gpu_end_ns < 0 || before.gpu_end_ns < 0 || before.in_present_ns < 0) return std::nullopt;
  const auto since = [&](std::int64_t instant_ns) {
    return std::max<std::int64_t>(0, frame.gpu_end_ns - std::max(before.gpu_end_ns, instant_ns));
  };
  return Range{since(frame.present_ns + std::max<std::int64_t>(frame.in_present_ns, 0)),
               since(before.present_ns + before.in_present_ns)};
}

/// A display that holds presents back holds the GPU, too: then the least is not known.
void bound_gpu_times(FrameLog& log, std::vector<Range>& ranges) {
  double least = 0, most = 0, sum = 0;
  ranges.assign(log.frames.size(), {-1, -1});
  for (std::size_t i = 1; i < log.frames.size(); ++i) {
    const auto range = range_of(log.frames[i - 1], log.frames[i]);
    if (!range || log.frames[i].interval_ns <= 0) continue;
    ranges[i] = {log.chain.vsync == Vsync::kOn ? 0 : range->least_ns, range->most_ns};
    least += static_cast<double>(ranges[i].least_ns);
    most += static_cast<double>(ranges[i].most_ns);
    sum += static_cast<double>(log.frames[i].interval_ns);
  }
  if (sum > 0) log.bounds = FrameLog::Bounds{std::min(1.0, least / sum), std::min(1.0, most / sum)};
}

void refuse_excluded(const Timeline& timeline, const FrameLog& log, double ratio) {
  constexpr double kSlack = 0.02;
  if (!log.bounds || (ratio >= log.bounds->least - kSlack && ratio <= log.bounds->most + kSlack)) return;
  throw Error(ErrorKind::kUnsupported, SourceLocation{timeline.provenance().source_file},
              fmt::format("gpu_busy_ratio {:.3g}: by when frames ended on the GPU, it worked for {:.0f} to {:.0f} % of "
                          "the frame time",
                          ratio, 100 * log.bounds->least, 100 * log.bounds->most),
              "state a ratio between these");
}

/// Share of each interval, no more than the frame's end leaves room for.
void take_share(FrameLog& log, double ratio) {
  for (std::size_t i = 0; i < log.frames.size(); ++i)
    if (log.frames[i].interval_ns >= 0)
      log.gpu_ns[i] = std::llround(static_cast<double>(log.frames[i].interval_ns) * ratio);
}

void find_gpu_times(const Timeline& timeline, const WorkloadOptions& options, FrameLog& log) {
  for (const FrameRecord& frame : log.frames)
    log.gpu_ns.push_back(frame.gpu_busy_ns >= 0 ? frame.gpu_busy_ns : frame.gpu_span_ns());
  if (std::ranges::any_of(log.gpu_ns, [](std::int64_t ns) { return ns >= 0; })) {
    log.source = GpuTimeSource::kMeasured;
    return;
  }
  std::vector<Range> ranges;
  bound_gpu_times(log, ranges);
  if (options.gpu_busy_ratio > 0) {
    refuse_excluded(timeline, log, options.gpu_busy_ratio);
    take_share(log, options.gpu_busy_ratio);
    log.source = GpuTimeSource::kStated;
  } else if (log.bounds && log.bounds->most - log.bounds->least <= kCloseBounds) {
    for (std::size_t i = 0; i < ranges.size(); ++i)
      log.gpu_ns[i] = ranges[i].most_ns < 0 ? -1 : (ranges[i].least_ns + ranges[i].most_ns) / 2;
    log.source = GpuTimeSource::kEnds;
  } else if (log.chain.gpu_load_ppm > 0) {
    const double load = log.chain.gpu_load_ppm * 1e-6;
    take_share(log, log.bounds ? std::clamp(load, log.bounds->least, log.bounds->most) : load);
    log.source = GpuTimeSource::kLoad;
  }
}

}  // namespace

double FrameLog::gpu_share() const {
  double gpu = 0, sum = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (gpu_ns[i] < 0 || frames[i].interval_ns <= 0) continue;
    gpu += static_cast<double>(gpu_ns[i]);
    sum += static_cast<double>(frames[i].interval_ns);
  }
  return sum > 0 ? gpu / sum : 0;
}

bool FrameLog::is_still() const {
  std::vector<std::int64_t> sorted;
  if (source == GpuTimeSource::kMeasured)
    std::ranges::copy_if(gpu_ns, std::back_inserter(sorted), [](std::int64_t ns) { return ns > 0; });
  if (sorted.size() < kEnoughForStill) return false;
  std::ranges::sort(sorted);
  const auto at = [&](std::size_t twentieth) { return static_cast<double>(sorted[sorted.size() * twentieth / 20]); };
  return at(19) - at(1) <= kStillSpread * at(10);
}

FrameLog frame_log(const Timeline& timeline, const WorkloadOptions& options) {
  FrameLog log;
  const std::uint32_t chain = chosen_chain(timeline, chosen_run(timeline, options, log), log);
  log.chain = timeline.swapchains()[chain];
  for (const FrameRecord& frame : timeline.frames())
    if (frame.swapchain == chain) log.frames.push_back(frame);
  fill_in_host_work(log.frames);
  find_gpu_times(timeline, options, log);
  return log;
}

bool FrameLog::has_ends() const {
  return std::ranges::all_of(frames, [](const FrameRecord& frame) { return frame.gpu_end_ns >= 0; });
}

bool FrameLog::counts_ends() const {
  return (source == GpuTimeSource::kEnds || gpu_share() > kMoreThanPossible) && has_ends();
}

std::vector<std::int64_t> FrameLog::times_ns() const {
  std::vector<std::int64_t> times;
  if (counts_ends()) return end_times_ns();
  for (const FrameRecord& frame : frames) times.push_back(frame.interval_ns);
  if (!times.empty()) times.front() = -1;
  return times;
}

std::vector<std::int64_t> FrameLog::end_times_ns() const {
  std::vector<std::int64_t> times(std::min<std::size_t>(frames.size(), 1), -1);
  for (std::size_t i = 1; i < frames.size(); ++i) times.push_back(frames[i].gpu_end_ns - frames[i - 1].gpu_end_ns);
  return times;
}

std::optional<FrameFigures> FrameLog::figures_by_ends() const {
  return has_ends() ? figures_of(end_times_ns()) : std::nullopt;
}

std::optional<FrameFigures> FrameLog::figures() const { return figures_of(times_ns()); }

std::optional<FrameFigures> figures_of(std::vector<std::int64_t> times_ns) {
  std::erase_if(times_ns, [](std::int64_t ns) { return ns <= 0; });
  if (times_ns.size() < 2) return std::nullopt;
  std::ranges::sort(times_ns);
  const auto count = times_ns.size();
  const auto at = [&](double q) {
    return static_cast<double>(times_ns[static_cast<std::size_t>(std::ceil(q * static_cast<double>(count))) - 1]);
  };
  const auto sum = [&](std::size_t first) {
    return std::accumulate(times_ns.begin() + static_cast<std::ptrdiff_t>(first), times_ns.end(), 0.0);
  };
  const std::size_t slowest = std::max<std::size_t>(count / 100, 1);
  FrameFigures figures;
  figures.fps = 1e9 * static_cast<double>(count) / sum(0);
  figures.fps_1low = 1e9 * static_cast<double>(slowest) / sum(count - slowest);
  figures.frame_time_p99_s = at(0.99) * 1e-9;
  return figures;
}

}  // namespace corun
