#include "sim/workload/capture/launches.h"

#include <algorithm>

namespace corun {

std::vector<std::int64_t> launch_instants(const CompactCapture& capture) {
  std::vector<bool> is_launch(capture.call_starts.size());
  for (const auto& [number, call] : capture.other_calls) is_launch[number] = call.kind == CallKind::kGraphLaunch;
  std::vector<std::int64_t> instants;
  for (std::size_t i = 0; i < capture.op_count(); ++i) {
    const OpRecord& op = capture.prototype(i);
    if (op.kind != OpKind::kKernel) continue;
    if (capture.call_of[i] != OpRecord::kNoIndex) {
      is_launch[capture.call_of[i]] = true;
    } else if (op.graph_node == 0) {
      instants.push_back(capture.starts[i]);
    }
  }
  for (std::size_t i = 0; i < is_launch.size(); ++i)
    if (is_launch[i]) instants.push_back(capture.call_starts[i]);
  std::sort(instants.begin(), instants.end());
  return instants;
}

GraphPlaces graph_places(const CompactCapture& capture) {
  std::vector<bool> is_graph(capture.call_starts.size()), has_begun(capture.call_starts.size());
  for (const auto& [number, call] : capture.other_calls) is_graph[number] = call.kind == CallKind::kGraphLaunch;
  GraphPlaces places;
  if (std::ranges::find(is_graph, true) == is_graph.end()) return places;
  places.is_first.resize(capture.op_count());
  places.is_within.resize(capture.op_count());
  for (std::size_t i = 0; i < capture.op_count(); ++i) {
    const std::uint32_t call = capture.call_of[i];
    if (call == OpRecord::kNoIndex) {
      places.is_within[i] = capture.prototype(i).graph_node != 0;
      continue;
    }
    if (!is_graph[call]) continue;
    (has_begun[call] ? places.is_within : places.is_first)[i] = true;
    has_begun[call] = true;
  }
  return places;
}

double launches_per_s(std::span<const std::int64_t> instants) {
  if (instants.size() < 2 || instants.front() == instants.back()) return 0;
  return static_cast<double>(instants.size() - 1) * 1e9 / static_cast<double>(instants.back() - instants.front());
}

}  // namespace corun
