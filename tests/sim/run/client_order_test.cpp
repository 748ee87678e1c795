#include <gtest/gtest.h>

#include <set>

#include "sim/run/arrival_order.h"
#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::Facts;
using testing::run_open;

/// Jobs of one operation each.
ClientSpec jobs_client(const std::string& name, std::size_t jobs, Duration duration, Duration gap = 0ns,
                       OpKind kind = OpKind::kKernel) {
  Workload workload;
  workload.names = {"op"};
  workload.job_kind = kind == OpKind::kRender ? JobKind::kFrame : JobKind::kIteration;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    WorkOp op;
    op.kind = kind;
    op.duration = op.predicted_by_name = op.predicted_by_shape = duration;
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{gap, StepKind::kSubmit, i});
    workload.jobs.push_back(Job{i, 1, i, 1});
  }
  workload.recorded_span = duration * static_cast<std::int64_t>(jobs);
  ClientSpec spec;
  spec.name = name;
  spec.workload = std::make_shared<Workload>(std::move(workload));
  return spec;
}

TEST(ArrivalOrder, IsByArrivalAndOtherwiseDrawnWithSeedAndName) {
  RunInput input;
  for (const char* name : {"a", "b", "c"}) input.clients.push_back(jobs_client(name, 1, 1ms));
  input.clients[0].arrival = 5ms;
  input.clients[1].arrival = 1ms;
  EXPECT_EQ(arrival_order(input), (std::vector<ClientId>{ClientId{2}, ClientId{1}, ClientId{0}}));
  for (ClientSpec& client : input.clients) client.arrival = 0ms;
  std::set<std::uint32_t> firsts;
  for (input.seed = 1; input.seed <= 30; ++input.seed) firsts.insert(arrival_order(input).front().value);
  EXPECT_EQ(firsts.size(), 3u);
}

TEST(ArrivalOrder, FactsAndResultsHaveTheNumbersOfTheClientsAsListed) {
  OpenGates policy;
  RunInput input;
  input.policy = &policy, input.policy_name = "open", input.horizon = 1s;
  input.clients = {jobs_client("late", 1, 1ms), jobs_client("early", 3, 2ms)};
  input.clients[0].arrival = 100ms;
  for (ClientSpec& client : input.clients) client.repeat = 1;
  Facts facts;
  const RunResult result = simulate_in_arrival_order(input, facts);
  EXPECT_EQ(result.jobs_finished, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(result.device_time, (std::vector<Duration>{1ms, 6ms}));
  ASSERT_EQ(facts.jobs.size(), 4u);
  EXPECT_EQ(facts.jobs.front().client, ClientId{1});
  EXPECT_EQ(facts.jobs.back().client, ClientId{0});
}

/// Refuses the client of that name.
struct Refuses : OpenGates {
  std::string name;
  explicit Refuses(std::string refused) : name(std::move(refused)) {}
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (client.name == name)
        actions.refuse(client.id);
      else
        actions.open(client.id);
    }
  }
};

struct Refusals : Facts {
  std::vector<RefusalFact> refusals;
  void on_refusal(const RefusalFact& fact) override { refusals.push_back(fact); }
};

TEST(ArrivalOrder, ARefusalHasTheNumberOfTheClientAsListed) {
  for (const std::uint32_t listed : {0U, 1U}) {
    RunInput input;
    input.clients = {jobs_client("late", 1, 1ms), jobs_client("early", 3, 2ms)};
    input.clients[0].arrival = 100ms;
    Refuses policy(input.clients[listed].name);
    input.policy = &policy, input.policy_name = "refuses", input.horizon = 1s;
    Refusals told;
    simulate_in_arrival_order(input, told);
    ASSERT_EQ(told.refusals.size(), 1u);
    EXPECT_EQ(told.refusals[0].client, ClientId{listed});
  }
}

TEST(ClientPacing, OpenReplayBeginsEachPassASpanAfterTheOneBefore) {
  ClientSpec spec = jobs_client("a", 2, 1ms);
  Workload workload = *spec.workload;
  workload.jobs[0].recorded_start = kRunStart + 3ms;
  workload.jobs[1].recorded_start = kRunStart + 8ms;
  workload.recorded_span = 20ms;
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.replay = Replay::kOpen;
  spec.repeat = 2;
  const Facts facts = run_open(DeviceSpec{}, {spec}, 1s);
  std::vector<Time> arrivals;
  for (const JobFact& job : facts.jobs) arrivals.push_back(job.arrival);
  EXPECT_EQ(arrivals, (std::vector<Time>{kRunStart, kRunStart + 5ms, kRunStart + 20ms, kRunStart + 25ms}));
}

