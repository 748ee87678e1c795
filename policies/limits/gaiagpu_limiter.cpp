#include "policies/limits/gaiagpu_limiter.h"

#include <algorithm>
#include <cstdlib>

namespace corun {

namespace {

constexpr std::int64_t kPoolFactor = 32;
constexpr std::int64_t kSmallestDifference = 5;  // percent
constexpr std::int64_t kIntervalTicks = 30;
constexpr std::int64_t kSpareThreshold = 5;  // percent

}  // namespace

GaiaLimiter::GaiaLimiter(Device device, std::int64_t request, const Rules& rules)
    : device_(device),
      rules_(rules),
      request_(request),
      pool_(device.max_threads_per_sm * device.sm_count * kPoolFactor),
      limit_(request) {}

std::int64_t GaiaLimiter::step(std::int64_t limit, std::int64_t used) const {
  const std::int64_t difference = std::max(kSmallestDifference, std::abs(limit - used));
  const std::int64_t sms = rules_.sm_exponent == 2 ? device_.sm_count * device_.sm_count : device_.sm_count;
  const std::int64_t plain = sms * device_.max_threads_per_sm / 256 * difference / 10;
  return difference > limit / 2 ? plain * difference * 2 / (limit + 1) : plain;
}

std::int64_t GaiaLimiter::next_share(std::int64_t limit, std::int64_t used) const {
  const std::int64_t by = step(limit, used);
  return used <= limit ? std::min(pool_, share_ + by) : std::max<std::int64_t>(0, share_ - by);
}

void GaiaLimiter::resize(std::int64_t request) {
  request_ = limit_ = request;
  ticks_ = spare_sum_ = 0;
}

void GaiaLimiter::tick(const Reading& reading) {
  if (rules_.doubles_pool && share_ == pool_ && bucket_ < 0) share_ = pool_ *= 2;
  switch (rules_.mode) {
    case Mode::kHard:
      if (!tick_hard(reading)) return;
      break;
    case Mode::kElastic:
      tick_elastic(reading);
      break;
    case Mode::kElasticPaper:
      tick_elastic_paper(reading);
      break;
  }
  bucket_ = std::min(pool_, bucket_ + share_);
}

/// False at the start-up guard, which fills the bucket directly and leaves the share alone.
bool GaiaLimiter::tick_hard(const Reading& reading) {
  if (rules_.guards_start && reading.processes == 1 && reading.own < limit_ / 10) {
    bucket_ = next_share(limit_, reading.own);
    return false;
  }
  share_ = next_share(limit_, reading.own);
  return true;
}

void GaiaLimiter::tick_elastic(const Reading& reading) {
  const std::int64_t ceiling = std::max(request_, rules_.ceiling);
  if (reading.processes > processes_) {
    share_ = device_.max_threads_per_sm;
    limit_ = request_;
    ticks_ = spare_sum_ = 0;
  }
  processes_ = reading.processes;
  if (reading.processes == 1) {
    share_ = next_share(ceiling, reading.own);
    return;
  }
  std::int64_t spare_sum = 0;
  if (interval_ends(100 - reading.system, spare_sum) && 2 * spare_sum / kIntervalTicks > kSpareThreshold)
    limit_ = std::min(ceiling, limit_ + request_ / 10);
  share_ = next_share(limit_, reading.own);
}

void GaiaLimiter::tick_elastic_paper(const Reading& reading) {
  std::int64_t spare_sum = 0;
  if (interval_ends(100 - reading.system, spare_sum)) {
    const bool has_spare = 2 * spare_sum / kIntervalTicks > 100 - rules_.device_ceiling;
    const std::int64_t wanted = has_spare ? limit_ + request_ / 10 : limit_ - request_ / 10;
    limit_ = std::clamp(wanted, request_, std::max(request_, rules_.ceiling));
  }
  share_ = next_share(limit_, reading.own);
}

/// Counts a tick of an elastic limit's interval. True at its last, with the sum of what its second half had to spare:
/// vcuda-controller clears the sum in the middle of the interval too.
bool GaiaLimiter::interval_ends(std::int64_t spare, std::int64_t& spare_sum) {
  ++ticks_;
  spare_sum_ += spare;
  spare_sum = spare_sum_;
  const bool ends = ticks_ == kIntervalTicks;
  if (ends) ticks_ = 0;
  if (ticks_ % (kIntervalTicks / 2) == 0) spare_sum_ = 0;
  return ends;
}

}  // namespace corun
