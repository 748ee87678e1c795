// Policies that set what the device or its driver can do: what they ask for (fake backend), and what comes of it
// (simulated device; numbers worked out by hand).

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"
#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::Facts;

Time after(Duration duration) { return kRunStart + duration; }

Parameters with(const PolicyDescriptor& policy, std::initializer_list<std::pair<const char*, ParameterValue>> values) {
  Parameters parameters = policy.defaults();
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

std::vector<ClientView> game_and_two() {
  std::vector<ClientView> clients{fake_client("game", Role::kInteractive), fake_client("a"), fake_client("b")};
  clients[2].priority = 7;
  return clients;
}

/// The newest decision of that kind for a client, nullptr if there was none.
const Action* newest(const FakeBackend& world, Action::Kind kind, std::uint32_t client) {
  const Action* found = nullptr;
  for (const DecisionFact& fact : world.decisions())
    if (fact.action.kind == kind && fact.action.client == ClientId{client}) found = &fact.action;
  return found;
}

void join_all(FakeBackend& world, std::uint32_t count) {
  for (std::uint32_t client = 0; client < count; ++client) world.join(client);
  world.run_until(world.now() + 1ms);
}

// Ten SMs that hold one block each.
DeviceSpec ten_sms(Sharing sharing) {
  DeviceSpec spec;
  spec.sm_count = 10;
  spec.max_threads_per_sm = 1024;
  spec.time_slice = 2ms;
  spec.switch_cost = 100us;
  spec.sharing = sharing;
  return spec;
}

/// A client whose every job is one kernel of `blocks` blocks, `gap` after the one before has ended.
ClientSpec kernels(std::string name, Duration duration, std::uint32_t blocks, Duration gap = 0ns) {
  Workload workload;
  workload.names = {"kernel"};
  WorkOp op;
  op.duration = duration;
  if (blocks > 0) op.shape = {blocks, 1, 1, 1024, 1, 1, 32, 0};
  workload.ops = {op};
  workload.steps = {{gap, StepKind::kSubmit, 0}};
  workload.jobs = {Job{0, 1, 0, 1, kRunStart}};
  workload.recorded_span = duration;
  workload.check();
  ClientSpec spec;
  spec.name = std::move(name);
  spec.workload = std::make_shared<Workload>(std::move(workload));
  if (gap > Duration{}) spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  return spec;
}

Facts run(const PolicyDescriptor& descriptor, const Parameters& parameters, const DeviceSpec& device,
          const std::vector<ClientSpec>& clients, Duration horizon, RunResult* result = nullptr) {
  const std::unique_ptr<Policy> policy = descriptor.create(parameters);
  RunInput input{device, clients, policy.get(), descriptor.name, horizon, Duration{0}, 1};
  Facts facts;
  const RunResult outcome = simulate(input, facts);
  if (result != nullptr) *result = outcome;
  return facts;
}

/// The longest time from asking for a kernel to its start, once the run has settled.
Duration longest_wait(const Facts& facts, ClientId client) {
  Duration longest{};
  for (const OpFact& op : facts.ops)
    if (op.client == client && op.submitted > after(100ms)) longest = std::max(longest, op.begin - op.submitted);
  return longest;
}

// Stream priority.

TEST(StreamPriority, NamesGoBeforeRolesAndRolesBeforePriorities) {
  const PolicyDescriptor policy = stream_priority_policy();
  FakeBackend world(policy, with(policy, {{"priorities", ByClient{{"a", 3.0}}}}), game_and_two());
  join_all(world, 3);
  EXPECT_EQ(newest(world, Action::Kind::kSetPriority, 0)->level, 5);
  EXPECT_EQ(newest(world, Action::Kind::kSetPriority, 1)->level, 3);
  EXPECT_EQ(newest(world, Action::Kind::kSetPriority, 2)->level, 4);
  for (std::uint32_t client = 0; client < 3; ++client) EXPECT_TRUE(world.gate_is_open(client));
}

TEST(StreamPriority, ARequestWaitsForOneWaveOfTheTrainingInsteadOfItsWholeKernels) {
  const PolicyDescriptor policy = stream_priority_policy();
  const std::vector<ClientSpec> clients{kernels("serve", 500us, 10, 2300us), kernels("train", 10ms, 100)};
  const DeviceSpec device = ten_sms(Sharing::kConcurrent);
  const Facts plain = run(policy, with(policy, {{"priorities", ByClient{}}}), device, clients, 1s);
  const Facts first = run(policy, with(policy, {{"priorities", ByClient{{"serve", 5.0}}}}), device, clients, 1s);
  EXPECT_GT(longest_wait(plain, ClientId{0}), 5ms);
  EXPECT_LE(longest_wait(first, ClientId{0}), 1ms);  // a wave of the training
  EXPECT_GT(longest_wait(first, ClientId{0}), 100us);
}

// MPS percentages.

TEST(MpsPercentage, CapsEachClientAtItsPercentageOrTheDefault) {
  const PolicyDescriptor policy = mps_percentage_policy();
  FakeBackend world(policy, with(policy, {{"percentages", ByClient{{"a", 25.0}}}, {"default_percentage", 60.0}}),
                    game_and_two());
  join_all(world, 3);
  EXPECT_EQ(newest(world, Action::Kind::kSetSmCap, 0)->fraction, 0.6);
  EXPECT_EQ(newest(world, Action::Kind::kSetSmCap, 1)->fraction, 0.25);
  for (std::uint32_t client = 0; client < 3; ++client) EXPECT_TRUE(world.gate_is_open(client));
}

TEST(MpsPercentage, ACappedClientGetsNoMoreAndTheOthersUseWhatItLeaves) {
  const PolicyDescriptor policy = mps_percentage_policy();
  const Parameters parameters = with(policy, {{"percentages", ByClient{{"a", 30.0}}}});
  RunResult result;
  const DeviceSpec device = ten_sms(Sharing::kConcurrent);
  run(policy, parameters, device, {kernels("a", 1ms, 1000), kernels("b", 1ms, 1000)}, 1s, &result);
  EXPECT_LE(result.jobs_finished[0], 300U);
  EXPECT_GE(result.jobs_finished[0], 200U);
  EXPECT_NEAR(static_cast<double>(result.jobs_finished[0] + result.jobs_finished[1]), 1000, 3);
  run(policy, parameters, device, {kernels("b", 1ms, 1000)}, 1s, &result);
  EXPECT_NEAR(static_cast<double>(result.jobs_finished[0]), 1000, 2);
}

// Green contexts.

TEST(GreenContexts, SharesAreWholeGroupsAndTheOthersUseTheRest) {
  const PolicyDescriptor policy = green_contexts_policy();
  FakeBackend world(policy, with(policy, {{"shares", ByClient{{"game", 0.21}}}}), game_and_two());  // 80 SMs
  join_all(world, 3);
  EXPECT_EQ(newest(world, Action::Kind::kSetSmShare, 0)->fraction, 24.0 / 80);
  EXPECT_EQ(newest(world, Action::Kind::kSetSmShare, 1), nullptr);
  EXPECT_TRUE(world.gate_is_open(1));
}

TEST(GreenContexts, AShareThatDoesNotFitWaitsForSmsAndSaysSo) {
  const PolicyDescriptor policy = green_contexts_policy();
  FakeBackend world(policy, with(policy, {{"shares", ByClient{{"game", 0.7}, {"a", 0.5}}}}), game_and_two());
  for (std::uint32_t client = 0; client < 2; ++client) {
    world.join(client);
    world.script(client, {.duration = 5ms});
  }
  world.run_until(after(10ms));
  EXPECT_FALSE(world.gate_is_open(1));
  const Hold* hold = world.arbiter().hold_of(ClientId{1});
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->rule, "no_free_sms");
  EXPECT_EQ(hold->needed, 40);
  EXPECT_EQ(hold->available, 24);
  world.leave(0);
  world.run_until(after(11ms));
  EXPECT_TRUE(world.gate_is_open(1));
}

