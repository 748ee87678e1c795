// What PilotFish does besides admitting kernels: kills and snapshots, gaps inside frames, memory and the host link.

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
/// A kernel that takes far longer than its profile says.
FakeOp straggler(Duration duration, Duration predicted) {
  return {.name = "late", .duration = duration, .predicted = predicted};
}
FakeOp copy_to_device(std::uint64_t bytes) {
  return {.name = "copy", .duration = 10us, .is_copy = true, .bytes = bytes, .is_to_device = true};
}
FakeOp copy_from_device(std::uint64_t bytes) {
  return {.name = "copy", .duration = 10us, .is_copy = true, .bytes = bytes, .is_from_device = true};
}

using Values = std::vector<std::pair<std::string, ParameterValue>>;

/// Client 0 is a game, 1 and 2 are fillers of which the first has joined. Windows and launches go by events.
struct World : FakeBackend {
  explicit World(const Values& values, std::uint64_t memory = 0)
      : FakeBackend(pilotfish_policy(), parameters(values), clients(), device(memory)) {
    join(0);
    join(1);
    set_depth(1, 1000);
  }

  static Parameters parameters(const Values& values) {
    Parameters all = pilotfish_policy().defaults();
    for (const char* const zero : {"initial_slice", "notify_poll", "launch_retry"}) all.set(zero, Duration{});
    for (const auto& [name, value] : values) all.set(name, value);
    return all;
  }
  static std::vector<ClientView> clients() {
    std::vector<ClientView> all{fake_client("game", Role::kInteractive), fake_client("train"), fake_client("other")};
    for (ClientView& client : all) client.allocated_bytes = 3'000;
    all[1].snapshot_bytes = 1'000;
    return all;
  }
  static DeviceView device(std::uint64_t memory) {
    DeviceView device = fake_device();
    device.memory_bytes = memory;
    device.context_bytes = 500;
    device.to_device_bytes_per_s = device.from_device_bytes_per_s = 1'000'000;  // a byte per microsecond
    return device;
  }

  /// A frame every period; the n-th begins at begins[n] periods.
  void frames(int count, Duration busy) {
    for (int i = 0; i < count; ++i) frame(i * kPeriod, busy);
  }
  void frame(Duration when, Duration busy) {
    at(after(when), [=, this] { script(0, {.name = "frame", .duration = busy, .is_render = true}); });
  }
  void fill(std::uint32_t filler, int count, const FakeOp& op) {
    for (int i = 0; i < count; ++i) script(filler, op);
  }
  std::string rule(std::uint32_t client) {
    const Hold* hold = arbiter().hold_of(ClientId{client});
    return hold ? std::string(hold->rule) : "";
  }
};

// Guarantees. A kernel of 40 ms that was predicted to take 10 ms is still running when frames begin.

TEST(PilotFishGuarantee, HardKillsWhenAFrameBeginsAndMoreThanTheToleranceIsLeft) {
  for (const auto& [guarantee, kills] : {std::pair<std::string, unsigned>{"none", 0}, {"hard", 1}}) {
    World world({{"guarantee", guarantee}, {"preempt", std::string("either")}, {"kill_latency", Duration{50us}}});
    world.frames(2, 6ms);
    world.script(1, straggler(40ms, 10ms));
    world.run_until(after(kPeriod + 49us));
    EXPECT_EQ(world.kills(1), 0U) << guarantee;
    world.run_until(after(kPeriod + 51us));
    EXPECT_EQ(world.kills(1), kills) << guarantee;
  }
}

