#include "policies/tgs/rate_control.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr std::size_t kRemembered = 5;          // reports
constexpr double kLeastRate = 0.01;             // the artifact counts at least 1 block in 5 s
constexpr double kIdleRate = 10.0;              // 1000 blocks in 5 s
constexpr double kLeastStep = 1000.0;           // blocks
constexpr double kUnlimited = 1099511627776.0;  // 2^40 blocks
constexpr std::int64_t kSettled = 15;           // reports before idleness is believed
constexpr std::int64_t kMostStrained = 20;      // reports

}  // namespace

void TgsRateControl::report(double rate) {
  rate = std::max(rate, kLeastRate);
  if (recent_.empty()) top_ = rate;
  const double observed = recent_.empty() ? rate : recent_top();
  recent_.push_back(rate);
  if (recent_.size() > kRemembered) recent_.pop_front();
  if (is_profiling()) {
    const bool is_stable = follow(observed, 0.05);
    profile_left_ = is_stable ? profile_left_ - 1 : std::max<std::int64_t>(profile_left_ - 1, 1);
  } else if (std::abs(observed - top_) / top_ > 0.2) {
    follow(observed, 0.2);
    profile_left_ = settings_.profile_reports;
  } else {
    if (std::abs(observed - top_) / top_ <= 0.1) top_ = std::max(top_, observed);
    control(rate);
  }
}

/// Largest mean of two neighbours among the remembered reports.
double TgsRateControl::recent_top() const {
  double top = recent_.size() == 1 ? recent_.front() : 0.0;
  for (std::size_t i = 1; i < recent_.size(); ++i) top = std::max(top, (recent_[i - 1] + recent_[i]) / 2);
  return top;
}

/// Moves the top rate towards what was observed; true if it was within the tolerance.
bool TgsRateControl::follow(double observed, double tolerance) {
  const double deviation = (observed - top_) / top_;
  if (std::abs(deviation) <= tolerance) {
    top_ = std::max(top_, observed);
    return true;
  }
  top_ = deviation > 0 ? std::max(top_, 0.975 * observed) : std::min(top_, 1.025 * observed);
  return false;
}

void TgsRateControl::start_slowly(double limit) {
  limit_ = limit;
  is_slow_start_ = true;
}

void TgsRateControl::control(double rate) {
  if (++reports_ == 1) return start_slowly(settings_.initial_limit);
  const auto idle = std::ranges::count_if(recent_, [](double each) { return each < kIdleRate; });
  if (idle > 2 && reports_ >= kSettled) return start_slowly(kUnlimited);
  if (idle == 2 && reports_ > kSettled) return start_slowly(settings_.initial_limit);
  const double deviation = std::abs(rate - top_) / top_;
  if (is_slow_start_) {
    slow_start(deviation);
  } else {
    avoid_congestion(deviation);
  }
  relearn_if_strained(deviation);
  limit_ = std::clamp(limit_, 0.0, kUnlimited);
}

void TgsRateControl::slow_start(double deviation) {
  if (deviation <= settings_.band) {
    limit_ = limit_ * settings_.growth + 1;
  } else {
    limit_ /= settings_.growth;
    is_slow_start_ = has_risen_ = false;
  }
}

void TgsRateControl::avoid_congestion(double deviation) {
  const bool may_rise = deviation < settings_.band || (deviation == settings_.band && !has_risen_);
  if (may_rise) {
    limit_ += std::max(settings_.increase * top_, kLeastStep);
  } else {
    limit_ -= std::max(settings_.decrease * limit_, kLeastStep);
  }
  has_risen_ = may_rise;
  if (deviation >= 3 * settings_.band) start_slowly(limit_ / settings_.collapse);
}

/// A high-priority side that stays away from its top rate does not have that rate any more.
void TgsRateControl::relearn_if_strained(double deviation) {
  strained_ = deviation >= 4 * settings_.band ? strained_ + 1 : 0;
  if (strained_ < kMostStrained) return;
  strained_ = 0;
  top_ *= 0.8;
  start_slowly(limit_ / 2);
}

}  // namespace corun
