#include "sim/calibration/fits/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traces/base/units.h"

namespace corun::calibration {

namespace {

/// Exact for whole numbers of a unit; else to the digits that a measurement has.
double rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::string rate_text(double bytes_per_s) {
  return bytes_per_s >= 1e9 ? fmt::format("{:.4g}GB/s", bytes_per_s / 1e9)
                            : fmt::format("{:.4g}MB/s", bytes_per_s / 1e6);
}

std::string bytes_text(double bytes) {
  constexpr double kMiB = 1 << 20;
  const bool is_whole = bytes >= kMiB && std::fmod(bytes, kMiB) == 0;
  return is_whole ? fmt::format("{:.0f}MiB", bytes / kMiB) : fmt::format("{:.0f}B", bytes);
}

}  // namespace

std::vector<ModelError> model_errors(const std::vector<Comparison>& comparisons) {
  std::vector<ModelError> errors = {{"the model"}};
  if (comparisons.empty()) return {};
  for (const auto& [name, prediction] : comparisons.front().nulls) errors.push_back({name});
  const auto add = [&](ModelError& to, double predicted, double measured) {
    const double error = std::abs(Comparison::error(predicted, measured));
    to.mean += error / static_cast<double>(comparisons.size());
    to.worst = std::max(to.worst, error);
  };
  for (const Comparison& c : comparisons) {
    add(errors[0], c.model, c.measured);
    for (std::size_t i = 0; i < c.nulls.size() && i + 1 < errors.size(); ++i)
      add(errors[i + 1], c.nulls[i].second, c.measured);
  }
  return errors;
}

std::string text_of(double value, Unit unit) {
  switch (unit) {
    case Unit::kNs:
      return format_duration(Duration{static_cast<std::int64_t>(std::llround(rounded(value)))});
    case Unit::kBytes:
      return bytes_text(value);
    case Unit::kBytesPerS:
      return rate_text(value);
    case Unit::kKhz:
      return fmt::format("{:.0f} MHz", value / 1e3);
    case Unit::kRatio:
      return fmt::format("{:.3g}", value);
    default:
      return fmt::format("{:.0f}", value);
  }
}

std::string value_text(const Finding& finding) {
  return finding.unit == Unit::kChoice ? finding.choice : text_of(finding.value.value, finding.unit);
}

std::string spread_text(const Finding& finding) {
  if (finding.unit == Unit::kChoice || finding.value.count < 2) return "";
  return fmt::format("{} to {}", text_of(finding.value.low, finding.unit), text_of(finding.value.high, finding.unit));
}

}  // namespace corun::calibration
