#include "experiments/bands/basis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "experiments/bands/figure_band.h"
#include "experiments/base/built_in_files.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::array<std::string_view, 6> kLabels = {"",       "compared",   "calibrated",
                                                     "stated", "data sheet", "never compared"};
constexpr std::array<std::string_view, 6> kMeanings = {
    "",
    "predictions were compared with this GPU",
    "predictions were compared with another GPU, and the laws of this one were measured",
    "predictions were compared with another GPU, and the laws of this one were written by hand",
    "predictions were compared with another GPU, and the numbers of this one are published ones",
    "with no GPU, or not with games or servers as here"};
constexpr std::array<std::string_view, 3> kLaws = {"measured", "stated", "data sheet"};

/// Games change what the driver's own mechanisms do; a policy that schedules frames was compared with them.
std::string mechanism_with(const std::string& mechanism, bool has_games) {
  const auto is_driver = [&](std::string_view name) { return mechanism.starts_with(name); };
  return is_driver("turns") || is_driver("mps") || is_driver("split") ? mechanism_among(mechanism, has_games)
                                                                      : mechanism;
}

}  // namespace

std::string_view to_string(Basis basis) { return kLabels[static_cast<std::size_t>(basis)]; }
std::string_view meaning_of(Basis basis) { return kMeanings[static_cast<std::size_t>(basis)]; }
std::string_view to_string(DeviceLaws laws) { return kLaws[static_cast<std::size_t>(laws)]; }

DeviceLaws device_laws(std::string_view text) {
  const auto found = std::ranges::find(kLaws, text);
  return found == kLaws.end() ? DeviceLaws::kStated : static_cast<DeviceLaws>(found - kLaws.begin());
}

MechanismOn mechanism_on(const Scenario& scenario, const PolicyChoice& policy) {
  const DeviceFacts& facts = scenario.device_facts;
  return {mechanism_of(scenario, policy), scenario.device.name,
          !facts.is_measured        ? DeviceLaws::kDataSheet
          : facts.has_measured_laws ? DeviceLaws::kMeasured
                                    : DeviceLaws::kStated};
}

ComparedMechanisms::ComparedMechanisms(std::string_view csv) {
  while (!csv.empty()) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    if (line.empty()) continue;
    CORUN_ASSERT(second != std::string_view::npos, "a compared mechanism in '{}'", line);
    studies_[{std::string(line.substr(0, first)), std::string(line.substr(first + 1, second - first - 1))}] =
        line.substr(second + 1);
  }
}

const ComparedMechanisms& ComparedMechanisms::built_in() {
  static const ComparedMechanisms compared(compared_table());
  return compared;
}

std::string_view ComparedMechanisms::studies(const std::string& mechanism, const std::string& device) const {
  const auto found = studies_.find({mechanism, device});
  return found == studies_.end() ? std::string_view() : std::string_view(found->second);
}

bool ComparedMechanisms::is_compared_anywhere(const std::string& mechanism) const {
  return std::ranges::any_of(studies_, [&](const auto& entry) { return entry.first.first == mechanism; });
}

std::string legend_of(const std::set<Basis>& labels, std::size_t indent) {
  std::string text;
  for (const Basis basis : labels)
    if (basis != Basis::kNothingShared)
      text += fmt::format("{:<{}}{}: {}\n", text.empty() ? "basis" : "", indent, to_string(basis), meaning_of(basis));
  return text;
}

Basis basis_of(const ComparedMechanisms& compared, const MechanismOn& its, bool has_games) {
  if (its.mechanism.empty()) return Basis::kNothingShared;
  const std::string mechanism = mechanism_with(its.mechanism, has_games);
  if (!compared.is_compared_anywhere(mechanism)) return Basis::kNeverCompared;
  if (its.laws == DeviceLaws::kDataSheet) return Basis::kDataSheet;
  if (its.laws == DeviceLaws::kStated) return Basis::kStated;
  return compared.studies(mechanism, its.device).empty() ? Basis::kCalibrated : Basis::kCompared;
}

}  // namespace corun
