#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// Measured utilisation over a sliding window, sampled as a driver does: at a fixed period, whether or not it is read.
///
/// A sample holds the device time that each client and the device have received until then. A reading is what was
/// received over the window that ends at the newest sample, in whole percent, 0 to 100; it is 0 when the newest sample
/// is as old as the window, as a driver then has nothing to show. Single-threaded; nothing is thrown.
class UtilisationSensor {
 public:
  /// `window` and `period` are positive.
  UtilisationSensor(Duration window, Duration period) : window_(window), period_(period) {}

  /// Takes its first sample at `now`; forgets all before.
  void start(Time now) {
    samples_.clear();
    next_ = now;
  }

  /// Takes the samples that are due; to be called at every next(). True if there was one.
  bool sample(const GpuView& view) {
    if (view.now < next_) return false;
    for (; next_ <= view.now; next_ += period_) {
      Sample taken{next_, view.device.busy, {}};
      for (const ClientView& client : view.clients) taken.device_time.push_back(client.device_time);
      samples_.push_back(std::move(taken));
    }
    while (samples_.size() > 2 && samples_[1].time <= samples_.back().time - window_) samples_.pop_front();
    return true;
  }

  Time next() const { return next_; }  ///< when the next sample is due
  std::int64_t own(ClientId client, Time now) const {
    return percent(samples_.back().device_time[client.value] - samples_.front().device_time[client.value], now);
  }
  std::int64_t system(Time now) const { return percent(samples_.back().busy - samples_.front().busy, now); }

 private:
  struct Sample {
    Time time;
    Duration busy;
    std::vector<Duration> device_time;
  };

  std::int64_t percent(Duration received, Time now) const {
    if (now - samples_.back().time >= window_) return 0;
    const Duration span = std::max(window_, samples_.back().time - samples_.front().time);
    return std::min<std::int64_t>(100, received / (span / 100));
  }

  const Duration window_;
  const Duration period_;
  Time next_;
  std::deque<Sample> samples_;
};

}  // namespace corun
