#include "sim/workload/capture/frame_pace.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr double kRefreshRates[] = {24, 25, 30, 40, 45, 48, 50, 60, 72, 75, 90, 100, 120, 144, 165, 240};
constexpr double kBusyAllTheTime = 0.9;
constexpr double kSleepsElsewhere = 0.8;
constexpr std::uint32_t kMostAhead = 3;  // a driver's usual limit

double interval_at(const FrameLog& log, double quantile) {
  std::vector<std::int64_t> intervals;
  for (const FrameRecord& frame : log.frames)
    if (frame.interval_ns > 0) intervals.push_back(frame.interval_ns);
  if (intervals.empty()) return 0.0;
  const auto at = intervals.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(intervals.size() - 1));
  std::nth_element(intervals.begin(), at, intervals.end());
  return static_cast<double>(*at);
}

double mean_gpu_ns(const FrameLog& log) {
  double sum = 0;
  for (const std::int64_t ns : log.gpu_ns) sum += static_cast<double>(ns);
  return sum / static_cast<double>(log.gpu_ns.size());
}

/// The median interval, where the others are within `spread` of it and the GPU has time to spare; else 0.
double steady_interval(const FrameLog& log, double spread) {
  const double median = interval_at(log, 0.5);
  const bool is_steady = interval_at(log, 0.75) - interval_at(log, 0.25) <= spread * median;
  return is_steady && mean_gpu_ns(log) <= kBusyAllTheTime * median ? median : 0.0;
}

/// The period of a display's refresh rate; 0 if it is none.
Duration refresh_period(double interval_ns, double within = 0.01) {
  for (const double rate : kRefreshRates)
    if (std::abs(interval_ns * rate / 1e9 - 1.0) < within) return Duration{std::llround(1e9 / rate)};
  return Duration{0};
}

