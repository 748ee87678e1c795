#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/device/spatial/sm_division.h"

namespace corun {

/// Gives kernels throughput for the room that their blocks have: rules 4 and 5 of DispatchOrderSet.
class ThroughputAllocator {
 public:
  /// `division` must outlive it.
  ThroughputAllocator(double sm_rate_exponent, const SmDivision& division)
      : division_(division), exponent_(sm_rate_exponent) {}

  /// The throughput of each kernel that has room (ActiveOp::room), of its part, valid until the next call. `order` says
  /// which kernel is served first.
  std::span<const SmShare> allocate(Kernels kernels, std::span<const std::size_t> order);
  /// What the last allocate() left of each part.
  std::span<const SmShare> left() const { return left_; }

 private:
  void scale_to_whole(Kernels kernels);

  const SmDivision& division_;
  const double exponent_;
  // Of the present or the last allocate().
  std::vector<SmShare> shares_;    ///< by kernel
  std::vector<SmShare> left_;      ///< by part
  std::vector<SmShare> free_sms_;  ///< by part: SMs on which no kernel that was served has blocks
  std::vector<SmShare> given_;     ///< by part: more than the whole where each kernel had its least
};

}  // namespace corun
