#include "sim/device/sm_curve.h"

#include <algorithm>

namespace corun {

double SmCurve::time_on(double fraction) const {
  Point above;  // all SMs
  double slope = 0;
  for (const Point& point : points_) {
    slope = (point.time - above.time) / (1 / point.fraction - 1 / above.fraction);
    if (point.fraction <= fraction) break;
    above = point;
  }
  if (points_.empty() || fraction >= 1) return 1;
  if (fraction < points_.back().fraction) slope = std::max(slope, above.time * above.fraction);
  return std::max(1.0, above.time + slope * (1 / fraction - 1 / above.fraction));
}

}  // namespace corun