TEST(PilotFishGuarantee, WhatIsLeftWithinTheToleranceIsNoReasonToKill) {
  for (const Duration left : {900us, 1'100us}) {
    World world({{"guarantee", std::string("hard")},
                 {"preempt", std::string("either")},
                 {"kill_latency", Duration{}},
                 {"overcommit", Duration{2ms}}});
    world.frames(2, 6ms);
    world.script(1, kernel(10'600us - 300us));
    world.script(1, kernel(left));
    world.run_until(after(kPeriod + 1us));
    EXPECT_EQ(world.kills(1), left > 1ms ? 1U : 0U) << to_ns(left) << " ns";
  }
}

TEST(PilotFishGuarantee, StragglerIsKilledForItsLatenessAlthoughLittleOfItWasPredictedToBeLeft) {
  World world({{"guarantee", std::string("hard")}, {"preempt", std::string("either")}, {"kill_latency", Duration{}}});
  world.frames(2, 6ms);
  world.script(1, straggler(40ms, 100us));
  world.run_until(after(kPeriod + 1us));
  EXPECT_EQ(world.kills(1), 1U);
}

TEST(PilotFishGuarantee, UnlessItIsToldOtherwiseAKernelThatRunsLongerThanPredictedIsKilledWhenAFrameBegins) {
  // Launched at 6 ms, it has been running for 10.6 ms when the second frame begins.
  for (const Duration predicted : {9'500us, 9'700us}) {
    World world({{"guarantee", std::string("hard")}, {"kill_latency", Duration{50us}}});
    world.frames(2, 6ms);
    world.script(1, straggler(40ms, predicted));
    world.run_until(after(kPeriod + 49us));
    EXPECT_EQ(world.kills(1), 0U);
    world.run_until(after(kPeriod + 51us));
    EXPECT_EQ(world.kills(1), predicted == 9'500us ? 1U : 0U) << "1.1 ms longer, or 0.9 ms";
  }
}

TEST(PilotFishGuarantee, AKernelBehindAnotherBeginsWhenThatEnds) {
  World world({{"guarantee", std::string("hard")}, {"kill_latency", Duration{}}});
  world.frames(2, 6ms);
  world.fill(1, 3, kernel(3ms));
  world.script(1, straggler(40ms, 500us));  // it begins at 15 ms, and is 1.1 ms late at 16.6 ms
  world.run_until(after(kPeriod + 1us));
  EXPECT_EQ(world.kills(1), 1U);
  World in_time({{"guarantee", std::string("hard")}, {"kill_latency", Duration{}}});
  in_time.frames(2, 6ms);
  in_time.fill(1, 3, kernel(3ms));
  in_time.script(1, straggler(40ms, 700us));
  in_time.run_until(after(kPeriod + 1us));
  EXPECT_EQ(in_time.kills(1), 0U);
}

TEST(PilotFishGuarantee, WorkThatEndsWhileTheFrameIsRenderedIsSparedIfItDecidesAfterwards) {
  for (const std::string moment : {"frame_end", "frame_begin"}) {
    World world({{"guarantee", std::string("hard")}, {"kill_latency", Duration{}}, {"decide_at", moment}});
    world.frames(3, 6ms);
    world.script(1, straggler(15ms, 1ms));  // from 6 ms; frames begin at 16.6 ms and end at 22.6 ms
    world.run_until(after(2 * kPeriod));
    EXPECT_EQ(world.kills(1), moment == "frame_begin" ? 1U : 0U) << moment;
  }
}

TEST(PilotFishGuarantee, AtAFramesEndAStragglerIsWhatWasLateWhenTheFrameBegan) {
  for (const Duration predicted : {9'500us, 9'700us}) {
    World world(
        {{"guarantee", std::string("hard")}, {"kill_latency", Duration{}}, {"decide_at", std::string("frame_end")}});
    world.frames(2, 6ms);
    world.script(1, straggler(40ms, predicted));
    world.run_until(after(kPeriod + 6ms - 1us));
    EXPECT_EQ(world.kills(1), 0U);
    world.run_until(after(kPeriod + 6ms + 1us));
    EXPECT_EQ(world.kills(1), predicted == 9'500us ? 1U : 0U);
  }
}

TEST(PilotFishGuarantee, WhatIsHeldAgainstAFillerIsAnOverrunOrWhatIsLeftOrEither) {
  const FakeOp late = straggler(40ms, 100us), long_one = kernel(20ms);
  struct Case {
    std::string preempt;
    bool late, long_one;  // is killed
  };
  for (const Case& each : {Case{"leftover", false, true}, {"stragglers", true, false}, {"either", true, true}}) {
    for (const bool is_late : {true, false}) {
      World world({{"guarantee", std::string("hard")},
                   {"kill_latency", Duration{}},
                   {"preempt", each.preempt},
                   {"overcommit", Duration{20ms}}});
      world.frames(2, 6ms);
      world.script(1, is_late ? late : long_one);  // from 6 ms
      world.run_until(after(kPeriod + 1us));
      EXPECT_EQ(world.kills(1), (is_late ? each.late : each.long_one) ? 1U : 0U) << each.preempt << is_late;
    }
  }
}

TEST(PilotFishGuarantee, WorkThatEndsBeforeTheKillSignalArrivesIsSpared) {
  World world(
      {{"guarantee", std::string("hard")}, {"preempt", std::string("either")}, {"kill_latency", Duration{1ms}}});
  world.frames(2, 6ms);
  world.script(1, straggler(10'600us + 500us, 10ms));
  world.run_until(after(30ms));
  EXPECT_EQ(world.kills(1), 0U);
}

TEST(PilotFishGuarantee, SoftBearsAsManyDroppedFramesAsItMay) {
  for (const std::int64_t limit : {0, 1, 2}) {
    World world({{"guarantee", std::string("soft")},
                 {"preempt", std::string("either")},
                 {"kill_latency", Duration{}},
                 {"soft_drop_limit", limit}});
    // Frames 2, 3 and 4 come a period late each.
    for (const int begin : {0, 1, 3, 5, 7}) world.frame(begin * kPeriod, 6ms);
    world.script(1, straggler(500ms, 10ms));
    world.run_until(after(3 * kPeriod + 1us));
    EXPECT_EQ(world.kills(1), limit == 0 ? 1U : 0U) << limit;
    world.run_until(after(5 * kPeriod + 1us));
    EXPECT_EQ(world.kills(1), limit <= 1 ? 1U : 0U) << limit;
    world.run_until(after(7 * kPeriod + 1us));
    EXPECT_EQ(world.kills(1), 1U) << limit;
  }
}

TEST(PilotFishGuarantee, SoftForgetsDropsThatAreLongAgo) {
  World world({{"guarantee", std::string("soft")},
               {"preempt", std::string("either")},
               {"kill_latency", Duration{}},
               {"soft_window_frames", std::int64_t{2}}});
  for (const int begin : {0, 2, 3, 4, 6}) world.frame(begin * kPeriod, 6ms);
  world.script(1, straggler(500ms, 10ms));
  world.run_until(after(7 * kPeriod));
  EXPECT_EQ(world.kills(1), 0U) << "never two of two frames dropped";
}

TEST(PilotFishGuarantee, KilledFillerWaitsUntilItIsRestoredAndGoesOnThen) {
  World world({{"guarantee", std::string("hard")}, {"preempt", std::string("either")}, {"kill_latency", Duration{}}});
  world.frames(30, 6ms);
  world.script(1, straggler(40ms, 10ms));
  world.fill(1, 3, kernel(1ms));
  world.run_until(after(kPeriod + 50ms));
  EXPECT_EQ(world.rule(1), "restoring");
  world.run_until(after(kPeriod + FakeBackend::kRestoreTime + 2 * kPeriod));
  EXPECT_TRUE(world.is_done(1));
  ASSERT_EQ(world.restores().size(), 1U);
  for (const FakeLaunch& launch : world.launches_of(1)) {
    const bool is_killed_one = launch.number == 0;
    EXPECT_TRUE(is_killed_one || launch.time >= after(kPeriod + FakeBackend::kRestoreTime)) << launch.number;
  }
}

TEST(PilotFishGuarantee, RestoredFillerSpendsAStaleBudgetWhileAFrameIsRenderedUnlessItIsAbsolute) {
  for (const std::string budget : {"relative", "absolute"}) {
    World world({{"guarantee", std::string("hard")},
                 {"preempt", std::string("either")},
                 {"kill_latency", Duration{}},
                 {"budget", budget}});
    world.frames(20, 10ms);
    world.script(1, straggler(400ms, 6ms));
    world.script(1, kernel(1ms));
    // Killed at 16.6 ms and restored at 116.6 ms: in the frame of 116.2 ms.
    world.run_until(after(120ms));
    const bool runs_beside_the_frame = world.launches_of(1).back().time == after(kPeriod + FakeBackend::kRestoreTime);
    EXPECT_EQ(runs_beside_the_frame, budget == "relative");
  }
}

TEST(PilotFishGuarantee, MeasuredTimeOfAKernelThatWasKilledIsNotLearned) {
  World world({{"guarantee", std::string("hard")},
               {"kill_latency", Duration{2ms}},
               {"predictor", std::string("ewma")},
               {"ewma_weight", 1.0}});
  world.frames(20, 8ms);
  world.script(1, straggler(40ms, 5ms));  // from 8 ms until it is killed at 18.6 ms
  world.script(1, straggler(5ms, 5ms));
  world.run_until(after(kPeriod + 2ms + FakeBackend::kRestoreTime + 2 * kPeriod));
  EXPECT_EQ(world.kills(1), 1U);
  EXPECT_EQ(world.launches_of(1).size(), 2U) << "10.6 ms would fit in no window";
}

TEST(PilotFishGuarantee, AKernelWithoutPredictionIsNoStraggler) {
  World world({{"guarantee", std::string("hard")}, {"kill_latency", Duration{}}, {"preempt", std::string("either")}});
  world.frames(5, 6ms);
  world.script(1, {.name = "new", .duration = 40ms});
  world.run_until(after(5 * kPeriod));
  EXPECT_EQ(world.kills(1), 0U) << "it is being timed";
}

// Snapshots.

TEST(PilotFishGuarantee, SnapshotComesEverySoManyFramesWhenWhatIsInFlightHasDrained) {
  World world({{"guarantee", std::string("soft")}, {"snapshot_every", std::int64_t{3}}});
  world.frames(9, 6ms);
  world.fill(1, 200, kernel(1ms));
  std::vector<Time> snapshots;
  world.run_until(after(10 * kPeriod));
  for (const DecisionFact& decision : world.decisions())
    if (decision.action.kind == Action::Kind::kSnapshot) snapshots.push_back(decision.time);
  // Frames end at 6 ms and every 16.6 ms from then on; nothing is in flight at the end of the third.
  ASSERT_EQ(snapshots.size(), 3U);
  EXPECT_EQ(snapshots[0], after(2 * kPeriod + 6ms));
  EXPECT_EQ(snapshots[1], after(5 * kPeriod + 6ms));
}

TEST(PilotFishGuarantee, NothingIsAdmittedUntilTheSnapshotIsComplete) {
  World world({{"guarantee", std::string("soft")}, {"snapshot_every", std::int64_t{1}}});
  world.frames(1, 6ms);
  world.script(1, straggler(9ms, 1ms));
  world.at(after(1ms), [&] { world.fill(1, 4, kernel(1ms)); });
  world.at(after(5ms), [&] { EXPECT_EQ(world.rule(1), "no_window_yet"); });
  world.run_until(after(10ms));
  EXPECT_EQ(world.rule(1), "snapshot");
  EXPECT_EQ(world.launches_of(1).size(), 0U);
  world.run_until(after(16ms + 1us));
  EXPECT_EQ(world.launches_of(1).size(), 5U) << "10 ms after the frame's end";
}

TEST(PilotFishGuarantee, WithoutAGuaranteeOrWithAnIntervalOfZeroThereAreNoSnapshots) {
  for (const Values& values : {Values{{"snapshot_every", std::int64_t{1}}},
                               Values{{"guarantee", std::string("hard")}, {"snapshot_every", std::int64_t{0}}}}) {
    World world(values);
    world.frames(5, 6ms);
    world.run_until(after(5 * kPeriod));
    for (const DecisionFact& decision : world.decisions()) EXPECT_NE(decision.action.kind, Action::Kind::kSnapshot);
  }
}

// Gaps inside frames: 2 ms of rendering, a gap, 2 ms of rendering.

void frames_with_gap(World& world, int count, Duration gap) {
  for (int i = 0; i < count; ++i) {
    world.at(after(i * kPeriod),
             [&world] { world.script(0, {.name = "frame", .duration = 2ms, .is_render = true, .ends_frame = false}); });
    world.at(after(i * kPeriod + 2ms + gap), [&world] {
      world.script(0, {.name = "frame", .duration = 2ms, .is_render = true, .begins_frame = false});
    });
  }
}

/// Launches between the first end of rendering and the next submission of the second frame.
std::size_t launches_in_the_second_gap(const Values& values, Duration gap) {
  World world(values);
  frames_with_gap(world, 2, gap);
  world.at(after(kPeriod), [&] { world.fill(1, 100, kernel(100us)); });
  world.run_until(after(kPeriod + 2ms + gap));
  return world.launches_of(1).size();
}

TEST(PilotFishGaps, GapIsFilledForAsLongAsItWasInTheFrameBefore) {
  const Values values{{"intra_frame_gaps", true}, {"gate_on_rendering", true}};
  EXPECT_EQ(launches_in_the_second_gap(values, 1ms), 10U);
  EXPECT_EQ(launches_in_the_second_gap({{"gate_on_rendering", true}}, 1ms), 0U);
}

TEST(PilotFishGaps, GapThatWasShortIsLeftAlone) {
  const Values values{{"intra_frame_gaps", true}, {"gate_on_rendering", true}};
  EXPECT_EQ(launches_in_the_second_gap(values, 400us), 0U);
}

TEST(PilotFishGaps, GapEndsWhenTheGameSubmitsAgain) {
  World world({{"intra_frame_gaps", true}, {"budget", std::string("absolute")}});
  frames_with_gap(world, 1, 3ms);
  world.at(after(kPeriod),
           [&] { world.script(0, {.name = "frame", .duration = 2ms, .is_render = true, .ends_frame = false}); });
  // This time the game goes on after 1 ms.
  world.at(after(kPeriod + 3ms),
           [&] { world.script(0, {.name = "frame", .duration = 2ms, .is_render = true, .begins_frame = false}); });
  world.at(after(kPeriod + 3'500us), [&] { world.fill(1, 5, kernel(100us)); });
  world.run_until(after(kPeriod + 5ms));
  EXPECT_TRUE(world.launches_of(1).empty());
  EXPECT_EQ(world.rule(1), "rendering");
}

// Memory, host link, launches in flight.

TEST(PilotFishResources, FillerWhoseMemoryDoesNotFitBesideTheGameWaitsUntilItDoes) {
  for (const bool requires_fit : {true, false}) {
    World world({{"require_memory_fit", requires_fit}}, 9'000);  // 3500 bytes each with a context
    world.join(2);
    world.frames(3, 6ms);
    world.script(1, kernel(1ms));
    world.script(2, kernel(1ms));
    world.run_until(after(2 * kPeriod));
    EXPECT_EQ(world.launches_of(1).size(), 1U);
    EXPECT_EQ(world.launches_of(2).size(), requires_fit ? 0U : 1U);
    EXPECT_EQ(world.rule(2), requires_fit ? "memory_fit" : "");
    world.leave(1);
    world.run_until(after(3 * kPeriod));
    EXPECT_EQ(world.launches_of(2).size(), 1U);
  }
}

TEST(PilotFishResources, CopiesLeaveTheirShareOfEachDirectionOfTheLinkToTheGames) {
  World world({{"pcie_reserve", 0.75}});
  world.fill(1, 3, copy_to_device(1'000));  // 1 ms on the link alone, 4 ms at a quarter of it
  world.script(1, copy_from_device(1'000));
  world.run_until(after(6ms));
  EXPECT_EQ(world.rule(1), "pcie_reserve");
  world.run_until(after(50ms));
  const auto launches = world.launches_of(1);
  ASSERT_EQ(launches.size(), 4U);
  EXPECT_EQ(launches[1].time, after(4ms));
  EXPECT_EQ(launches[2].time, after(8ms));
  EXPECT_EQ(launches[3].time, after(8ms)) << "the other direction was free";
}

TEST(PilotFishResources, WithoutAReserveCopiesPassAtOnce) {
  World world({});
  world.fill(1, 3, copy_to_device(1'000'000));
  world.run_until(after(1ms));
  EXPECT_EQ(world.launches_of(1).size(), 3U);
}

TEST(PilotFishResources, LaunchesInFlightAreBounded) {
  World world({{"max_inflight_kernels", std::int64_t{4}}});
  world.frames(1, 6ms);
  world.fill(1, 100, kernel(1ms));
  world.run_until(after(6ms + 500us));
  EXPECT_EQ(world.launches_of(1).size(), 4U);
  EXPECT_EQ(world.rule(1), "inflight_limit");
  world.run_until(after(7ms + 1us));
  EXPECT_EQ(world.launches_of(1).size(), 5U);
}

TEST(PilotFishResources, InitialSliceIsSpentBeforeTheFirstFrameHasEnded) {
  World world({{"initial_slice", Duration{10ms}}});
  world.fill(1, 100, kernel(1ms));
  world.run_until(after(1ms));
  EXPECT_EQ(world.launches_of(1).size(), 10U);
}

TEST(PilotFishOracle, AdmitsByTheExactDuration) {
  Parameters parameters = pilotfish_oracle_policy().defaults();
  for (const char* const zero : {"initial_slice", "notify_poll", "launch_retry"}) parameters.set(zero, Duration{});
  FakeBackend world(pilotfish_oracle_policy(), parameters, World::clients());
  world.join(0);
  world.join(1);
  world.set_depth(1, 1000);
  world.script(0, {.name = "frame", .duration = 6'600us, .is_render = true});
  for (int i = 0; i < 100; ++i) world.script(1, {.name = "k", .duration = 1ms, .predicted = 5ms, .exact = 1ms});
  world.run_until(after(7ms));
  EXPECT_EQ(world.launches_of(1).size(), 10U);
}

}  // namespace
}  // namespace corun