TEST(GreenContexts, ClientsWithoutAShareWaitWhileNoSmsAreLeft) {
  const PolicyDescriptor policy = green_contexts_policy();
  FakeBackend world(policy, with(policy, {{"shares", ByClient{{"a", 1.0}}}}), game_and_two());
  join_all(world, 3);
  EXPECT_FALSE(world.gate_is_open(0));
  world.leave(1);
  world.run_until(after(2ms));
  EXPECT_TRUE(world.gate_is_open(0));
}

TEST(GreenContexts, ReservedSmsServeTheirClientAtOnceAndStayIdleOtherwise) {
  const PolicyDescriptor policy = green_contexts_policy();
  const Parameters parameters = with(policy, {{"shares", ByClient{{"serve", 0.4}}}, {"group", std::int64_t{1}}});
  RunResult result;
  const Facts facts = run(policy, parameters, ten_sms(Sharing::kConcurrent),
                          {kernels("serve", 500us, 4, 7ms), kernels("train", 1ms, 6)}, 1s, &result);
  EXPECT_EQ(longest_wait(facts, ClientId{0}), Duration{0});
  EXPECT_NEAR(static_cast<double>(result.jobs_finished[1]), 1000, 2);  // its six blocks fit what is left
  run(policy, parameters, ten_sms(Sharing::kConcurrent), {kernels("serve", 500us, 4, 7ms), kernels("train", 1ms, 10)},
      1s, &result);
  EXPECT_NEAR(static_cast<double>(result.jobs_finished[1]), 500, 2);  // two waves on six SMs
}

