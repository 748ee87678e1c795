#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/fits/sm_curve.h"

namespace corun::calibration {

namespace {

using CurveOf = Curve (*)(const Samples&, WorkKind);

/// The mean exponent of the kinds that memory or cache binds, as last waves mostly are; arithmetic is reported apart.
Finding mean_exponent(const Samples& samples, CurveOf curve_of, const std::string& what_is_left, double least) {
  Finding finding{.unit = Unit::kRatio};
  finding.compared_in = Unit::kRatio;
  std::vector<double> exponents;
  for (const WorkKind kind : kWorkKinds) {
    const Curve curve = curve_of(samples, kind);
    if (curve.empty()) continue;
    finding.notes.push_back(fmt::format("`{}` kernels alone: exponent {:.2f}", to_string(kind), curve.exponent()));
    if (kind != WorkKind::kCompute) exponents.push_back(std::max(least, curve.exponent()));
  }
  if (exponents.empty()) return finding;
  finding.value = spread_of(exponents);
  finding.value.value =
      std::accumulate(exponents.begin(), exponents.end(), 0.0) / static_cast<double>(exponents.size());
  for (const WorkKind kind : kWorkKinds) {
    const Curve curve = curve_of(samples, kind);
    for (std::size_t i = 0; i < curve.rates.size() && kind != WorkKind::kCompute; ++i)
      finding.comparisons.push_back(
          {fmt::format("`{}` on {:.0f} % of {}", to_string(kind), 100 * curve.fractions[i], what_is_left),
           curve.rates[i],
           std::pow(curve.fractions[i], finding.value.value),
           {{"in proportion", curve.fractions[i]}, {"not at all", 1.0}}});
  }
  return finding;
}

}  // namespace

std::vector<Finding> fit_sm_rate(const Samples& samples, DeviceSpec& device) {
  constexpr double kLeastRateExponent = 0.01, kLeastFillExponent = 0.0;
  std::vector<Finding> findings;
  Finding rate = mean_exponent(samples, curve_over_multiprocessors, "them", kLeastRateExponent);
  if (rate.value.count > 0) {
    rate.key = "sm_rate_exponent";
    rate.title = "rate of a kernel over its multiprocessors";
    rate.method = "mean of kernels that memory or cache binds, alone with 75 to 12 % of the multiprocessors (MPS)";
    device.sm_rate_exponent = rate.value.value;
    device.sm_fill_exponent = rate.value.value;  // while nothing else is known
    findings.push_back(rate);
  }
  Finding fill = mean_exponent(samples, curve_over_blocks, "its blocks", kLeastFillExponent);
  if (fill.value.count > 0) {
    fill.key = "sm_fill_exponent";
    fill.title = "rate of a multiprocessor over the blocks that it holds";
    fill.method =
        "mean of kernels that memory or cache binds, alone, held to 4, 2 and 1 of 8 blocks of a multiprocessor by "
        "their "
        "shared memory";
    device.sm_fill_exponent = fill.value.value;
    findings.push_back(fill);
  }
  return findings;
}

}  // namespace corun::calibration
