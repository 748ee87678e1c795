#include "sim/workload/capture/host/launches.h"

#include <algorithm>
#include <ranges>

namespace corun {

Instants launch_instants(const CompactCapture& capture) {
  std::vector<bool> is_launch(capture.call_starts.size());
  for (const auto& [number, call] : capture.other_calls) is_launch[number] = call.kind == CallKind::kGraphLaunch;
  Instants without_call;
  for (std::size_t i = 0; i < capture.op_count(); ++i) {
    const OpRecord& op = capture.prototype(i);
    if (op.kind != OpKind::kKernel) continue;
    const std::uint32_t call = capture.call_of[i];
    if (call != OpRecord::kNoIndex) {
      is_launch[call] = true;
    } else if (op.graph_node == 0) {
      without_call.push_back(capture.starts[i]);
    }
  }
  Instants instants;
  std::size_t next = 0;
  for (std::size_t i = 0; i < is_launch.size(); ++i) {
    if (!is_launch[i]) continue;
    const std::int64_t called_ns = capture.call_starts[i];
    for (; next < without_call.size() && without_call[next] < called_ns; ++next) instants.push_back(without_call[next]);
    instants.push_back(called_ns);
  }
  for (; next < without_call.size(); ++next) instants.push_back(without_call[next]);
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

std::size_t first_from(const Instants& instants, std::int64_t ns) {
  const auto is_before = [&](std::size_t index) { return instants[index] < ns; };
  return *std::ranges::partition_point(std::views::iota(std::size_t{0}, instants.size()), is_before);
}

double launches_per_s(const Instants& instants, std::size_t begin, std::size_t end) {
  if (end - begin < 2 || instants[begin] == instants[end - 1]) return 0;
  return static_cast<double>(end - begin - 1) * 1e9 / static_cast<double>(instants[end - 1] - instants[begin]);
}

}  // namespace corun