// MIG.

TEST(Mig, GivesEachClientItsSlicesAndOpensItsGate) {
  const PolicyDescriptor policy = mig_policy();
  FakeBackend world(policy, with(policy, {{"instances", ByClient{{"game", 4.0}, {"a", 2.0}}}}), game_and_two());
  join_all(world, 3);
  EXPECT_EQ(newest(world, Action::Kind::kSetInstance, 0)->fraction, 4.0 / 7);
  EXPECT_EQ(newest(world, Action::Kind::kSetInstance, 1)->fraction, 2.0 / 7);
  EXPECT_EQ(newest(world, Action::Kind::kSetInstance, 2)->fraction, 1.0 / 7);
  for (std::uint32_t client = 0; client < 3; ++client) EXPECT_TRUE(world.gate_is_open(client));
}

/// How many clients that ask for these instances get theirs.
std::size_t placed(const std::vector<double>& slices) {
  const PolicyDescriptor policy = mig_policy();
  std::vector<ClientView> clients;
  ByClient named;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    clients.push_back(fake_client("client" + std::to_string(i)));
    named[clients.back().name] = slices[i];
  }
  FakeBackend world(policy, with(policy, {{"instances", named}}), clients);
  join_all(world, static_cast<std::uint32_t>(slices.size()));
  std::size_t open = 0;
  for (std::uint32_t client = 0; client < slices.size(); ++client) open += world.gate_is_open(client) ? 1 : 0;
  return open;
}

TEST(Mig, PlacesEveryCombinationThatRealPartsOffer) {
  const std::vector<double> legal[] = {{7},
                                       {4, 3},
                                       {3, 4},
                                       {4, 2, 1},
                                       {1, 1, 1, 4},
                                       {3, 3},
                                       {2, 2, 3},
                                       {3, 2, 1, 1},
                                       {1, 1, 1, 1, 3},
                                       {2, 2, 2, 1},
                                       {1, 2, 1, 2, 1},
                                       {1, 1, 1, 1, 1, 2},
                                       {1, 1, 1, 1, 1, 1, 1}};
  for (const auto& slices : legal) EXPECT_EQ(placed(slices), slices.size()) << slices.size() << " from " << slices[0];
}

TEST(Mig, WhatHasNoPlaceWaitsThoughSlicesSeemToBeLeft) {
  EXPECT_EQ(placed({3, 3, 1}), 2U);  // six of seven compute slices, but all of the memory
  EXPECT_EQ(placed({4, 4}), 1U);
  EXPECT_EQ(placed({7, 1}), 1U);
  EXPECT_EQ(placed({1, 1, 1, 1, 1, 1, 1, 1}), 7U);
}

TEST(Mig, AWaitingClientGetsThePlaceOfOneThatLeaves) {
  const PolicyDescriptor policy = mig_policy();
  FakeBackend world(policy, with(policy, {{"instances", ByClient{{"game", 4.0}, {"a", 4.0}}}}), game_and_two());
  world.join(0);
  world.join(1);
  world.script(1, {.duration = 1ms});
  world.run_until(after(5ms));
  const Hold* hold = world.arbiter().hold_of(ClientId{1});
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->rule, "no_free_instance");
  EXPECT_EQ(hold->needed, 4);
  EXPECT_EQ(hold->available, 4);
  world.leave(0);
  world.run_until(after(6ms));
  EXPECT_EQ(world.launches_of(1).size(), 1U);
}

