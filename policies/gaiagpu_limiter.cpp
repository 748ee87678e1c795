#include "policies/gaiagpu_limiter.h"

#include <algorithm>
#include <cstdlib>

namespace corun {

namespace {

constexpr std::int64_t kPoolFactor = 32;
constexpr std::int64_t kSmallestDifference = 5;  // percent
constexpr std::int64_t kRaiseTicks = 30;
constexpr std::int64_t kSpareThreshold = 5;      // percent

}  // namespace

GaiaLimiter::GaiaLimiter(Device device, std::int64_t request, bool is_elastic, std::int64_t ceiling)
    : device_(device),
      pool_(device.max_threads_per_sm * device.sm_count * kPoolFactor),
      request_(request),
      is_elastic_(is_elastic),
      ceiling_(std::max(request, ceiling)),
      limit_(request) {}

std::int64_t GaiaLimiter::step(std::int64_t limit, std::int64_t used) const {
  const std::int64_t difference = std::max(kSmallestDifference, std::abs(limit - used));
  const std::int64_t sms = device_.sm_count;
  const std::int64_t plain = sms * sms * device_.max_threads_per_sm / 256 * difference / 10;
  return difference > limit / 2 ? plain * difference * 2 / (limit + 1) : plain;
}

std::int64_t GaiaLimiter::next_share(std::int64_t limit, std::int64_t used) const {
  const std::int64_t by = step(limit, used);
  return used <= limit ? std::min(pool_, share_ + by) : std::max<std::int64_t>(0, share_ - by);
}

void GaiaLimiter::tick(const Reading& reading) {
  if (is_elastic_) {
    tick_elastic(reading);
  } else if (!tick_hard(reading)) {
    return;
  }
  bucket_ = std::min(pool_, bucket_ + share_);
}

/// False at the start-up guard, which fills the bucket directly and leaves the share alone.
bool GaiaLimiter::tick_hard(const Reading& reading) {
  if (reading.processes == 1 && reading.own < limit_ / 10) {
    bucket_ = next_share(limit_, reading.own);
    return false;
  }
  share_ = next_share(limit_, reading.own);
  return true;
}

void GaiaLimiter::tick_elastic(const Reading& reading) {
  if (reading.processes > processes_) {
    share_ = device_.max_threads_per_sm;
    limit_ = request_;
    raise_ticks_ = spare_sum_ = 0;
  }
  processes_ = reading.processes;
  if (reading.processes == 1) {
    share_ = next_share(ceiling_, reading.own);
  } else {
    count_spare(100 - reading.system);
    share_ = next_share(limit_, reading.own);
  }
}

void GaiaLimiter::count_spare(std::int64_t spare) {
  ++raise_ticks_;
  spare_sum_ += spare;
  if (raise_ticks_ == kRaiseTicks) {
    if (2 * spare_sum_ / kRaiseTicks > kSpareThreshold) limit_ = std::min(ceiling_, limit_ + request_ / 10);
    raise_ticks_ = 0;
  }
  // The sum is cleared in the middle of an interval too, so that the test sees its second half only.
  if (raise_ticks_ % (kRaiseTicks / 2) == 0) spare_sum_ = 0;
}

}  // namespace corun
