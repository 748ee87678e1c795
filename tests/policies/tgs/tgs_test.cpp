#include <gtest/gtest.h>

#include <set>

#include "policies/builtin.h"
#include "policies/tgs/rate_control.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

/// The artifact's control after its profile at a rate of 100,000 blocks per window.
TgsRateControl profiled() {
  TgsRateControl control({.band = 0.03,
                          .growth = 1.5,
                          .increase = 0.025,
                          .decrease = 0.08,
                          .collapse = 10,
                          .initial_limit = 20'000,
                          .profile_reports = 5});
  for (int i = 0; i < 5; ++i) control.report(100'000);
  return control;
}

TEST(TgsRateControl, StopsTheOthersWhileItLearnsTheUndisturbedRate) {
  TgsRateControl control = profiled();
  EXPECT_FALSE(control.is_profiling());
  EXPECT_EQ(control.limit(), 0);
  EXPECT_EQ(control.top_rate(), 100'000);
}

TEST(TgsRateControl, TheFirstReportIsTheTopRateAsItIs) {
  TgsRateControl control({.band = 0.03,
                          .growth = 1.5,
                          .increase = 0.025,
                          .decrease = 0.08,
                          .collapse = 10,
                          .initial_limit = 20'000,
                          .profile_reports = 5});
  control.report(100'000);
  EXPECT_EQ(control.top_rate(), 100'000);
  control.report(140'000);  // the largest mean of two neighbours, 120,000, is a fifth more: 97.5 % of it count
  control.report(0);
  EXPECT_EQ(control.top_rate(), 0.975 * 120'000);
}

TEST(TgsRateControl, SlowStartGrowsByHalfWhileTheRateStaysInTheBand) {
  TgsRateControl control = profiled();
  control.report(100'000);
  EXPECT_EQ(control.limit(), 20'000);
  control.report(97'500);
  EXPECT_EQ(control.limit(), 30'001);
  control.report(100'000);
  EXPECT_EQ(control.limit(), 45'002.5);
}

TEST(TgsRateControl, FirstDisturbanceEndsSlowStartAndThenStepsAreAdditive) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 3; ++i) control.report(100'000);
  control.report(96'000);  // 4 %
  EXPECT_FALSE(control.is_slow_start());
  EXPECT_NEAR(control.limit(), 45'002.5 / 1.5, 0.01);
  control.report(100'000);
  EXPECT_NEAR(control.limit(), 45'002.5 / 1.5 + 2'500, 0.01);
}

TEST(TgsRateControl, DisturbanceTakesAShareOfTheLimitAndACollapseMostOfIt) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 8; ++i) control.report(100'000);
  control.report(96'000);
  const double limit = control.limit();
  control.report(95'000);
  EXPECT_NEAR(control.limit(), 0.92 * limit, 0.01);
  control.report(90'000);  // 10 %: three bands
  EXPECT_NEAR(control.limit(), 0.92 * 0.92 * limit / 10, 0.01);
  EXPECT_TRUE(control.is_slow_start());
}

TEST(TgsRateControl, LearnsAnewWhenTheHighPriorityJobHasChanged) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 20; ++i) control.report(40'000);
  EXPECT_NEAR(control.top_rate(), 40'000, 1'500);
}

TEST(TgsRateControl, IdleHighPrioritySideFreesTheOthers) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 40; ++i) control.report(0);
  EXPECT_GT(control.limit(), 1e11);
}

/// A high-priority client 0 with 1000 blocks each ms, and a low-priority client 1 with 1000 blocks each 100 us.
struct World : FakeBackend {
  explicit World(Role first = Role::kInteractive, Duration retry = Duration::zero())
      : FakeBackend(tgs_policy(), quick(retry), {fake_client("high", first), fake_client("low")}) {
    join(0);
    join(1);
  }
  /// The artifact's constants in a shorter period, and no sleep between two looks unless one is given.
  static Parameters quick(Duration retry) {
    Parameters parameters = tgs_policy().defaults();
    parameters.set("report_period", Duration{100ms});
    parameters.set("retry", retry);
    return parameters;
  }
  void busy(std::uint32_t client, int count, Duration duration) {
    for (int i = 0; i < count; ++i) script(client, {.duration = duration, .blocks = 1000});
  }
  std::int64_t launched(Duration from, Duration to) const {
    const auto its = launches_of(1);
    return std::ranges::count_if(its, [&](const auto& l) { return l.time >= after(from) && l.time < after(to); });
  }
};

/// Windows follow one another from when control began, however late one's end is noticed.
TEST(Tgs, WindowsDoNotDrift) {
  Parameters parameters = World::quick(Duration::zero());
  parameters.set("report_period", Duration{200ms});
  parameters.set("profile_reports", std::int64_t{1});
  parameters.set("initial_limit", 10.0);
  FakeBackend world(tgs_policy(), parameters, {fake_client("high", Role::kInteractive), fake_client("low")});
  world.join(0);
  world.join(1);
  for (int i = 0; i < 200; ++i) world.script(0, {.duration = 7ms});  // decisions every 7 ms, windows of 50
  world.at(after(410ms), [&] {
    for (int i = 0; i < 1000; ++i) world.script(1, {.duration = 1us});
  });
  world.run_until(after(560ms));
  std::set<Time> begins;
  Time before = kRunStart;
  for (const FakeLaunch& launch : world.launches_of(1)) {
    if (launch.time - before > 20ms) begins.insert(launch.time);
    before = launch.time;
  }
  EXPECT_EQ(begins, (std::set<Time>{after(410ms), after(450ms), after(500ms), after(550ms)}));
}

TEST(Tgs, LowPrioritySideGetsOneKernelAWindowDuringTheProfileAndTheLimitAfterwards) {
  World world;
  world.busy(0, 2000, 1ms);
  world.busy(1, 20'000, 100us);
  world.run_until(after(1s));
  EXPECT_EQ(world.launched(100ms, 500ms), 8);
  // 20,000 blocks may be exceeded by one kernel: 21 of 1000 blocks.
  EXPECT_EQ(world.launched(600ms, 650ms), 21);
  EXPECT_EQ(world.launched(700ms, 750ms), 31);
}

TEST(Tgs, SaysWhatTheLaunchRateAllows) {
  World world;
  world.busy(0, 2000, 1ms);
  world.busy(1, 20'000, 100us);
  world.run_until(after(640ms));
  const Hold& hold = *world.arbiter().hold_of(ClientId{1});
  EXPECT_EQ(hold.rule, "launch_rate");
  EXPECT_EQ(hold.available, 20'000);
  EXPECT_EQ(hold.unit, "blocks");
}

TEST(Tgs, LaunchThatSleepsThroughTheBeginOfAWindowIsNotSaidToWaitForTheLimit) {
  World world(Role::kInteractive, 40ms);
  world.busy(0, 2000, 1ms);
  world.busy(1, 20'000, 100us);
  world.run_until(after(1s));
  const auto& holds = world.holds();
  const auto lies = [](const HoldFact& fact) {
    return fact.hold.rule == "launch_rate" && fact.hold.needed <= fact.hold.available;
  };
  EXPECT_TRUE(std::ranges::none_of(holds, lies));
  EXPECT_TRUE(std::ranges::any_of(holds, [](const HoldFact& fact) { return fact.hold.rule == "back_off"; }));
}

TEST(Tgs, HighPriorityClientThatOnlyRendersIsNotNoticed) {
  World world;
  for (int i = 0; i < 100; ++i) world.script(0, {.name = "frame", .duration = 5ms, .is_render = true});
  world.busy(1, 1000, 100us);
  world.run_until(after(100ms));
  EXPECT_GE(world.launched(0ms, 100ms), 999);
}

TEST(Tgs, LowPriorityClientIsFreeWhenTheHighPriorityOneHasLeft) {
  World world;
  world.busy(0, 50, 1ms);
  world.busy(1, 20'000, 100us);
  world.at(after(40ms), [&] { world.leave(0); });
  world.run_until(after(200ms));
  EXPECT_TRUE(world.gate_is_open(1));
  EXPECT_GE(world.launched(100ms, 200ms), 990);
}

TEST(Tgs, ClientsOfOneRankAreNotLimited) {
  World world(Role::kBestEffort);
  world.busy(0, 100, 1ms);
  world.busy(1, 1000, 100us);
  world.run_until(after(100ms));
  EXPECT_GE(world.launched(0ms, 100ms), 999);
}

}  // namespace
}  // namespace corun
