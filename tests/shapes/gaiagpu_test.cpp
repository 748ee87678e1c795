// Clients under GaiaGPU's and HAMi's limiters on the simulated device: what users of the artifacts reported. Durations
// and grids of kernels are inputs, chosen to resemble the programs that the reports name; shares are outcomes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/shapes/run_policy.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

/// A client that launches equal kernels back to back, or waits for each and thinks for `think`.
struct Kernels {
  Duration duration;
  std::uint32_t blocks;
  Duration think{};
  bool waits = false;
};

ClientSpec client(const std::string& name, const Kernels& kernels) {
  Workload workload;
  workload.names = {"kernel"};
  testing::append_job(workload, std::vector<Duration>(50, kernels.duration), Duration{5us},
                      Duration{5us} + kernels.think, kernels.waits);
  workload.ops.change([&](WorkOp& op) {
    op.shape.grid_x = kernels.blocks;
    op.shape.grid_y = op.shape.grid_z = op.shape.block_y = op.shape.block_z = 1;
    op.shape.block_x = 256;
  });
  workload.check();
  ClientSpec spec;
  spec.name = name;
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  return spec;
}

struct Arrangement {
  std::string policy = "gaiagpu";
  std::uint32_t sm_count = 80;
  std::uint32_t max_threads_per_sm = 2048;
  Duration horizon{60s};
  Duration warmup{20s};
};

/// Percent of the window in which each client used the device.
std::vector<double> shares(const Arrangement& with, const std::vector<Kernels>& kernels,
                           const std::vector<double>& limits,
                           const std::vector<std::pair<std::string, ParameterValue>>& settings = {}) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  const PolicyDescriptor& descriptor = *registry.find(with.policy);
  Parameters parameters = descriptor.defaults();
  RunInput input;
  ByClient by_client;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    input.clients.push_back(client(std::string(1, static_cast<char>('a' + i)), kernels[i]));
    by_client[input.clients.back().name] = limits[i];
  }
  parameters.set("limits", by_client);
  for (const auto& [name, value] : settings) parameters.set(name, value);
  const auto policy = descriptor.create(parameters);
  input.device.sm_count = with.sm_count;
  input.device.max_threads_per_sm = with.max_threads_per_sm;
  input.device.switch_cost = Duration{0};
  input.policy = policy.get();
  input.policy_name = with.policy;
  input.horizon = with.horizon;
  input.warmup = with.warmup;
  Recorder nothing;
  const RunResult result = simulate(input, nothing);
  std::vector<double> percent;
  for (const Duration time : result.device_time)
    percent.push_back(100 * to_seconds(time) / to_seconds(with.horizon - with.warmup));
  return percent;
}

const Kernels kCheap{1ms, 16'384};

TEST(GaiaGpuShape, ElasticClientsShareWhatTheirRequestsLeaveFree) {
  const std::pair<std::string, ParameterValue> elastic{"mode", std::string("elastic")};
  Arrangement with;
  with.warmup = 100s;
  with.horizon = 160s;
  const auto equal = shares(with, {kCheap, kCheap}, {0.3, 0.3}, {elastic});
  EXPECT_NEAR(equal[0], 48.9, 5);
  EXPECT_NEAR(equal[1], 48.9, 5);
  const auto unequal = shares(with, {kCheap, kCheap}, {0.3, 0.7}, {elastic});
  EXPECT_NEAR(unequal[0], 31.7, 5);
  EXPECT_NEAR(unequal[1], 68.2, 5);
  EXPECT_NEAR(shares(with, {kCheap}, {0.3}, {elastic})[0], 99.8, 1);
}

TEST(GaiaGpuShape, PapersElasticModeLeavesATenthOfTheDeviceFree) {
  Arrangement with;
  with.warmup = 100s;
  with.horizon = 160s;
  const auto shared = shares(with, {kCheap, kCheap}, {0.3, 0.3}, {{"mode", std::string("elastic_paper")}});
  EXPECT_GT(shared[0], 38) << "more than the request";
  EXPECT_LT(shared[0] + shared[1], 97);
  EXPECT_GT(shared[0] + shared[1], 80);
}

// A product of 4096 x 4096 fp32 matrices: 1024 blocks, 137 GFLOP at 64 TFLOP/s.
const Kernels kProduct{Duration{2'150us}, 1'024};

std::vector<double> capped_products(std::int64_t sm_exponent) {
  return shares({"hami", 188, 1536, 240s, 20s}, {kProduct, kProduct}, {0.3, 0.7},
                {{"throttling", std::string("force")}, {"sm_exponent", sm_exponent}});
}

TEST(HamiShape, LinearStepHoldsCapsOn188SmsThatTheQuadraticOneCannot) {
  const auto quadratic = capped_products(2);
  const auto linear = capped_products(1);
  EXPECT_NEAR(linear[0], 30, 5);
  EXPECT_NEAR(linear[1], 70, 5);
  EXPECT_GT(quadratic[0], 30 + 10);
  EXPECT_LT(quadratic[1], 70 - 10);
  RecordProperty("quadratic_percent", fmt::format("{:.1f} {:.1f}", quadratic[0], quadratic[1]));
  RecordProperty("linear_percent", fmt::format("{:.1f} {:.1f}", linear[0], linear[1]));
}

TEST(HamiShape, LoneProgramOfLongKernelsUnderACapOf50KeepsMoreThan85Percent) {
  const Kernels long_kernels{Duration{10ms}, 1'024};
  const auto used = shares({"hami", 80, 2048, 240s, 20s}, {long_kernels}, {0.5},
                           {{"throttling", std::string("force")}, {"sm_exponent", std::int64_t{2}}});
  EXPECT_GT(used[0], 85);
}

TEST(GaiaGpuShape, CapsOf10And90DivideTheDeviceLessThanOneToNine) {
  const Kernels kernels{1ms, 8'192};
  const auto used = shares({"gaiagpu", 80, 2048, 120s, 20s}, {kernels, kernels}, {0.1, 0.9});
  EXPECT_GT(used[1] / used[0], 6);
  EXPECT_LT(used[1] / used[0], 8);
}

TEST(GaiaGpuShape, ProgramsThatWaitForEachLaunchHideACapThatTheyDoNotReach) {
  const Kernels waiting{Duration{20us}, 1'024, Duration{180us}, true};
  const auto used = shares({"gaiagpu", 80, 2048, 60s, 20s}, {waiting, waiting}, {0.1, 0.9});
  EXPECT_NEAR(used[1] / used[0], 1.0, 0.05);
}

}  // namespace
}  // namespace corun