/// Of frames that have it.
double mean_ns(const FrameLog& log, std::int64_t FrameRecord::*column) {
  double sum = 0, count = 0;
  for (const FrameRecord& frame : log.frames) {
    if (frame.*column < 0) continue;
    sum += static_cast<double>(frame.*column);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Frames that come faster than a beat do not wait for it.
bool keeps(const FrameLog& log, double beat_ns) {
  const auto figures = log.figures();
  return figures && 1e9 / figures->fps >= 0.98 * beat_ns;
}

/// What people and games set limits to: a usual rate of displays, a multiple of 5 a second, or whole milliseconds.
bool is_usual_limit(double beat_ns) {
  const auto is_near_whole = [](double value) { return std::abs(value / std::round(value) - 1) < 0.0015; };
  return refresh_period(beat_ns, 0.005) > Duration{0} || is_near_whole(1e9 / beat_ns / 5) ||
         is_near_whole(beat_ns / 1e6);
}

/// Time between two frames that neither host nor GPU explain, and so a limiter's: frames come at a beat, and their
/// hosts seem to work longer than a beat and the GPU's part allow, since what they sleep before the next frame counts
/// as work. Without a display to wait for, what they wait in the present call is a limiter's, too.
Duration limiter_period(const FrameLog& log) {
  const auto has_submit = [](const FrameRecord& frame) { return frame.submit_ns >= 0; };
  double beat = steady_interval(log, 0.03);
  if (beat == 0.0) beat = steady_interval(log, 0.08);
  const bool is_seen = beat > 0 && std::ranges::any_of(log.frames, has_submit) && steady_interval(log, 0.03) > 0;
  if (beat == 0.0 || !keeps(log, beat) || !(is_seen || is_usual_limit(beat))) return Duration{0};
  double host_ns = mean_ns(log, &FrameRecord::cpu_busy_ns);
  if (log.chain.vsync == Vsync::kOff) host_ns += mean_ns(log, &FrameRecord::in_present_ns);
  if (log.chain.vsync == Vsync::kOn || host_ns + mean_gpu_ns(log) < 1.02 * beat) return Duration{0};
  const Duration refresh = refresh_period(beat);
  return refresh > Duration{0} ? refresh : Duration{std::llround(beat)};
}

Duration vsync_period(const FrameLog& log) {
  if (log.chain.vsync == Vsync::kOff) return Duration{0};
  const double beat = steady_interval(log, 0.15);
  return beat > 0 && keeps(log, beat) ? refresh_period(beat) : Duration{0};
}

/// When each frame ended on the GPU: as recorded, else as late as it can be.
std::vector<std::int64_t> ends_of(const FrameLog& log) {
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < log.frames.size(); ++i) {
    const FrameRecord& frame = log.frames[i];
    const std::int64_t before = ends.empty() ? frame.present_ns : std::max(ends.back(), frame.present_ns);
    ends.push_back(frame.gpu_end_ns >= 0 ? frame.gpu_end_ns : before + log.gpu_ns[i]);
  }
  return ends;
}

/// Unfinished frames when the host began another, in nine of ten cases. None only where presents returned when the GPU
/// had done the frame, and had waited for it.
std::uint32_t frames_ahead(const FrameLog& log) {
  const std::vector<std::int64_t> ends = ends_of(log);
  std::vector<std::uint32_t> ahead;
  std::size_t waited = 0;
  for (std::size_t i = kMostAhead; i < log.frames.size(); ++i) {
    const FrameRecord& before = log.frames[i - 1];
    const std::int64_t begin_ns = before.present_ns + std::max<std::int64_t>(before.in_present_ns, 0);
    std::uint32_t unfinished = 0;
    for (std::size_t j = i - kMostAhead; j < i; ++j) unfinished += ends[j] > begin_ns ? 1 : 0;
    ahead.push_back(unfinished);
    const bool has_waited = before.gpu_end_ns >= 0 && unfinished == 0 && 2 * before.in_present_ns > log.gpu_ns[i - 1];
    waited += has_waited ? 1 : 0;
  }
  if (ahead.empty()) return 1;
  if (10 * waited >= 9 * ahead.size()) return 0;
  const auto at = ahead.begin() + static_cast<std::ptrdiff_t>(ahead.size() * 9 / 10);
  std::nth_element(ahead.begin(), at, ahead.end());
  return std::clamp<std::uint32_t>(*at, 1, kMostAhead);
}

/// Least work of a host that waits for the GPU within its calls, which a log counts as work: the lower quartile.
std::int64_t least_host_work(const FrameLog& log) {
  std::vector<std::int64_t> host;
  for (const FrameRecord& frame : log.frames)
    if (frame.cpu_busy_ns >= 0) host.push_back(frame.cpu_busy_ns);
  if (host.empty()) return 0;
  const auto quartile = host.begin() + static_cast<std::ptrdiff_t>(host.size() / 4);
  std::ranges::nth_element(host, quartile);
  return *quartile;
}

/// A limiter sleeps before a frame's first submission. Where that was not recorded, it sleeps in the present call if
/// hosts are not busy for most of the time.
std::int64_t own_work(const FrameRecord& frame, const FramePace& pace) {
  if (pace.limiter_period > Duration{0} && frame.submit_ns < 0 && !pace.is_host_known) return 0;
  if (pace.limiter_period > Duration{0} && frame.submit_ns >= 0)
    return std::clamp<std::int64_t>(frame.present_ns - frame.submit_ns, 0,
                                    std::max<std::int64_t>(frame.cpu_busy_ns, 0));
  return std::max<std::int64_t>(frame.cpu_busy_ns, 0);
}

/// Frames in step with a display: hosts work as logged as long as the frame is on time. One that was shown ticks later
/// was late because of its host, unless its GPU time explains it.
void set_ticks(const FrameLog& log, FramePace& pace) {
  const std::int64_t tick = to_ns(pace.vsync_period);
  for (std::size_t i = 0; i < log.frames.size(); ++i) {
    const std::int64_t gpu = log.gpu_ns[i], interval = std::max<std::int64_t>(log.frames[i].interval_ns, 0);
    std::int64_t host = std::min(own_work(log.frames[i], pace), std::max<std::int64_t>(0, tick - gpu));
    const std::int64_t ticks = (interval + tick / 2) / tick;
    if (ticks > 1) host = std::max(host, (ticks - 1) * tick + tick / 2 - gpu);
    pace.host.emplace_back(host);
    pace.bubble.emplace_back(0);
  }
}

/// Frames of a limiter: as set_ticks, but frames are shown when they are done, and the limiter lets the next one begin
/// a period after this one began.
void set_limited(const FrameLog& log, FramePace& pace) {
  const std::int64_t beat = to_ns(pace.limiter_period);
  std::int64_t start = 0, host_done = 0, end = 0, due = 0;
  for (std::size_t i = 0; i < log.frames.size(); ++i) {
    const std::int64_t gpu = log.gpu_ns[i], interval = log.frames[i].interval_ns;
    std::int64_t host = std::min(own_work(log.frames[i], pace), std::max<std::int64_t>(0, beat - gpu));
    start = i == 0 ? 0 : std::max(start + beat, host_done);
    const std::int64_t natural = std::max(start + host, end) + gpu;
    due = i == 0 ? natural : due + (interval > 0 ? interval : beat);
    if (interval < beat + beat / 16) due += (natural - due) / 16;  // periods are not known to the last digit
    if (due - natural > beat / 16) host = due - gpu - start;
    host_done = start + host;
    end = std::max(host_done, end) + gpu;
    pace.host.emplace_back(host);
    pace.bubble.emplace_back(0);
  }
}

/// Replays the frames one after another, and gives each the host work with which it comes at its recorded time.
class FreeRun {
 public:
  FreeRun(const FrameLog& log, FramePace& pace) : log_(log), pace_(pace) {
    if (pace.is_gpu_bound) most_host_ = least_host_work(log);
    longest_bubble_ = static_cast<std::int64_t>(0.25 * interval_at(log, 0.5));
  }

  void run() {
    const std::vector<std::int64_t> times_ns = log_.times_ns();
    const std::int64_t usual = times_ns[0] > 0 ? times_ns[0] : std::llround(interval_at(log_, 0.5));
    std::int64_t due = std::max(usual, log_.gpu_ns[0]);  // the frame before it ended at 0
    for (std::size_t i = 0; i < log_.frames.size(); ++i) {
      if (i > 0) due += std::max<std::int64_t>(times_ns[i], 0);
      step(i, due);
    }
  }

 private:
  void step(std::size_t i, std::int64_t due) {
    const std::int64_t gpu = log_.gpu_ns[i], busy = log_.frames[i].cpu_busy_ns;
    const std::size_t ahead = pace_.queued_ahead;
    const std::int64_t begin = std::max(host_done_, i > ahead ? ends_[i - 1 - ahead] : 0);
    const std::int64_t gpu_free = ends_.empty() ? 0 : ends_.back();
    const std::int64_t wanted = due - gpu;  // when the GPU is to begin
    std::int64_t host = std::max<std::int64_t>(0, wanted - begin), bubble = 0;
    if (gpu_free >= wanted) {  // its host is hidden behind the frame before
      if (busy >= 0) host = std::min({busy, most_host_, std::max<std::int64_t>(0, gpu_free - begin)});
    } else if (pace_.is_gpu_bound && wanted - gpu_free <= longest_bubble_) {
      host = std::min(host, most_host_);
      bubble = wanted - gpu_free;
    }
    host_done_ = begin + host;
    ends_.push_back(std::max(host_done_, gpu_free + bubble) + gpu);
    pace_.host.emplace_back(host);
    pace_.bubble.emplace_back(bubble);
  }

  const FrameLog& log_;
  FramePace& pace_;
  std::int64_t most_host_ = INT64_MAX, longest_bubble_ = 0, host_done_ = 0;
  std::vector<std::int64_t> ends_;  // of the GPU's work, replayed
};

}  // namespace

