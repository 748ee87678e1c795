#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/parts/job_latency.h"
#include "policies/parts/kernel_kind.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

Parameters with(std::string name, ParameterValue value) {
  Parameters parameters = orion_policy().defaults();
  parameters.set(std::move(name), std::move(value));
  return parameters;
}

FakeOp kernel(std::string name, Duration duration, double sm_demand = 0.25) {
  return {.name = std::move(name), .duration = duration, .predicted = duration, .sm_demand = sm_demand};
}

/// A high-priority client 0 and best-effort clients 1 and 2, with at most 100 us of best-effort kernels at once.
struct World : FakeBackend {
  explicit World(const Parameters& parameters = with("duration_threshold", Duration{100us}))
      : FakeBackend(orion_policy(), parameters, {high(), fake_client("be1"), fake_client("be2")}) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      join(i);
      set_depth(i, 1000);
    }
  }
  static ClientView high() {
    ClientView client = fake_client("hp");
    client.priority = 1;
    return client;
  }
};

TEST(Orion, HighPriorityKernelsAreNeverHeld) {
  World world;
  for (int i = 0; i < 10; ++i) world.script(1, kernel("gemm", 90us));
  world.at(after(10us), [&] {
    for (int i = 0; i < 10; ++i) world.script(0, kernel("gemm", 1ms, 1.0));
  });
  world.run_until(after(1ms));
  ASSERT_EQ(world.launches_of(0).size(), 10U);
  for (const FakeLaunch& launch : world.launches_of(0)) EXPECT_EQ(launch.time, after(10us));
}

