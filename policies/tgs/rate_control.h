#pragma once

#include <cstdint>
#include <deque>

namespace corun {

/// TGS's control of the low-priority side's launch rate by what the high-priority side achieves, as congestion control
/// does it: it learns the high-priority rate with the other side stopped, then lets the other side grow as long as that
/// rate stays.
///
/// All rates and limits are thread blocks per limiter window. Single-threaded; nothing is thrown.
class TgsRateControl {
 public:
  struct Settings {
    double band;                   ///< relative deviation from the top rate that counts as none
    double growth;                 ///< factor of slow start, > 1
    double increase;               ///< step up afterwards, as a share of the top rate
    double decrease;               ///< step down, as a share of the limit
    double collapse;               ///< divisor of the limit when the deviation is three bands or more, >= 1
    double initial_limit;          ///< where slow start begins, blocks
    std::int64_t profile_reports;  ///< how many reports the top rate is learned from, >= 1
  };

  explicit TgsRateControl(const Settings& settings) : settings_(settings), profile_left_(settings.profile_reports) {}

  /// The high-priority side launched at `rate` since the report before.
  void report(double rate);

  double limit() const { return limit_; }   ///< of the low-priority side
  double top_rate() const { return top_; }  ///< the high-priority side's when it is undisturbed
  bool is_profiling() const { return profile_left_ > 0; }
  bool is_slow_start() const { return is_slow_start_; }

 private:
  double recent_top() const;
  bool follow(double observed, double tolerance);
  void start_slowly(double limit);
  void control(double rate);
  void slow_start(double deviation);
  void avoid_congestion(double deviation);
  void relearn_if_strained(double deviation);

  const Settings settings_;
  std::deque<double> recent_;  // newest last
  double top_ = 0.0;
  double limit_ = 0.0;
  std::int64_t profile_left_;
  std::int64_t reports_ = 0;   // since the first profile
  std::int64_t strained_ = 0;  // reports in a row far below or above the top rate
  bool is_slow_start_ = true;
  bool has_risen_ = false;  // the newest step was upwards
};

}  // namespace corun
