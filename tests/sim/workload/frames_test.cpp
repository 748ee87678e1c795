#include "sim/workload/capture/frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/workload/capture/frame_draws.h"
#include "sim/workload/capture/steady_start.h"
#include "sim/workload/workload.h"
#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::Facts;
using testing::run_open;

constexpr std::int64_t kMs = 1'000'000;

FrameRecord frame(std::int64_t number, std::int64_t gpu_ns) {
  const std::int64_t begin_ns = number * 100 * kMs;
  return {.present_ns = begin_ns + kMs,
          .interval_ns = gpu_ns,
          .cpu_busy_ns = kMs,
          .gpu_begin_ns = begin_ns,
          .gpu_end_ns = begin_ns + gpu_ns,
          .gpu_busy_ns = gpu_ns};
}

/// Some calls of a frame: a draw whose pass is not recorded, unless it is said.
struct Drawn {
  Drawn(std::int64_t length) : length_ns(length) {}
  Drawn(std::int64_t length, std::uint32_t of_pass, std::uint32_t made_by = 1)
      : length_ns(length), pass(of_pass), calls(made_by) {}
  std::int64_t length_ns;
  std::uint32_t pass = 0, calls = 1;
};

/// A game whose frames take so long on the GPU; `draws`: of some frames, what they are made of.
Timeline game(const std::vector<std::int64_t>& gpu_ns, const std::map<std::int64_t, std::vector<Drawn>>& draws = {}) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{});
  for (std::size_t i = 0; i < gpu_ns.size(); ++i) builder.add(frame(static_cast<std::int64_t>(i), gpu_ns[i]));
  for (const auto& [number, frame] : draws) {
    std::int64_t at_ns = number * 100 * kMs;
    for (const Drawn& drawn : frame) {
      builder.add(
          DrawRecord{.start_ns = at_ns, .duration_ns = drawn.length_ns, .calls = drawn.calls, .pass = drawn.pass});
      at_ns += drawn.length_ns;
    }
  }
  builder.fidelity().has_frames = true;
  return std::move(builder).seal();
}

std::vector<Duration> pieces(const Workload& workload, std::size_t job) {
  std::vector<Duration> result;
  for (std::uint32_t i = 0; i < workload.jobs[job].op_count; ++i)
    result.push_back(workload.ops[workload.jobs[job].first_op + i].duration);
  return result;
}

std::vector<Duration> pieces(const Timeline& timeline, std::size_t job, Duration draw = Duration{0}) {
  WorkloadOptions options;
  options.draw = draw;
  return pieces(workload_from_timeline(timeline, options), job);
}

