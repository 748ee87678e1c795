// The baselines that PilotFish's artifact ships, and the variant of ours.

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr Duration kPeriod = 16'600us;

Time after(Duration duration) { return kRunStart + duration; }

FakeOp kernel(Duration duration) { return {.name = "k", .duration = duration, .predicted = duration}; }

using Values = std::vector<std::pair<std::string, ParameterValue>>;

/// Client 0 is a game of 60.24 frames per second, 1 a filler.
struct World : FakeBackend {
  World(const PolicyDescriptor& policy, const Values& values) : FakeBackend(policy, with(policy, values), clients()) {
    join(0);
    join(1);
    set_depth(1, 100'000);
  }
  static Parameters with(const PolicyDescriptor& policy, const Values& values) {
    Parameters all = policy.defaults();
    for (const auto& [name, value] : values) all.set(name, value);
    return all;
  }
  static std::vector<ClientView> clients() {
    std::vector<ClientView> all{fake_client("game", Role::kInteractive), fake_client("train")};
    all[0].frame_period = kPeriod;
    all[1].working_set_bytes = 1'000;
    return all;
  }
  void frame(Duration when, Duration busy = 6ms) {
    at(after(when), [=, this] { script(0, {.name = "frame", .duration = busy, .is_render = true}); });
  }
  void frames(int count, Duration busy = 6ms) {
    for (int i = 0; i < count; ++i) frame(i * kPeriod, busy);
  }
  void fill(int count, const FakeOp& op) {
    for (int i = 0; i < count; ++i) script(1, op);
  }
  std::size_t launches_in(Duration begin, Duration end) {
    return static_cast<std::size_t>(std::ranges::count_if(launches_of(1), [&](const FakeLaunch& launch) {
      return launch.time >= after(begin) && launch.time < after(end);
    }));
  }
  std::string rule() {
    const Hold* hold = arbiter().hold_of(ClientId{1});
    return hold ? std::string(hold->rule) : "";
  }
};

const Values kByEvents{{"notify_poll", Duration{}}, {"launch_retry", Duration{}}};

Values by_events(Values values) {
  values.insert(values.end(), kByEvents.begin(), kByEvents.end());
  return values;
}

TEST(BusyGate, LaunchesWheneverNothingIsRenderedHoweverLongTheKernel) {
  World world(busy_gate_policy(), {{"launch_retry", Duration{}}});
  world.frames(2);
  world.at(after(5ms), [&] { EXPECT_EQ(world.rule(), "rendering"); });
  world.at(after(1ms), [&] { world.fill(3, kernel(50ms)); });
  world.run_until(after(16ms));
  EXPECT_EQ(world.launches_in(6ms, 6ms + 1us), 3U);
  EXPECT_EQ(world.launches_of(1).size(), 3U);
}

TEST(BusyGate, SleepingLaunchLooksEveryMillisecond) {
  World world(busy_gate_policy(), {});
  world.frames(1, 6'200us);
  world.at(after(500us), [&] { world.fill(1, kernel(1ms)); });
  world.run_until(after(16ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(6'500us));
}

TEST(ConstantLaunches, GrantsSoManyLaunchesAtTheEndOfEveryFrame) {
  World world(constant_launches_policy(), by_events({{"launches_per_frame", std::int64_t{7}}}));
  world.frames(4);
  world.fill(1000, kernel(10us));
  world.run_until(after(5ms));
  EXPECT_EQ(world.rule(), "no_window_yet");
  world.run_until(after(4 * kPeriod));
  for (int frame = 0; frame < 4; ++frame)
    EXPECT_EQ(world.launches_in(frame * kPeriod + 6ms, frame * kPeriod + 6ms + 1us), 7U) << frame;
  EXPECT_EQ(world.launches_of(1).size(), 28U);
  EXPECT_EQ(world.rule(), "launches_per_frame");
}

TEST(ConstantLaunches, GrantIsNoticedAtTheNextPollAndDoesNotCarryOver) {
  World world(constant_launches_policy(), {{"launches_per_frame", std::int64_t{7}}, {"launch_retry", Duration{}}});
  world.frames(3, 6'200us);
  world.at(after(kPeriod), [&] { world.fill(1000, kernel(10us)); });
  world.run_until(after(2 * kPeriod));
  EXPECT_EQ(world.launches_in(kPeriod, kPeriod + 1us), 7U) << "what the first frame left";
  EXPECT_EQ(world.launches_in(23ms, 23ms + 1us), 7U) << "6.2 ms into the second frame is 22.8 ms";
}

TEST(ConstantLaunches, AGameThatComesBackBeginsWithoutAGrant) {
  World world(constant_launches_policy(), by_events({{"launches_per_frame", std::int64_t{7}}}));
  world.frames(1);
  world.at(after(10ms), [&] { world.leave(0); });
  world.at(after(20ms), [&] { world.join(0); });
  world.at(after(25ms), [&] { world.fill(1, kernel(10us)); });
  world.run_until(after(50ms));
  EXPECT_TRUE(world.launches_of(1).empty());
  EXPECT_EQ(world.rule(), "no_window_yet");
}

TEST(FpsFeedback, LaunchesGrowByAFifthAFrameWhileTheRateIsHeld) {
  World world(fps_feedback_policy(), by_events({}));
  world.frames(20, 1ms);
  world.fill(10'000, kernel(1us));
  world.run_until(after(20 * kPeriod));
  double launches = 1;
  for (int frame = 0; frame < 20; ++frame) {
    launches *= 1.2;
    EXPECT_EQ(world.launches_in(frame * kPeriod, (frame + 1) * kPeriod), static_cast<std::size_t>(launches)) << frame;
  }
}

TEST(FpsFeedback, LaunchesHalveWhileAMissedFrameIsInTheWindowButNeverToNothing) {
  World world(fps_feedback_policy(), by_events({{"fps_window", std::int64_t{11}}}));
  for (int i = 0; i < 20; ++i) world.frame(i * kPeriod, 1ms);
  for (int i = 21; i < 40; ++i) world.frame(i * kPeriod, 1ms);  // one is missed
  world.fill(100'000, kernel(1us));
  world.run_until(after(40 * kPeriod));
  const auto in_frame = [&](int frame) { return world.launches_in(frame * kPeriod, (frame + 1) * kPeriod); };
  EXPECT_EQ(in_frame(19), 38U);
  EXPECT_EQ(in_frame(21), 19U);
  EXPECT_EQ(in_frame(22), 9U);
  EXPECT_EQ(in_frame(29), 1U);
  EXPECT_EQ(in_frame(39), 5U) << "nine frames after the miss has left the window";
}

// Ours.

Values at_once(Values values = {}) {
  values.emplace_back("notify_latency", Duration{});
  values.emplace_back("initial_margin", Duration{});
  return values;
}

TEST(PilotFishAbsolute, WindowEndsOnePeriodAfterTheFrameWasSubmitted) {
  World world(pilotfish_absolute_policy(), at_once());
  world.frames(1, 6'600us);
  world.at(after(1ms), [&] { EXPECT_EQ(world.rule(), "no_window_yet"); });
  world.fill(100, kernel(1ms));
  world.run_until(after(6'600us + 1us));
  EXPECT_EQ(world.launches_of(1).size(), 10U);
  EXPECT_EQ(world.rule(), "window");
}

TEST(PilotFishAbsolute, WorkThatIsSlowerThanPredictedIsNoticedAsItCompletes) {
  World world(pilotfish_absolute_policy(), at_once());
  world.set_depth(1, 1);
  world.frames(1, 6'600us);
  for (int i = 0; i < 20; ++i) world.script(1, {.name = "k", .duration = 1'900us, .predicted = 1ms});
  world.run_until(after(kPeriod));
  // At 6.6, 8.5, 10.4, 12.3 and 14.2 ms; at 16.1 ms there is half a millisecond left.
  EXPECT_EQ(world.launches_of(1).size(), 5U);
}

TEST(PilotFishAbsolute, SubmissionOfAFrameClosesTheWindowAlthoughTheDeviceHasNotBegunIt) {
  World world(pilotfish_absolute_policy(), at_once());
  world.frames(1, 2ms);
  world.frame(5ms, 2ms);  // early
  world.at(after(5ms), [&] { world.fill(1, kernel(100us)); });
  world.run_until(after(6ms));
  EXPECT_TRUE(world.launches_of(1).empty());
  EXPECT_EQ(world.rule(), "rendering");
}

/// Time between the end of the fillers' work and the end of the period, in the last of some windows in which every
/// kernel takes `factor` of what is predicted.
Duration left_over(double factor, bool is_paging) {
  World world(pilotfish_absolute_policy(), at_once({{"predictor", std::string("name_mean")}}));
  constexpr int kFrames = 10;
  world.frames(kFrames);
  const Duration duration{static_cast<std::int64_t>(1e5 * factor)};
  for (int i = 0; i < kFrames; ++i)
    world.at(after(i * kPeriod + 6ms), [&world, duration, is_paging, i] {
      world.fill(120, {.name = "k", .duration = duration, .predicted = 100us});
      world.at(after(i * kPeriod + 7ms),
               [&world, is_paging, i] { world.set_memory(1, 0, is_paging ? 100 * (i + 1) : 0); });
    });
  world.run_until(after((kFrames - 1) * kPeriod));
  const auto in_last = world.launches_in((kFrames - 2) * kPeriod, (kFrames - 1) * kPeriod);
  return kPeriod - 6ms - static_cast<std::int64_t>(in_last) * duration;
}

TEST(PilotFishAbsolute, MarginLearnsHowMuchLongerWindowsTakeThanPredicted) {
  EXPECT_LT(left_over(1.1, true), Duration::zero()) << "10 % late, and it may not learn";
  EXPECT_GE(left_over(1.1, false), Duration::zero());
  EXPECT_LE(left_over(1.1, false), 300us);
}

TEST(PilotFishAbsolute, KernelThatFitsIntoNoWindowIsTimedAnewAfterTwoSeconds) {
  World world(pilotfish_absolute_policy(), at_once());
  world.frames(125, 6'600us);
  world.script(1, {.name = "k", .duration = 100us, .predicted = 12ms});
  world.run_until(after(119 * kPeriod));
  EXPECT_TRUE(world.launches_of(1).empty());
  EXPECT_EQ(world.rule(), "window");
  world.run_until(after(122 * kPeriod));
  ASSERT_EQ(world.launches_of(1).size(), 1U);
  EXPECT_EQ((world.launches_of(1)[0].time - after(Duration{})) % kPeriod, 6'600us) << "at the begin of a window";
}

TEST(PilotFishAbsolute, NothingIsPromisedAheadBehindAKernelThatIsBeingTimed) {
  World world(pilotfish_absolute_policy(), at_once());
  world.frames(4);
  world.fill(20, kernel(100us));
  world.at(after(15ms), [&] { EXPECT_GT(world.arbiter().admits_ahead(ClientId{1}), 0U); });
  world.at(after(kPeriod), [&] { world.script(1, {.name = "new", .duration = 30ms}); });
  world.run_until(after(2 * kPeriod + 7ms));
  ASSERT_EQ(world.launches_of(1).size(), 21U) << "it runs through the window after its own";
  EXPECT_EQ(world.arbiter().admits_ahead(ClientId{1}), 0U);
}

TEST(PilotFishAbsolute, DurationWithAPageStallInItIsNotLearned) {
  for (const bool is_paging : {false, true}) {
    World world(pilotfish_absolute_policy(), at_once({{"predictor", std::string("quantile")}}));
    world.frames(3);
    world.script(1, {.name = "k", .duration = 8ms, .predicted = 1ms});
    world.at(after(10ms), [&] { world.set_memory(1, 0, is_paging ? 500 : 0); });
    world.at(after(kPeriod), [&] { world.fill(5, {.name = "k", .duration = 1ms, .predicted = 1ms}); });
    world.run_until(after(kPeriod + 6ms + 1us));
    EXPECT_EQ(world.launches_of(1).size(), is_paging ? 6U : 2U) << "8 ms fit once, 1 ms five times";
  }
}

}  // namespace
}  // namespace corun
