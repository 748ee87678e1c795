#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

Parameters with(const PolicyDescriptor& policy, std::vector<std::pair<std::string, ParameterValue>> values) {
  Parameters parameters = policy.defaults();
  for (auto& [name, value] : values) parameters.set(name, std::move(value));
  return parameters;
}

/// Clients "a", "b", ... that launch as far ahead as they may.
struct World : FakeBackend {
  World(const PolicyDescriptor& policy, const Parameters& parameters, std::vector<ClientView> clients)
      : FakeBackend(policy, parameters, clients), count(static_cast<std::uint32_t>(clients.size())) {
    for (std::uint32_t i = 0; i < count; ++i) {
      join(i);
      set_depth(i, 1000);
    }
  }
  void busy(std::uint32_t client, int launches, Duration duration) {
    for (int i = 0; i < launches; ++i) script(client, {.duration = duration});
  }
  /// Launches of a client in [from, to).
  std::int64_t launched(std::uint32_t client, Duration from, Duration to) const {
    const auto its = launches_of(client);
    return std::ranges::count_if(its, [&](const auto& l) { return l.time >= after(from) && l.time < after(to); });
  }
  std::uint32_t count;
};

std::vector<ClientView> two_of_priorities(std::int32_t first, std::int32_t second) {
  std::vector<ClientView> clients{fake_client("a"), fake_client("b")};
  clients[0].priority = first;
  clients[1].priority = second;
  return clients;
}

TEST(XschedQueue, ThresholdBoundsWhatIsInFlightAndABatchMustEndBeforeMoreIsLaunched) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{16}}, {"batch_size", std::int64_t{8}}}),
              two_of_priorities(0, 1));
  world.busy(0, 100, 1ms);
  world.run_until(after(40ms));
  const auto launches = world.launches_of(0);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(launches[i].time, kRunStart) << i;
  for (int i = 16; i < 24; ++i) EXPECT_EQ(launches[i].time, after(8ms)) << i;
  for (int i = 24; i < 32; ++i) EXPECT_EQ(launches[i].time, after(16ms)) << i;
}

TEST(XschedQueue, ThresholdOfOneLaunchesOneAfterAnother) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}}), two_of_priorities(0, 1));
  world.busy(0, 5, 1ms);
  world.run_until(after(10ms));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(world.launches_of(0)[i].time, after(i * 1ms));
}

TEST(XschedQueue, SaysThatTheThresholdHoldsALaunchBack) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, policy.defaults(), two_of_priorities(0, 1));
  world.busy(0, 100, 1ms);
  world.run_until(after(1us));
  EXPECT_EQ(world.arbiter().hold_of(ClientId{0})->rule, "threshold");
}

TEST(XschedQueue, LaunchThatIsHeldBackNeedsMoreThanTheLogHasRoomFor) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{4}}, {"batch_size", std::int64_t{4}}}),
              two_of_priorities(0, 1));
  world.set_most_waiting(0, 100);
  world.at(after(1ms), [&] { world.busy(0, 6, 1ms); });
  // At 3.5 ms two are in flight, but the batch has not ended.
  for (const Duration when : {1'100us, 3'500us}) {
    world.run_until(after(when));
    const Hold& hold = *world.arbiter().hold_of(ClientId{0});
    EXPECT_EQ(hold.needed, 5.0);
    EXPECT_EQ(hold.available, 4.0);
  }
}

TEST(XschedQueue, BuffersLaunchesUnlessToldNotTo) {
  for (const PolicyDescriptor& policy :
       {xsched_fixed_priority_policy(), xsched_fair_policy(), xsched_lax_policy(), xsched_utilization_policy()}) {
    EXPECT_TRUE(policy.create(policy.defaults())->buffers_launches()) << policy.name;
    EXPECT_FALSE(policy.create(with(policy, {{"buffer", false}}))->buffers_launches()) << policy.name;
  }
}

TEST(XschedQueue, IsTakenForIdleOnlyAfterAWhileWithoutWork) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  for (const auto& [pause, others] : {std::pair{90us, 0}, std::pair{110us, 1}}) {
    World world(policy, with(policy, {{"threshold", std::int64_t{1}}, {"idle_after", Duration{100us}}}),
                two_of_priorities(0, 1));
    world.busy(1, 1, 1ms);
    world.busy(0, 10, 10us);
    world.at(after(1ms + pause), [&] { world.busy(1, 1, 1ms); });
    world.run_until(after(2ms));
    EXPECT_EQ(world.launches_of(0).size(), others) << to_ns(Duration{pause});
  }
}

