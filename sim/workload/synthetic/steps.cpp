#include "sim/workload/synthetic/steps.h"

namespace corun {

namespace {

std::uint32_t index_of_next(const auto& list) { return static_cast<std::uint32_t>(list.size()); }

void add_step(Workload& workload, const HostStep& step) {
  workload.steps.push_back(step);
  ++workload.jobs.back().step_count;
}

}  // namespace

void begin_job(Workload& workload, Time recorded_start) {
  Job job;
  job.first_step = index_of_next(workload.steps);
  job.first_op = index_of_next(workload.ops);
  job.recorded_start = recorded_start;
  workload.jobs.push_back(job);
}

WorkOp synthetic_op(OpKind kind, std::uint32_t name, Duration duration) {
  WorkOp op;
  op.kind = kind;
  op.name = name;
  op.duration = duration;
  return op;
}

void submit(Workload& workload, const WorkOp& op, Duration gap) {
  add_step(workload, {gap, StepKind::kSubmit, index_of_next(workload.ops)});
  workload.ops.push_back(op);
  ++workload.jobs.back().op_count;
}

void wait_for_last(Workload& workload, Duration gap) {
  add_step(workload, {gap, StepKind::kWaitOp, index_of_next(workload.ops) - 1});
}

void work_on_host(Workload& workload, Duration gap) { add_step(workload, {gap, StepKind::kWaitAll, 0}); }

}  // namespace corun
