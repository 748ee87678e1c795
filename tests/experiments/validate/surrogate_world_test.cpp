// Surrogates are predicted as they are played, which is not in all things as the programs are.

#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/run/execution_backend.h"
#include "tests/shapes/run_policy.h"
#include "tests/support/replay.h"

namespace corun::testing {
namespace {

/// Ten milliseconds of a kernel that fills the device, or of memsets of 4 bytes, again and again.
ClientSpec client(const std::string& name, OpKind kind) {
  auto workload = std::make_shared<Workload>();
  workload->names = {name};
  append_job(*workload, {kind == OpKind::kMemset ? Duration{1'000'000} : Duration{10'000'000}}, Duration{0},
             Duration{0}, true);
  workload->ops.change(0, [&](WorkOp& op) { op.kind = kind, op.bytes = 4; });
  ClientSpec spec;
  spec.name = name;
  spec.workload = std::move(workload);
  return spec;
}

/// Jobs of the memsets co-located with the kernels under MPS, in a tenth of a second.
std::size_t memsets_in(const ExecutionBackend& backend) {
  DeviceSpec device;
  device.sharing = Sharing::kConcurrent;
  OpenGates policy;
  const RunInput input{device,
                       {client("kernels", OpKind::kKernel), client("memsets", OpKind::kMemset)},
                       &policy,
                       "open",
                       Duration{100'000'000},
                       Duration{0},
                       1};
  Facts facts;
  std::vector<std::string> notes;
  backend.run(input, facts, notes);
  return static_cast<std::size_t>(
      std::ranges::count_if(facts.jobs, [](const JobFact& job) { return job.client == ClientId{1}; }));
}

TEST(SurrogateWorld, AMemsetIsAKernelThatWaitsAndInAProgramItWaitsForNobody) {
  EXPECT_GE(memsets_in(simulation_backend()), 95u);
  EXPECT_LE(memsets_in(surrogate_backend()), 11u);
}

}  // namespace
}  // namespace corun::testing