TEST(Orion, KernelOfTheSameKindWaitsForTheEndOfTheHighPriorityWork) {
  World world;
  world.script(0, kernel("sgemm", 5ms));
  world.at(after(1ms), [&] { world.script(1, kernel("conv2d", 50us)); });
  world.at(after(1ms), [&] { world.script(2, kernel("elementwise", 50us)); });
  world.run_until(after(10ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(5ms));
  EXPECT_EQ(world.launches_of(2)[0].time, after(1ms));
}

TEST(Orion, KernelOfUnknownKindPassesBesideAnyOther) {
  World world;
  world.script(0, kernel("sgemm", 5ms));
  world.at(after(1ms), [&] { world.script(1, kernel("mystery", 50us)); });
  world.run_until(after(2ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(1ms));
}

TEST(Orion, LargeKernelStaysOffWhileHighPriorityWorkIsThere) {
  World world;
  world.script(0, kernel("sgemm", 5ms));
  world.at(after(1ms), [&] { world.script(1, kernel("elementwise", 50us, 1.0)); });
  world.run_until(after(2ms));
  EXPECT_TRUE(world.launches_of(1).empty());
  EXPECT_EQ(world.arbiter().hold_of(ClientId{1})->rule, "sm_demand");
  world.run_until(after(10ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(5ms));
}

TEST(Orion, ThresholdOfSmsDecidesWhatIsLarge) {
  Parameters parameters = with("duration_threshold", Duration{100us});
  parameters.set("sm_threshold", 0.3);
  World world(parameters);
  world.script(0, kernel("sgemm", 5ms));
  world.at(after(1ms), [&] { world.script(1, kernel("elementwise", 50us, 0.31)); });
  world.at(after(1ms), [&] { world.script(2, kernel("elementwise", 50us, 0.29)); });
  world.run_until(after(2ms));
  EXPECT_TRUE(world.launches_of(1).empty());
  EXPECT_EQ(world.launches_of(2).size(), 1U);
}

TEST(Orion, DurationThresholdMakesBestEffortKernelsDrainEvenWithoutHighPriorityWork) {
  World world;
  for (int i = 0; i < 8; ++i) world.script(1, kernel("k", 30us));
  world.run_until(after(1ms));
  // The fourth brings the sum to 120 us; the fifth waits until all four have completed.
  const auto launches = world.launches_of(1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(launches[i].time, kRunStart);
  for (int i = 4; i < 8; ++i) EXPECT_EQ(launches[i].time, after(120us));
}

TEST(Orion, KernelWithoutAProfileRunsAlone) {
  World world;
  for (int i = 0; i < 2; ++i) world.script(1, {.name = "unknown", .duration = 10us, .sm_demand = 0.1});
  world.run_until(after(1ms));
  EXPECT_EQ(world.launches_of(1)[1].time, after(10us));
}

TEST(Orion, BestEffortClientsTakeTurns) {
  World world(with("duration_threshold", Duration{10us}));
  for (int i = 0; i < 3; ++i)
    for (const std::uint32_t client : {1U, 2U}) world.script(client, kernel("k", 20us));
  world.run_until(after(1ms));
  std::vector<std::uint32_t> order;
  for (const FakeLaunch& launch : world.launches()) order.push_back(launch.client.value);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 2, 1, 2, 1, 2}));
}

TEST(Orion, DurationThresholdIsAShareOfTheNewestHighPriorityLatency) {
  World world(with("latency_share", 0.1));
  // Jobs of two operations that take 1 ms from submission to completion: 100 us of best-effort kernels.
  for (int job = 0; job < 3; ++job)
    world.at(after(job * 2ms), [&] {
      for (std::uint32_t position = 0; position < 2; ++position) {
        FakeOp op = kernel("gemm", 500us);
        op.position = position;
        world.script(0, op);
      }
    });
  world.at(after(5'100us), [&] {
    for (int i = 0; i < 6; ++i) world.script(1, kernel("k", 30us));
  });
  world.run_until(after(6ms));
  const auto launches = world.launches_of(1);
  EXPECT_EQ(launches[3].time, after(5'100us));
  EXPECT_EQ(launches[4].time, after(5'220us));
}

TEST(Orion, AShorterLatencyOfALaterClientBringsTheThresholdDown) {
  FakeBackend world(orion_policy(), with("latency_share", 0.1), {World::high(), World::high(), fake_client("be")});
  for (std::uint32_t i = 0; i < 3; ++i) {
    world.join(i);
    world.set_depth(i, 1000);
  }
  for (int job = 0; job < 3; ++job)
    world.at(after(job * 10ms), [&] {
      for (const std::uint32_t client : {0U, 1U})
        for (std::uint32_t position = 0; position < 2; ++position) {
          FakeOp op = kernel("gemm", client == 0 ? 2ms : 500us);
          op.position = position;
          world.script(client, op);
        }
    });
  world.at(after(28ms), [&] {
    for (int i = 0; i < 20; ++i) world.script(2, kernel("k", 30us));
  });
  world.run_until(after(30ms));
  // Latencies of 4 and 1 ms: 100 us of best-effort kernels, four of 30 us.
  const auto launches = world.launches_of(2);
  ASSERT_GE(launches.size(), 5u);
  EXPECT_EQ(launches[3].time, after(28ms));
  EXPECT_GT(launches[4].time, after(28ms));
}

TEST(Orion, OneBestEffortOperationAtATimeBeforeALatencyIsKnown) {
  World world(orion_policy().defaults());
  for (int i = 0; i < 2; ++i) world.script(1, kernel("k", 30us));
  world.run_until(after(1ms));
  EXPECT_EQ(world.launches_of(1)[1].time, after(30us));
}

TEST(Orion, HighPriorityClientsGetTheHigherStreamPriority) {
  World world;
  world.run_until(after(1us));
  std::vector<std::int32_t> levels(3, -1);
  for (const DecisionFact& fact : world.decisions())
    if (fact.action.kind == Action::Kind::kSetPriority) levels[fact.action.client.value] = fact.action.level;
  EXPECT_EQ(levels, (std::vector<std::int32_t>{1, 0, 0}));
}

TEST(Orion, DurationThresholdIsExceededByOneKernelOnly) {
  World world;
  for (int i = 0; i < 5; ++i) world.script(1, kernel("k", 50us));
  world.run_until(after(1ms));
  const auto launches = world.launches_of(1);
  EXPECT_EQ(launches[2].time, kRunStart) << "two take just 100 us, which is not too much";
  EXPECT_EQ(launches[3].time, after(150us));
}

TEST(Orion, KernelOfJustTheThresholdOfSmsIsLarge) {
  Parameters parameters = with("duration_threshold", Duration{100us});
  parameters.set("sm_threshold", 0.25);
  World world(parameters);
  world.script(0, kernel("sgemm", 5ms));
  world.at(after(1ms), [&] { world.script(1, kernel("elementwise", 50us, 0.25)); });
  world.run_until(after(2ms));
  EXPECT_TRUE(world.launches_of(1).empty());
}

TEST(Orion, OneDecisionAdmitsAllThatMayPassInTurns) {
  std::vector<ClientView> clients{World::high(), fake_client("be1"), fake_client("be2")};
  std::vector<OpView> waiting(5);
  for (OpView& op : waiting) op.predicted_by_name = 30us;
  for (std::uint32_t i = 0; i < 3; ++i) {
    clients[i].id = ClientId{i};
    clients[i].is_present = true;
    if (i > 0) clients[i].waiting = waiting;
  }
  const GpuView view{kRunStart, fake_device(), clients};
  const auto policy = orion_policy().create(with("duration_threshold", Duration{100us}));
  for (std::uint32_t i = 0; i < 3; ++i) policy->on_joined(view, ClientId{i});
  Actions actions;
  policy->decide(view, actions);
  std::vector<std::uint32_t> admitted;
  for (const Action& action : actions.list())
    if (action.kind == Action::Kind::kAdmit) admitted.push_back(action.client.value);
  EXPECT_EQ(admitted, (std::vector<std::uint32_t>{1, 2, 1, 2})) << "120 us";
  ASSERT_EQ(actions.holds().size(), 2U);
  for (const auto& stated : actions.holds()) {
    EXPECT_EQ(stated.hold.rule, "best_effort_duration");
    EXPECT_EQ(stated.hold.needed, 30'000.0);
    EXPECT_EQ(stated.hold.available, 0.0);
  }
}

TEST(JobLatency, SpansFromTheFirstSubmissionToTheLastCompletionOfQueuedJobs) {
  JobLatency latency;
  OpView first, second;
  second.position = 1;
  latency.on_submitted(after(0us), first);
  latency.on_submitted(after(1us), second);
  latency.on_submitted(after(2us), first);  // the next job is queued behind
  latency.on_completed(after(10us), first);
  EXPECT_EQ(latency.latest(), kUnknownDuration);
  latency.on_completed(after(20us), second);
  latency.on_completed(after(30us), first);
  EXPECT_EQ(latency.latest(), 20us);
}

TEST(KernelKind, NamesOfTodaysLibrariesTellProductsFromWhatMovesMemory) {
  EXPECT_EQ(kind_of_kernel("sm90_xmma_wgrad_indexed_implicit_gemm_f32f32"), KernelKind::kComputeBound);
  EXPECT_EQ(kind_of_kernel("nvjet_sm90_hsh_64x32_64x16_4x2_h_bz_bias_TNT"), KernelKind::kComputeBound);
  EXPECT_EQ(kind_of_kernel("void at::native::vectorized_elementwise_kernel<4>"), KernelKind::kMemoryBound);
  EXPECT_EQ(kind_of_kernel("void cudnn::bn_bw_1C11_kernel_new<float>"), KernelKind::kMemoryBound);
  EXPECT_EQ(kind_of_kernel("void cublasLt::splitKreduce_kernel<32, 16>"), KernelKind::kMemoryBound);
  EXPECT_EQ(kind_of_kernel("my_kernel"), KernelKind::kUnknown);
}

}  // namespace
}  // namespace corun
