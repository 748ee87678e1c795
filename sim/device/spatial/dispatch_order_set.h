#pragma once

#include <cstddef>
#include <vector>

#include "sim/device/spatial/room_allocator.h"
#include "sim/device/spatial/spatial_set.h"
#include "sim/device/spatial/throughput_allocator.h"

namespace corun {

/// SpatialRule::kDispatchOrder: kernels divide first the room for their blocks, then the throughput, in order of
/// dispatch.
///
/// 1. Room. A kernel gets the room that kernels dispatched earlier leave, and more as room comes free; without room it
///    waits. A kernel of several waves leaves no room until its last block has been dispatched (Occupancy).
/// 2. Placement. Room comes free by blocks: a kernel with n blocks on an SM leaves room on n times as many SMs as it
///    leaves of the whole, at most on all. Where fewer SMs are open to a kernel's first blocks than it lies on alone,
///    its blocks lie closer together, and until the kernel ends each is as slow as `sm_fill_exponent` says of fuller
///    SMs.
/// 3. Carve-outs (DeviceSpec::carveout_change). A kernel gets no room on SMs where another client's kernel keeps the
///    carve-out smaller than its blocks need, but for SMs that had a larger one when that kernel began.
/// 4. Throughput. A kernel with all of its room asks for its throughput, one with part of it for that of as many fewer
/// SMs.
///    It gets what earlier kernels leave, but at least as much as the SMs on which no earlier kernel lies; after an
///    earlier kernel of one to two waves at least as much as the room that this one leaves. A kernel progresses in
///    proportion to what it gets.
/// 5. Shared SMs. A kernel of one wave that fills a part of each SM, and another client's kernel that has more blocks
///    than room, have at least as much throughput as room; the latter what it keeps on as many SMs, where that was
///    captured (SmCurve) and is more. What is too much then is taken back from them, the earlier one first.
/// 6. Whole. Where more than the whole throughput of a part was given out beyond rule 5, each kernel gets less in
///    proportion.
///
/// Priorities: kernels of higher priority are served first in 1 and 4, and no running block is displaced. A kernel
/// keeps its room until its blocks end, every `Occupancy::wave` of its running time, all together; then it yields what
/// higher priorities want. A kernel of one wave or of unknown shape never yields. (On a GPU, blocks that began at
/// different times end at different times.)
///
/// Launches: a kernel that begins stalls the running kernels of other clients for `mps_launch_stall`.
class DispatchOrderSet final : public SpatialSet {
 public:
  DispatchOrderSet(OpTable& ops, const DeviceSpec& spec)
      : SpatialSet(ops, spec),
        rooms_(spec, division()),
        throughput_(spec.sm_rate_exponent, division()),
        stall_(spec.mps_launch_stall) {}

  void assign_rates() override;
  Duration until_change() const override;

 private:
  Throughput divide(Kernels kernels) override;
  double cap_on(double sms) const override { return sms; }
  void sort_by_priority(Kernels kernels);
  void stall_running_kernels();

  RoomAllocator rooms_;
  ThroughputAllocator throughput_;
  const Duration stall_;
  std::vector<std::size_t> order_;  ///< a ServiceOrder
  std::vector<OpIndex> yielding_;   ///< kernels that give up room when their blocks end
};

}  // namespace corun
