#pragma once

#include <memory>
#include <vector>

#include "sim/solo/solo.h"
#include "sim/workload/sm_curves.h"

namespace corun {

/// How a program came to its rates with fewer SMs.
struct CappedFit {
  std::shared_ptr<const Workload> workload;  ///< of the client, with times of its kernels with fewer SMs
  std::vector<CappedRate> reached;           ///< simulated with it, in the order of the rates stated
};

/// Finds times of the kernels of `client` with fewer SMs (Workload::sm_curves) at which it has `rates` alone under SM
/// caps on `device`, whose kernels share space. Its own factors, of host gaps and the like, are those of its rate with
/// all SMs, so that a program bound by its host stays so.
///
/// One rate for each fraction cannot tell kernels apart: all of them are bound by their SMs to the same degree
/// (SmBinding), each from what its launch lets it grow by. A rate that no degree gives is met at the nearest.
CappedFit fit_to_capped_rates(const ClientSpec& client, const DeviceSpec& device, const std::vector<CappedRate>& rates);

}  // namespace corun
