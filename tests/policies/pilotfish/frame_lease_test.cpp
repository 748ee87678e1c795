#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::uint32_t kGame = 0, kFirst = 1, kSecond = 2;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// A game and two jobs that need so many GiB, on a device of 16 GiB whose link brings in 16 GiB a second.
struct World : FakeBackend {
  World(std::uint64_t game, std::uint64_t first, std::uint64_t second)
      : FakeBackend(frame_lease_policy(), frame_lease_policy().defaults(), clients({game, first, second}), device()) {}

  static std::vector<ClientView> clients(std::vector<std::uint64_t> gib) {
    std::vector<ClientView> all{fake_client("game", Role::kInteractive), fake_client("first"), fake_client("second")};
    all[kGame].frame_period = 16ms;
    for (std::size_t i = 0; i < all.size(); ++i) all[i].working_set_bytes = gib[i] * kGiB;
    return all;
  }
  static DeviceView device() {
    DeviceView device = fake_device();
    device.memory_bytes = 16 * kGiB;
    device.to_device_bytes_per_s = device.from_device_bytes_per_s = 16 * kGiB;
    return device;
  }
  /// The client has kernels of 1 ms to launch from now on.
  void work(std::uint32_t client) {
    join(client);
    for (int i = 0; i < 40'000; ++i) script(client, {.duration = 1ms, .predicted = 1ms, .predicted_by_shape = 1ms});
  }
  /// It renders a frame of 2 ms every 16 ms.
  void play() {
    join(kGame);
    for (int i = 0; i < 2'000; ++i)
      at(now() + i * 16ms, [this] { script(kGame, {.name = "frame", .duration = 2ms, .is_render = true}); });
  }
  std::string rule(std::uint32_t client) {
    const Hold* hold = arbiter().hold_of(ClientId{client});
    return hold == nullptr ? "" : std::string(hold->rule);
  }
};

TEST(FrameLease, JobsThatFitBesideTheGameRunTogether) {
  World world(4, 6, 6);
  world.play();
  world.work(kFirst);
  world.work(kSecond);
  world.run_until(kRunStart + 1s);
  EXPECT_GT(world.launches_of(kFirst).size(), 200u);
  EXPECT_GT(world.launches_of(kSecond).size(), 200u);
}

TEST(FrameLease, JobsThatDoNotFitTakeTurnsAndBothGetOn) {
  World world(4, 8, 8);
  world.play();
  world.work(kFirst);
  world.work(kSecond);
  world.run_until(kRunStart + 1s);
  EXPECT_EQ(world.rule(kSecond), "lease");
  EXPECT_EQ(world.launches_of(kSecond).size(), 0u);
  EXPECT_GT(world.launches_of(kFirst).size(), 400u);
  // Half a second to load makes a lease of 25.5 s at 2 %.
  world.run_until(kRunStart + 28s);
  EXPECT_EQ(world.rule(kFirst), "lease");
  EXPECT_GT(world.launches_of(kSecond).size(), 400u);
}

TEST(FrameLease, AGameThatComesLaterMakesOneOfTwoJobsGiveWay) {
  World world(4, 8, 8);
  world.work(kFirst);
  world.work(kSecond);
  world.run_until(kRunStart + 1s);
  ASSERT_GT(world.launches_of(kFirst).size(), 400u);
  ASSERT_GT(world.launches_of(kSecond).size(), 400u);
  world.play();
  world.run_until(kRunStart + 2s);
  const std::size_t first = world.launches_of(kFirst).size(), second = world.launches_of(kSecond).size();
  world.run_until(kRunStart + 3s);
  EXPECT_GT(world.launches_of(kFirst).size(), first + 300);
  EXPECT_EQ(world.launches_of(kSecond).size(), second);
  EXPECT_EQ(world.rule(kSecond), "lease");
}

TEST(FrameLease, WhatAJobPushedOutOfTheGameIsAskedBackOnce) {
  World world(4, 8, 8);
  world.play();
  world.work(kFirst);
  world.set_memory(kGame, 4 * kGiB, 0);
  world.run_until(kRunStart + 100ms);
  EXPECT_EQ(world.prefetches(kGame), 0u);
  world.set_memory(kGame, 3 * kGiB, 0);
  world.run_until(kRunStart + 200ms);
  EXPECT_EQ(world.prefetches(kGame), 1u);
  world.set_memory(kGame, 4 * kGiB, 0);
  world.run_until(kRunStart + 300ms);
  world.set_memory(kGame, 2 * kGiB, 0);
  world.run_until(kRunStart + 400ms);
  EXPECT_EQ(world.prefetches(kGame), 2u);
}

TEST(FrameLease, WithoutAGameTheLeaseAloneDecides) {
  World world(4, 12, 12);
  world.work(kFirst);
  world.work(kSecond);
  world.run_until(kRunStart + 1s);
  EXPECT_GT(world.launches_of(kFirst).size(), 900u);
  EXPECT_EQ(world.launches_of(kSecond).size(), 0u);
  EXPECT_EQ(world.rule(kSecond), "lease");
}

}  // namespace
}  // namespace corun
