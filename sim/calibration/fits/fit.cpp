#include "sim/calibration/fits/fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/base/error.h"

namespace corun::calibration {

namespace {

constexpr Fit kFits[] = {fit_properties, fit_slices, fit_idle, fit_host, fit_graphics, fit_sm_rate, fit_spatial};

std::vector<std::string> failures_of(const Samples& samples) {
  std::vector<std::pair<std::string, std::vector<std::string>>> trials_of;  // by what was said
  for (const Sample& sample : samples) {
    if (sample.failure.empty()) continue;
    const std::string said = fmt::format("probe `{}`: {}", sample.probe, sample.failure);
    auto known = std::ranges::find(trials_of, said, [](const auto& entry) { return entry.first; });
    if (known == trials_of.end()) known = trials_of.insert(trials_of.end(), {said, {}});
    if (known->second.empty() || known->second.back() != sample.trial) known->second.push_back(sample.trial);
  }
  std::vector<std::string> lines;
  for (const auto& [said, trials] : trials_of)
    lines.push_back(trials.size() <= 3
                        ? fmt::format("{}: {}", fmt::join(trials, ", "), said)
                        : fmt::format("{}, {} and {} more: {}", trials[0], trials[1], trials.size() - 2, said));
  return lines;
}

}  // namespace

Calibration conclude(const Samples& samples) {
  Calibration calibration;
  for (const Fit fit : kFits) {
    std::vector<Finding> found = fit(samples, calibration.device);
    std::ranges::move(found, std::back_inserter(calibration.findings));
  }
  calibration.failures = failures_of(samples);
  calibration.has_gone_wrong = std::ranges::any_of(samples, [](const Sample& sample) {
    return !sample.failure.empty() && sample.failure_kind != static_cast<int>(ErrorKind::kUnsupported);
  });
  return calibration;
}

}  // namespace corun::calibration
