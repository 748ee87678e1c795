#include "sim/run/client_views.h"

#include <algorithm>

#include "sim/device/occupancy.h"

namespace corun {

std::uint64_t allocated_bytes(const ClientSpec& spec) {
  return spec.allocated_bytes > 0 ? spec.allocated_bytes : spec.context.working_set_bytes;
}

std::uint64_t snapshot_bytes(const ClientSpec& spec) {
  return spec.snapshot_bytes > 0 ? spec.snapshot_bytes : spec.context.working_set_bytes;
}

std::vector<double> sm_demands(const DeviceSpec& spec, const Workload& workload) {
  std::vector<double> demands;
  for (const WorkOp& op : workload.ops.prototypes()) {
    const std::uint64_t capacity = op.kind == OpKind::kKernel ? resident_blocks(spec, op.shape) : 0;
    const double waves =
        static_cast<double>(op.shape.blocks()) / static_cast<double>(std::max<std::uint64_t>(capacity, 1));
    demands.push_back(capacity == 0 ? 1.0 : std::min(1.0, waves));
  }
  return demands;
}

DeviceView device_view(const DeviceSpec& spec) {
  DeviceView view;
  view.sm_count = spec.sm_count;
  view.max_threads_per_sm = spec.max_threads_per_sm;
  view.max_blocks_per_sm = spec.max_blocks_per_sm;
  view.memory_bytes = spec.memory_bytes;
  view.context_bytes = spec.context_bytes;
  view.to_device_bytes_per_s = spec.to_device_bytes_per_s;
  view.from_device_bytes_per_s = spec.from_device_bytes_per_s;
  if (spec.sharing != Sharing::kTimeSliced) return view;
  view.time_slice = spec.time_slice;
  view.switch_cost = spec.switch_cost;
  return view;
}

std::vector<ClientView> client_views(const RunInput& input) {
  std::vector<ClientView> views;
  for (const ClientSpec& spec : input.clients) {
    ClientView& view = views.emplace_back(ClientView{{}, spec});
    view.role = spec.role;
    view.frame_period = spec.pacing.period;
    view.working_set_bytes = spec.context.working_set_bytes;
    view.allocated_bytes = allocated_bytes(spec);
    view.snapshot_bytes = snapshot_bytes(spec);
  }
  return views;
}

}  // namespace corun
