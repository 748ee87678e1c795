#include "sim/workload/workload.h"

#include "traces/base/error.h"

namespace corun {

Duration Workload::device_time(const Job& job) const {
  Duration sum{};
  for (std::uint32_t i = 0; i < job.op_count; ++i) sum += ops[job.first_op + i].duration;
  return sum;
}

void Workload::check() const {
  std::uint32_t next_step = 0, next_op = 0;
  for (const Job& job : jobs) {
    CORUN_ASSERT(job.first_step == next_step && job.first_op == next_op, "job at step {} op {}", job.first_step,
                 job.first_op);
    next_step += job.step_count;
    next_op += job.op_count;
    std::uint32_t submitted = job.first_op;
    for (std::uint32_t s = job.first_step; s < next_step; ++s) {
      const HostStep& step = steps[s];
      CORUN_ASSERT(step.gap >= Duration{0}, "step {} has gap {}", s, step.gap.count());
      if (step.kind == StepKind::kSubmit) CORUN_ASSERT(step.target == submitted++, "step {} submits {}", s, step.target);
      if (step.kind == StepKind::kWaitOp)
        CORUN_ASSERT(step.target >= job.first_op && step.target < submitted, "step {} waits for {}", s, step.target);
    }
    CORUN_ASSERT(submitted == next_op, "job submits {} of {} operations", submitted - job.first_op, job.op_count);
    for (std::uint32_t o = job.first_op; o < next_op; ++o) {
      const WorkOp& op = ops[o];
      CORUN_ASSERT(op.duration >= Duration{0} && op.name < names.size(), "operation {}", o);
      for (std::uint32_t a = 0; a < op.awaits_count; ++a) {
        const std::uint32_t awaited = awaits[op.awaits_begin + a];
        CORUN_ASSERT(awaited >= job.first_op && awaited < o, "operation {} awaits {}", o, awaited);
      }
    }
  }
  CORUN_ASSERT(next_step == steps.size() && next_op == ops.size(), "{} steps, {} operations in jobs", next_step, next_op);
}

}  // namespace corun
