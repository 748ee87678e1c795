#include "experiments/run/caps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/question/device_file.h"
#include "policies/builtin.h"
#include "sim/solo/solo.h"
#include "tests/support/replay.h"

// The rule of docs/controllability.md against runs of the limiters themselves.

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

DeviceSpec device_named(std::string_view model) {
  for (const BuiltinDevice& device : builtin_devices())
    if (device.model == model) return read_device_file(device.text, std::string(model)).spec;
  ADD_FAILURE() << model;
  return {};
}

/// Mean utilisation in percent of a lone client under a cap.
double achieved(CapLimiter limiter, const DeviceSpec& device, const ClientSpec& client, int percent) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  const PolicyDescriptor& descriptor = *registry.find(to_string(limiter));
  Parameters parameters = descriptor.defaults();
  parameters.set("limits", ByClient{{client.name, percent / 100.0}});
  if (limiter == CapLimiter::kHami) parameters.set("throttling", std::string("force"));
  const auto policy = descriptor.create(parameters);
  RunInput input{device, {client}, policy.get(), "limiter", Duration{60s}, Duration{0s}, 1};
  Recorder nothing;
  const RunResult result = simulate(input, nothing);
  return 100 * to_seconds(result.device_time[0]) / 60;
}

/// One kernel over and over, back to back.
ClientSpec kernels(std::uint32_t blocks, Duration duration) {
  Workload workload;
  workload.names = {"kernel"};
  workload.ops = {WorkOp{.shape = {blocks, 1, 1, 256, 1, 1, 0, 0},
                         .duration = duration,
                         .predicted_by_name = duration,
                         .predicted_by_shape = duration}};
  workload.steps = {{Duration{0}, StepKind::kSubmit, 0}};
  workload.jobs = {{0, 1, 0, 1, Time{}}};
  workload.recorded_span = duration;
  workload.check();
  ClientSpec client;
  client.name = "a";
  client.workload = std::make_shared<const Workload>(std::move(workload));
  return client;
}

void expect_rule_agrees(CapLimiter limiter, const DeviceSpec& device, const ClientSpec& client,
                        const LaunchProfile& profile, int cap) {
  const CapVerdict verdict = judge_cap(limiter, device, profile, cap);
  const double used = achieved(limiter, device, client, cap);
  const double wanted = std::min<double>(cap, 100 * profile.busy_alone);
  constexpr double kPoints = 5.0;
  EXPECT_NEAR(verdict.predicted, used, kPoints) << to_string(limiter) << ", cap " << cap << " %: " << verdict.reason;
  EXPECT_EQ(verdict.is_held, std::abs(verdict.predicted - wanted) <= kHeldWithin * wanted);
}

TEST(Controllability, RuleAgreesWithRunsOfSyntheticKernelsOnAV100) {
  const DeviceSpec v100 = device_named("v100");
  const std::pair<std::uint32_t, Duration> rows[] = {{80, 10ms},    {1'024, 10ms}, {1'000, 1ms},  {4'096, 1ms},
                                                     {16'384, 1ms}, {65'536, 1ms}, {262'144, 1ms}};
  for (const auto& [blocks, duration] : rows) {
    SCOPED_TRACE(blocks);
    const ClientSpec client = kernels(blocks, duration);
    const LaunchProfile profile = profile_launches(*client.workload, 0);
    for (const CapLimiter limiter : {CapLimiter::kGaiaGpu, CapLimiter::kHami})
      for (const int cap : {30, 70}) expect_rule_agrees(limiter, v100, client, profile, cap);
  }
}

TEST(Controllability, RuleAgreesWithRunsOfCapturesOnAnH200) {
  const DeviceSpec h200 = device_named("h200");
  struct Capture {
    const char* file;
    std::uint32_t iterations;
    CapLimiter limiter;
  };
  for (const Capture& capture :
       {Capture{"bert_train_bs16", 6, CapLimiter::kHami}, Capture{"vit_infer_bs32", 10, CapLimiter::kGaiaGpu}}) {
    SCOPED_TRACE(capture.file);
    ClientSpec client;
    client.name = "a";
    client.workload = testing::load_workload(std::string("traces/samples/") + capture.file + ".kineto.json.gz",
                                             {.iterations = capture.iterations, .step = {}});
    client.host_gap_scale = 0.0;
    LaunchProfile profile = profile_launches(*client.workload, 0);
    profile.busy_alone = 1.0;
    expect_rule_agrees(capture.limiter, h200, client, profile, 40);
  }
}

TEST(Controllability, ProgramWithoutKernelsCannotBeLimited) {
  EXPECT_FALSE(judge_cap(CapLimiter::kBlockTime, DeviceSpec{}, LaunchProfile{}, 50).is_held);
}

TEST(Controllability, ProfileCountsBlocksAndTimeOfKernelsOnly) {
  Workload workload = *kernels(100, 2ms).workload;
  WorkOp copy = workload.ops[0], shapeless = workload.ops[0];
  copy.kind = OpKind::kCopyHostToDevice;
  shapeless.shape = {};
  workload.ops.push_back(copy);
  workload.ops.push_back(shapeless);
  workload.recorded_span = Duration{8ms};
  const LaunchProfile profile = profile_launches(workload, 0);
  EXPECT_EQ(profile.launches, 2U);
  EXPECT_DOUBLE_EQ(profile.blocks_per_ms, 101.0 / 4.0);
  EXPECT_DOUBLE_EQ(profile.busy_alone, 0.5);
  EXPECT_DOUBLE_EQ(profile_launches(workload, 200).busy_alone, 0.8);
}

}  // namespace
}  // namespace corun
