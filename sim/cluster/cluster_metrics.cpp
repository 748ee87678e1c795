#include "sim/cluster/cluster_metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/metrics/metric_table.h"

namespace corun {

namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Nearest rank; sorts.
double quantile(std::vector<double>& values, double q) {
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

/// Mean over time of a step function from `begin` to `end`.
template <class Value>
double time_mean(const std::vector<ClusterLevel>& levels, Time begin, Time end, Value value) {
  double area = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Time from = std::max(levels[i].time, begin);
    const Time to = std::min(i + 1 < levels.size() ? levels[i + 1].time : end, end);
    if (to > from) area += value(levels[i]) * to_seconds(to - from);
  }
  return area / to_seconds(end - begin);
}

/// What became of the pods of each client, under its name.
void add_client_metrics(const ClusterResult& result, std::vector<Metric>& metrics) {
  std::map<std::string, std::vector<double>> times, slowdowns;
  for (const PodFact& pod : result.pods) {
    if (pod.client.empty() || pod.state != PodState::kFinished) continue;
    times[pod.client].push_back(to_seconds(pod.end - pod.arrival));
    if (pod.slowdown > 0) slowdowns[pod.client].push_back(pod.slowdown);
  }
  for (const auto& [client, values] : times) metrics.push_back(make_metric(client, "pod_time_mean_s", mean(values)));
  for (const auto& [client, values] : slowdowns) metrics.push_back(make_metric(client, "slowdown_mean", mean(values)));
}

struct Range {
  std::vector<double> low, high;
  void add(double least, double most) {
    low.push_back(least);
    high.push_back(most);
  }
  void tell(const std::string& client, std::string_view low_name, std::string_view high_name,
            std::vector<Metric>& metrics) const {
    if (low.empty()) return;
    metrics.push_back(make_metric(client, low_name, mean(low)));
    metrics.push_back(make_metric(client, high_name, mean(high)));
  }
};

/// What means over pods become if their work takes as long as their ranges say.
void add_ranges(const ClusterResult& result, std::vector<Metric>& metrics) {
  if (!result.mix_use || result.mix_use->mixes == 0) return;
  std::map<std::string, Range> times, slowdowns;
  for (const PodFact& pod : result.pods) {
    if (pod.state != PodState::kFinished) continue;
    const double work = to_seconds(pod.end - pod.begin), time = to_seconds(pod.end - pod.arrival);
    const double least = pod.range ? 1e-9 * pod.range->shortest_ns : work;
    const double most = pod.range ? 1e-9 * pod.range->longest_ns : work;
    for (const std::string& whose : {std::string("cluster"), pod.client}) {
      if (whose.empty()) continue;
      times[whose].add(time - work + least, time - work + most);
      if (pod.slowdown > 0) slowdowns[whose].add(pod.slowdown * least / work, pod.slowdown * most / work);
    }
  }
  for (const auto& [client, range] : times) range.tell(client, "pod_time_mean_low_s", "pod_time_mean_high_s", metrics);
  for (const auto& [client, range] : slowdowns) range.tell(client, "slowdown_mean_low", "slowdown_mean_high", metrics);
}

}  // namespace

std::vector<Metric> cluster_metrics(const ClusterResult& result) {
  std::vector<Metric> metrics;
  const auto add = [&](std::string_view name, double value) {
    if (std::isfinite(value)) metrics.push_back(make_metric("cluster", name, value));
  };
  Time first = kNever, last = kRunStart;
  std::vector<double> waits, times, slowdowns;
  std::uint64_t count[5] = {};
  for (const PodFact& pod : result.pods) {
    first = std::min(first, pod.arrival);
    last = std::max(last, pod.arrival);
    ++count[static_cast<std::size_t>(pod.state)];
    if (pod.start != kNever) waits.push_back(to_seconds(pod.start - pod.arrival));
    if (pod.state == PodState::kFinished) times.push_back(to_seconds(pod.end - pod.arrival));
    if (pod.slowdown > 0) slowdowns.push_back(pod.slowdown);
  }
  const Time end = last > first ? std::min(last, result.end) : result.end;
  if (end > first && result.cards > 0) {
    const auto share = [&](auto member) {
      return time_mean(result.levels, first, end, [=](const ClusterLevel& level) { return level.*member; }) /
             result.cards;
    };
    add("allocated_ratio", share(&ClusterLevel::allocated));
    add("fragmented_ratio", share(&ClusterLevel::fragmented));
  }
  double peak = 0;
  std::uint64_t stale_peak = 0;
  for (const ClusterLevel& level : result.levels) {
    peak = std::max(peak, level.allocated);
    stale_peak = std::max(stale_peak, level.stale_configs);
  }
  if (result.cards > 0) add("allocated_peak_ratio", peak / result.cards);
  if (!waits.empty()) {
    add("pod_wait_mean_s", mean(waits));
    add("pod_wait_p99_s", quantile(waits, 0.99));
  }
  if (!times.empty()) {
    add("pod_time_mean_s", mean(times));
    add("pod_time_p99_s", quantile(times, 0.99));
  }
  if (!slowdowns.empty()) add("slowdown_mean", mean(slowdowns));
  add("pods_started", static_cast<double>(waits.size()));
  const auto of = [&](PodState state) { return static_cast<double>(count[static_cast<std::size_t>(state)]); };
  add("pods_waiting", of(PodState::kWaiting));
  add("pods_rejected", of(PodState::kRejected));
  add("pods_failed", of(PodState::kFailed));
  if (stale_peak > 0) {
    const auto stale = [](const ClusterLevel& level) { return static_cast<double>(level.stale_configs); };
    add("stale_configs_mean", time_mean(result.levels, first, result.end, stale));
    add("stale_configs_peak", static_cast<double>(stale_peak));
  }
  add_client_metrics(result, metrics);
  add_ranges(result, metrics);
  return metrics;
}

}  // namespace corun
