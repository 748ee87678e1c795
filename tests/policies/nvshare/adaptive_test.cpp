#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/parts/residents.h"
#include "policies/parts/thrash.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::uint64_t kGb = 1'000'000'000;

Time after(Duration duration) { return kRunStart + duration; }

/// Clients that always want more, with these working sets, on a device of 16 GB.
struct World : FakeBackend {
  explicit World(const std::vector<std::uint64_t>& working_sets_gb, Duration kernel = 10ms,
                 const Parameters& parameters = nvshare_adaptive_policy().defaults(), const DeviceView& on = device())
      : FakeBackend(nvshare_adaptive_policy(), parameters, clients(working_sets_gb), on) {
    for (std::uint32_t client = 0; client < working_sets_gb.size(); ++client) {
      join(client);
      for (int i = 0; i < 20'000; ++i) script(client, {.name = "k", .duration = kernel});
    }
  }
  static std::vector<ClientView> clients(const std::vector<std::uint64_t>& working_sets_gb) {
    std::vector<ClientView> clients;
    for (const std::uint64_t gb : working_sets_gb) {
      clients.push_back(fake_client(std::string(1, static_cast<char>('a' + clients.size()))));
      clients.back().working_set_bytes = clients.back().allocated_bytes = gb * kGb;
    }
    return clients;
  }
  static DeviceView device() {
    DeviceView device = fake_device();
    device.memory_bytes = 16 * kGb;
    device.time_slice = 2ms;
    device.switch_cost = std::chrono::microseconds{175};
    return device;
  }
  std::size_t launches_between(std::uint32_t client, Time begin, Time end) const {
    return static_cast<std::size_t>(std::ranges::count_if(launches(), [&](const FakeLaunch& launch) {
      return launch.client.value == client && launch.time >= begin && launch.time < end;
    }));
  }
};

Parameters with(std::string name, ParameterValue value) {
  Parameters parameters = nvshare_adaptive_policy().defaults();
  parameters.set(std::move(name), std::move(value));
  return parameters;
}

TEST(NvshareAdaptive, ClientsThatDoNotFitTogetherNeverRunAtOnce) {
  World world({10, 10});
  world.run_until(after(60s));
  Time free_at[2] = {kRunStart, kRunStart};
  for (const FakeLaunch& launch : world.launches()) {
    const std::uint32_t me = launch.client.value;
    ASSERT_GE(launch.time, free_at[1 - me]);
    free_at[me] = launch.time + 10ms;
  }
  EXPECT_GT(world.launches_of(1).size(), 100U);
}

// The fake device runs each client at full speed whatever the others do: together they make twice the progress. One
// whose contexts share it at once may do so; one whose contexts take slices cannot, and is not even tried.
TEST(NvshareAdaptive, ClientsThatFitAreMeasuredAndThenRunTogetherWhereThatPays) {
  DeviceView at_once = World::device();
  at_once.time_slice = Duration{0};
  World world({5, 5}, 1ms, nvshare_adaptive_policy().defaults(), at_once);
  world.run_until(after(10s));
  EXPECT_NEAR(static_cast<double>(world.launches_between(0, after(5s), after(10s))), 5000, 5);
  EXPECT_NEAR(static_cast<double>(world.launches_between(1, after(5s), after(10s))), 5000, 5);
  EXPECT_EQ(world.launches_between(1, after(0s), after(490ms)), 0U);  // the first is alone to learn its speed
}

TEST(NvshareAdaptive, ClientsThatLeaveNothingIdleKeepToTurns) {
  World world({5, 5}, 1ms);
  world.run_until(after(10s));
  const std::size_t both =
      world.launches_between(0, after(1s), after(10s)) + world.launches_between(1, after(1s), after(10s));
  EXPECT_NEAR(static_cast<double>(both), 9000, 5);
}

TEST(NvshareAdaptive, ClientsOfKernelsLongerThanASecondRunTogetherWhereThatPaysToo) {
  DeviceView at_once = World::device();
  at_once.time_slice = Duration{0};
  World world({5, 5}, 3s, with("window", Duration{6s}), at_once);
  world.run_until(after(120s));
  for (const std::uint32_t client : {0U, 1U})
    EXPECT_GT(world.launches_between(client, after(60s), after(120s)), 15U) << "in turns it would be 10";
}

// Each works for half of its time. In turns, the other one begins 350 us after a kernel's end.
TEST(NvshareAdaptive, ClientsThatLeaveMoreIdleThanSwitchesTakeShareADeviceOfSlices) {
  FakeBackend world(nvshare_adaptive_policy(), nvshare_adaptive_policy().defaults(), World::clients({5, 5}),
                    World::device());
  bool is_idle[2] = {true, true};
  world.after_instant = [&] {
    for (const std::uint32_t client : {0U, 1U}) {
      if (!world.is_done(client) || !std::exchange(is_idle[client], false)) continue;
      world.at(world.now() + 1ms, [&world, &is_idle, client] {
        is_idle[client] = true;
        world.script(client, {.name = "k", .duration = 1ms});
      });
    }
  };
  for (const std::uint32_t client : {0U, 1U}) world.join(client);
  world.run_until(after(10s));
  for (const std::uint32_t client : {0U, 1U}) {
    const std::size_t launches = static_cast<std::size_t>(std::ranges::count_if(
        world.launches_of(client), [](const FakeLaunch& launch) { return launch.time >= after(5s); }));
    EXPECT_NEAR(static_cast<double>(launches), 2500, 5) << client;
  }
}

TEST(NvshareAdaptive, TheTurnOfAClientThatLeavesIsOver) {
  World world({4, 4, 4}, 1ms, with("sharing", std::string("turns")));
  world.at(after(10ms), [&] { world.leave(0); });
  world.run_until(after(100ms));
  EXPECT_EQ(world.launches_of(1).front().time, after(10ms));
}

TEST(NvshareAdaptive, InTurnsOneRunsAtATimeAndEachTurnIsShort) {
  World world({5, 5}, 1ms, with("sharing", std::string("turns")));
  world.run_until(after(10s));
  for (const std::uint32_t client : {0U, 1U})
    EXPECT_NEAR(static_cast<double>(world.launches_of(client).size()), 5000, 60) << client;
  const Time second = world.launches_of(1).front().time;
  EXPECT_GE(second, after(50ms));
  EXPECT_LE(second, after(52ms));
}

TEST(NvshareAdaptive, ResidentThatLeavesTheDeviceIdlePassesItsTurnOn) {
  FakeBackend world(nvshare_adaptive_policy(), with("sharing", std::string("turns")), World::clients({5, 5}),
                    World::device());
  world.join(0);
  world.join(1);
  world.script(0, {.name = "k", .duration = 1ms});
  world.at(after(Duration{500'000}), [&] { world.script(1, {.name = "k", .duration = 1ms}); });
  world.run_until(after(100ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(1ms + Duration{350'000}));
}

TEST(NvshareAdaptive, SetThatThrashesAlthoughItShouldFitIsTakenApart) {
  World world({7, 7}, 1ms, with("sharing", std::string("together")));
  for (std::uint64_t step = 0; step < 100; ++step) {
    // From 1 s on, 100 MB are paged in every 100 ms, and nothing grows.
    const std::uint64_t paged = step < 10 ? 0 : (step - 9) * kGb / 10;
    world.at(after(static_cast<std::int64_t>(step) * 100ms), [&, paged] {
      world.set_memory(0, 7 * kGb, paged);
      world.set_memory(1, 7 * kGb, paged);
    });
  }
  world.run_until(after(5s));
  EXPECT_GT(world.launches_between(0, after(500ms), after(900ms)), 390U);
  EXPECT_GT(world.launches_between(1, after(500ms), after(900ms)), 390U);
  // Two looks later each has half.
  EXPECT_NEAR(static_cast<double>(world.launches_between(0, after(1'400ms), after(3'400ms))), 1000, 60);
  EXPECT_NEAR(static_cast<double>(world.launches_between(1, after(1'400ms), after(3'400ms))), 1000, 60);
}

TEST(NvshareAdaptive, MemoryThatIsNotAllThereIsBroughtInInBulkWhileOthersWait) {
  World world({10, 4, 10});
  for (const std::uint32_t client : {0U, 1U}) world.set_memory(client, client == 0 ? 10 * kGb : 4 * kGb, 0);
  world.run_until(after(60s));
  EXPECT_GE(world.prefetches(2), 1U);
  EXPECT_EQ(world.prefetches(0), 0U);
}

TEST(NvshareAdaptive, SaysWhatAClientWaitsFor) {
  World world({10, 10});
  world.run_until(after(20ms));
  const Hold* hold = world.arbiter().hold_of(ClientId{1});
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->rule, "memory");
  EXPECT_EQ(hold->needed, 10e9);
  EXPECT_EQ(hold->available, 6e9);
}

TEST(Residents, TurnFollowsFromWhatLoadingCosts) {
  const Residents::Settings settings{.overhead = 0.05, .shortest_turn = 50ms, .longest_turn = 30s};
  EXPECT_EQ(Residents::turn_for(1s, settings), 21s);  // 1 / (21 - 1) = 5 %
  EXPECT_EQ(Residents::turn_for(0s, settings), 50ms);
  EXPECT_EQ(Residents::turn_for(10s, settings), 30s);
}

/// What the detector says of two clients whose counters go through these values, a look every 100 ms.
bool thrashes(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& resident_and_paged) {
  std::vector<ClientView> clients(2);
  clients[1].id = ClientId{1};
  const std::vector<ClientId> both{ClientId{0}, ClientId{1}};
  ThrashDetector detector(100e6);
  bool is_thrashing = false;
  Time now = kRunStart;
  for (const auto& [resident, paged] : resident_and_paged) {
    clients[0].resident_bytes = resident;
    clients[0].paged_bytes = paged;
    is_thrashing = detector.look(GpuView{now, {}, clients}, both);
    now += 100ms;
  }
  return is_thrashing;
}

TEST(ThrashDetector, FirstLoadIsNoThrashing) {
  EXPECT_FALSE(thrashes({{0, 0}, {kGb, kGb}, {2 * kGb, 2 * kGb}, {3 * kGb, 3 * kGb}}));
}

TEST(ThrashDetector, PagingWithoutGrowthInTwoLooksIs) {
  EXPECT_FALSE(thrashes({{kGb, 0}, {kGb, kGb / 10}}));
  EXPECT_TRUE(thrashes({{kGb, 0}, {kGb, kGb / 10}, {kGb, kGb / 5}}));
  EXPECT_FALSE(thrashes({{kGb, 0}, {kGb, kGb / 10}, {kGb, kGb / 10}}));
}

}  // namespace
}  // namespace corun
