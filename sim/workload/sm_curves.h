#pragma once

#include <vector>

#include "sim/device/device_model.h"
#include "sim/workload/workload.h"

namespace corun {

/// Jobs per second of a program alone on a part of the SMs, measured under an MPS percentage.
struct CappedRate {
  double fraction = 0;  ///< of the SMs, (0, 1)
  double jobs_per_s = 0;
};

/// The same program with fewer SMs: its workload, captured under an MPS percentage.
struct WithFewerSms {
  double fraction = 0;  ///< of the SMs that the first capture had, (0, 1)
  const Workload* workload = nullptr;
};

/// Gives the kernels of `workload` their times with fewer SMs (Workload::sm_curves), as captures of the same program
/// have them: the mean time of the kernels of the same name, grid and block.
///
/// Libraries choose other kernels, and more or fewer, where there are fewer SMs. The kernels that a capture does not
/// have again share what is left of its device time per job, all alike.
///
/// Throws Error(kInput) where two captures have equally many SMs, or a job of one has more than 1.8 times as many
/// kernels, or so many fewer: it is another step, or another program.
void add_sm_curves(Workload& workload, std::vector<WithFewerSms> captures);

/// How much the SMs bind the kernels of a program: from 0, not at all, over 1, as their waves say (speed_on), to 2, at
/// least in inverse proportion to the SMs. Times between are interpolated.
struct SmBinding {
  double fraction = 0;  ///< of the SMs, (0, 1)
  double degree = 1;    ///< [0, 2]
};

/// Gives the kernels of `workload` times with fewer SMs that follow from their launches on `device`, each as much as
/// `bindings` say of all of them. Those must differ in their fractions.
void add_sm_curves(Workload& workload, const DeviceSpec& device, std::vector<SmBinding> bindings);

}  // namespace corun
