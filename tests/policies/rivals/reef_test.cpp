#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

/// A real-time client 0 and a best-effort client 1 that launches as fast as it may, 500 us each.
struct World : FakeBackend {
  explicit World(std::int64_t device_queue = 2)
      : FakeBackend(reef_policy(), with(device_queue), {fake_client("rt", Role::kInteractive), fake_client("be")}) {
    join(0);
    join(1);
    set_depth(1, 1000);
    for (int i = 0; i < 100; ++i) script(1, {.name = "be", .duration = 500us});
  }

  static Parameters with(std::int64_t device_queue) {
    Parameters parameters = reef_policy().defaults();
    parameters.set("device_queue", device_queue);
    return parameters;
  }
  /// Of client 1, launched before `now` and not completed by then.
  std::size_t in_flight_at(Time now) const {
    Time free_at;
    std::size_t count = 0;
    for (const FakeLaunch& launch : launches_of(1)) {
      free_at = std::max(free_at, launch.time) + 500us;
      if (launch.time <= now && free_at > now) ++count;
    }
    return count;
  }
};

TEST(Reef, DeviceQueueBoundsWhatABestEffortClientHasInFlight) {
  for (const std::int64_t depth : {1, 2, 7}) {
    World world(depth);
    world.run_until(after(20ms));
    for (Duration t = 1ms; t < 20ms; t += 250us) EXPECT_EQ(world.in_flight_at(after(t)), depth) << depth;
  }
}

TEST(Reef, BestEffortLaunchesNothingWhileARealTimeClientHasWorkAndGoesOnAfter) {
  World world;
  world.at(after(5'100us), [&] { world.script(0, {.duration = 3ms}); });
  world.run_until(after(20ms));
  EXPECT_EQ(world.launches_of(0)[0].time, after(5'100us));
  for (const FakeLaunch& launch : world.launches_of(1))
    EXPECT_FALSE(launch.time >= after(5'100us) && launch.time < after(8'100us)) << to_ns(launch.time);
  const auto launches = world.launches_of(1);
  EXPECT_TRUE(std::ranges::any_of(launches, [](const FakeLaunch& l) { return l.time == after(8'100us); }));
}

TEST(Reef, WhatIsInTheDeviceQueueWhenRealTimeWorkArrivesRunsOn) {
  World world(4);
  world.at(after(5'100us), [&] { world.script(0, {.duration = 10ms}); });
  world.run_until(after(5'200us));
  EXPECT_EQ(world.in_flight_at(after(5'150us)), 4U);
  EXPECT_EQ(world.arbiter().hold_of(ClientId{1})->rule, "real_time_work");
}

TEST(Reef, SaysThatTheDeviceQueueIsFull) {
  World world(3);
  world.run_until(after(100us));
  const Hold& hold = *world.arbiter().hold_of(ClientId{1});
  EXPECT_EQ(hold.rule, "device_queue");
  EXPECT_EQ(hold.needed, 4.0);
  EXPECT_EQ(hold.available, 3.0);
}

TEST(Reef, SaysSoTooOfOperationsThatWereSubmittedTogether) {
  FakeBackend world(reef_policy(), World::with(3), {fake_client("rt", Role::kInteractive), fake_client("be")});
  world.join(0);
  world.join(1);
  world.set_depth(1, 1000);
  world.set_most_waiting(1, 10);
  for (int i = 0; i < 10; ++i) world.script(1, {.duration = 500us});
  world.run_until(after(100us));
  EXPECT_EQ(world.arbiter().hold_of(ClientId{1})->needed, 4.0);
}

TEST(Reef, AmongBestEffortClientsTheStatedPriorityTellsWhoIsRealTime) {
  std::vector<ClientView> clients{fake_client("low"), fake_client("high")};
  clients[1].priority = 1;
  FakeBackend world(reef_policy(), reef_policy().defaults(), clients);
  for (std::uint32_t i = 0; i < 2; ++i) {
    world.join(i);
    world.script(i, {.duration = 1ms});
  }
  world.run_until(after(5ms));
  EXPECT_TRUE(world.gate_is_open(1));
  EXPECT_EQ(world.launches_of(0)[0].time, after(1ms));
}

TEST(Reef, ClientsOfOneRankRunFreely) {
  FakeBackend world(reef_policy(), reef_policy().defaults(), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  world.run_until(after(1ms));
  EXPECT_TRUE(world.gate_is_open(0));
  EXPECT_TRUE(world.gate_is_open(1));
}

}  // namespace
}  // namespace corun
