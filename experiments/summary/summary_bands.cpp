#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/base/terminal.h"
#include "experiments/summary/summary.h"

namespace corun {

namespace {

constexpr std::string_view kNoBand = "no band";

/// Holds both.
void widen(std::optional<FigureBand>& band, const FigureBand& by) {
  band = band ? FigureBand{std::min(band->low, by.low), std::max(band->high, by.high)} : by;
}

}  // namespace

void Summary::add_slower(const Scenario& scenario, const std::string& policy, const RunOutcome& outcome) {
  if (outcome.error) return;
  const auto [found, is_new] = slower_.try_emplace(scenario.name, scenario);
  Scenario& its = found->second;
  if (is_new) its.name += "\nslower hosts";
  done_.emplace(its.name, policy);
  for (const Metric& metric : outcome.metrics)
    if (metric.name != "solo_throughput_per_s")
      values_[{its.name, policy, metric.client, metric.name}].push_back(metric.value);
  for (const ClientChoice& client : scenario.clients)
    if (const auto alone = get(scenario, policy, client.name, "solo_throughput_per_s"))
      values_[{its.name, policy, client.name, "solo_throughput_per_s"}] = {alone->mean};
}

bool Summary::has_slower_hosts(const Scenario& scenario) const { return slower_.contains(scenario.name); }

std::optional<double> Summary::slower(const Scenario& scenario, const std::string& policy, const std::string& client,
                                      const std::string& metric) const {
  const auto its = slower_.find(scenario.name);
  if (its == slower_.end()) return std::nullopt;
  const auto found = get(its->second, policy, client, metric);
  return found ? std::optional(found->mean) : std::nullopt;
}

std::vector<const Scenario*> Summary::all_bounds(const Scenario& scenario, const std::string& policy) const {
  std::vector<const Scenario*> all = bounds_with(scenario);
  const auto its = slower_.find(scenario.name);
  if (its != slower_.end() && is_done(its->second, policy)) all.push_back(&its->second);
  return all;
}

PredictedRuns Summary::predicted(const Scenario& scenario, const PolicyChoice& policy) const {
  const auto notes = notes_.find(scenario.name);
  return {error_classes(scenario, policy), policy.label,
          notes == notes_.end() ? std::vector<std::string>{} : notes->second,
          [this, &scenario, &policy](const std::string& client, std::string_view metric) -> std::optional<double> {
            const auto found = get(scenario, policy.label, client, std::string(metric));
            return found ? std::optional(found->mean) : std::nullopt;
          }};
}

Basis Summary::basis(const Scenario& scenario, const PolicyChoice& policy) const {
  const auto has_frames = [&](const ClientChoice& client) {
    return get(scenario, policy.label, client.name, "fps_mean").has_value();
  };
  return basis_of(ComparedMechanisms::built_in(), mechanism_on(scenario, policy),
                  std::ranges::any_of(scenario.clients, has_frames));
}

std::optional<FigureBand> Summary::band(const Scenario& scenario, const std::string& policy, const std::string& client,
                                        const std::string& metric) const {
  const auto choice = std::ranges::find(scenario.policies, policy, &PolicyChoice::label);
  if (choice == scenario.policies.end()) return std::nullopt;
  return figure_band(Bands::built_in(), predicted(scenario, *choice), client, metric);
}

std::string Summary::band_cell(const Scenario& scenario, const std::string& policy, const std::string& client,
                               const std::string& metric) const {
  std::optional<FigureBand> all;
  for (const Scenario* bound : all_bounds(scenario, policy))
    if (const auto its = band(*bound, policy, client, metric)) widen(all, *its);
  const std::string figure = cell(scenario, policy, client, metric, false);
  if (figure.empty() || !all) return figure.empty() ? "" : fmt::format("{} ({})", figure, kNoBand);
  return fmt::format("{} {}", figure, band_text(*all, metric, mean(scenario, policy, client, metric)));
}

/// "0.87 (0.77 to 1.00)", of the rate alone.
std::string Summary::kept_cell(const Scenario& scenario, const std::string& policy, const std::string& client) const {
  std::optional<FigureBand> all, kept;
  for (const Scenario* bound : all_bounds(scenario, policy)) {
    const std::string rate = get(*bound, policy, client, "fps_mean") ? "fps_mean" : "throughput_per_s";
    const double alone = mean(*bound, policy, client, "solo_throughput_per_s");
    if (!(alone > 0)) return "";
    const double part = std::min(1.0, mean(*bound, policy, client, rate) / alone);
    if (!std::isnan(part)) widen(kept, {part, part});
    if (const auto its = band(*bound, policy, client, rate)) widen(all, {its->low / alone, its->high / alone});
  }
  if (!kept) return "";
  const std::string figure = kept->high - kept->low < 0.005 ? fmt::format("{:.2f}", kept->low)
                                                            : fmt::format("{:.2f} to {:.2f}", kept->low, kept->high);
  if (!all) return fmt::format("{} ({})", figure, kNoBand);
  return fmt::format("{} ({:.2f} to {:.2f})", figure, all->low, std::min(1.0, all->high));
}

std::string Summary::bands(const Scenario& scenario, std::size_t width) const {
  if (scenario.cluster || scenario.backend != kSimulation || scenario.clients.size() < 2) return "";
  std::vector<std::vector<std::string>> rows = {
      {"policy", "client", "keeps", "rate", "p99", "p99 TTFT", "p99 TPOT", ""}};
  std::vector<std::string> never;
  for (const PolicyChoice& policy : scenario.policies) {
    const auto classes = error_classes(scenario, policy);
    bool is_first = true;
    std::vector<std::vector<std::string>> its;
    bool has_band = false;
    for (const ClientChoice& client : scenario.clients) {
      const bool has_frames = get(scenario, policy.label, client.name, "fps_mean").has_value();
      const std::string rate = has_frames ? "fps_mean" : "throughput_per_s";
      const std::string tail = has_frames ? "frame_time_p99_ms" : "job_interval_p99_ms";
      has_band = has_band || band(scenario, policy.label, client.name, rate).has_value();
      const auto its_class = classes.find(client.name);
      const bool is_wide = its_class != classes.end() && !its_class->second.unmeasured.empty();
      its.push_back({std::exchange(is_first, false) ? policy.label : "", client.name,
                     kept_cell(scenario, policy.label, client.name),
                     band_cell(scenario, policy.label, client.name, rate),
                     client.server ? "" : band_cell(scenario, policy.label, client.name, tail),
                     band_cell(scenario, policy.label, client.name, "ttft_p99_ms"),
                     band_cell(scenario, policy.label, client.name, "tpot_p99_ms"),
                     is_wide ? fmt::format("wider: nothing measured {}", its_class->second.unmeasured) : ""});
    }
    if (has_band)
      rows.insert(rows.end(), its.begin(), its.end());
    else if (is_done(scenario, policy.label))
      never.push_back(policy.label);
  }
  std::string text;
  if (rows.size() > 1)
    text = "in brackets, where 90 % of measured figures lie that were predicted so:\n" + aligned(rows, {}, width);
  if (!never.empty())
    text +=
        fmt::format("no band, too few measured co-runs: {}\n", printable(fmt::format("{}", fmt::join(never, ", "))));
  return text;
}

}  // namespace corun
