#include "sim/device/model/residency.h"

#include <cmath>

#include "sim/device/model/block_memory.h"
#include "sim/device/model/memory.h"

namespace corun {

std::unique_ptr<Residency> make_residency(const DeviceSpec& spec, HostLink& link) {
  if (spec.memory_bytes == 0 || !pages(spec)) return nullptr;
  if (spec.paging == Paging::kBlocks) return std::make_unique<BlockMemory>(spec, link);
  return std::make_unique<FluidMemory>(spec, link);
}

double granted_to_paging(HostLink& link, double bytes_per_ns, bool is_full) {
  double granted = 1;
  for (const auto direction : {HostLink::kFromDevice, HostLink::kToDevice}) {
    if (direction == HostLink::kFromDevice && !is_full) continue;
    const std::size_t number = link.ask(direction, std::llround(bytes_per_ns * granted * 1e9));
    granted *= link.granted(direction)[number];
  }
  return granted;
}

}  // namespace corun
