#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Time after(Duration duration) { return kRunStart + duration; }

Parameters hami(ByClient limits, const std::string& throttling = "default") {
  Parameters parameters = hami_policy().defaults();
  parameters.set("limits", std::move(limits));
  parameters.set("throttling", throttling);
  return parameters;
}

void supply(FakeBackend& world, std::uint32_t client, Duration span, std::uint64_t blocks = 16'384) {
  for (auto i = span / Duration{1ms}; i-- > 0;) world.script(client, {.duration = 1ms, .blocks = blocks});
}

/// Utilisation of client 0 between `from` and `to`.
double utilisation(FakeBackend& world, Duration from, Duration to) {
  world.run_until(after(from));
  const Duration before = world.device_time(ClientId{0});
  world.run_until(after(to));
  return to_seconds(world.device_time(ClientId{0}) - before) / to_seconds(to - from);
}

double lone(const std::string& throttling) {
  FakeBackend world(hami_policy(), hami({{"a", 0.3}}, throttling), {fake_client("a")});
  world.join(0);
  supply(world, 0, 60s);
  return utilisation(world, 20s, 60s);
}

TEST(Hami, LoneClientIsThrottledOnlyWhenForced) {
  EXPECT_GT(lone("default"), 0.99);
  EXPECT_GT(lone("disable"), 0.99);
  EXPECT_LT(lone("force"), 0.45);
}

TEST(Hami, SecondBusyClientOfTheSamePrioritySwitchesThrottlingOn) {
  FakeBackend world(hami_policy(), hami({{"a", 0.3}, {"b", 0.3}}), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  supply(world, 0, 60s);
  supply(world, 1, 60s);
  EXPECT_LT(utilisation(world, 20s, 60s), 0.45);
}

TEST(Hami, PoolGrowsUntilKernelsOfVeryManyBlocksAreNotStarved) {
  FakeBackend world(hami_policy(), hami({{"a", 0.5}}, "force"), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  supply(world, 0, 600s, 262'144);
  EXPECT_GT(utilisation(world, 500s, 600s), 0.4);
}

/// Clients "low" of priority 0 and "high" of priority 1.
std::vector<ClientView> low_and_high() {
  std::vector<ClientView> clients{fake_client("low"), fake_client("high")};
  clients[1].priority = 1;
  return clients;
}

TEST(Hami, ClientIsBlockedWhileOneOfHigherPriorityLaunchedInTheLastFiveToTenSeconds) {
  FakeBackend world(hami_policy(), hami({}), low_and_high());
  world.join(0);
  world.join(1);
  world.set_depth(1, 1);
  supply(world, 0, 60s);
  supply(world, 1, 7s);  // launches until 7 s; turns at 5 s, 10 s (still counts), 15 s (forgotten)
  world.run_until(after(60s));
  Time last_before = kRunStart, first_after = kNever;
  for (const FakeLaunch& launch : world.launches_of(0)) {
    if (launch.time < after(5s)) last_before = launch.time;
    if (launch.time > after(5s)) first_after = std::min(first_after, launch.time);
  }
  EXPECT_GE(last_before, after(4998ms)) << "the monitor looks for the first time at 5 s";
  EXPECT_GE(first_after, after(15s));
  EXPECT_LE(first_after, after(16s)) << "a blocked launch looks again every second";
}

TEST(Hami, ClientOfHigherPriorityIsNeverBlocked) {
  FakeBackend world(hami_policy(), hami({}), low_and_high());
  world.join(0);
  world.join(1);
  supply(world, 0, 30s);
  supply(world, 1, 30s);
  world.run_until(after(29s));
  EXPECT_GE(world.device_time(ClientId{1}), Duration{28900ms});
  EXPECT_LE(world.device_time(ClientId{0}), Duration{5001ms});
}

TEST(Hami, BlockedLaunchSaysWhy) {
  FakeBackend world(hami_policy(), hami({}), low_and_high());
  world.join(0);
  world.join(1);
  supply(world, 0, 30s);
  supply(world, 1, 30s);
  world.run_until(after(12s));
  const Hold* hold = world.arbiter().hold_of(ClientId{0});
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->rule, "higher_priority_busy");
}

TEST(Hami, TurnsOfTheMonitorKeepTheirPeriodWhileAllAreQuiet) {
  FakeBackend world(hami_policy(), hami({}), low_and_high());
  world.join(0);
  world.join(1);
  // Both are quiet for long. What begins at 23 s is noticed at 25 s, and so is a new one.
  world.at(after(23s), [&] {
    supply(world, 0, 10s);
    supply(world, 1, 10s);
  });
  world.run_until(after(30s));
  EXPECT_GE(world.launches_of(0).back().time, after(24'999ms));
  EXPECT_LE(world.launches_of(0).back().time, after(25s));
  EXPECT_GE(world.launches_of(1).back().time, after(29'990ms));
}

TEST(Hami, CopiesOfABlockedClientPass) {
  FakeBackend world(hami_policy(), hami({}), low_and_high());
  world.join(0);
  world.join(1);
  supply(world, 1, 30s);
  world.at(after(12s), [&] {
    for (int i = 0; i < 3; ++i) world.script(0, {.name = "copy", .duration = 1ms, .is_copy = true});
    world.script(0, {.duration = 1ms});
  });
  world.run_until(after(14s));
  EXPECT_EQ(world.launches_of(0).size(), 3U);
  EXPECT_EQ(world.launches_of(0).back().time, after(12'002ms));
}

TEST(Hami, LaunchThatWasBlockedSleepsOnForItsSecondWhenTheOtherIsQuiet) {
  FakeBackend world(hami_policy(), hami({}), low_and_high());
  world.join(0);
  world.join(1);
  supply(world, 1, 7s);
  world.at(after(6'300ms), [&] { supply(world, 0, 1s); });  // looks at 7.3 s, 8.3 s, ...
  world.run_until(after(15'200ms));
  ASSERT_NE(world.arbiter().hold_of(ClientId{0}), nullptr);
  EXPECT_EQ(world.arbiter().hold_of(ClientId{0})->rule, "priority_sleep");
  world.run_until(after(16s));
  EXPECT_EQ(world.launches_of(0).front().time, after(15'300ms));
}

TEST(Hami, ThrottlingEndsWithTheSecondBusyClient) {
  FakeBackend world(hami_policy(), hami({{"a", 0.3}, {"b", 0.3}}), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  supply(world, 0, 90s, 1'000);
  world.at(after(1s), [&] { supply(world, 1, 5s, 1'000); });
  EXPECT_LT(utilisation(world, 10s, 15s), 0.5);
  EXPECT_GT(utilisation(world, 40s, 50s), 0.99);
}

}  // namespace
}  // namespace corun
