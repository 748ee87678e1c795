#include <fmt/format.h>

#include <algorithm>

#include "sim/workload/synthetic/steps.h"
#include "sim/workload/synthetic/synthetic.h"
#include "traces/base/error.h"

namespace corun {

namespace {

void add_kernels(Workload& workload, const ProgramPhase& phase) {
  CORUN_ASSERT(phase.kernel > Duration{0} && phase.duty > 0 && phase.duty <= 1, "kernels of {} ns, duty {}",
               to_ns(phase.kernel), phase.duty);
  const Duration stride = scaled(phase.kernel, 1 / phase.duty);
  for (Duration left = phase.gpu; left > Duration{0}; left -= std::min(left, stride)) {
    const bool is_whole = left >= stride;
    const Duration kernel = is_whole ? phase.kernel : scaled(left, phase.duty);
    submit(workload, synthetic_op(OpKind::kKernel, 0, kernel), std::min(left, stride) - kernel);
    wait_for_last(workload);
  }
}

}  // namespace

Workload make_program(const ProgramProfile& profile) {
  Workload workload;
  workload.job_kind = JobKind::kIteration;
  workload.names = {"kernel"};
  begin_job(workload, kRunStart);
  for (const ProgramPhase& phase : profile.phases) {
    workload.recorded_span += phase.host + phase.gpu;
    if (phase.gpu > Duration{0}) {
      add_kernels(workload, phase);
    } else {
      work_on_host(workload, phase.host);
    }
  }
  CORUN_ASSERT(!workload.ops.empty(), "a program of {} phases without a kernel", profile.phases.size());
  predict_from_means(workload);
  workload.notes.push_back(fmt::format("its work is synthetic: {} phases of {:.4g} s in all, {} kernels",
                                       profile.phases.size(), to_seconds(workload.recorded_span), workload.ops.size()));
  return workload;
}

Workload make_kernels(const KernelsProfile& profile) {
  CORUN_ASSERT(profile.duration > Duration{0} && profile.count > 0 && profile.blocks > 0 && profile.threads > 0,
               "{} kernels of {} ns, {} blocks, {} threads", profile.count, to_ns(profile.duration), profile.blocks,
               profile.threads);
  Workload workload;
  workload.job_kind = JobKind::kIteration;
  workload.names = {"kernel"};
  begin_job(workload, kRunStart);
  WorkOp op = synthetic_op(OpKind::kKernel, 0, profile.duration);
  op.shape.grid_x = profile.blocks;
  op.shape.block_x = profile.threads;
  op.shape.grid_y = op.shape.grid_z = op.shape.block_y = op.shape.block_z = 1;
  for (std::uint32_t kernel = 0; kernel < profile.count; ++kernel) submit(workload, op, profile.launch_gap);
  predict_from_means(workload);
  workload.recorded_span = profile.launch_gap + profile.count * std::max(profile.duration, profile.launch_gap);
  workload.notes.push_back(fmt::format("its kernels are synthetic: {} of {:.3g} ms and {} blocks a job", profile.count,
                                       to_milliseconds(profile.duration), profile.blocks));
  return workload;
}

}  // namespace corun
