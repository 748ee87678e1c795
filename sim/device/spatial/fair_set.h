#pragma once

#include <cstddef>
#include <vector>

#include "sim/device/spatial/spatial_set.h"

namespace corun {

/// SpatialRule::kMaxMin: every part's throughput is divided max-min fairly among its kernels, whatever room their
/// blocks need. Priorities and carve-outs have no effect, and a launch stalls no other kernel.
class FairSet final : public SpatialSet {
 public:
  FairSet(OpTable& ops, const DeviceSpec& spec) : SpatialSet(ops, spec), exponent_(spec.sm_rate_exponent) {}

 private:
  Throughput divide(Kernels kernels) override;
  double cap_on(double sms) const override;
  void divide_part(std::size_t part, Kernels kernels);

  const double exponent_;
  CapUse caps_;
  std::vector<SmShare> asked_;   ///< by kernel
  std::vector<SmShare> shares_;  ///< by kernel
  std::vector<SmShare> given_;   ///< by part
};

}  // namespace corun
