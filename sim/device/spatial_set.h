#pragma once

#include <vector>

#include "sim/device/run_set.h"
#include "sim/device/spec.h"

namespace corun {

/// Kernels of all clients on the device at once, as under MPS: they divide its throughput between them.
///
/// A kernel asks for the throughput of the SMs that its present wave fills: all of it in its full waves, less in a
/// partial last one, so the next kernel's blocks overlap with a last wave. A fraction f of the SMs has
/// f^sm_rate_exponent of the throughput, hence a kernel that fills half of the SMs leaves less than half to the next.
/// On part of what it asks for, a kernel progresses in proportion; with none, it waits. A dispatch gap takes time but
/// nothing else. A client's `sm_cap` bounds the SMs that its kernels get together and reserves nothing.
class SpatialSet : public RunSet {
 public:
  SpatialSet(OpTable& ops, const DeviceSpec& spec)
      : RunSet(ops), rule_(spec.spatial_rule), exponent_(spec.sm_rate_exponent) {}

  /// Announces the next client, with its cap as a fraction in (0, 1].
  void join(double sm_cap);
  void assign_rates() override;

 private:
  void find_wants();
  void share_in_dispatch_order();

  const SpatialRule rule_;
  const double exponent_;
  std::vector<SmShare> caps_;        ///< by client
  std::vector<SmShare> cap_left_;    ///< by client, while wants are being found
  std::size_t dispatched_ = 0;       ///< members past their gap; they come first, in order of dispatch
  std::vector<SmShare> shares_;      ///< by dispatched member: first what it wants, then what it gets
};

}  // namespace corun
