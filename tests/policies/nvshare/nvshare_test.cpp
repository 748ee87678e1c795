#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/nvshare/interposer.h"
#include "policies/nvshare/lock.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

FakeOp kernel(Duration duration) { return {.name = "k", .duration = duration}; }
FakeOp frame(Duration duration) { return {.name = "frame", .duration = duration, .is_render = true}; }

/// The lock alone: messages take no time, nothing slips past, and there is no window of pending kernels.
Parameters lock_only() {
  Parameters parameters = nvshare_policy().defaults();
  parameters.set("message_latency", Duration{0});
  parameters.set("slip", Duration{0});
  parameters.set("window_max", std::int64_t{0});
  return parameters;
}

Parameters with(std::string name, ParameterValue value, Parameters parameters = lock_only()) {
  parameters.set(std::move(name), std::move(value));
  return parameters;
}

Parameters with_window() { return with("window_max", std::int64_t{2048}); }

struct World : FakeBackend {
  explicit World(const Parameters& parameters = lock_only(), Role first = Role::kBestEffort)
      : FakeBackend(nvshare_policy(), parameters, {fake_client("a", first), fake_client("b")}) {
    join(0);
    join(1);
  }
  void busy(std::uint32_t client, int count, Duration duration) {
    for (int i = 0; i < count; ++i) script(client, kernel(duration));
  }
};

TEST(Nvshare, PromisesAsManyLaunchesAsItsWindowHasRoomFor) {
  World world(with_window());
  world.set_depth(0, 100);
  EXPECT_EQ(world.arbiter().admits_ahead(ClientId{0}), 0U) << "it has no lock";
  world.busy(0, 1, 1ms);
  world.run_until(after(500us));
  EXPECT_EQ(world.arbiter().admits_ahead(ClientId{0}), 0U) << "it synchronises for a window of one";
  world.run_until(after(2ms));
  EXPECT_EQ(world.arbiter().admits_ahead(ClientId{0}), 2U);
  world.busy(0, 5, 1ms);
  world.run_until(after(2ms) + 1us);
  EXPECT_EQ(world.launches_of(0).size(), 3U);
  EXPECT_EQ(world.arbiter().admits_ahead(ClientId{1}), 0U);
}

