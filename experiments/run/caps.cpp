#include "experiments/run/caps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "policies/limits/gaiagpu_limiter.h"

namespace corun {

namespace {

// The defaults of gaiagpu and hami, in milliseconds.
constexpr double kTick = 120.0;
constexpr double kBackoff = 10.0;
constexpr double kSensorPeriod = 1000.0 / 6;
constexpr double kSensorWindow = 1000.0;
constexpr double kMinute = 60'000.0;

/// The limiter's loop around a program of equal launches, in steps of one back-off.
class Loop {
 public:
  Loop(const GaiaLimiter& limiter, const LaunchProfile& profile)
      : limiter_(limiter), profile_(profile), launch_ms_(to_milliseconds(profile.mean_launch)) {}

  /// Mean utilisation of the first minute, percent.
  double run() {
    double next_tick = kTick, next_sample = kSensorPeriod;
    samples_ = {0.0};
    for (double now = 0.0; now < kMinute; now += kBackoff) {
      for (; next_sample <= now; next_sample += kSensorPeriod) sample();
      for (; next_tick <= now; next_tick += kTick) limiter_.tick({reading_, reading_, 1});
      launch();
    }
    return 100.0 * busy_ / kMinute;
  }

  const GaiaLimiter& limiter() const { return limiter_; }

 private:
  void sample() {
    samples_.push_back(busy_);
    if (samples_.size() > 1 + static_cast<std::size_t>(std::lround(kSensorWindow / kSensorPeriod)))
      samples_.pop_front();
    reading_ =
        std::min<std::int64_t>(100, static_cast<std::int64_t>(100.0 * (busy_ - samples_.front()) / kSensorWindow));
  }

  /// What passes until the next look: as long as there is no debt, and no more than the program has time for.
  void launch() {
    room_ = std::min(room_, 0.0) + kBackoff * profile_.busy_alone;
    if (room_ <= 0.0 || !limiter_.may_launch()) return;
    const double by_tokens = std::floor(static_cast<double>(limiter_.bucket()) / profile_.blocks_per_launch) + 1.0;
    const double count = std::min(by_tokens, std::ceil(room_ / launch_ms_));
    limiter_.charge(std::llround(count * profile_.blocks_per_launch));
    room_ -= count * launch_ms_;
    busy_ += count * launch_ms_;
  }

  GaiaLimiter limiter_;
  const LaunchProfile& profile_;
  const double launch_ms_;
  double room_ = 0.0;           // ms until the program has launched all it can; negative: it is ahead
  double busy_ = 0.0;           // ms
  std::deque<double> samples_;  // busy_ at the samples of the window
  std::int64_t reading_ = 0;    // percent
};

/// What the program should use under the cap, percent.
double wanted_of(const LaunchProfile& profile, int percent) {
  return std::min<double>(percent, 100.0 * profile.busy_alone);
}

bool is_held(double used, double wanted) { return std::abs(used - wanted) <= kHeldWithin * wanted; }

/// Why a bucket of blocks lets through what it does, in the terms of its refill: blocks a tick.
std::string explain(const GaiaLimiter& limiter, const LaunchProfile& profile, int percent, double used) {
  const double wanted = wanted_of(profile, percent);
  const double needed = percent / 100.0 * kTick * profile.blocks_per_ms;
  const double steps = needed / static_cast<double>(limiter.step(percent, 0));
  if (is_held(used, wanted) && wanted < percent) return fmt::format("uses {:.0f} % without a cap", wanted);
  if (is_held(used, wanted)) return fmt::format("the refill it needs is {:.2g} steps from idle", steps);
  if (used > wanted) return fmt::format("overshoots: the refill it needs is {:.2g} of a step from idle", steps);
  if (limiter.share() == 0) return "starved: it never leaves the start-up guard";
  if (needed > static_cast<double>(limiter.pool()))
    return fmt::format("starved: the refill is {} blocks at most", limiter.pool());
  return fmt::format("slow: the refill it needs is {:.0f} steps from idle", steps);
}

CapVerdict judge_buckets(const DeviceSpec& device, const LaunchProfile& profile, int percent,
                         const GaiaLimiter::Rules& rules) {
  Loop loop(GaiaLimiter({device.sm_count, device.max_threads_per_sm}, percent, rules), profile);
  const double used = loop.run();
  return {is_held(used, wanted_of(profile, percent)), used, explain(loop.limiter(), profile, percent, used)};
}

/// Overdraws by one launch, which the budget pays back: only a launch of about a sensor's window shows.
CapVerdict judge_block_time(const LaunchProfile& profile, int percent) {
  const double wanted = wanted_of(profile, percent);
  const double overdraft = 100.0 * to_milliseconds(profile.longest_launch) / kSensorWindow;
  if (wanted < percent) return {true, wanted, fmt::format("uses {:.0f} % without a cap", wanted)};
  return {overdraft <= wanted, wanted, fmt::format("the longest launch is {:.2g} % of a second", overdraft)};
}

}  // namespace

LaunchProfile profile_launches(const Workload& workload, double jobs_per_s) {
  LaunchProfile profile;
  double blocks = 0.0;
  Duration busy{};
  for (const WorkOp& op : workload.ops) {
    if (op.kind != OpKind::kKernel) continue;
    ++profile.launches;
    blocks += static_cast<double>(std::max<std::uint64_t>(1, op.shape.blocks()));
    busy += op.duration;
    profile.longest_launch = std::max(profile.longest_launch, op.duration);
  }
  if (profile.launches == 0 || busy == Duration::zero()) return {};
  const auto launches = static_cast<double>(profile.launches);
  profile.blocks_per_ms = blocks / to_milliseconds(busy);
  profile.blocks_per_launch = blocks / launches;
  profile.mean_launch = busy / static_cast<std::int64_t>(profile.launches);
  const double rate = jobs_per_s > 0 ? jobs_per_s : workload.untraced_jobs_per_s;
  const double span = rate > 0 ? static_cast<double>(workload.jobs.size()) / rate : to_seconds(workload.recorded_span);
  if (span > 0) profile.busy_alone = std::min(1.0, to_seconds(busy) / span);
  return profile;
}

std::string_view to_string(CapLimiter limiter) {
  switch (limiter) {
    case CapLimiter::kGaiaGpu:
      return "gaiagpu";
    case CapLimiter::kHami:
      return "hami";
    case CapLimiter::kBlockTime:
      return "block_time_limiter";
  }
  return "unknown limiter";
}

CapVerdict judge_cap(CapLimiter limiter, const DeviceSpec& device, const LaunchProfile& profile, int percent) {
  if (profile.launches == 0) return {false, 0.0, "no kernels: no launch passes the limiter"};
  switch (limiter) {
    case CapLimiter::kGaiaGpu:
      return judge_buckets(device, profile, percent, {});
    case CapLimiter::kHami:
      return judge_buckets(device, profile, percent, {.sm_exponent = 1, .doubles_pool = true, .guards_start = false});
    case CapLimiter::kBlockTime:
      return judge_block_time(profile, percent);
  }
  return {};
}

}  // namespace corun
