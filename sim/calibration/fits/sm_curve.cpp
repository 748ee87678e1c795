#include "sim/calibration/fits/sm_curve.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/calibration/fits/quantile.h"
#include "sim/calibration/fits/together.h"

namespace corun::calibration {

namespace {

using Points = std::vector<std::pair<double, double>>;  // what there was of the resource, time

Curve through(const Points& points) {
  Curve curve;
  if (points.empty()) return curve;
  const auto all = std::ranges::max(points);
  for (const auto& [left, time] : points) {
    if (left >= all.first) continue;
    curve.fractions.push_back(left / all.first);
    curve.rates.push_back(all.second / time);
  }
  return curve;
}

}  // namespace

double Curve::exponent() const { return std::min(1.0, exponent_through_one(fractions, rates)); }

Curve curve_over_multiprocessors(const Samples& samples, WorkKind kind) {
  const std::string series = std::string(to_string(kind)) + "_ns";
  Points points;
  for (const Sample& sample : samples)
    if (sample.probe == "rates" && !sample.of(series).empty())
      points.push_back({as_double(sample.first("sm_count")), median(numbers(sample, series))});
  return through(points);
}

Curve curve_over_blocks(const Samples& samples, WorkKind kind) {
  Points points;
  for (const Sample& sample : samples) {
    if (sample.probe != "fills") continue;
    for (int held = 1; held <= 32; ++held) {
      const std::string series = std::string(to_string(kind)) + "_" + std::to_string(held) + "_ns";
      if (!sample.of(series).empty()) points.push_back({held, median(numbers(sample, series))});
    }
  }
  return through(points);
}

}  // namespace corun::calibration
