#include "experiments/summary/summary.h"

#include <algorithm>
#include <cmath>

#include "experiments/base/terminal.h"
#include "experiments/summary/conclusions.h"
#include "sim/metrics/headlines.h"
#include "sim/metrics/metric_table.h"
#include "traces/base/units.h"

namespace corun {

namespace {

int decimals_of(double value) {
  const double size = std::fabs(value);
  if (size >= 1000 || size == 0) return 0;
  const int digits = 2 - static_cast<int>(std::floor(std::log10(size)));
  return std::clamp(digits, 1, 3);
}

/// The unit behind a number; a ratio and a count have none.
std::string_view printed_unit(const MetricDescriptor& metric) {
  if (metric.is_percentage) return "%";
  if (metric.unit == "ratio" || metric.unit == "count") return "";
  return metric.unit == "1/s" ? "/s" : metric.unit;
}

}  // namespace

std::string figure(const Estimate& estimate, const std::string& metric, bool with_interval) {
  static constexpr MetricDescriptor kUnknown{};  // of a results file of another version
  const MetricDescriptor* known = find_metric(metric);
  const MetricDescriptor& shown = known == nullptr ? kUnknown : *known;
  const double scale = shown.is_percentage ? 100 : 1;
  const std::string_view unit = printed_unit(shown);
  const bool is_whole = shown.unit == "count" && estimate.mean == std::floor(estimate.mean);
  const int decimals = shown.is_percentage ? 1 : is_whole ? 0 : decimals_of(estimate.mean);
  std::string text = fmt::format("{:.{}f}{}{}", estimate.mean * scale, decimals, unit.empty() ? "" : " ", unit);
  if (with_interval && has_interval(estimate))
    text += fmt::format(" [{:.{}f},{:.{}f}]", estimate.low * scale, decimals, estimate.high * scale, decimals);
  return text;
}

std::string figure_range(const Estimate& low, const Estimate& high, const std::string& metric, bool with_interval) {
  const std::string least = figure(low, metric, false), most = figure(high, metric, false);
  if (least == most) return figure(low, metric, with_interval);
  return fmt::format("{} to {}", least.substr(0, least.find(' ')), most);
}

std::string band_text(const FigureBand& band, const std::string& metric, double value) {
  const MetricDescriptor* known = find_metric(metric);
  const bool is_percentage = known != nullptr && known->is_percentage;
  const double scale = is_percentage ? 100 : 1;
  const int decimals = is_percentage ? 1 : decimals_of(value);
  return fmt::format("({:.{}f} to {:.{}f})", band.low * scale, decimals, band.high * scale, decimals);
}

std::string short_number(double value) { return fmt::format("{:.{}f}", value, decimals_of(value)); }

void Summary::add(const RunSpec& spec, const RunOutcome& outcome) {
  const Scenario& scenario = experiment_.scenarios[spec.scenario];
  const std::string& policy = scenario.policies[spec.policy].label;
  std::vector<std::string>& notes = notes_[scenario.name];
  for (std::string_view rest = outcome.notes; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string note(rest.substr(0, end));
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (outcome.error) {
    failed_.insert({scenario.name, policy});
    failures_.push_back(fmt::format("{}, {}, seed {}: {}", scenario.name, policy, spec.seed, outcome.error->what()));
    failure_kinds_.insert(outcome.error->kind());
    return;
  }
  done_.emplace(scenario.name, policy);
  for (const Metric& metric : outcome.metrics)
    values_[{scenario.name, policy, metric.client, metric.name}].push_back(metric.value);
}

std::optional<Estimate> Summary::get(const Scenario& scenario, const std::string& policy, const std::string& client,
                                     const std::string& metric) const {
  if (!values_.contains({scenario.name, policy, client, metric})) return std::nullopt;
  return figure_estimate(values(scenario, {policy, client, metric}));
}

/// One value for each run that gave the figure, or could have given it.
std::vector<double> Summary::values(const Scenario& scenario, const MetricPath& path) const {
  const auto of = [&](const std::string& metric) {
    const auto found = values_.find({scenario.name, path.policy, path.client, metric});
    return found == values_.end() ? std::vector<double>{} : found->second;
  };
  std::vector<double> values = of(path.metric);
  if (counts_from_zero(path.metric)) values.resize(std::max(values.size(), of("gpu_busy_ratio").size()), 0.0);
  return values;
}

double Summary::mean(const Scenario& scenario, const std::string& policy, const std::string& client,
                     const std::string& metric) const {
  const auto value = get(scenario, policy, client, metric);
  return value ? value->mean : std::nan("");
}

std::vector<std::string> Summary::notes(const Scenario& scenario) const {
  const auto found = notes_.find(scenario.name);
  std::vector<std::string> notes = found == notes_.end() ? std::vector<std::string>{} : found->second;
  for (const ClientChoice& client : scenario.clients) {
    const auto misses = [&](const PolicyChoice& policy) { return counts_nothing(scenario, policy.label, client.name); };
    const bool may_be_live = !client.command.words.empty();  // then the run itself says why
    if (!scenario.cluster && !may_be_live && std::ranges::any_of(scenario.policies, misses))
      notes.push_back(
          fmt::format("{}: nothing of it counts: it has no time between the warm-up and the end, {} to {}; "
                      "shorten `warmup`, lengthen `horizon`, or let it come sooner or stay for longer",
                      client.name, format_duration(scenario.warmup_or_default()), format_duration(scenario.horizon)));
  }
  return notes;
}

bool Summary::counts_nothing(const Scenario& scenario, const std::string& policy, const std::string& client) const {
  return is_done(scenario, policy) && !get(scenario, policy, client, "throughput_per_s") &&
         !is_turned_away(scenario, policy, client);
}

std::string Summary::cell(const Scenario& scenario, const std::string& policy, const std::string& client,
                          const std::string& metric, bool with_interval) const {
  std::vector<Estimate> found;
  for (const Scenario* bound : all_bounds(scenario, policy))
    if (const auto value = get(*bound, policy, client, metric)) found.push_back(*value);
  if (found.empty()) return "";
  const auto [low, high] = std::ranges::minmax(found, {}, &Estimate::mean);
  return figure_range(low, high, metric, with_interval);
}

std::vector<const Scenario*> Summary::bounds_with(const Scenario& scenario) const {
  if (scenario.bounds.empty()) return {&scenario};
  std::vector<const Scenario*> all;
  for (const Scenario& other : experiment_.scenarios)
    if (other.bounds == scenario.bounds && other.point == scenario.point) all.push_back(&other);
  return all;
}

bool Summary::has_few_jobs(const Scenario& scenario, const std::string& policy, const ClientChoice& client) const {
  const Duration window = scenario.horizon - std::max(scenario.warmup_or_default(), client.arrival);
  const bool is_endless = client.repeat == 0 && client.replay_or_default() == Replay::kClosed;
  const auto ends_few = [&](const Scenario* bound) {
    const double alone = mean(*bound, policy, client.name, "solo_throughput_per_s");
    const double rate = std::isnan(alone) ? mean(*bound, policy, client.name, "throughput_per_s") : alone;
    return rate * to_seconds(window) < kFewestJobs;
  };
  return is_endless && scenario.backend == kSimulation && std::ranges::any_of(bounds_with(scenario), ends_few);
}

std::string Summary::rate_cell(const Scenario& scenario, const std::string& policy, const ClientChoice& client,
                               const std::string& metric, bool with_interval) const {
  std::string text = cell(scenario, policy, client.name, metric, with_interval);
  if (text.empty() || !has_few_jobs(scenario, policy, client)) return text;
  const Duration window = scenario.horizon - std::max(scenario.warmup_or_default(), client.arrival);
  std::vector<double> jobs;
  for (const Scenario* bound : bounds_with(scenario))
    if (const auto rate = get(*bound, policy, client.name, metric))
      jobs.push_back(std::round(rate->mean * to_seconds(window)));
  const auto [fewest, most] = std::ranges::minmax(jobs);
  const std::string least = fewest < most ? fmt::format("{:.0f} to ", fewest) : "";
  return fmt::format("{} ({}{:.0f} job{})", text, least, most, most == 1 ? "" : "s");
}

bool Summary::is_turned_away(const Scenario& scenario, const std::string& policy, const std::string& client) const {
  return mean(scenario, policy, client, "refused") == 1 && !(mean(scenario, policy, client, "throughput_per_s") > 0);
}

const char* Summary::absence(const Scenario& scenario, const std::string& policy) const {
  if (failed_.contains({scenario.name, policy})) return "failed";
  return is_done(scenario, policy) ? "not measured" : "not run";
}

/// " (low to high)" of an estimate by mixes of pods; "" of other figures.
std::string Summary::mix_range(const Scenario& scenario, const std::string& policy, std::string_view metric) const {
  const bool is_time = metric == "pod_time_mean_s";
  if (!is_time && metric != "slowdown_mean") return "";
  const double low = mean(scenario, policy, "cluster", is_time ? "pod_time_mean_low_s" : "slowdown_mean_low");
  const double high = mean(scenario, policy, "cluster", is_time ? "pod_time_mean_high_s" : "slowdown_mean_high");
  return std::isnan(low) ? "" : " " + band_text({low, high}, std::string(metric), low);
}

std::string Summary::cluster_table(const Scenario& scenario, std::size_t width) const {
  std::vector<std::vector<std::string>> rows = {{"policy"}};
  const bool is_estimate = scenario.cluster->is_by_mix && !scenario.cluster->pod_clients.empty();
  if (is_estimate) rows.front().emplace_back("pods' times");
  for (const std::string_view metric : headlines::kCluster) rows.front().emplace_back(metric_named(metric).heading);
  for (const PolicyChoice& policy : scenario.policies) {
    std::vector<std::string> row = {policy.label};
    if (is_estimate) row.emplace_back("by mix");
    const std::size_t first = row.size();
    for (const std::string_view metric : headlines::kCluster)
      row.push_back(cell(scenario, policy.label, "cluster", std::string(metric), true) +
                    mix_range(scenario, policy.label, metric));
    if (row[first].empty()) row[first] = absence(scenario, policy.label);
    rows.push_back(std::move(row));
  }
  return aligned(rows, {}, width);
}

std::string Summary::table(const Scenario& scenario, std::size_t width) const {
  if (scenario.cluster) return cluster_table(scenario, width);
  std::vector<std::vector<std::string>> rows = {{"policy", "client", "basis", "rate"}};
  for (const headlines::Column& column : headlines::kRun)
    rows.front().emplace_back(metric_named(column.metric).heading);
  for (const PolicyChoice& policy : scenario.policies) {
    bool has_harvest = false;
    for (const ClientChoice& client : scenario.clients) {
      const auto at = [&](std::string_view owner, std::string_view metric, bool has_interval) {
        return cell(scenario, policy.label, std::string(owner), std::string(metric), has_interval);
      };
      const std::string fps = at(client.name, "fps_mean", true);
      const bool is_first = &client == &scenario.clients.front();
      std::vector<std::string> row = {
          is_first ? policy.label : "", client.name, is_first ? std::string(to_string(basis(scenario, policy))) : "",
          fps.empty() ? rate_cell(scenario, policy.label, client, "throughput_per_s", true) : fps};
      const bool is_turned_away = this->is_turned_away(scenario, policy.label, client.name);
      if (is_turned_away) row.back() = "refused";
      if (row.back().empty()) row.back() = absence(scenario, policy.label);
      const bool is_guest = fps.empty() && !has_harvest && !is_turned_away;
      has_harvest = has_harvest || is_guest;
      for (const auto& [metric, has_interval] : headlines::kRun) {
        const bool is_of_device = metric_named(metric).owner == MetricOwner::kDevice;
        const bool is_left_out = is_of_device ? !is_guest : metric == "quality_mean" && client.quality_menu.empty();
        const bool is_alone = metric == "solo_throughput_per_s" && fps.empty();
        row.push_back(is_left_out ? ""
                      : is_alone  ? rate_cell(scenario, policy.label, client, std::string(metric), has_interval)
                                  : at(is_of_device ? "device" : client.name, metric, has_interval));
      }
      rows.push_back(std::move(row));
    }
  }
  return aligned(rows, {}, width);
}

std::vector<std::string> Summary::sentences(const Scenario& scenario) const {
  if (scenario.cluster) return {};
  std::vector<PolicyMeans> policies;
  for (const PolicyChoice& policy : scenario.policies) {
    PolicyMeans means{policy.label, mean(scenario, policy.label, "device", "harvest_ratio"), {}};
    for (const ClientChoice& client : scenario.clients) {
      if (is_turned_away(scenario, policy.label, client.name)) continue;
      const auto at = [&](const char* metric) { return mean(scenario, policy.label, client.name, metric); };
      means.clients.push_back({client.name, at("fps_mean"), at("throughput_per_s"), at("solo_throughput_per_s"),
                               client.quality_menu.empty() ? std::nan("") : at("quality_mean")});
    }
    if (!std::isnan(mean(scenario, policy.label, "device", "gpu_busy_ratio"))) policies.push_back(std::move(means));
  }
  return conclusions(std::move(policies));
}

Summary::Verdict Summary::verdict(const Scenario& scenario, const Expectation& expectation) const {
  const auto estimate_of = [&](const MetricPath& path) {
    const std::vector<double> its = values(scenario, path);
    return its.empty() ? std::nullopt : std::optional(figure_estimate(its));
  };
  const auto left = estimate_of(expectation.left);
  std::optional<Estimate> right;
  if (expectation.right) right = estimate_of(*expectation.right);
  if (!left || (expectation.right && !right)) return {expectation.text + ": no run gave this figure", false};
  std::string text = fmt::format("{}: {}", expectation.text, figure(*left, expectation.left.metric, true));
  if (right) text += fmt::format(" against {}", figure(*right, expectation.right->metric, true));
  return {text, expectation.holds(left->mean, right ? right->mean : 0)};
}

std::vector<Summary::Verdict> Summary::verdicts(const Scenario& scenario, bool of_qos) const {
  std::vector<Verdict> verdicts;
  for (Expectation expectation : of_qos ? scenario.qos : scenario.expectations) {
    if (of_qos) expectation.text = expectation.left.policy + "." + expectation.text;
    verdicts.push_back(verdict(scenario, expectation));
  }
  return verdicts;
}

}  // namespace corun
