#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;

Time after(Duration duration) { return kRunStart + duration; }

std::vector<ClientView> game_and_two() {
  return {fake_client("game", Role::kInteractive), fake_client("a"), fake_client("b")};
}

TEST(Passthrough, LaunchesEverythingAtOnce) {
  FakeBackend world(passthrough_policy(), {}, game_and_two());
  for (std::uint32_t i = 0; i < 3; ++i) {
    world.join(i);
    world.script(i, {.duration = 1ms});
  }
  world.run_until(after(1ms));
  ASSERT_EQ(world.launches().size(), 3U);
  for (const FakeLaunch& launch : world.launches()) EXPECT_EQ(launch.time, kRunStart);
}

TEST(Exclusive, BestEffortClientsWaitUntilTheGameHasLeft) {
  FakeBackend world(exclusive_policy(), {}, game_and_two());
  for (std::uint32_t i = 0; i < 3; ++i) {
    world.join(i);
    world.script(i, {.duration = 5ms});
  }
  world.at(after(100ms), [&] { world.leave(0); });
  world.run_until(after(200ms));
  EXPECT_EQ(world.launches_of(0)[0].time, kRunStart);
  EXPECT_EQ(world.launches_of(1)[0].time, after(100ms));
}

TEST(Exclusive, WithoutAGameClientsRunOneAfterAnotherInJoiningOrder) {
  FakeBackend world(exclusive_policy(), {}, game_and_two());
  world.join(2);
  world.join(1);
  for (int i = 0; i < 10; ++i) {
    world.script(1, {.duration = 1ms});
    world.script(2, {.duration = 1ms});
  }
  world.at(after(30ms), [&] { world.leave(2); });
  world.run_until(after(100ms));
  EXPECT_EQ(world.launches_of(2).size(), 10U);
  EXPECT_EQ(world.launches_of(2).back().time, after(9ms));
  EXPECT_EQ(world.launches_of(1).front().time, after(30ms));
}

TEST(Exclusive, SeveralGamesAllRun) {
  FakeBackend world(exclusive_policy(), {},
                    {fake_client("x", Role::kInteractive), fake_client("y", Role::kInteractive)});
  world.join(0);
  world.join(1);
  world.run_until(after(1ms));
  EXPECT_TRUE(world.gate_is_open(0));
  EXPECT_TRUE(world.gate_is_open(1));
}

}  // namespace
}  // namespace corun
