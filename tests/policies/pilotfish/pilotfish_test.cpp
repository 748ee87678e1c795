#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

constexpr Duration kPeriod = 16'600us;

Time after(Duration duration) { return kRunStart + duration; }

FakeOp kernel(Duration duration, std::string name = "k") {
  return {.name = std::move(name), .duration = duration, .predicted = duration};
}

FakeOp unknown(Duration duration, std::string name = "new") { return {.name = std::move(name), .duration = duration}; }

/// The artifact's constants, with nothing to spend before the first frame ends.
Parameters with(std::initializer_list<std::pair<std::string, ParameterValue>> values) {
  Parameters parameters = pilotfish_policy().defaults();
  parameters.set("initial_slice", Duration{});
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

Parameters by_events() { return with({{"notify_poll", Duration{}}, {"launch_retry", Duration{}}}); }

Parameters absolute_by_events() {
  Parameters parameters = by_events();
  parameters.set("budget", std::string("absolute"));
  return parameters;
}

/// Client 0 is a game, 1 and 2 are fillers, 3 is a second game. Only the first two join by themselves.
struct World : FakeBackend {
  explicit World(const Parameters& parameters, Duration frame_period = {})
      : FakeBackend(pilotfish_policy(), parameters, clients(frame_period)) {
    join(0);
    join(1);
    set_depth(1, 1000);
    set_depth(2, 1000);
  }

  static std::vector<ClientView> clients(Duration frame_period) {
    std::vector<ClientView> all{fake_client("game", Role::kInteractive), fake_client("train"), fake_client("other"),
                                fake_client("game2", Role::kInteractive)};
    all[0].frame_period = frame_period;
    return all;
  }

  void frames(std::uint32_t game, int count, Duration busy, Duration first = {}, Duration period = kPeriod) {
    for (int i = 0; i < count; ++i)
      at(after(first + i * period),
         [=, this] { script(game, {.name = "frame", .duration = busy, .is_render = true}); });
  }

  void fill(std::uint32_t filler, int count, FakeOp op) {
    for (int i = 0; i < count; ++i) script(filler, op);
  }
};

TEST(PilotFish, AdmitsAsManyKernelsAsTheWindowHoldsOncePollAndRetryHaveNoticedIt) {
  World world(with({}));
  world.frames(0, 1, 6'300us);
  world.fill(1, 1000, kernel(100us));
  world.run_until(after(100ms));
  // The frame ends at 6.3 ms, is noticed at 7 ms, and the launch that sleeps since 0 looks again at 8 ms.
  const auto launches = world.launches_of(1);
  ASSERT_EQ(launches.size(), 103U);  // 10.3 ms of 0.1 ms each
  EXPECT_EQ(launches.front().time, after(8ms));
  EXPECT_EQ(launches.back().time, after(8ms));
}

TEST(PilotFish, ByEventsKernelsStartExactlyAtTheEndOfTheFrame) {
  World world(by_events());
  world.frames(0, 3, 6'300us);
  world.fill(1, 1000, kernel(100us));
  world.run_until(after(45ms));
  const auto launches = world.launches_of(1);
  ASSERT_EQ(launches.size(), 3 * 103U);
  for (std::size_t i = 0; i < launches.size(); ++i)
    EXPECT_EQ(launches[i].time, after(static_cast<int>(i / 103) * kPeriod + 6'300us)) << i;
}

TEST(PilotFish, AbsoluteBudgetNeverLetsAKernelRunIntoAFrame) {
  for (const bool polls : {false, true}) {
    Parameters parameters = polls ? with({}) : by_events();
    parameters.set("budget", std::string("absolute"));
    World world(parameters);
    world.frames(0, 60, 7'100us);
    std::vector<Duration> durations;
    for (int i = 0; i < 3000; ++i) durations.push_back(Duration{3'000 + i * 7'919LL % 900'000});
    for (const Duration duration : durations) world.script(1, kernel(duration));
    world.run_until(after(60 * kPeriod));
    Time free_at = kRunStart;
    for (const FakeLaunch& launch : world.launches_of(1)) {
      const Time begin = std::max(launch.time, free_at);
      free_at = begin + durations[launch.number];
      const auto frame = (begin - kRunStart) / kPeriod;
      EXPECT_GE(begin, after(frame * kPeriod + 7'100us));
      EXPECT_LE(free_at, after((frame + 1) * kPeriod));
    }
    EXPECT_GT(world.launches_of(1).size(), polls ? 800U : 1000U);
  }
}

TEST(PilotFish, RelativeBudgetOverrunsByWhatThePollsCost) {
  World world(with({}));
  world.frames(0, 1, 6'300us);
  world.fill(1, 1000, kernel(100us));
  world.run_until(after(16'600us));
  EXPECT_EQ(world.launches_of(1).size(), 103U);
  EXPECT_EQ(world.launches_of(1).front().time + 103 * 100us, after(18'300us));  // 1.7 ms into the next frame
}

TEST(PilotFish, KernelLongerThanEveryWindowNeverRunsAndBlocksThoseBehindIt) {
  World world(by_events());
  world.frames(0, 20, 6ms);
  world.script(1, kernel(1ms));
  world.script(1, kernel(11ms));
  world.script(1, kernel(1ms));
  world.run_until(after(20 * kPeriod));
  EXPECT_EQ(world.launches_of(1).size(), 1U);
}

TEST(PilotFish, WorkInFlightIsChargedToTheNextWindowOnlyIfAsked) {
  for (const bool charged : {true, false}) {
    Parameters parameters = by_events();
    parameters.set("charge_unfinished", charged);
    World world(parameters);
    world.frames(0, 2, 6ms);
    world.script(1, {.name = "late", .duration = 40ms, .predicted = 8ms});
    world.fill(1, 20, kernel(1ms));
    world.run_until(after(30ms));
    const auto launches = world.launches_of(1);
    const auto second = std::ranges::count_if(launches, [](const FakeLaunch& l) { return l.time == after(22'600us); });
    EXPECT_EQ(second, charged ? 0 : 10) << "10.6 ms less 10 ms still predicted to be running, or not";
  }
}

TEST(PilotFish, GateOnRenderingHoldsWhatIsLeftOfAWindowWhileAFrameIsRendered) {
  for (const bool gated : {false, true}) {
    Parameters parameters = by_events();
    parameters.set("gate_on_rendering", gated);
    World world(parameters);
    world.frames(0, 2, 6ms);
    world.at(after(18ms), [&] { world.script(1, kernel(1ms)); });
    world.run_until(after(40ms));
    EXPECT_EQ(world.launches_of(1)[0].time, gated ? after(22'600us) : after(18ms));
  }
}

TEST(PilotFish, LaunchesThatWaitTogetherFillAWindowOnce) {
  World world(by_events());
  world.set_most_waiting(1, 1000);
  world.frames(0, 1, 6'300us);
  world.fill(1, 1000, kernel(100us));
  world.run_until(after(45ms));
  EXPECT_EQ(world.launches_of(1).size(), 103U);
}

TEST(PilotFish, UnknownKernelRunsAtOnceAndIsGatedByItsMeasuredTimeFromThenOn) {
  World world(by_events());
  world.frames(0, 5, 6ms);
  world.script(1, unknown(12ms));
  world.script(1, unknown(12ms));
  world.run_until(after(80ms));
  const auto launches = world.launches_of(1);
  ASSERT_EQ(launches.size(), 1U) << "12 ms fit in no window of 10.6 ms";
  EXPECT_EQ(launches[0].time, kRunStart);
}

TEST(PilotFish, NothingFollowsAnUnknownKernelUntilItHasBeenTimed) {
  World world(by_events());
  world.frames(0, 5, 6ms);
  world.script(1, unknown(7ms));
  world.script(1, kernel(1ms));
  world.run_until(after(80ms));
  EXPECT_EQ(world.launches_of(1)[1].time, after(7ms));
}

TEST(PilotFish, DeferredUnknownKernelGetsAWholeWindowOfItsOwn) {
  for (const std::uint32_t most_waiting : {1U, 3U}) {
    Parameters parameters = by_events();
    parameters.set("unknown_kernel", std::string("defer"));
    World world(parameters);
    world.set_most_waiting(1, most_waiting);
    world.frames(0, 5, 6ms);
    world.script(1, kernel(1ms));
    world.script(1, unknown(2ms));
    world.script(1, kernel(1ms));
    world.run_until(after(80ms));
    const auto launches = world.launches_of(1);
    ASSERT_EQ(launches.size(), 3U);
    EXPECT_EQ(launches[0].time, after(6ms));
    EXPECT_EQ(launches[1].time, after(6ms + kPeriod)) << most_waiting;
    EXPECT_EQ(launches[2].time, after(6ms + 2 * kPeriod)) << most_waiting;
  }
}

TEST(PilotFish, CopiesAndRenderWorkAlwaysPass) {
  World world(by_events());
  world.frames(0, 1, 6ms);
  world.at(after(1ms), [&] { world.script(1, {.name = "copy", .duration = 50ms, .is_copy = true}); });
  world.run_until(after(20ms));
  EXPECT_EQ(world.launches_of(0)[0].time, kRunStart);
  EXPECT_EQ(world.launches_of(1)[0].time, after(1ms));
}

TEST(PilotFish, WithoutAGameEverythingIsOpen) {
  World world(with({}));
  world.frames(0, 1, 6ms);
  world.at(after(10ms), [&] { world.leave(0); });
  world.at(after(30ms), [&] { world.fill(1, 50, kernel(100ms)); });
  world.run_until(after(40ms));
  EXPECT_TRUE(world.gate_is_open(1));
  EXPECT_EQ(world.launches_of(1).size(), 50U);
  EXPECT_EQ(world.wake(), kNever);
}

TEST(PilotFish, WithTwoGamesTheWindowOpensWhenNeitherRendersAndEndsAtTheEarlierNextFrame) {
  World world(absolute_by_events());
  world.join(3);
  world.frames(0, 1, 4ms);
  world.frames(3, 1, 6ms, 3ms);  // renders from 3 ms to 9 ms
  world.fill(1, 100, kernel(1ms));
  world.run_until(after(18ms));
  const auto launches = world.launches_of(1);
  ASSERT_EQ(launches.size(), 7U);  // 9 ms to 16.6 ms
  for (const FakeLaunch& launch : launches) EXPECT_EQ(launch.time, after(9ms));
}

TEST(PilotFish, TargetPeriodOfZeroTakesThePacingOfTheGame) {
  Parameters parameters = by_events();
  parameters.set("target_period", Duration{});
  World world(parameters, 33ms);
  world.frames(0, 1, 6ms);
  world.fill(1, 100, kernel(1ms));
  world.run_until(after(10ms));
  EXPECT_EQ(world.launches_of(1).size(), 27U);
}

TEST(PilotFish, ShapePredictorPrefersTheMeanOfNameAndShape) {
  for (const bool by_shape : {false, true}) {
    Parameters parameters = by_events();
    parameters.set("predictor", std::string(by_shape ? "name_shape_mean" : "name_mean"));
    World world(parameters);
    world.frames(0, 1, 6'600us);
    world.fill(1, 100, {.name = "k", .duration = 1ms, .predicted = 5ms, .predicted_by_shape = 1ms});
    world.run_until(after(10ms));
    EXPECT_EQ(world.launches_of(1).size(), by_shape ? 10U : 2U);
  }
}

TEST(PilotFish, MarginAndOvercommitMoveTheEndOfTheWindow) {
  for (const auto& [name, count] : {std::pair<std::string, std::size_t>{"margin", 7}, {"overcommit", 13}}) {
    Parameters parameters = by_events();
    parameters.set(name, Duration{3ms});
    World world(parameters);
    world.frames(0, 1, 6'600us);
    world.fill(1, 100, kernel(1ms));
    world.run_until(after(10ms));
    EXPECT_EQ(world.launches_of(1).size(), count) << name;
  }
}

/// Launches of two fillers in 30 windows of three kernels, with so many launches waiting per host.
std::pair<std::size_t, std::size_t> shared_windows(std::uint32_t most_waiting) {
  World world(by_events());
  world.join(2);
  for (const std::uint32_t filler : {1U, 2U}) {
    world.set_depth(filler, most_waiting);
    world.set_most_waiting(filler, most_waiting);
  }
  world.frames(0, 30, 6'600us);
  world.fill(1, 1000, kernel(3ms));
  world.fill(2, 1000, kernel(3ms));
  world.run_until(after(30 * kPeriod));
  return {world.launches_of(1).size(), world.launches_of(2).size()};
}

TEST(PilotFish, FillersTakeTurnsInAWindow) {
  for (const std::uint32_t most_waiting : {1U, 8U}) {
    const auto [first, second] = shared_windows(most_waiting);
    EXPECT_GE(first + second, 80U);
    EXPECT_LE(std::max(first, second) - std::min(first, second), 1U) << most_waiting;
  }
}

}  // namespace
}  // namespace corun
