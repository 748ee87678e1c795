// What the control tool changes of nvshare at run time: the quantum, and whether there is a lock.

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

Parameters parameters(Duration latency) {
  Parameters parameters = nvshare_policy().defaults();
  parameters.set("message_latency", latency);
  parameters.set("slip", Duration{0});
  parameters.set("window_max", std::int64_t{0});
  return parameters;
}

/// Two clients with work for minutes, the first of which gets the lock at once, for 30 s.
struct World : FakeBackend {
  explicit World(Duration latency = Duration{0})
      : FakeBackend(nvshare_policy(), parameters(latency), {fake_client("a"), fake_client("b")}) {
    for (std::uint32_t client : {0U, 1U}) {
      join(client);
      for (int i = 0; i < 1000; ++i) script(client, {.name = "k", .duration = 700ms});
    }
  }
  void set_at(Duration when, const std::string& parameter, ParameterValue value) {
    at(after(when), [this, parameter, value] { arbiter().adjust({Duration{0}, parameter, value}); });
  }
  void turn_at(Duration when, bool is_on) { set_at(when, "anti_thrash", is_on); }
  std::ptrdiff_t launches_in(std::uint32_t client, Duration from, Duration to) const {
    return std::ranges::count_if(launches_of(client), [&](const FakeLaunch& launch) {
      return launch.time >= after(from) && launch.time < after(to);
    });
  }
};

TEST(NvshareAdjusted, NewQuantumBeginsWhenItIsSet) {
  World world;
  world.set_at(10s, "quantum", Duration{5s});
  world.run_until(after(40s));
  // Of the holder's kernels of 0.7 s the one that ends at 15.4 s is the last that began before 15 s.
  ASSERT_FALSE(world.launches_of(1).empty());
  EXPECT_EQ(world.launches_of(1)[0].time, after(15'400ms));
  const auto first = world.launches_of(0);
  const auto again = std::ranges::find_if(first, [](const auto& launch) { return launch.time > after(16s); });
  ASSERT_NE(again, first.end());
  EXPECT_EQ(again->time, after(15'400ms) + 8 * 700ms) << "the next quantum is 5 s long too";
}

TEST(NvshareAdjusted, QuantumThatIsMadeLongerKeepsTheHolder) {
  World world;
  world.set_at(29s, "quantum", Duration{60s});
  world.run_until(after(88s));
  EXPECT_TRUE(world.launches_of(1).empty());
}

TEST(NvshareAdjusted, OffLetsEveryClientPassOneMessageLater) {
  World world(50us);
  world.turn_at(10s, false);
  world.run_until(after(20s));
  ASSERT_FALSE(world.launches_of(1).empty());
  EXPECT_EQ(world.launches_of(1)[0].time, after(10s) + 50us);
  EXPECT_NEAR(static_cast<double>(world.launches_in(0, 10s, 20s)), 14.0, 1.0) << "the holder goes on";
}

TEST(NvshareAdjusted, OffReachesAHolderThatDrainsWhenItHasDrained) {
  World world;
  world.set_depth(0, 4);
  world.turn_at(30'050ms, false);  // the quantum is over at 30 s; 46 kernels were launched, which end at 32.2 s
  world.run_until(after(33s));
  EXPECT_EQ(world.launches_in(1, 30'050ms, 30'051ms), 1);
  EXPECT_EQ(world.launches_in(0, 0s, 30s), 46);
  EXPECT_EQ(world.launches_in(0, 30s, 32'200ms), 0);
  EXPECT_GE(world.launches_in(0, 32'200ms, 32'201ms), 1);
}

TEST(NvshareAdjusted, OnLetsWhatIsInFlightRunAndOneClientPass) {
  World world;
  world.turn_at(10s, false);
  world.turn_at(20s, true);
  world.run_until(after(80s));
  const bool is_first = world.launches_in(0, 20s, 49s) > 0;
  const std::uint32_t holder = is_first ? 0 : 1, other = 1 - holder;
  EXPECT_EQ(world.launches_in(other, 20s, 50s), 0);
  EXPECT_NEAR(static_cast<double>(world.launches_in(holder, 20s, 50s)), 42.0, 1.0);
  EXPECT_GT(world.launches_in(other, 50s, 80s), 40);
}

TEST(NvshareAdjusted, WhatIsOnAlreadyIsNotTurnedOn) {
  World world;
  world.turn_at(10s, true);
  world.run_until(after(31s));
  ASSERT_FALSE(world.launches_of(1).empty());
  EXPECT_EQ(world.launches_of(1)[0].time, after(30'100ms)) << "its request is not forgotten";
  EXPECT_EQ(world.launches_in(0, 9'800ms, 12s), 4) << "the holder neither drains nor asks again";
}

TEST(NvshareAdjusted, RequestThatArrivesWhileItIsOffIsForgotten) {
  FakeBackend world(nvshare_policy(), parameters(50us), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  for (int i = 0; i < 100; ++i) world.script(0, {.name = "k", .duration = 700ms});
  world.at(after(10s) - 20us, [&] {
    for (int i = 0; i < 100; ++i) world.script(1, {.name = "k", .duration = 700ms});
  });
  for (const bool is_on : {false, true})
    world.at(after(is_on ? 20s : 10s), [&, is_on] { world.arbiter().adjust({Duration{0}, "anti_thrash", is_on}); });
  world.run_until(after(49s));
  const auto is_late = [](const FakeLaunch& launch) { return launch.time > after(21s); };
  EXPECT_NEAR(static_cast<double>(std::ranges::count_if(world.launches(), is_late)), 40.0, 2.0)
      << "no client waits for a lock that is held by one that does not know";
}

TEST(NvshareAdjusted, ClientThatJoinsWhileItIsOffPassesAtOnce) {
  FakeBackend world(nvshare_policy(), parameters(Duration{0}), {fake_client("a"), fake_client("b")});
  world.join(0);
  for (int i = 0; i < 100; ++i) world.script(0, {.name = "k", .duration = 700ms});
  world.at(after(5s), [&] { world.arbiter().adjust({Duration{0}, "anti_thrash", false}); });
  world.at(after(6s), [&] {
    world.join(1);
    world.script(1, {.name = "k", .duration = 700ms});
  });
  world.run_until(after(7s));
  ASSERT_EQ(world.launches_of(1).size(), 1U);
  EXPECT_EQ(world.launches_of(1)[0].time, after(6s));
}

}  // namespace
}  // namespace corun
