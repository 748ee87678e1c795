#include "sim/workload/sm_curves.h"

#include <gtest/gtest.h>

#include "traces/base/error.h"

namespace corun {
namespace {

struct Kernel {
  std::string name;
  std::uint32_t blocks;
  std::int64_t us;
};

/// Jobs of one pass of these kernels.
Workload jobs_of(const std::vector<Kernel>& kernels, std::uint32_t jobs = 3) {
  Workload workload;
  for (std::uint32_t job = 0; job < jobs; ++job) {
    workload.jobs.push_back({.first_op = static_cast<std::uint32_t>(workload.ops.size()),
                             .op_count = static_cast<std::uint32_t>(kernels.size())});
    for (const Kernel& kernel : kernels) {
      WorkOp op;
      op.name = static_cast<std::uint32_t>(workload.names.size());
      for (std::uint32_t i = 0; i < workload.names.size(); ++i)
        if (workload.names[i] == kernel.name) op.name = i;
      if (op.name == workload.names.size()) workload.names.push_back(kernel.name);
      op.shape = {kernel.blocks, 1, 1, 128, 1, 1, 0, 0};
      op.duration = Duration{kernel.us * 1000};
      workload.ops.push_back(op);
    }
  }
  return workload;
}

double time_of(const Workload& workload, std::size_t op, double fraction) {
  return workload.sm_curves.at(workload.ops[op].sm_curve - 1).time_on(fraction);
}

TEST(SmCurves, GiveEachKernelItsOwnTimesByNameAndGrid) {
  Workload workload = jobs_of({{"gemm", 100, 10}, {"copy", 100, 10}, {"copy", 7, 10}});
  const Workload half = jobs_of({{"gemm", 100, 20}, {"copy", 100, 11}, {"copy", 7, 10}}, 5);
  const Workload quarter = jobs_of({{"gemm", 100, 40}, {"copy", 100, 16}, {"copy", 7, 10}});
  add_sm_curves(workload, {{0.25, &quarter}, {0.5, &half}});
  EXPECT_NEAR(time_of(workload, 0, 0.5), 2.0, 1e-9);
  EXPECT_NEAR(time_of(workload, 0, 0.25), 4.0, 1e-9);
  EXPECT_NEAR(time_of(workload, 1, 0.5), 1.1, 1e-9);
  EXPECT_NEAR(time_of(workload, 4, 0.25), 1.6, 1e-9) << "of the second job";
  EXPECT_NEAR(time_of(workload, 2, 0.25), 1.0, 1e-9);
}

TEST(SmCurves, ShareTheRestOfAJobsTimeBetweenKernelsThatALibraryReplaced) {
  Workload workload = jobs_of({{"relu", 10, 10}, {"gemm_128", 100, 20}, {"gemm_64", 100, 30}});
  const Workload half = jobs_of({{"relu", 10, 15}, {"gemm_32", 200, 60}, {"gemm_splitk", 200, 40}}, 2);
  add_sm_curves(workload, {{0.5, &half}});
  EXPECT_NEAR(time_of(workload, 0, 0.5), 1.5, 1e-9);
  EXPECT_NEAR(time_of(workload, 1, 0.5), 2.0, 1e-9);  // 100 us in the place of 50
  EXPECT_NEAR(time_of(workload, 2, 0.5), 2.0, 1e-9);
}

TEST(SmCurves, TakeAKernelOfNoTimeAsItIsAndRefuseTwoCapturesWithAsManySms) {
  Workload workload = jobs_of({{"empty", 1, 0}, {"b", 1, 10}});
  const Workload half = jobs_of({{"empty", 1, 3}, {"b", 1, 20}});
  add_sm_curves(workload, {{0.5, &half}});
  EXPECT_NEAR(time_of(workload, 1, 0.5), 2.0, 1e-9);
  EXPECT_LT(time_of(workload, 0, 0.5), 10.0);
  EXPECT_THROW(add_sm_curves(workload, {{0.5, &half}, {0.5, &half}}), Error);
}

TEST(SmCurves, RefuseACaptureThatIsCutIntoOtherSteps) {
  Workload workload = jobs_of({{"a", 1, 10}, {"b", 1, 10}});
  const Workload twice = jobs_of({{"a", 1, 10}, {"b", 1, 10}, {"a", 1, 10}, {"b", 1, 10}});
  EXPECT_THROW(add_sm_curves(workload, {{0.5, &twice}}), Error);
}

}  // namespace
}  // namespace corun