FramePace pace_of(const FrameLog& log) {
  FramePace pace;
  pace.queued_ahead = frames_ahead(log);
  pace.is_gpu_bound = log.gpu_share() >= kBusyAllTheTime;
  pace.limiter_period = limiter_period(log);
  pace.vsync_period = vsync_period(log);
  const Duration beat = pace.limiter_period > Duration{0} ? pace.limiter_period : pace.vsync_period;
  if (beat > Duration{0}) {
    const auto is_unknown = [](const FrameRecord& frame) { return frame.submit_ns < 0; };
    pace.is_host_known = pace.limiter_period == Duration{0} || std::ranges::none_of(log.frames, is_unknown) ||
                         mean_ns(log, &FrameRecord::cpu_busy_ns) <= kSleepsElsewhere * static_cast<double>(to_ns(beat));
    if (pace.limiter_period > Duration{0})
      set_limited(log, pace);
    else
      set_ticks(log, pace);
  } else {
    FreeRun(log, pace).run();
  }
  return pace;
}

FrameFigures figures_alone(const FrameLog& log, const FramePace& pace) {
  const bool is_limited = pace.limiter_period > Duration{0};
  const std::int64_t beat = to_ns(is_limited ? pace.limiter_period : pace.vsync_period);
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> times_ns;
  std::int64_t host_done = 0, start = 0, last_shown = 0;
  for (std::size_t i = 0; i < log.frames.size(); ++i) {
    const std::size_t ahead = pace.queued_ahead;
    std::int64_t begin = std::max(host_done, i > ahead ? ends[i - 1 - ahead] : 0);
    if (i > 0 && beat > 0) {
      begin = std::max(begin, is_limited ? start + beat : (start / beat + 1) * beat);
      if (!is_limited && ahead == 0) begin = (begin + beat - 1) / beat * beat;
    }
    start = begin;
    host_done = begin + to_ns(pace.host[i]);
    const std::int64_t gpu_free = ends.empty() ? 0 : ends.back() + to_ns(pace.bubble[i]);
    ends.push_back(std::max(host_done, gpu_free) + log.gpu_ns[i]);
    std::int64_t present = ends.back();
    if (beat > 0 && !is_limited) present = std::max((present + beat - 1) / beat * beat, i > 0 ? last_shown + beat : 0);
    if (i > 0) times_ns.push_back(std::max<std::int64_t>(present - last_shown, 1));
    last_shown = present;
  }
  return figures_of(std::move(times_ns)).value_or(FrameFigures{});
}

}  // namespace corun
