#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "traces/base/time.h"

namespace corun {

/// The time to keep free at the end of a window so that work overruns it in at most a fraction epsilon of windows.
///
/// An error is how much later a window's work ended, seen from the next frame, than predicted when its last kernel was
/// admitted; early ends are negative. The margin is the (1 - epsilon) quantile of the newest errors. It assumes of
/// their distribution nothing but that the next window is like those before; the kernels' own noise, dispatch gaps, and
/// frames that come early are all in it. While there are too few errors for that quantile, it is the largest of them
/// and of the initial margin.
class OverrunMargin {
 public:
  struct Settings {
    double epsilon = 0.01;  ///< (0, 1)
    Duration initial{};
    Duration limit{};           ///< of its absolute value
    std::size_t windows = 300;  ///< how many errors are kept; > 0
  };

  explicit OverrunMargin(const Settings& settings) : settings_(settings), margin_(settings.initial) {}

  Duration margin() const { return margin_; }

  void learn(Duration error) {
    if (errors_.size() < settings_.windows) errors_.emplace_back();
    errors_[count_++ % settings_.windows] = error;
    std::vector<Duration> sorted = errors_;
    const auto n = static_cast<double>(sorted.size());
    const auto rank = static_cast<std::size_t>(std::ceil((n + 1) * (1 - settings_.epsilon)));
    const bool are_enough = rank <= sorted.size();
    const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(rank, sorted.size()) - 1);
    std::nth_element(sorted.begin(), nth, sorted.end());
    margin_ = std::clamp(are_enough ? *nth : std::max(*nth, settings_.initial), -settings_.limit, settings_.limit);
  }

 private:
  const Settings settings_;
  std::vector<Duration> errors_;  // ring
  std::uint64_t count_ = 0;
  Duration margin_;
};

}  // namespace corun
