#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/device/spatial/sm_division.h"

namespace corun {

/// Gives kernels throughput for the room that their blocks have: rules 4 to 6 of DispatchOrderSet.
class ThroughputAllocator {
 public:
  /// `division` must outlive it.
  ThroughputAllocator(double sm_rate_exponent, const SmDivision& division)
      : division_(division), exponent_(sm_rate_exponent) {}

  /// The throughput of each kernel that has room (ActiveOp::room), of its part, valid until the next call.
  std::span<const SmShare> allocate(Kernels kernels, ServiceOrder order);
  /// What the last allocate() gave of each part in all; more than the whole where each kernel had its least.
  std::span<const SmShare> given() const { return given_; }

 private:
  void find_floors(Kernels kernels);
  bool shares_sms(Kernels kernels, std::size_t i) const;
  void take_back(Kernels kernels, ServiceOrder order);
  void scale_to_whole(Kernels kernels);

  const SmDivision& division_;
  const double exponent_;
  // Of the present or the last allocate().
  std::vector<SmShare> shares_;    ///< by kernel
  std::vector<SmShare> free_sms_;  ///< by part: SMs on which no kernel that was served has blocks
  std::vector<SmShare> floors_;    ///< by kernel: the least that it has on SMs that it shares
  std::vector<SmShare> given_;     ///< by part
  std::vector<SmShare> wholes_;    ///< by part: what may be given of it
};

}  // namespace corun
