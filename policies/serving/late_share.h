#pragma once

#include <algorithm>

namespace corun {

/// Keeps the share of late requests at what is allowed, whatever requests come, by a number in [0, 1] that says how
/// much others may take of a server's time. It falls with each late request and rises with each other one.
///
/// As long as no request is late where the number is 0, of n requests at most `allowed` n + 1 + 1 / `gain` are late:
/// what n requests raise the number by, and where it begins, is what the late ones can take from it (the argument of
/// I. Gibbs and E. Candes, "Adaptive conformal inference under distribution shift", NeurIPS 2021).
class LateShare {
 public:
  /// `allowed` in [0, 1) and `gain` in (0, 1].
  LateShare(double allowed, double gain) : allowed_(allowed), gain_(gain) {}

  void answered(bool is_late) {
    const double step = is_late ? allowed_ - 1.0 : allowed_;
    value_ = std::clamp(value_ + gain_ * step, -gain_, 1.0);  // below 0, or the last late ones before 0 would be free
  }
  double value() const { return std::max(value_, 0.0); }

 private:
  double allowed_;
  double gain_;
  double value_ = 1.0;
};

}  // namespace corun