TEST(XschedQueue, IsIdleAtFirst) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, policy.defaults(), two_of_priorities(0, 1));
  world.busy(0, 1, 1ms);
  world.run_until(after(1ms));
  EXPECT_EQ(world.launches_of(0)[0].time, kRunStart);
}

TEST(XschedFixedPriority, HighestRankHasNoThreshold) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, policy.defaults(), two_of_priorities(0, 1));
  world.busy(1, 100, 1ms);
  world.run_until(after(1us));
  EXPECT_EQ(world.launches_of(1).size(), 100U);
}

TEST(XschedFixedPriority, LowerQueueIsSuspendedAtOnceAndWhatItLaunchedRunsOn) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{8}}}), two_of_priorities(0, 1));
  world.busy(0, 100, 500us);
  world.at(after(10'100us), [&] { world.busy(1, 4, 2ms); });
  world.run_until(after(30ms));
  EXPECT_EQ(world.launched(0, 10'100us, 18'100us), 0);
  EXPECT_EQ(world.launches_of(1)[0].time, after(10'100us));
  EXPECT_GT(world.launched(0, 18'100us, 19ms), 0);
}

TEST(XschedFixedPriority, GamesRankAboveAnyTraining) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  std::vector<ClientView> clients = two_of_priorities(5, 0);
  clients[1].role = Role::kInteractive;
  World world(policy, policy.defaults(), clients);
  world.at(after(1ms), [&] {
    world.script(1, {.name = "frame", .duration = 5ms, .is_render = true});
    world.busy(0, 3, 1ms);
  });
  world.run_until(after(2ms));
  EXPECT_TRUE(world.launches_of(0).empty());
  EXPECT_EQ(world.arbiter().hold_of(ClientId{0})->rule, "higher_priority");
  world.run_until(after(10ms));
  EXPECT_EQ(world.launches_of(0)[0].time, after(6'020us));  // as soon as the game counts as idle
}

TEST(XschedFixedPriority, EqualPrioritiesRunSideBySide) {
  const PolicyDescriptor policy = xsched_fixed_priority_policy();
  World world(policy, policy.defaults(), two_of_priorities(3, 3));
  world.busy(0, 1, 1ms);
  world.busy(1, 1, 1ms);
  world.run_until(after(2ms));
  EXPECT_EQ(world.launches_of(1)[0].time, kRunStart);
}

/// Launches of two always busy clients under the fair policy over two seconds, in kernels of 100 us.
std::pair<double, double> fair_launches(const Parameters& parameters, std::vector<ClientView> clients) {
  World world(xsched_fair_policy(), parameters, std::move(clients));
  for (const std::uint32_t client : {0U, 1U}) world.busy(client, 20'000, 100us);
  world.run_until(after(2s));
  return {static_cast<double>(world.launched(0, 0s, 2s)), static_cast<double>(world.launched(1, 0s, 2s))};
}

TEST(XschedFair, SharesFollowTheWeights) {
  const PolicyDescriptor policy = xsched_fair_policy();
  const std::vector<std::pair<std::string, ParameterValue>> one{{"threshold", std::int64_t{1}}};
  const auto [a, b] = fair_launches(with(policy, one), two_of_priorities(0, 0));
  EXPECT_NEAR(a / b, 1.0, 0.02);
  auto weighted = one;
  weighted.emplace_back("weights", ByClient{{"a", 3.0}});
  const auto [c, d] = fair_launches(with(policy, weighted), two_of_priorities(0, 0));
  EXPECT_NEAR(c / d, 3.0, 0.06);
}

TEST(XschedFair, AStepOfPriorityIsWorthAFifthMore) {
  const PolicyDescriptor policy = xsched_fair_policy();
  const auto [a, b] = fair_launches(with(policy, {{"threshold", std::int64_t{1}}}), two_of_priorities(1, 0));
  EXPECT_NEAR(a / b, 1.2, 0.03);
}

TEST(XschedFair, NewcomerDoesNotGetTheTimeThatItWasNotThere) {
  const PolicyDescriptor policy = xsched_fair_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}}), two_of_priorities(0, 0));
  world.busy(0, 20'000, 100us);
  world.at(after(1s), [&] { world.busy(1, 20'000, 100us); });
  world.run_until(after(1200ms));
  EXPECT_NEAR(static_cast<double>(world.launched(0, 1s, 1200ms)), 1000, 30);
}

TEST(XschedFair, ClientThatWasIdleCatchesUp) {
  const PolicyDescriptor policy = xsched_fair_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}}), two_of_priorities(0, 0));
  world.busy(0, 20'000, 100us);
  world.busy(1, 1, 100us);
  world.at(after(100ms), [&] { world.busy(1, 20'000, 100us); });
  world.run_until(after(300ms));
  EXPECT_LE(world.launched(0, 100ms, 190ms), 1);
  EXPECT_GT(world.launched(0, 250ms, 300ms), 200);
}

TEST(XschedUtilization, TurnsFollowTheUtilisationsAndUnusedTimeGoesToTheOthers) {
  const PolicyDescriptor policy = xsched_utilization_policy();
  World world(policy,
              with(policy, {{"threshold", std::int64_t{1}}, {"utilizations", ByClient{{"a", 0.75}, {"b", 0.25}}}}),
              two_of_priorities(0, 0));
  world.busy(0, 20'000, 100us);
  world.busy(1, 1000, 100us);
  world.run_until(after(300ms));
  const double ratio =
      static_cast<double>(world.launched(0, 0s, 300ms)) / static_cast<double>(world.launched(1, 0s, 300ms));
  EXPECT_NEAR(ratio, 3.0, 0.15);
  world.run_until(after(1s));
  EXPECT_NEAR(static_cast<double>(world.launched(0, 600ms, 1s)), 4000, 10);  // b is done by now
}

TEST(XschedUtilization, ARoundHasATimeSliceForEveryClient) {
  const PolicyDescriptor policy = xsched_utilization_policy();
  World world(policy,
              with(policy, {{"threshold", std::int64_t{1}}, {"utilizations", ByClient{{"a", 0.75}, {"b", 0.25}}}}),
              two_of_priorities(0, 0));
  world.busy(0, 1000, 100us);
  world.busy(1, 1000, 100us);
  world.run_until(after(11ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(7'500us));
  EXPECT_EQ(world.launches_of(0)[75].time, after(10ms));
}

TEST(XschedUtilization, TurnEndsAsSoonAsItsClientIsIdle) {
  const PolicyDescriptor policy = xsched_utilization_policy();
  World world(policy, policy.defaults(), two_of_priorities(0, 0));
  world.busy(0, 3, 100us);
  world.busy(1, 1, 100us);
  world.run_until(after(1ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(320us));
}

TEST(XschedUtilization, WhatIsLeftOfATurnIsAddedToTheNext) {
  const PolicyDescriptor policy = xsched_utilization_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}, {"idle_after", Duration{100us}}}),
              two_of_priorities(0, 0));
  world.busy(0, 10, 100us);
  world.busy(1, 1000, 100us);
  world.at(after(2ms), [&] { world.busy(0, 1000, 100us); });
  world.run_until(after(16ms));
  // a has 3.9 of its 5 ms left; b's turn is from 1.1 to 6.1 ms, a's next lasts 8.9 ms.
  EXPECT_EQ(world.launched(0, 1ms, 6'100us), 0);
  EXPECT_EQ(world.launched(1, 6'100us, 15ms), 0);
  EXPECT_EQ(world.launched(1, 15ms, 15'001us), 1);
}

/// When a client that has had a turn of its own gets the device back from one that was without work for `turns`.
Time end_of_saved_turns(int turns) {
  const PolicyDescriptor policy = xsched_utilization_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}}), two_of_priorities(0, 0));
  world.busy(0, 1000, 100us);
  world.at(after(turns * 5ms + 2ms), [&] { world.busy(1, 1000, 100us); });
  world.run_until(after(100ms));
  const auto theirs = world.launches_of(0);
  const auto back =
      std::ranges::adjacent_find(theirs, [](const auto& l, const auto& r) { return r.time - l.time > 1ms; });
  return back == theirs.end() ? kNever : std::next(back)->time;
}

TEST(XschedUtilization, TurnsWithoutWorkAreSavedLessATenthOfWhatExceedsATurn) {
  EXPECT_EQ(end_of_saved_turns(0), after(10ms));
  EXPECT_EQ(end_of_saved_turns(1), after(20ms));
  EXPECT_EQ(end_of_saved_turns(3), after(38'550us));  // 5, 10, 14.5 ms saved, then 13.55 and a turn
}

TEST(XschedUtilization, AClientThatLeavesInItsTurnGivesItUp) {
  const PolicyDescriptor policy = xsched_utilization_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}}),
              {fake_client("a"), fake_client("b"), fake_client("c")});
  world.busy(0, 3, 100us);
  for (const std::uint32_t client : {1U, 2U}) world.busy(client, 1000, 100us);
  world.at(after(250us), [&] { world.leave(0); });
  world.run_until(after(6ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(300us));
  EXPECT_EQ(world.launches_of(2)[0].time, after(5'300us));
}

TEST(XschedUtilization, WaitingClientIsToldThatItIsNotItsTurn) {
  const PolicyDescriptor policy = xsched_utilization_policy();
  World world(policy, policy.defaults(), two_of_priorities(0, 0));
  world.busy(0, 100, 1ms);
  world.busy(1, 1, 1ms);
  world.run_until(after(1ms));
  EXPECT_EQ(world.arbiter().hold_of(ClientId{1})->rule, "turn");
}

TEST(XschedLax, ClientGivesWayUntilItsLaxityIsUsedUp) {
  const PolicyDescriptor policy = xsched_lax_policy();
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}, {"laxity", ByClient{{"a", 20.0}}}}),
              two_of_priorities(0, 0));
  world.busy(1, 1000, 100us);
  world.at(after(10ms), [&] { world.busy(0, 1, 5ms); });
  world.run_until(after(60ms));
  EXPECT_EQ(world.launches_of(0)[0].time, after(30ms));
  EXPECT_EQ(world.launched(1, 30'001us, 35ms), 0);
  EXPECT_GT(world.launched(1, 35ms, 36ms), 5);
}

TEST(XschedLax, LaxityCountsFromWhereTheQueueBecameReadyNotFromEachLaunch) {
  const PolicyDescriptor policy = xsched_lax_policy();
  for (const auto& [pause, second] : {std::pair{50us, 2'000us}, std::pair{150us, 3'150us}}) {
    World world(
        policy,
        with(policy,
             {{"threshold", std::int64_t{1}}, {"laxity", ByClient{{"a", 2.0}}}, {"idle_after", Duration{100us}}}),
        two_of_priorities(0, 0));
    world.busy(0, 1, 1ms);
    world.at(after(500us), [&] { world.busy(1, 1000, 100us); });
    world.at(after(1ms + pause), [&] { world.busy(0, 1, 1ms); });
    world.run_until(after(10ms));
    EXPECT_EQ(world.launches_of(0)[1].time, after(second));
  }
}

TEST(XschedLax, LaxClientRunsAtOnceWhereNobodyElseHasWork) {
  const PolicyDescriptor policy = xsched_lax_policy();
  World world(policy, with(policy, {{"laxity", ByClient{{"a", 20.0}}}}), two_of_priorities(0, 0));
  world.at(after(10ms), [&] { world.busy(0, 1, 5ms); });
  world.run_until(after(60ms));
  EXPECT_EQ(world.launches_of(0)[0].time, after(10ms));
}

TEST(XschedLax, FrameHasItsPeriodLessTheLastOnesGpuTimeToSpare) {
  const PolicyDescriptor policy = xsched_lax_policy();
  std::vector<ClientView> clients = two_of_priorities(0, 0);
  clients[0].role = Role::kInteractive;
  clients[0].frame_period = 16ms;
  World world(policy, with(policy, {{"threshold", std::int64_t{1}}}), clients);
  const FakeOp frame{.name = "frame", .duration = 4ms, .is_render = true};
  world.script(0, frame);
  world.at(after(5ms), [&] { world.busy(1, 10'000, 100us); });
  world.at(after(16ms), [&] { world.script(0, frame); });
  world.run_until(after(40ms));
  EXPECT_EQ(world.launches_of(0)[1].time, after(28ms));
}

}  // namespace
}  // namespace corun
