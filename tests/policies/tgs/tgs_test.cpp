#include <gtest/gtest.h>

#include <set>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

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

TEST(Tgs, RatesAreCountedInBlocksPerWindowWhateverThePeriod) {
  Parameters parameters = World::quick(Duration::zero());
  parameters.set("increase", 0.1);
  FakeBackend world(tgs_policy(), parameters, {fake_client("high", Role::kInteractive), fake_client("low")});
  world.join(0);
  world.join(1);
  const auto high = [&](int count, Duration duration) {
    for (int i = 0; i < count; ++i) world.script(0, {.duration = duration, .blocks = 1000});
  };
  high(750, 1ms);
  high(1, 5ms);  // from 750 ms on: 96 kernels instead of 100 are reported at 800 ms
  high(300, 1ms);
  for (int i = 0; i < 10'000; ++i) world.script(1, {.duration = 100us, .blocks = 1000});
  world.run_until(after(1s));
  const auto launched = [&](Duration from) {
    const auto its = world.launches_of(1);
    return std::ranges::count_if(its,
                                 [&](const auto& l) { return l.time >= after(from) && l.time < after(from + 50ms); });
  };
  EXPECT_EQ(launched(700ms), 31) << "30,001 blocks, and one kernel that exceeds them";
  EXPECT_EQ(launched(800ms), 21) << "a disturbance: the limit falls to 20,001";
  EXPECT_EQ(launched(900ms), 26) << "and rises by a tenth of the 50,000 blocks in a window that the other has";
}

TEST(Tgs, BusyHighPriorityClientIsNeverTakenForIdle) {
  Parameters parameters = World::quick(Duration::zero());
  parameters.set("growth", 1.01);
  FakeBackend world(tgs_policy(), parameters, {fake_client("high", Role::kInteractive), fake_client("low")});
  world.join(0);
  world.join(1);
  for (int i = 0; i < 3000; ++i) world.script(0, {.duration = 1ms, .blocks = 1000});
  for (int i = 0; i < 30'000; ++i) world.script(1, {.duration = 100us, .blocks = 1000});
  world.run_until(after(3s));
  const auto its = world.launches_of(1);
  EXPECT_LE(
      std::ranges::count_if(its, [](const auto& l) { return l.time >= after(2'900ms) && l.time < after(2'950ms); }),
      27);
}

/// A high-priority client and two others, all of them busy; the last one comes and goes when a test says so.
struct ThreeClients : FakeBackend {
  ThreeClients()
      : FakeBackend(tgs_policy(), World::quick(Duration::zero()),
                    {fake_client("high", Role::kInteractive), fake_client("low"), fake_client("late")}) {
    join(0);
    join(1);
    for (int i = 0; i < 2000; ++i) script(0, {.duration = 1ms, .blocks = 1000});
    for (int i = 0; i < 20'000; ++i) script(1, {.duration = 100us, .blocks = 1000});
  }
  void join_late() {
    join(2);
    for (int i = 0; i < 20'000; ++i) script(2, {.duration = 100us, .blocks = 1000});
  }
  std::int64_t launched(std::uint32_t client, Duration from, Duration to) const {
    const auto its = launches_of(client);
    return std::ranges::count_if(its, [&](const auto& l) { return l.time >= after(from) && l.time < after(to); });
  }
};

TEST(Tgs, AnotherLowPriorityClientSharesTheLimitAndBeginsNoNewProfile) {
  ThreeClients world;
  world.at(after(610ms), [&] { world.join_late(); });
  world.at(after(760ms), [&] { world.leave(2); });
  world.run_until(after(900ms));
  for (const std::uint32_t client : {1U, 2U}) {
    EXPECT_EQ(world.launched(client, 650ms, 700ms), 11) << "10,000 of 20,000 blocks each, and one kernel over";
    EXPECT_EQ(world.launched(client, 700ms, 750ms), 16) << "15,000.5 blocks";
  }
  EXPECT_EQ(world.launched(1, 850ms, 900ms), 46) << "alone again, with 45,002.5";
}

TEST(Tgs, ClientsOfAHigherRankBeginANewProfile) {
  std::vector<ClientView> clients{fake_client("high"), fake_client("low"), fake_client("higher")};
  clients[0].priority = 1;
  clients[2].priority = 2;
  FakeBackend world(tgs_policy(), World::quick(Duration::zero()), clients);
  world.join(0);
  world.join(1);
  for (int i = 0; i < 2000; ++i) world.script(0, {.duration = 1ms, .blocks = 1000});
  for (int i = 0; i < 20'000; ++i) world.script(1, {.duration = 100us, .blocks = 1000});
  world.at(after(710ms), [&] {
    world.join(2);
    for (int i = 0; i < 2000; ++i) world.script(2, {.duration = 1ms, .blocks = 1000});
  });
  world.run_until(after(1s));
  const auto launched = [&](std::uint32_t client, Duration from, Duration to) {
    const auto its = world.launches_of(client);
    return std::ranges::count_if(its, [&](const auto& l) { return l.time >= after(from) && l.time < after(to); });
  };
  EXPECT_GE(launched(0, 600ms, 700ms), 99) << "it is the highest";
  EXPECT_LE(launched(0, 810ms, 1s), 5) << "one kernel a window while the other's rate is learnt";
  EXPECT_LE(launched(1, 810ms, 1s), 5);
}

TEST(Tgs, CopiesOfLowPriorityClientsAreFreeAndCountAsNothing) {
  World world;
  world.busy(0, 1000, 1ms);
  world.at(after(110ms), [&] {
    for (int i = 0; i < 50; ++i) world.script(1, {.duration = 100us, .blocks = 1000, .is_copy = true});
    world.script(1, {.duration = 100us, .blocks = 1000});
    world.script(1, {.duration = 100us, .blocks = 1000});
  });
  world.run_until(after(148ms));
  EXPECT_EQ(world.launches_of(1).size(), 51U) << "in the profile, one kernel a window";
}

}  // namespace
}  // namespace corun
