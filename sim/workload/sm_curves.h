#pragma once

#include <vector>

#include "sim/workload/workload.h"

namespace corun {

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

}  // namespace corun