TEST(Mig, ASizeThatNoProfileHasIsRefusedOnce) {
  const PolicyDescriptor policy = mig_policy();
  FakeBackend world(policy, with(policy, {{"instances", ByClient{{"a", 5.0}}}}), game_and_two());
  world.join(1);
  world.script(1, {.duration = 1ms});
  world.join(0);
  world.run_until(after(5ms));
  ASSERT_EQ(world.refusals().size(), 1U);
  EXPECT_EQ(world.refusals()[0].reason.rule, "no_such_instance");
  EXPECT_FALSE(world.is_present(1));
  EXPECT_TRUE(world.gate_is_open(0));
}

TEST(Mig, AnInstanceTakesNoNoticeOfTheOthersAndNeverSwitches) {
  const PolicyDescriptor policy = mig_policy();
  const Parameters parameters = with(policy, {{"instances", ByClient{{"serve", 3.0}, {"train", 4.0}}}});
  RunResult alone, beside;
  const DeviceSpec device = ten_sms(Sharing::kTimeSliced);
  const ClientSpec serve = kernels("serve", 500us, 8, 2ms);
  run(policy, parameters, device, {serve}, 1s, &alone);
  const Facts facts = run(policy, parameters, device, {serve, kernels("train", 7ms, 0)}, 1s, &beside);
  EXPECT_EQ(alone.jobs_finished[0], beside.jobs_finished[0]);
  EXPECT_EQ(beside.usage.switching, Duration{0});
  EXPECT_EQ(longest_wait(facts, ClientId{0}), Duration{0});
  EXPECT_NEAR(static_cast<double>(beside.jobs_finished[1]), 1000 / (7.0 * 7 / 4), 1);
}

TEST(Mig, AnInstanceIsFreeAgainWhenItsClientHasFinished) {
  const PolicyDescriptor policy = mig_policy();
  const Parameters parameters = with(policy, {{"instances", ByClient{{"first", 7.0}, {"second", 7.0}}}});
  ClientSpec first = kernels("first", 10ms, 10), second = kernels("second", 10ms, 10);
  first.repeat = second.repeat = 5;
  RunResult result;
  run(policy, parameters, ten_sms(Sharing::kTimeSliced), {first, second}, 1s, &result);
  EXPECT_EQ(result.end, after(100ms));
}

// GPreempt.

TEST(Gpreempt, CriticalClientsGetLongSlicesAndTheOthersTinyOnes) {
  const PolicyDescriptor policy = gpreempt_policy();
  FakeBackend world(policy, policy.defaults(), game_and_two());
  join_all(world, 3);
  EXPECT_EQ(newest(world, Action::Kind::kSetSlice, 0)->duration, Duration{1s});
  EXPECT_EQ(newest(world, Action::Kind::kSetSlice, 1)->duration, Duration{200us});
  EXPECT_EQ(newest(world, Action::Kind::kSetSlice, 2)->duration, Duration{1s});  // by its priority
  for (std::uint32_t client = 0; client < 3; ++client) EXPECT_TRUE(world.gate_is_open(client));
}

TEST(Gpreempt, ARequestWaitsForATinySliceAndASwitchAndIsNotInterrupted) {
  const PolicyDescriptor policy = gpreempt_policy();
  ClientSpec serve = kernels("serve", 5ms, 0, 3ms);
  serve.priority = 1;
  const std::vector<ClientSpec> clients{serve, kernels("train", 30ms, 0)};
  const DeviceSpec device = ten_sms(Sharing::kTimeSliced);
  const Facts facts = run(policy, policy.defaults(), device, clients, 1s);
  EXPECT_LE(longest_wait(facts, ClientId{0}), 200us + 100us);
  for (const OpFact& op : facts.ops)
    EXPECT_TRUE(op.client != ClientId{0} || op.end - op.begin == 5ms) << to_ns(op.end - op.begin);
  const Facts plain = run(passthrough_policy(), {}, device, clients, 1s);
  EXPECT_GT(longest_wait(plain, ClientId{0}), 1ms);
}

TEST(Gpreempt, TheSliceOfTheArtifactLeavesLittleButTheSwitch) {
  const PolicyDescriptor policy = gpreempt_policy();
  ClientSpec serve = kernels("serve", 5ms, 0, 3ms);
  serve.role = Role::kInteractive;
  const Facts facts = run(policy, with(policy, {{"low_slice", Duration{1us}}}), ten_sms(Sharing::kTimeSliced),
                          {serve, kernels("train", 30ms, 0)}, 1s);
  EXPECT_LE(longest_wait(facts, ClientId{0}), 1us + 100us);
}

}  // namespace
}  // namespace corun
