#pragma once

#include <vector>

#include "sim/device/work.h"

namespace corun {

/// How long a kernel takes with fewer SMs, as measured: captures of its program under MPS percentages. Immutable.
///
/// The time of a kernel that its SMs bind grows in proportion to 1 / SMs, beyond a part that does not depend on them.
/// So times between two points are interpolated over 1 / SMs, and below the least number of SMs they grow on as between
/// the last two points, but at least as fast as that last point's time does in proportion. (studies/sm-caps)
class SmCurve {
 public:
  struct Point {
    double fraction = 1;  ///< of the device's SMs, (0, 1)
    double time = 1;      ///< over that with all SMs, > 0
    friend bool operator==(const Point&, const Point&) = default;
  };

  /// Fractions must fall; with all SMs the time is 1. No points: the kernel is not slowed down.
  explicit SmCurve(std::vector<Point> points) : points_(std::move(points)) {}

  const std::vector<Point>& points() const { return points_; }
  /// Time on `fraction` (0, 1] of the SMs over that on all of them, at least 1.
  double time_on(double fraction) const;
  Rate rate_on(double fraction) const { return rate_at(1.0 / time_on(fraction)); }

  friend bool operator==(const SmCurve&, const SmCurve&) = default;

 private:
  std::vector<Point> points_;
};

}  // namespace corun
