#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Time after(Duration duration) { return kRunStart + duration; }

FakeOp kernel(Duration duration) { return {.name = "k", .duration = duration}; }
FakeOp frame(Duration duration) { return {.name = "frame", .duration = duration, .is_render = true}; }

struct World : FakeBackend {
  explicit World(const Parameters& parameters = nvshare_policy().defaults(), Role first = Role::kBestEffort)
      : FakeBackend(nvshare_policy(), parameters,
                    {fake_client("a", first), fake_client("b")}) {
    join(0);
    join(1);
  }
  void busy(std::uint32_t client, int count, Duration duration) {
    for (int i = 0; i < count; ++i) script(client, kernel(duration));
  }
};

Parameters with(std::string name, ParameterValue value) {
  Parameters parameters = nvshare_policy().defaults();
  parameters.set(std::move(name), std::move(value));
  return parameters;
}

TEST(Nvshare, hands_over_after_the_quantum_once_the_holder_has_drained) {
  World world;
  world.busy(0, 100, 700ms);
  world.busy(1, 100, 700ms);
  world.run_until(after(61s));
  // 43 kernels of 0.7 s begin in the first 30 s; the last of them ends at 30.1 s.
  const auto second = world.launches_of(1);
  ASSERT_FALSE(second.empty());
  EXPECT_EQ(second.front().time, after(30'100ms));
  EXPECT_EQ(second.front().number, 0U);
  const auto first = world.launches_of(0);
  EXPECT_EQ(first[42].time, after(29'400ms));
  EXPECT_EQ(first[43].time, after(30'100ms) + 43 * 700ms);
}

TEST(Nvshare, never_lets_two_clients_run_at_once) {
  World world(with("quantum", Duration{1s}));
  world.set_depth(0, 4);
  world.set_depth(1, 4);
  world.busy(0, 200, 90ms);
  world.busy(1, 200, 70ms);
  world.run_until(after(20s));
  const auto& launches = world.launches();
  Time free_at[2] = {kRunStart, kRunStart};
  for (const FakeLaunch& launch : launches) {
    const std::uint32_t me = launch.client.value;
    EXPECT_GE(launch.time, free_at[1 - me]);
    free_at[me] = std::max(free_at[me], launch.time) + (me == 0 ? 90ms : 70ms);
  }
}

TEST(Nvshare, early_release_starts_the_second_client_exactly_5s_after_the_last_activity) {
  World world;
  world.busy(0, 10, 100ms);  // the last is launched at 0.9 s and done at 1 s
  world.at(after(2s), [&] { world.busy(1, 1, 100ms); });
  world.run_until(after(10s));
  ASSERT_EQ(world.launches_of(1).size(), 1U);
  EXPECT_EQ(world.launches_of(1)[0].time, after(5'900ms));
}

TEST(Nvshare, idle_gap_shorter_than_the_early_release_keeps_the_lock) {
  World world;
  world.busy(0, 1, 100ms);
  world.busy(1, 1, 100ms);
  world.at(after(4'999ms), [&] { world.busy(0, 1, 100ms); });
  world.run_until(after(20s));
  EXPECT_EQ(world.launches_of(0)[1].time, after(4'999ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(9'999ms));
}

TEST(Nvshare, long_kernel_keeps_an_idle_host_in_possession) {
  World world;
  world.busy(0, 1, 12s);  // probes at 5 s and 10 s find it running; the one at 15 s does not
  world.busy(1, 1, 100ms);
  world.run_until(after(20s));
  EXPECT_EQ(world.launches_of(1)[0].time, after(15s));
}

/// When client 0, alone with eight kernels in flight, first launches after the quantum of 30 s.
Time first_launch_after_quantum(bool drop_when_alone) {
  World world(with("drop_when_alone", drop_when_alone));
  world.set_depth(0, 8);
  world.busy(0, 400, 90ms);
  world.run_until(after(33s));
  const auto launches = world.launches_of(0);
  return std::ranges::find_if(launches, [](const FakeLaunch& launch) { return launch.time >= after(30s); })->time;
}

TEST(Nvshare, lone_holder_drains_at_every_quantum_only_if_drop_when_alone) {
  EXPECT_EQ(first_launch_after_quantum(true), after(30'690ms));  // the end of the eighth
  EXPECT_EQ(first_launch_after_quantum(false), after(30'060ms));
}

TEST(Nvshare, without_drop_when_alone_a_late_comer_gets_an_overdue_lock_at_once) {
  World world(with("drop_when_alone", false));
  world.busy(0, 1000, 100ms);
  world.at(after(45'050ms), [&] { world.busy(1, 1, 10ms); });
  world.run_until(after(50s));
  EXPECT_EQ(world.launches_of(1)[0].time, after(45'100ms));
}

TEST(Nvshare, game_takes_part_in_the_lock_only_if_frames_are_gated) {
  for (const bool gated : {true, false}) {
    World world(with("gate_frames", gated), Role::kInteractive);
    world.at(after(1ms), [&] { world.busy(1, 20'000, 10ms); });
    for (int i = 0; i < 100; ++i) world.at(after(i * 1s + 2ms), [&] { world.script(0, frame(5ms)); });
    world.run_until(after(20s));
    const auto frames = world.launches_of(0);
    EXPECT_EQ(frames.size(), gated ? 0U : 20U) << gated;
  }
}

TEST(Nvshare, clients_are_served_in_the_order_in_which_they_asked) {
  World world(with("quantum", Duration{1s}));
  world.at(after(1ms), [&] { world.busy(1, 50, 90ms); });
  world.at(after(2ms), [&] { world.busy(0, 50, 90ms); });
  world.run_until(after(5s));
  EXPECT_EQ(world.launches().front().client.value, 1U);
  EXPECT_EQ(world.launches_of(0).front().time, after(1'081ms));
}

TEST(Nvshare, lock_of_a_client_that_left_goes_to_the_next) {
  World world;
  world.busy(0, 3, 100ms);
  world.busy(1, 1, 100ms);
  world.at(after(150ms), [&] { world.leave(0); });
  world.run_until(after(1s));
  EXPECT_EQ(world.launches_of(1)[0].time, after(200ms));
}

}  // namespace
}  // namespace corun
