#include "sim/workload/launches.h"

#include <algorithm>

namespace corun {

std::vector<std::int64_t> launch_instants(const Timeline& timeline) {
  const std::vector<CallRecord>& calls = timeline.calls();
  std::vector<bool> is_launch(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) is_launch[i] = calls[i].kind == CallKind::kGraphLaunch;
  std::vector<std::int64_t> instants;
  for (const OpRecord& op : timeline.ops()) {
    if (op.kind != OpKind::kKernel) continue;
    if (op.call != OpRecord::kNoIndex) {
      is_launch[op.call] = true;
    } else if (op.graph_node == 0) {
      instants.push_back(op.start_ns);
    }
  }
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (is_launch[i]) instants.push_back(calls[i].start_ns);
  std::sort(instants.begin(), instants.end());
  return instants;
}

double launches_per_s(std::span<const std::int64_t> instants) {
  if (instants.size() < 2 || instants.front() == instants.back()) return 0;
  return static_cast<double>(instants.size() - 1) * 1e9 / static_cast<double>(instants.back() - instants.front());
}

}  // namespace corun