TEST(Nvshare, HandsOverAfterTheQuantumOnceTheHolderHasDrained) {
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

TEST(Nvshare, NeverLetsTwoClientsRunAtOnce) {
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

TEST(Nvshare, EarlyReleaseStartsTheSecondClientExactly5sAfterTheLastActivity) {
  World world;
  world.busy(0, 10, 100ms);  // the last is launched at 0.9 s and done at 1 s
  world.at(after(2s), [&] { world.busy(1, 1, 100ms); });
  world.run_until(after(10s));
  ASSERT_EQ(world.launches_of(1).size(), 1U);
  EXPECT_EQ(world.launches_of(1)[0].time, after(5'900ms));
}

TEST(Nvshare, IdleGapShorterThanTheEarlyReleaseKeepsTheLock) {
  World world;
  world.busy(0, 1, 100ms);
  world.busy(1, 1, 100ms);
  world.at(after(4'999ms), [&] { world.busy(0, 1, 100ms); });
  world.run_until(after(20s));
  EXPECT_EQ(world.launches_of(0)[1].time, after(4'999ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(9'999ms));
}

TEST(Nvshare, LongKernelKeepsAnIdleHostInPossession) {
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

TEST(Nvshare, LoneHolderDrainsAtEveryQuantumOnlyIfDropWhenAlone) {
  EXPECT_EQ(first_launch_after_quantum(true), after(30'690ms));  // the end of the eighth
  EXPECT_EQ(first_launch_after_quantum(false), after(30'060ms));
}

TEST(Nvshare, WithoutDropWhenAloneALateComerGetsAnOverdueLockAtOnce) {
  World world(with("drop_when_alone", false));
  world.busy(0, 1000, 100ms);
  world.at(after(45'050ms), [&] { world.busy(1, 1, 10ms); });
  world.run_until(after(50s));
  EXPECT_EQ(world.launches_of(1)[0].time, after(45'100ms));
}

TEST(Nvshare, GameTakesPartInTheLockOnlyIfFramesAreGated) {
  for (const bool gated : {true, false}) {
    World world(with("gate_frames", gated), Role::kInteractive);
    world.at(after(1ms), [&] { world.busy(1, 20'000, 10ms); });
    for (int i = 0; i < 100; ++i) world.at(after(i * 1s + 2ms), [&] { world.script(0, frame(5ms)); });
    world.run_until(after(20s));
    const auto frames = world.launches_of(0);
    EXPECT_EQ(frames.size(), gated ? 0U : 20U) << gated;
  }
}

TEST(Nvshare, ClientsAreServedInTheOrderInWhichTheyAsked) {
  World world(with("quantum", Duration{1s}));
  world.at(after(1ms), [&] { world.busy(1, 50, 90ms); });
  world.at(after(2ms), [&] { world.busy(0, 50, 90ms); });
  world.run_until(after(5s));
  EXPECT_EQ(world.launches().front().client.value, 1U);
  EXPECT_EQ(world.launches_of(0).front().time, after(1'081ms));
}

TEST(Nvshare, LockOfAClientThatLeftGoesToTheNext) {
  World world;
  world.busy(0, 3, 100ms);
  world.busy(1, 1, 100ms);
  world.at(after(150ms), [&] { world.leave(0); });
  world.run_until(after(1s));
  EXPECT_EQ(world.launches_of(1)[0].time, after(200ms));
}

TEST(Nvshare, IdleHolderKeepsTheLockWhileAnybodyUsesTheDevice) {
  FakeBackend world(nvshare_policy(), with("gate_frames", false),
                    {fake_client("a"), fake_client("game", Role::kInteractive), fake_client("c")});
  for (std::uint32_t client = 0; client < 3; ++client) world.join(client);
  world.script(0, kernel(100ms));
  world.script(2, kernel(100ms));
  for (int i = 0; i < 14; ++i) world.at(after(i * 500ms), [&] { world.script(1, frame(40ms)); });
  world.run_until(after(30s));
  // The last frame ends at 6.54 s; the probe at 5 s sees one, the one at 10 s none within its second.
  EXPECT_EQ(world.launches_of(2)[0].time, after(10s));
}

TEST(Nvshare, SynchronisingProbeKeepsTheLockOnlyIfItTakes100ms) {
  for (const auto& [kernel_time, handed_over] : {std::pair{12'000ms, 17'000ms}, {5'050ms, 5'050ms}}) {
    World world(with("idle_probe", std::string("synchronise")));
    world.busy(0, 1, kernel_time);
    world.busy(1, 1, 100ms);
    world.run_until(after(30s));
    EXPECT_EQ(world.launches_of(1)[0].time, after(handed_over));
  }
}

TEST(Nvshare, EachMessageTakesItsTime) {
  World world(with("message_latency", Duration{10ms}));
  world.busy(0, 1000, 100ms);
  world.busy(1, 1, 100ms);
  world.run_until(after(40s));
  EXPECT_EQ(world.launches_of(0)[0].time, after(20ms));  // asks, is granted
  // The quantum began at 10 ms. Told to drop at 30.02 s, when a kernel has just begun; gives back; the next is granted.
  EXPECT_EQ(world.launches_of(1)[0].time, after(30'120ms + 20ms));
}

TEST(Nvshare, OneCallSlipsPastALockThatWasJustDropped) {
  for (const bool slips : {false, true}) {
    World world(with("slip", slips ? Duration{200ms} : Duration{0}));
    world.busy(0, 100, 700ms);
    world.busy(1, 100, 700ms);
    world.run_until(after(40s));
    EXPECT_EQ(world.launches_of(1)[0].time, after(30'100ms));
    EXPECT_EQ(world.launches_of(0).size(), slips ? 44U : 43U);
    EXPECT_EQ(world.launches_of(0).back().time, slips ? after(30'100ms) : after(29'400ms));
  }
}

TEST(Nvshare, OfCallsThatFollowADropOnlyTheFirstSlipsPast) {
  World world(with("slip", Duration{200ms}));
  // One ends at 30.03 s, where the next slips past; that ends at 30.1 s, in time for another.
  world.busy(0, 1000, 70ms);
  world.busy(1, 1, 100ms);
  world.run_until(after(30'500ms));
  EXPECT_EQ(world.launches_of(0).back().time, after(30'030ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(30'030ms));
}

TEST(Nvshare, WithoutAntiThrashEverybodyLaunches) {
  World world(with("anti_thrash", false));
  world.busy(0, 10, 100ms);
  world.busy(1, 10, 100ms);
  world.run_until(after(10s));
  EXPECT_EQ(world.launches_of(0)[9].time, after(900ms));
  EXPECT_EQ(world.launches_of(1)[9].time, after(900ms));
}

/// Whether a client that allocates `bytes` on a device of 16 GB is let in.
bool is_let_in(std::uint64_t bytes, const Parameters& parameters) {
  DeviceView device = fake_device();
  device.memory_bytes = 16'000'000'000;
  ClientView client = fake_client("a");
  client.allocated_bytes = bytes;
  FakeBackend world(nvshare_policy(), parameters, {client}, device);
  world.join(0);
  world.script(0, kernel(1ms));
  world.run_until(after(1s));
  for (const RefusalFact& refusal : world.refusals()) {
    EXPECT_EQ(refusal.reason.rule, "memory_reserve");
    EXPECT_EQ(refusal.reason.needed, static_cast<double>(bytes));
    EXPECT_EQ(refusal.reason.available, 16e9 - 1536.0 * 1024 * 1024);
  }
  EXPECT_EQ(world.is_present(0), world.refusals().empty());
  return world.refusals().empty() && world.launches().size() == 1;
}

TEST(Nvshare, ClientLargerThanTheMemoryLessTheReserveGetsAnError) {
  EXPECT_TRUE(is_let_in(14'389'000'000, lock_only()));
  EXPECT_FALSE(is_let_in(14'390'000'000, lock_only()));
  EXPECT_TRUE(is_let_in(20'000'000'000, with("single_oversubscription", true)));
}

TEST(Nvshare, WindowOfPendingKernelsDoublesFrom1To2048WhileSynchronisationsAreShort) {
  World world(with_window());
  world.set_depth(0, 100'000);
  world.busy(0, 3 * 4096, 100us);
  world.run_until(after(2s));
  const auto launches = world.launches_of(0);
  std::size_t first = 0;
  for (std::size_t size = 1; first + size <= launches.size(); size = std::min<std::size_t>(2 * size, 2048)) {
    const Time expected = after(static_cast<std::int64_t>(first) * 100us);
    EXPECT_EQ(launches[first].time, expected);
    EXPECT_EQ(launches[first + size - 1].time, expected) << "window " << size;
    first += size;
  }
  EXPECT_EQ(first, 3 * 4096U - 1 - 2048U + 2048U);
}

/// How many kernels the client launches at once, group by group.
std::vector<std::size_t> groups(const std::vector<FakeLaunch>& launches) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (i == 0 || launches[i].time != launches[i - 1].time) sizes.push_back(0);
    ++sizes.back();
  }
  return sizes;
}

TEST(Nvshare, WindowOfPendingKernelsFollowsHowLongTheyTake) {
  const std::pair<Duration, std::vector<std::size_t>> cases[] = {
      {500ms, {1, 2, 1, 2, 1, 2}}, {2s, {1, 1, 1, 1, 1, 1}}, {12s, {1, 1, 1, 1, 1, 1}}};
  for (const auto& [duration, expected] : cases) {
    World world(with("quantum", Duration{1000s}, with_window()));
    world.set_depth(0, 100);
    world.busy(0, 9, duration);
    world.run_until(after(200s));
    auto sizes = groups(world.launches_of(0));
    sizes.resize(6);
    EXPECT_EQ(sizes, expected) << to_ns(duration) << " ns";
  }
}

TEST(Nvshare, LongSynchronisationHalvesTheWindowAndAVeryLongOneRestartsIt) {
  for (const auto& [slow, next] : {std::pair{Duration{500ms}, std::size_t{4}}, {Duration{2s}, std::size_t{1}}}) {
    World world(with("quantum", Duration{1000s}, with_window()));
    world.set_depth(0, 100);
    world.busy(0, 7, 1ms);
    world.busy(0, 8, slow);  // fill the window of 8: 4 s, or 16 s
    world.busy(0, 8, 1ms);
    world.run_until(after(100s));
    const auto sizes = groups(world.launches_of(0));
    ASSERT_GE(sizes.size(), 5U);
    EXPECT_EQ(sizes[3], 8U);
    EXPECT_EQ(sizes[4], next);
  }
}

TEST(Nvshare, DroppedLockIsFreeWhenWhatTheWindowLetInFlightHasDrained) {
  // Kernels of 0.5 s run one, two, one, two, ...: at 31 s the two that began at 30.5 s run.
  const std::pair<Duration, Duration> cases[] = {{500ms, 31'500ms}, {2s, 32s}, {12s, 36s}};
  for (const auto& [duration, drained] : cases) {
    World world(with("quantum", Duration{31s}, with_window()));
    world.set_depth(0, 100);
    world.busy(0, 200, duration);
    world.busy(1, 1, 100ms);
    world.run_until(after(40s));
    EXPECT_EQ(world.launches_of(1)[0].time, after(drained));
  }
}

TEST(Nvshare, SaysWhyAClientWaits) {
  World world(with_window());
  world.set_depth(0, 100);
  world.busy(0, 100, 400ms);
  world.busy(1, 1, 100ms);
  const auto rule = [&](std::uint32_t client) { return world.arbiter().hold_of(ClientId{client})->rule; };
  world.run_until(after(10s));
  EXPECT_EQ(rule(0), "pending_window");
  const Hold& pending = *world.arbiter().hold_of(ClientId{0});
  EXPECT_EQ(pending.needed, pending.available + 1) << "one kernel more than the window has room for";
  EXPECT_EQ(rule(1), "lock");
  EXPECT_NEAR(world.arbiter().hold_of(ClientId{1})->needed, 30e9, 1e9);
}

TEST(PendingKernelWindow, CountsOnOverAReset) {
  PendingKernelWindow window({});
  for (const int size : {1, 2, 4}) {
    for (int i = 0; i < size; ++i) window.kernel_launched(after(0s));
    EXPECT_TRUE(window.synchronises());
    window.drained(after(1ms));
  }
  for (int i = 0; i < 3; ++i) window.kernel_launched(after(1ms));
  EXPECT_EQ(window.room(), 5U);
  window.reset();
  EXPECT_EQ(window.room(), 1U);
  window.kernel_launched(after(1ms));
  EXPECT_TRUE(window.synchronises());
}

TEST(NvshareLock, TellsTheHolderOnceThatItsQuantumIsOver) {
  NvshareLock lock(1s, true);
  lock.request(ClientId{3});
  lock.request(ClientId{3});
  lock.request(ClientId{1});
  EXPECT_EQ(lock.grant(after(0s)), ClientId{3});
  EXPECT_EQ(lock.grant(after(0s)), std::nullopt);
  EXPECT_EQ(lock.drop(after(999ms)), std::nullopt);
  EXPECT_EQ(lock.next_drop(after(999ms)), after(1s));
  EXPECT_EQ(lock.drop(after(1s)), ClientId{3});
  EXPECT_EQ(lock.drop(after(2s)), std::nullopt);
  EXPECT_EQ(lock.next_drop(after(2s)), kNever);
  lock.release(ClientId{3});
  EXPECT_EQ(lock.grant(after(3s)), ClientId{1});
  lock.release(ClientId{1});
  EXPECT_EQ(lock.grant(after(3s)), std::nullopt);
}

}  // namespace
}  // namespace corun
