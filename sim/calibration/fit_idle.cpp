#include <fmt/format.h>

#include <algorithm>

#include "sim/calibration/fit.h"
#include "sim/calibration/prediction.h"
#include "sim/calibration/together.h"

namespace corun::calibration {

namespace {

/// Visits of short kernels to a device that others spin on.
struct Visits {
  std::size_t spinning = 0;
  std::int64_t kernel_ns = 0;           ///< one of them alone
  std::vector<Duration> submitted;      ///< since the spinners began
  std::vector<double> waits;            ///< submission to begin
  std::vector<double> lingers, visits;  ///< see fit_idle; with one spinner
  Duration length{};                    ///< while the spinners spun
};

/// The visit of a short kernel is the spinner's absence that holds it.
void add_absence(const Sample& spinner, std::int64_t begin, std::int64_t end, Visits& found) {
  constexpr std::int64_t kClockError = 20'000;
  const Series &gaps = spinner.of("gap_begin_ns"), &lengths = spinner.of("gap_length_ns");
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const std::int64_t back = gaps[i] + lengths[i];
    if (gaps[i] > begin + kClockError || back < end - kClockError) continue;
    found.visits.push_back(as_double(lengths[i]));
    found.lingers.push_back(as_double((back - end) - (begin - gaps[i])));
    return;
  }
}

Visits visits_of(const Samples& samples, const std::string& trial) {
  Visits found;
  for (const Together& all : together(samples, trial)) {
    if (all.size() < 2) continue;
    const Sample &spinner = *all.front(), &shorts = *all.back();
    found.spinning = all.size() - 1;
    const auto [from, to] = window_of_spinners(std::span(all).first(found.spinning));
    found.kernel_ns = std::max<std::int64_t>(1, shorts.first("alone_ns", 1));
    found.length = Duration{to - from};
    const Series &submits = shorts.of("submit_ns"), &begins = shorts.of("begin_ns"), &ends = shorts.of("end_ns");
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (submits[i] < from || begins[i] < from || ends[i] > to) continue;
      found.submitted.push_back(Duration{submits[i] - from});
      found.waits.push_back(as_double(begins[i] - submits[i]));
      if (found.spinning == 1) add_absence(spinner, begins[i], ends[i], found);
    }
  }
  return found;
}

/// Their waits on the model of a device with this rule.
std::vector<double> rehearse(const Visits& visits, DeviceSpec device, LoneSlice rule) {
  device.lone_slice = rule;
  std::vector<Program> programs(visits.spinning, {.ops = {2 * visits.length}});
  programs.push_back({.ops = {Duration{visits.kernel_ns}}, .at = visits.submitted});
  return predict(device, programs, visits.length).back().waits_ns;
}

constexpr double kQuantiles[] = {0.1, 0.5, 0.9};

Comparison at_quantile(const std::vector<double>& measured, const std::vector<double>& model, double q) {
  return {fmt::format("quantile {:.1f} of the wait", q), quantile(measured, q), quantile(model, q)};
}

Finding lone_slice(const Visits& visits, DeviceSpec& device) {
  Finding finding{.key = "lone_slice", .title = "slice of a context that is alone", .unit = Unit::kChoice};
  finding.method = fmt::format("{} short kernels at all phases of a lone spinning context: submission to begin",
                               visits.waits.size());
  const std::vector<double> rolls = rehearse(visits, device, LoneSlice::kRolls),
                            used_up = rehearse(visits, device, LoneSlice::kUsedUp);
  if (rolls.empty() || used_up.empty()) return {};
  const double cost = as_double(to_ns(device.switch_cost)), slice = as_double(to_ns(device.time_slice));
  const auto compare = [&](const std::vector<double>& model, const std::string& rival,
                           const std::vector<double>& other) {
    std::vector<Comparison> comparisons;
    for (const double q : kQuantiles) {
      comparisons.push_back(at_quantile(visits.waits, model, q));
      comparisons.back().nulls = {{rival, quantile(other, q)}, {"a whole slice", slice + cost}};
    }
    return comparisons;
  };
  finding.comparisons = compare(used_up, "rolls", rolls);
  const std::vector<Comparison> rolling = compare(rolls, "used_up", used_up);
  const bool is_used_up = model_errors(finding.comparisons)[0].mean < model_errors(rolling)[0].mean;
  if (!is_used_up) finding.comparisons = rolling;
  device.lone_slice = is_used_up ? LoneSlice::kUsedUp : LoneSlice::kRolls;
  finding.choice = is_used_up ? "used_up" : "rolls";
  finding.notes = {"`rolls`: the running slice ends first, whatever is left of it; `used_up`: it was over long ago"};
  return finding;
}

/// Beside several, slices are never used up: the one that wakes waits for the ring under both rules.
Finding wait_for_ring(const Visits& visits, const DeviceSpec& device) {
  Finding finding{.title = "wake-up of an idle context beside two busy ones", .value = spread_of(visits.waits)};
  finding.method = fmt::format("{} short kernels: submission to begin", visits.waits.size());
  const std::vector<double> model = rehearse(visits, device, device.lone_slice);
  const double cost = as_double(to_ns(device.switch_cost)), slice = as_double(to_ns(device.time_slice));
  for (const double q : kQuantiles) {
    finding.comparisons.push_back(at_quantile(visits.waits, model, q));
    // Half of the wakers come in the first one's slice, half in the last one's: one or two turns of the others more.
    finding.comparisons.back().nulls = {{"fixed order, the next one chosen ahead", (1 + 2 * q) * (slice + cost)},
                                        {"the rest of a slice", q * slice + cost},
                                        {"at once", cost}};
  }
  finding.notes = {
      "the model: it joins the tail of the ring, so the rest of the running slice and the others' go first"};
  return finding;
}

Finding linger_of(const Visits& visits) {
  Finding linger{.title = "linger of a context that ran dry", .value = spread_of(visits.lingers)};
  linger.method = fmt::format(
      "{} visits: time from its kernel's end to the busy context's return, less the time that going there took",
      visits.lingers.size());
  linger.notes = {fmt::format("such a visit keeps the busy context away for {}, of which the kernel is a small part",
                              text_of(median(visits.visits), Unit::kNs)),
                  "device models leave a context at once when it runs dry"};
  return linger;
}

}  // namespace

std::vector<Finding> fit_idle(const Samples& samples, DeviceSpec& device) {
  std::vector<Finding> findings;
  const Visits alone = visits_of(samples, "idle_short"), ring = visits_of(samples, "idle_two");
  if (!alone.lingers.empty()) findings.push_back(linger_of(alone));
  if (!alone.waits.empty()) findings.push_back(lone_slice(alone, device));
  if (!ring.waits.empty()) findings.push_back(wait_for_ring(ring, device));
  std::erase_if(findings, [](const Finding& finding) { return finding.title.empty(); });
  return findings;
}

}  // namespace corun::calibration