TEST(ClientPacing, AnUncappedGameBeginsAFrameWhileOneIsUnfinished) {
  const Facts facts = run_open(DeviceSpec{}, {jobs_client("game", 1, 5ms, 1ms, OpKind::kRender)}, 50ms);
  ASSERT_GE(facts.ops.size(), 4u);
  EXPECT_EQ(facts.ops[0].submitted, kRunStart + 1ms);
  EXPECT_EQ(facts.ops[1].submitted, kRunStart + 2ms);
  EXPECT_EQ(facts.ops[2].submitted, kRunStart + 7ms) << "its host began when the first frame ended, at 6 ms";
  EXPECT_EQ(facts.ops[3].submitted, kRunStart + 12ms);
}

TEST(ClientPacing, ALimiterCountsFromTheBeginOfTheFrameBefore) {
  ClientSpec spec = jobs_client("game", 1, 3ms, 1ms, OpKind::kRender);
  spec.pacing = {Pacing::Mode::kLimited, 10ms, Pacing::kByMode};
  const Facts facts = run_open(DeviceSpec{}, {spec}, 100ms);
  ASSERT_GE(facts.ops.size(), 3u);
  EXPECT_EQ(facts.ops[0].submitted, kRunStart + 1ms);
  EXPECT_EQ(facts.ops[1].submitted, kRunStart + 11ms);
  EXPECT_EQ(facts.ops[2].submitted, kRunStart + 21ms);
}

TEST(ClientPacing, AGameThatRunsAheadOfItsDisplayDoesNotWaitForATickItHasMissed) {
  ClientSpec spec = jobs_client("game", 1, 3ms, 12ms, OpKind::kRender);
  spec.pacing = {Pacing::Mode::kVsync, 10ms, 1};
  const Facts facts = run_open(DeviceSpec{}, {spec}, 100ms);
  ASSERT_GE(facts.ops.size(), 3u);
  EXPECT_EQ(facts.ops[1].submitted, kRunStart + 24ms);
  EXPECT_EQ(facts.ops[2].submitted, kRunStart + 36ms);
  spec.pacing.queued_ahead = 0;
  EXPECT_EQ(run_open(DeviceSpec{}, {spec}, 100ms).ops[1].submitted, kRunStart + 32ms) << "from the tick at 20 ms";
}

TEST(ClientSpecTimes, GapsAndLatenciesAreScaledEachByItsOwnFactor) {
  ClientSpec spec = jobs_client("a", 1, 1ms);
  Workload workload = *spec.workload;
  workload.ops.change([](WorkOp& op) { op.dispatch_gap = Duration{1'000}, op.launch_latency = Duration{2'000}; });
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.device_time_scale = 0.5;
  spec.launch_latency_scale = 0.25;
  EXPECT_EQ(spec.dispatch_gap_of(0), Duration{500});
  EXPECT_EQ(spec.launch_latency_of(0), Duration{500});
}

TEST(ClientSpecTimes, AChangeOfLevelsCostsWhatTheNewOneDoesOrTheKnobsThatTurn) {
  ClientSpec spec;
  EXPECT_EQ(spec.switch_cost(0, 1), Duration{0});
  spec.switch_costs = {1ms, 2ms, 4ms};
  EXPECT_EQ(spec.switch_cost(0, 2), Duration{4ms});
  EXPECT_EQ(spec.switch_cost(2, 0), Duration{1ms});
  spec.knobs = {{"shadows", {}, 10ms}, {"textures", {}, 30ms}};
  spec.quality_menu = {{"best", 1, 1, {0, 0}}, {"no shadows", 0.8, 0.9, {1, 0}}, {"worst", 0.5, 0.6, {1, 1}}};
  EXPECT_EQ(spec.switch_cost(0, 1), Duration{10ms});
  EXPECT_EQ(spec.switch_cost(1, 2), Duration{30ms});
  EXPECT_EQ(spec.switch_cost(2, 0), Duration{40ms});
  EXPECT_EQ(spec.switch_cost(1, 1), Duration{0});
}

}  // namespace
}  // namespace corun
