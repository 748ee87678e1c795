#include "sim/executor/worker_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace corun::executor {

namespace {

/// OpenGL adds words to a device's name; where it has another, it renders elsewhere: on the processor, for one.
void name_device(const ClientWorkers& workers, ExecuteReport& report) {
  std::string_view shortest;
  for (const auto& worker : workers) {
    const std::string_view name = worker->channel().device_name;
    if (shortest.empty() || name.size() < shortest.size()) shortest = name;
  }
  report.device_name = shortest;
  for (const auto& worker : workers)
    if (const std::string_view name = worker->channel().device_name; !name.starts_with(shortest))
      report.notes.push_back(fmt::format("client '{}' was on '{}', others on '{}'", worker->name(), name, shortest));
}

void tell_of_traffic(const ClientWorkers& workers, double asked, ExecuteReport& report) {
  double least = 1.0, most = 0.0;
  for (const auto& worker : workers) {
    if (worker->channel().setup.is_graphics) continue;
    for (const ShapeLaw& law : worker->surrogates().laws()) {
      least = std::min(least, law.traffic);
      most = std::max(most, law.traffic);
    }
  }
  if (least > most) return;
  report.notes.push_back(fmt::format(
      "surrogates draw {:.0f} to {:.0f} % of the memory's bandwidth, by their shape; {:.0f} % was asked for",
      100 * least, 100 * most, 100 * asked));
}

Duration duration_of(double ns) { return Duration{std::llround(ns)}; }

}  // namespace

MpsState mps_of(const ClientWorkers& workers) {
  MpsState state = MpsState::kUnknown;
  for (const auto& worker : workers)
    if (!worker->channel().setup.is_graphics) state = std::max(state, worker->channel().mps);
  return state;
}

std::int32_t priority_levels_of(const ClientWorkers& workers) {
  std::int32_t levels = 1;
  for (const auto& worker : workers) levels = std::max(levels, worker->channel().priority_levels);
  return levels;
}

void tell_of_workers(const ClientWorkers& workers, const ExecuteOptions& options, ExecuteReport& report) {
  name_device(workers, report);
  for (const auto& worker : workers) {
    report.clock_error = std::max(report.clock_error, Duration{worker->channel().clock_error_ns});
    const Surrogates& surrogates = worker->surrogates();
    report.worst_surrogate_error = std::max(report.worst_surrogate_error, surrogates.worst_error());
    report.surrogate_gap = std::max(report.surrogate_gap, duration_of(surrogates.gap_ns()));
    report.most_behind = std::max(report.most_behind, duration_of(surrogates.most_behind_ns()));
  }
  if (options.traffic > 0) tell_of_traffic(workers, options.traffic, report);
}

}  // namespace corun::executor