TEST(FrameDraws, FramesOfUnknownCompositionAreMadeOfPiecesAsLongAsEnginesKeepTheDevice) {
  EXPECT_EQ(pieces(game({20 * kMs, 20 * kMs}), 1), std::vector<Duration>(10, 2ms));
  EXPECT_EQ(pieces(game({kMs}), 0), std::vector<Duration>(1, 1ms)) << "a short frame is not cut";
  const std::vector<Duration> uneven = pieces(game({20'000'007}), 0);
  EXPECT_EQ(uneven.size(), 10u);
  EXPECT_EQ(std::accumulate(uneven.begin(), uneven.end(), Duration{0}), Duration{20'000'007}) << "no time is lost";
  EXPECT_EQ(pieces(game({1'000 * kMs}), 0).size(), 256u);
}

TEST(FrameDraws, TheLengthOfADrawCanBeStated) {
  EXPECT_EQ(pieces(game({2 * kMs}), 0, 500us), std::vector<Duration>(4, 500us));
  EXPECT_EQ(pieces(game({2 * kMs}), 0, 1s), std::vector<Duration>(1, 2ms)) << "one draw";
  EXPECT_EQ(pieces(game({2 * kMs}, {{0, {kMs, kMs}}}), 0, 500us), std::vector<Duration>(4, 500us))
      << "goes before what was sampled";
}

TEST(FrameDraws, FramesAreMadeAsTheSampledOneBeforeThemScaledToTheirOwnTime) {
  const Timeline timeline = game({8 * kMs, 16 * kMs, 16 * kMs}, {{0, {2 * kMs, 6 * kMs}}, {2, {12 * kMs, 4 * kMs}}});
  const Workload workload = workload_from_timeline(timeline, {});
  EXPECT_EQ(pieces(workload, 0), (std::vector<Duration>{2ms, 6ms}));
  EXPECT_EQ(pieces(workload, 1), (std::vector<Duration>{4ms, 12ms}));
  EXPECT_EQ(pieces(workload, 2), (std::vector<Duration>{12ms, 4ms}));
}

TEST(FrameDraws, ShortDrawsArePutTogether) {
  std::vector<Drawn> lengths(100, kMs / 50);
  lengths.push_back(7 * kMs);
  const std::vector<Duration> result = pieces(game({9 * kMs}, {{0, lengths}}), 0);
  EXPECT_EQ(result.size(), 20u + 1);
  EXPECT_EQ(result.front(), Duration{100us});
  EXPECT_EQ(result.back(), Duration{7ms}) << "a long one stays as it is";
}

TEST(FrameDraws, ALongDrawIsNotJoinedToShortOnesThatAreNearlyLongEnough) {
  std::vector<Drawn> lengths(17, kMs / 200);
  lengths.push_back(145 * kMs / 1000);
  lengths.insert(lengths.end(), 14, kMs / 200);
  lengths.push_back(110 * kMs / 1000);
  EXPECT_EQ(pieces(game({410 * kMs / 1000}, {{0, lengths}}), 0), (std::vector<Duration>{85us, 145us, 70us, 110us}));
}

TEST(FrameDraws, ShortDrawsOfAPassAreHandedOverInAdvanceAndNotParted) {
  EXPECT_EQ(
      pieces(game({6 * kMs}, {{0, {{kMs, 1}, {kMs / 2, 1}, {kMs / 2, 1}, {kMs, 2}, {kMs / 2, 2}, {5 * kMs / 2, 3}}}}),
             0),
      (std::vector<Duration>{2ms, 1500us, 2500us}))
      << "two passes, and a draw that is one";
}

TEST(FrameDraws, CallsAtThePaceOfTheFrontEndArePartedAnywhere) {
  EXPECT_EQ(pieces(game({kMs}, {{0, {{kMs / 2, 1, 1'001}, {kMs / 4, 1, 501}, {kMs / 4, 1, 501}}}}), 0),
            (std::vector<Duration>{500us, 250us, 250us}));
  EXPECT_EQ(pieces(game({kMs}, {{0, {{kMs / 2, 1, 1'000}, {kMs / 4, 1, 500}, {kMs / 4, 1, 500}}}}), 0),
            (std::vector<Duration>{1ms}))
      << "0.5 us each: the front end is ahead";
}

TEST(FrameDraws, APieceAtTheFrontEndsPaceEndsItsLeadWithinAPass) {
  EXPECT_EQ(pieces(game({3 * kMs}, {{0, {{kMs, 1}, {kMs / 2, 1}, {kMs / 2, 1, 2'000}, {kMs, 1}}}}), 0),
            (std::vector<Duration>{2ms, 1ms}));
}

TEST(FrameDraws, APieceIsAsLongAsASliceFromThereOn) {
  const std::int64_t slice = 1'024'000;
  EXPECT_EQ(pieces(game({2 * slice}, {{0, {{slice, 1, 8}, {slice, 1, 8}}}}), 0).size(), 2u) << "of several calls, too";
  EXPECT_EQ(pieces(game({2 * slice - 2}, {{0, {{slice - 1, 1}, {slice - 1, 1}}}}), 0).size(), 1u);
}

TEST(FrameDraws, TheFrontEndIsNotAheadOfADrawAsLongAsATurn) {
  EXPECT_EQ(pieces(game({4 * kMs}, {{0, {{kMs, 1}, {2 * kMs, 1}, {kMs / 2, 1}, {kMs / 2, 1}}}}), 0),
            (std::vector<Duration>{1ms, 2ms, 1ms}));
}

TEST(FrameDraws, AShortRestBelongsToThePieceBeforeIt) {
  const std::vector<Drawn> lengths{3 * kMs, kMs / 25};
  EXPECT_EQ(pieces(game({304 * kMs / 100}, {{0, lengths}}), 0), (std::vector<Duration>{3040us}));
}

TEST(FrameDraws, AFrameHasNoMorePiecesThanADeviceCanQueue) {
  EXPECT_LE(pieces(game({1'000 * kMs}, {{0, std::vector<Drawn>(10'000, kMs / 10)}}), 0).size(), 256u);
}

TEST(FrameDraws, AGpuPlaysThemAsTheyWereSampledWhateverAPredictionAssumes) {
  const std::vector<Drawn> lengths{kMs / 10, kMs / 5, kMs / 5, 3 * kMs};
  const Timeline sampled = game({7 * kMs}, {{0, lengths}});
  const std::vector<Duration> as_sampled{200us, 400us, 400us, 6ms};
  EXPECT_EQ(pieces(sampled, 0), as_sampled) << "at twice their time";
  for (const Duration assumed : {Duration{0}, Duration{1s}, Duration{500us}})
    EXPECT_EQ(pieces(sampled, 0, FrameDraws::as_captured_or(assumed)), as_sampled);
  const Timeline unknown = game({4 * kMs});
  EXPECT_EQ(pieces(unknown, 0, FrameDraws::as_captured_or(1ms)), std::vector<Duration>(4, 1ms))
      << "nothing was sampled: as stated";
  EXPECT_EQ(pieces(unknown, 0, FrameDraws::as_captured_or(Duration{0})), std::vector<Duration>(2, 2ms));
}

TEST(FrameDraws, WhatWasTakenForDrawsIsSaid) {
  const auto note = [](const Timeline& timeline) { return workload_from_timeline(timeline, {}).notes.front(); };
  EXPECT_EQ(note(game({kMs})),
            "what of its frames the device draws without a break was not recorded: taken as 2ms; state draw");
  EXPECT_EQ(note(game({kMs}, {{0, {kMs}}})), "its frames are made of draws as 1 sampled one are");
}

/// Frames a second of an uncapped game co-located with a program that computes without end.
double frames_beside_compute(const Timeline& timeline, Duration draw, Duration* alone = nullptr) {
  WorkloadOptions options;
  options.draw = draw;
  ClientSpec game;
  game.name = "game";
  game.workload = std::make_shared<Workload>(workload_from_timeline(timeline, options));
  Workload kernels;
  kernels.names = {"kernel"};
  kernels.ops = {WorkOp{.duration = 100us}};
  kernels.steps.push_back(HostStep{});
  kernels.jobs.push_back(Job{.step_count = 1, .op_count = 1});
  kernels.recorded_span = 100us;
  ClientSpec compute;
  compute.name = "compute";
  compute.workload = std::make_shared<Workload>(kernels);
  DeviceSpec device;
  device.time_slice = 2ms;
  device.switch_cost = 100us;
  device.graphics_slice = 1ms;
  if (alone != nullptr) *alone = run_open(device, {game}, 1s).frames[3].gpu_end - kRunStart;
  return static_cast<double>(run_open(device, {game, compute}, 1s).frames.size());
}

TEST(FrameDraws, AFrameOfManyDrawsGivesTheDeviceAwayBetweenThem) {
  const Timeline timeline = game({6 * kMs});
  Duration whole_alone{}, cut_alone{};
  const double whole = frames_beside_compute(timeline, 1s, &whole_alone);
  const double cut = frames_beside_compute(timeline, 100us, &cut_alone);
  EXPECT_EQ(whole_alone, cut_alone) << "alone it makes no difference";
  EXPECT_NEAR(whole, 1000 / (6 + 2.2), 1.5) << "one turn, then a slice and two switches";
  EXPECT_NEAR(cut, 1000 / (6 * (1 + 2.2)), 1.5) << "six turns";
}

Timeline one_frame(const FrameRecord& record) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{});
  builder.add(record);
  builder.fidelity().has_frames = true;
  return std::move(builder).seal();
}

TEST(Frames, OneThatTakesLongerThanADeviceLetsAnythingRunIsRefusedWithItsTime) {
  for (const std::int64_t gpu_ns : {std::int64_t{1} << 43, std::int64_t{2'000'000'000'000'000'000}}) {
    try {
      workload_from_timeline(one_frame(frame(0, gpu_ns)), {});
      ADD_FAILURE() << gpu_ns;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("the frame shown at 0.001000 s took"), std::string::npos) << error.message();
    }
  }
}

TEST(Frames, NoCaptureMakesMoreVisitsOfAFrameThanAnExperimentMayState) {
  FrameRecord record = frame(0, 10 * kMs);
  record.visits = 4'000'000'000;
  const Workload workload = workload_from_timeline(one_frame(record), {});
  EXPECT_LE(workload.ops.size(), 5u + 63u);
  const auto says = [](const std::string& note) { return note.find("more than 64 visits") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(workload.notes, says), 1);
}

TEST(Frames, ASwapChainThatShowsNothingIsNotTheGame) {
  TimelineBuilder builder;
  builder.swapchain({.application = builder.intern("dwm.exe")});
  builder.swapchain({.application = builder.intern("game.exe")});
  builder.add(frame(0, 5 * kMs));
  builder.fidelity().has_frames = true;
  EXPECT_EQ(workload_from_timeline(std::move(builder).seal(), {}).jobs.size(), 1u);
}

TEST(SteadyStart, TheLoadingOfAMapIsLeftOutAndSaid) {
  std::vector<std::int64_t> gpu_ns(40, kMs);
  gpu_ns[1] = 5'000 * kMs;
  for (std::size_t i = 20; i < 40; i += 2) gpu_ns[i] = 300 * kMs;
  gpu_ns.resize(400, 5 * kMs);
  gpu_ns[200] = 900 * kMs;
  const Timeline timeline = game(gpu_ns);
  const Workload workload = workload_from_timeline(timeline, {});
  EXPECT_EQ(workload.jobs.size(), 400u - 33);
  EXPECT_EQ(std::ranges::count(workload.notes,
                               "left out: 33 frames in 3.3 s before its frames are steady; keep_start keeps them"),
            1);
  WorkloadOptions options;
  options.keep_start = true;
  EXPECT_EQ(workload_from_timeline(timeline, options).jobs.size(), 400u);
}

TEST(SteadyStart, ACaptureThatIsSteadyOrTooShortOrNeverSteadyIsKeptWhole) {
  std::vector<std::int64_t> lengths_ns(400, kMs);
  EXPECT_EQ(steady_start(lengths_ns), 0u);
  lengths_ns[0] = 400 * kMs;
  EXPECT_EQ(steady_start(lengths_ns), 1u);
  lengths_ns.resize(119);
  EXPECT_EQ(steady_start(lengths_ns), 0u);
  lengths_ns.resize(400, kMs);
  for (std::size_t i = 0; i < lengths_ns.size(); i += 10) lengths_ns[i] = 400 * kMs;
  EXPECT_EQ(steady_start(lengths_ns), 0u);
}

TEST(Jitter, LengthensAllDrawsOfAFrameAlike) {
  ClientSpec spec;
  spec.name = "game";
  spec.workload = std::make_shared<Workload>(workload_from_timeline(game({10 * kMs}), {.step = {}, .draw = 1ms}));
  spec.duration_jitter = 0.3;
  const Facts facts = run_open(DeviceSpec{}, {spec}, 100ms);
  ASSERT_GE(facts.ops.size(), 20u);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(facts.ops[i].device_time, facts.ops[0].device_time);
  EXPECT_NE(facts.ops[10].device_time, facts.ops[0].device_time);
}

/// Frames of a game of 5 ms of GPU time each, shown at these instants.
Workload shown_at(const std::vector<std::int64_t>& presents_ns) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{});
  for (const std::int64_t at : presents_ns) builder.add(FrameRecord{.present_ns = at, .gpu_busy_ns = 5 * kMs});
  builder.fidelity().has_frames = true;
  return workload_from_timeline(std::move(builder).seal(), {});
}

TEST(Frames, TheLastOneLastsAsLongAsTheOthersDo) {
  EXPECT_EQ(shown_at({0, 10 * kMs, 30 * kMs}).recorded_span, Duration{45ms});
  EXPECT_EQ(shown_at({7 * kMs}).recorded_span, Duration{5ms}) << "a single one takes its GPU time";
  EXPECT_EQ(shown_at({3, 3, 3}).recorded_span, Duration{15ms}) << "frames shown at once follow one another";
  EXPECT_EQ(shown_at({3, 4}).recorded_span, Duration{2ns});
}

TEST(Frames, OnesThatSayNothingOfTheirGpuTimeAreLeftOutAndCounted) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{});
  for (std::int64_t i = 0; i < 5; ++i) {
    FrameRecord record = frame(i, (i + 1) * kMs);
    if (i % 2 == 1) record.gpu_busy_ns = record.gpu_begin_ns = record.gpu_end_ns = -1;
    builder.add(record);
  }
  builder.fidelity().has_frames = true;
  const Workload workload = workload_from_timeline(std::move(builder).seal(), {});
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.device_time(workload.jobs[1]), Duration{3ms});
  EXPECT_EQ(workload.device_time(workload.jobs[2]), Duration{5ms});
  EXPECT_EQ(std::ranges::count(workload.notes, "2 of 5 frames say nothing of their GPU time and are left out"), 1);
}

TEST(Frames, LaterVisitsTakeAFixedTimeOrAnEqualPart) {
  FrameRecord record = frame(0, kMs);
  record.visits = 3;
  const Workload workload = workload_from_timeline(one_frame(record), {});
  const Duration later = std::min(kLaterVisit, Duration{kMs / 3});
  EXPECT_EQ(pieces(workload, 0), (std::vector<Duration>{1ms - 2 * later, later, later}));
  record.gpu_end_ns = record.gpu_begin_ns + 30;
  record.gpu_busy_ns = record.interval_ns = 30;
  EXPECT_EQ(pieces(workload_from_timeline(one_frame(record), {}), 0), std::vector<Duration>(3, 10ns));
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(workload.ops[i].continues, i > 0);
}

TEST(Frames, AsManyVisitsAsAnExperimentMayStateAreTakenWithoutAWord) {
  FrameRecord record = frame(0, 10 * kMs);
  record.visits = 64;
  const Workload workload = workload_from_timeline(one_frame(record), {});
  EXPECT_EQ(std::ranges::count_if(workload.ops, [](const WorkOp& op) { return op.duration == kLaterVisit; }), 63);
  for (const std::string& note : workload.notes) EXPECT_EQ(note.find("visits"), std::string::npos) << note;
}

TEST(Frames, GamesThatKeepTheirGpuIdleForMostOfAPeriodMayHaveALowClock) {
  const auto may = [](Duration gpu, Duration limiter, Duration present) {
    Workload workload = workload_from_timeline(game({to_ns(gpu), to_ns(gpu)}), {});
    workload.limiter_period = limiter;
    workload.present_period = present;
    return may_have_low_clock(workload);
  };
  const Duration period = 10ms, enough{static_cast<std::int64_t>(kFullClockShare * 10e6)};
  EXPECT_TRUE(may(enough - 10us, period, 0ns));
  EXPECT_FALSE(may(enough + 10us, period, 0ns));
  EXPECT_TRUE(may(enough - 10us, 0ns, period));
  EXPECT_FALSE(may(enough - 10us, 0ns, 0ns)) << "nothing limits it";
}

}  // namespace
}  // namespace corun
