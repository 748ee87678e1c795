#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/device/spatial/sm_division.h"
#include "sim/device/spec.h"

namespace corun {

/// Gives kernels room for their blocks and notes on which SMs the blocks begin (ActiveOp::placement): rules 1 to 3 of
/// DispatchOrderSet.
class RoomAllocator {
 public:
  /// `division` must outlive it.
  RoomAllocator(const DeviceSpec& spec, const SmDivision& division)
      : division_(division),
        has_carveouts_(spec.carveout_change == CarveoutChange::kWhenIdle),
        fill_exponent_(spec.sm_fill_exponent) {}

  /// The room of each kernel, of its part, valid until the next call.
  std::span<const SmShare> allocate(Kernels kernels, ServiceOrder order);

  /// Kernels of the last allocate() that hold room which a higher priority wants.
  std::vector<std::size_t> yielding() const;

 private:
  std::span<const SmShare> room_of_lone();
  void find_wants();
  void keep_running_blocks();
  void give_room(std::size_t i);
  void place(std::size_t i, SmShare open);
  SmShare sms_open_to(std::size_t i) const;
  bool share_sms(std::size_t i, std::size_t other) const;
  SmShare cap_of(std::size_t i) const { return division_.caps[kernels_[i]->client.value]; }
  SmShare& left_for(std::size_t i) { return left_[division_.part_of(*kernels_[i])]; }

  const SmDivision& division_;
  const bool has_carveouts_;
  const double fill_exponent_;
  // Of the present or the last allocate().
  Kernels kernels_;
  CapUse caps_;
  std::vector<SmShare> wants_;  ///< by kernel: room that it asks for within its client's cap
  std::vector<SmShare> rooms_;  ///< by kernel: given so far
  std::vector<SmShare> left_;   ///< by part: not given yet
};

}  // namespace corun
