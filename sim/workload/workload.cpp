#include "sim/workload/workload.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/device/work.h"
#include "traces/base/error.h"

namespace corun {

namespace {

struct Mean {
  Duration sum{};
  std::int64_t count = 0;

  void add(const Mean& other) {
    sum += other.sum;
    count += other.count;
  }
  Duration value() const { return sum / count; }
};

std::vector<Mean> means_of_prototypes(const WorkOps& ops) {
  std::vector<Mean> means(ops.prototypes().size());
  Kinds::Reader prototype(ops.columns().prototype);
  Durations::Reader duration(ops.columns().duration);
  for (std::size_t i = 0; i < ops.size(); ++i)
    means[prototype.next()].add({std::min(Duration{duration.next()}, kLongestOp), 1});  // a longer one is refused
  return means;
}

void predict_from_means(WorkOps& ops, std::size_t names) {
  const auto shape_key = [](const WorkOp& op) {
    return std::tuple(op.name, op.shape.blocks(), op.shape.threads_per_block(), op.bytes);
  };
  std::vector<Mean> by_name(names);
  std::map<decltype(shape_key(WorkOp{})), Mean> by_shape;
  const std::vector<Mean> means = means_of_prototypes(ops);
  for (std::size_t p = 0; p < means.size(); ++p) {
    by_name[ops.prototypes()[p].name].add(means[p]);
    by_shape[shape_key(ops.prototypes()[p])].add(means[p]);
  }
  ops.predict([&](WorkOp& op) {
    op.predicted_by_name = by_name[op.name].value();
    op.predicted_by_shape = by_shape[shape_key(op)].value();
  });
}

}  // namespace

std::string_view to_string(StepCertainty certainty) {
  switch (certainty) {
    case StepCertainty::kNone:
      return "none";
    case StepCertainty::kUnsure:
      return "unsure";
    case StepCertainty::kLikely:
      return "likely";
    case StepCertainty::kCertain:
      return "certain";
  }
  return "";
}

Duration Workload::device_time(const Job& job) const {
  Duration sum{};
  for (std::uint32_t i = 0; i < job.op_count; ++i) sum += ops.duration_of(job.first_op + i);
  return sum;
}

Duration Workload::device_time() const {
  Duration sum{};
  for (const Job& job : jobs) sum += device_time(job);
  return sum;
}

void predict_from_means(Workload& workload) {
  predict_from_means(workload.ops, workload.names.size());
  predict_from_means(workload.left_out, workload.names.size());
}

void Workload::check() const {
  std::uint32_t next_step = 0, next_op = 0;
  WorkSteps::Reader next(steps);
  Durations::Reader next_duration(ops.columns().duration);
  for (const WorkOp& op : ops.prototypes()) CORUN_ASSERT(op.name < names.size(), "name {}", op.name);
  for (const Job& job : jobs) {
    CORUN_ASSERT(job.first_step == next_step && job.first_op == next_op, "job at step {} op {}", job.first_step,
                 job.first_op);
    next_step += job.step_count;
    next_op += job.op_count;
    std::uint32_t submitted = job.first_op;
    for (std::uint32_t s = job.first_step; s < next_step; ++s) {
      CORUN_ASSERT(s < steps.size(), "step {} of {}", s, steps.size());
      const HostStep step = next.next();
      CORUN_ASSERT(step.gap >= Duration{0}, "step {} has gap {}", s, step.gap.count());
      if (step.kind == StepKind::kSubmit)
        CORUN_ASSERT(step.target == submitted++, "step {} submits {}", s, step.target);
      if (step.kind == StepKind::kWaitOp) CORUN_ASSERT(step.target < submitted, "step {} waits for {}", s, step.target);
    }
    CORUN_ASSERT(submitted == next_op, "job submits {} of {} operations", submitted - job.first_op, job.op_count);
    for (std::uint32_t o = job.first_op; o < next_op; ++o) {
      CORUN_ASSERT(o < ops.size() && next_duration.next() >= 0, "operation {}", o);
      const auto [first_awaited, awaited_count] = ops.awaits_of(o);
      for (std::uint32_t a = 0; a < awaited_count; ++a) {
        const std::uint32_t awaited = awaits[first_awaited + a];
        CORUN_ASSERT(awaited < o, "operation {} awaits {}", o, awaited);
      }
    }
  }
  CORUN_ASSERT(next_step == steps.size() && next_op == ops.size(), "{} steps, {} operations in jobs", next_step,
               next_op);
}

}  // namespace corun
