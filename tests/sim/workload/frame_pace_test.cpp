#include "sim/workload/capture/frame_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/engine/random.h"
#include "sim/workload/capture/frames.h"
#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::Facts;
using testing::run_open;

/// A game as it is: what its host and GPU work on a frame, how many frames are queued, what it waits for.
struct Game {
  double host_ms = 5, gpu_ms = 5;
  std::size_t ahead = 1;
  double limit_ms = 0;
  double spread = 0.2;  ///< of both works, as a factor up and down
};

/// What a logger sees of it.
struct Columns {
  bool cpu_busy = true, in_present = true, gpu_busy = true, gpu_end = true;
  Vsync vsync = Vsync::kOff;
};

Timeline log_of(const Game& game, const Columns& columns, std::size_t frames = 1'500) {
  RandomStream random(7, "game");
  TimelineBuilder builder;
  builder.swapchain({.vsync = columns.vsync});
  const auto work = [&](double ms) { return std::llround(ms * 1e6 * (1 + game.spread * (2 * random.uniform() - 1))); };
  std::vector<std::int64_t> ends;
  std::int64_t free_ns = 0, before_ns = 0, start_ns = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    const std::int64_t due = game.limit_ms > 0 && i > 0 ? start_ns + std::llround(game.limit_ms * 1e6) : 0;
    start_ns = std::max(free_ns, due);
    const std::int64_t present = start_ns + work(game.host_ms);
    const std::int64_t gpu = work(game.gpu_ms);
    ends.push_back(std::max(present, ends.empty() ? 0 : ends.back()) + gpu);
    const std::int64_t returned = std::max(present, i >= game.ahead ? ends[i - game.ahead] : 0);
    FrameRecord frame{.present_ns = present, .interval_ns = i > 0 ? present - before_ns : -1};
    if (columns.cpu_busy) frame.cpu_busy_ns = present - free_ns;
    if (columns.in_present) frame.in_present_ns = returned - present;
    if (columns.gpu_busy) frame.gpu_busy_ns = gpu;
    if (columns.gpu_end) frame.gpu_end_ns = ends.back();
    free_ns = returned;
    before_ns = present;
    builder.add(frame);
  }
  builder.fidelity().has_frames = true;
  return std::move(builder).seal();
}

/// Frame rate of a client alone, simulated.
double fps_alone(const Workload& workload, Pacing pacing) {
  ClientSpec spec;
  spec.name = "game";
  spec.role = Role::kInteractive;
  spec.workload = std::make_shared<Workload>(workload);
  spec.pacing = pacing;
  spec.pacing.queued_ahead = workload.queued_ahead;
  const Facts facts = run_open(DeviceSpec{}, {spec}, 8s);
  const Duration span = facts.frames.back().present - facts.frames.front().present;
  return static_cast<double>(facts.frames.size() - 1) / to_seconds(span);
}

Pacing recorded_pacing(const Workload& workload) {
  if (workload.limiter_period > Duration{0}) return {Pacing::Mode::kLimited, workload.limiter_period};
  if (workload.present_period > Duration{0}) return {Pacing::Mode::kVsync, workload.present_period};
  return {};
}

const Pacing kSixty{Pacing::Mode::kVsync, 16'666'667ns};

void expect_own_rate(const Game& game, const Columns& columns, const WorkloadOptions& options = {}) {
  SCOPED_TRACE(::testing::Message() << game.host_ms << " + " << game.gpu_ms << " ms, " << game.ahead << " ahead");
  const Workload workload = workload_from_timeline(log_of(game, columns), options);
  ASSERT_TRUE(workload.recorded_frames);
  const double recorded = workload.recorded_frames->fps;
  EXPECT_NEAR(fps_alone(workload, recorded_pacing(workload)), recorded, 0.02 * recorded);
  EXPECT_NEAR(fps_alone(workload, kSixty), std::min(60.0, recorded), 1.2);
  for (const std::string& note : workload.notes) EXPECT_EQ(note.find("warning: alone"), std::string::npos) << note;
}

TEST(FramePace, AloneAGameHasTheFrameRateOfItsLog) {
  for (const Game& game :
       {Game{.host_ms = 9, .gpu_ms = 8}, Game{.host_ms = 12, .gpu_ms = 3}, Game{.host_ms = 3, .gpu_ms = 12},
        Game{.host_ms = 22, .gpu_ms = 14}, Game{.host_ms = 14, .gpu_ms = 22, .ahead = 2}})
    expect_own_rate(game, {});
}

TEST(FramePace, ItDoesSoWithoutTheColumnsThatVersion1OfPresentMonLacks) {
  WorkloadOptions options;
  options.gpu_busy_ratio = 0.6;
  expect_own_rate({.host_ms = 12, .gpu_ms = 7}, {.cpu_busy = false, .gpu_busy = false}, options);
  expect_own_rate({.host_ms = 4, .gpu_ms = 12}, {.cpu_busy = false, .gpu_busy = false});
}

TEST(FramePace, ItDoesSoWhereOnlyGpuTimesAreKnown) {
  expect_own_rate({.host_ms = 12, .gpu_ms = 7}, {.cpu_busy = false, .in_present = false, .gpu_end = false});
}

TEST(FramePace, ALimiterIsKeptAndLeftOutWithAnotherPacing) {
  const Game game{.host_ms = 6, .gpu_ms = 9, .limit_ms = 1e3 / 30, .spread = 0.02};
  for (const bool has_cpu_busy : {true, false}) {
    const Workload workload = workload_from_timeline(log_of(game, {.cpu_busy = has_cpu_busy}), {});
    EXPECT_EQ(workload.limiter_period, Duration{33'333'333});
    EXPECT_NEAR(fps_alone(workload, recorded_pacing(workload)), 30, 0.3);
    EXPECT_NEAR(fps_alone(workload, kSixty), 60, 0.6);
  }
}

TEST(FramePace, PresentsThatWaitForNoDisplayAreNoVsync) {
  const Game game{.host_ms = 10, .gpu_ms = 8, .spread = 0.001};
  Columns columns;
  columns.cpu_busy = columns.in_present = false;
  columns.vsync = Vsync::kUnknown;
  EXPECT_GT(workload_from_timeline(log_of(game, columns), {}).present_period, Duration{0});
  columns.vsync = Vsync::kOff;
  EXPECT_EQ(workload_from_timeline(log_of(game, columns), {}).present_period, Duration{0});
}

TEST(FramePace, AGpuThatIsNotBusyAllTheTimeWaitsForItsHostAlone) {
  const FramePace pace = pace_of(frame_log(log_of({.host_ms = 10, .gpu_ms = 8}, {}), {}));
  ASSERT_FALSE(pace.is_gpu_bound);
  for (const Duration bubble : pace.bubble) EXPECT_EQ(bubble, Duration{0});
}

TEST(FramePace, HostsWhoseWorkWasNotLoggedTakeNoTimeInStepWithADisplay) {
  TimelineBuilder builder;
  builder.swapchain({.vsync = Vsync::kOn});
  for (std::int64_t i = 1; i <= 50; ++i)
    builder.add(FrameRecord{.present_ns = i * 16'666'667, .interval_ns = 16'666'667, .gpu_busy_ns = 5'000'000});
  builder.fidelity().has_frames = true;
  FrameLog log = frame_log(std::move(builder).seal(), {});
  for (FrameRecord& frame : log.frames) frame.cpu_busy_ns = -1;
  const FramePace pace = pace_of(log);
  ASSERT_EQ(pace.vsync_period, Duration{16'666'667});
  for (const Duration host : pace.host) EXPECT_EQ(host, Duration{0});
}

TEST(FramePace, TheQueueIsAsDeepAsRecorded) {
  for (const std::size_t ahead : {1U, 2U, 3U})
    EXPECT_EQ(workload_from_timeline(log_of({.host_ms = 3, .gpu_ms = 12, .ahead = ahead}, {}), {}).queued_ahead, ahead);
  const Workload serial = workload_from_timeline(log_of({.host_ms = 5, .gpu_ms = 9, .ahead = 0}, {}), {});
  EXPECT_EQ(serial.queued_ahead, 0U) << "its presents return when the GPU has done the frame";
  EXPECT_NEAR(fps_alone(serial, {}), 1e3 / 14, 1);
}

TEST(FramePace, EndsOfGpuWorkBoundGpuTimesThatWereNotRecorded) {
  const Columns no_gpu{.cpu_busy = false, .gpu_busy = false};
  try {
    workload_from_timeline(log_of({.host_ms = 12, .gpu_ms = 6}, no_gpu), {});
    FAIL() << "taken without GPU times";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("to 100 % of the frame time"), std::string::npos) << error.what();
    EXPECT_NE(error.help().find("gpu_busy_ratio"), std::string::npos);
  }
  WorkloadOptions excluded;
  excluded.gpu_busy_ratio = 0.2;
  EXPECT_THROW(workload_from_timeline(log_of({.host_ms = 12, .gpu_ms = 6}, no_gpu), excluded), Error);
  const FrameLog bound = frame_log(log_of({.host_ms = 3, .gpu_ms = 12}, no_gpu), {});
  EXPECT_EQ(bound.source, GpuTimeSource::kEnds);
  EXPECT_NEAR(bound.gpu_share(), 1, 0.02);
}

TEST(FramePace, LoggedLoadStandsInForGpuTimesWithAWarning) {
  TimelineBuilder builder;
  builder.swapchain({.gpu_load_ppm = 840'000});
  for (int i = 0; i < 50; ++i) builder.add(FrameRecord{.present_ns = i * 7'300'000, .interval_ns = 7'300'000});
  builder.fidelity().has_frames = true;
  const Workload workload = workload_from_timeline(std::move(builder).seal(), {});
  EXPECT_NEAR(to_seconds(workload.device_time(workload.jobs[1])), 0.84 * 7.3e-3, 1e-6);
  EXPECT_TRUE(
      std::ranges::any_of(workload.notes, [](const std::string& n) { return n.starts_with("warning: its GPU"); }));
}

TEST(FramePace, AStillPictureIsSaid) {
  EXPECT_TRUE(frame_log(log_of({.spread = 0.0005}, {}), {}).is_still());
  EXPECT_FALSE(frame_log(log_of({.spread = 0.1}, {}), {}).is_still());
}

TEST(FramePace, ReplayedIsOneRunOfAFileThatHoldsSeveral) {
  TimelineBuilder builder;
  for (std::uint32_t run : {1U, 2U}) {
    builder.swapchain({.run = run});
    for (std::uint32_t i = 0; i < 10 * run; ++i)
      builder.add(FrameRecord{.present_ns = (i + 100 * run) * 1'000'000,
                              .interval_ns = 1'000'000,
                              .gpu_busy_ns = 500'000,
                              .swapchain = run - 1});
  }
  builder.fidelity().has_frames = true;
  const Timeline timeline = std::move(builder).seal();
  EXPECT_EQ(workload_from_timeline(timeline, {}).jobs.size(), 20U) << "the longest";
  WorkloadOptions options;
  options.run = 1;
  EXPECT_EQ(workload_from_timeline(timeline, options).jobs.size(), 10U);
  options.run = 3;
  EXPECT_THROW(workload_from_timeline(timeline, options), Error);
}

/// The limiter that is seen in frames which come every `interval_us`, and whose host seems to work all the time.
Duration limiter_of(std::int64_t interval_us, std::int64_t gpu_us = 6'000, Vsync vsync = Vsync::kUnknown,
                    std::int64_t busy_us = -1) {
  TimelineBuilder builder;
  builder.swapchain({.vsync = vsync});
  for (std::int64_t i = 0; i < 200; ++i)
    builder.add(FrameRecord{.present_ns = (i + 1) * interval_us * 1'000,
                            .interval_ns = interval_us * 1'000,
                            .cpu_busy_ns = (busy_us < 0 ? interval_us - 10 : busy_us) * 1'000,
                            .gpu_busy_ns = gpu_us * 1'000});
  builder.fidelity().has_frames = true;
  return workload_from_timeline(std::move(builder).seal(), {}).limiter_period;
}

TEST(FramePace, ALimitIsAWholeNumberOfMillisecondsOrAMultipleOfFiveASecondOrADisplaysRate) {
  EXPECT_EQ(limiter_of(12'000), Duration{12ms});
  EXPECT_EQ(limiter_of(11'700), Duration{0}) << "85.5 a second is none";
  EXPECT_EQ(limiter_of(12'010), Duration{12'010us}) << "near 12 ms";
  EXPECT_EQ(limiter_of(12'025), Duration{0});
  EXPECT_EQ(limiter_of(11'753), Duration{11'753us}) << "85.08 a second";
  EXPECT_EQ(limiter_of(11'741), Duration{0}) << "85.17";
  EXPECT_EQ(limiter_of(16'600), Duration{16'666'667}) << "60.2";
  EXPECT_EQ(limiter_of(16'570), Duration{0}) << "60.4";
}

TEST(FramePace, ALimiterSleepsWhereHostAndGpuDoNotFillAFrame) {
  EXPECT_EQ(limiter_of(20'000, 18'100), Duration{0}) << "the GPU works for over nine tenths of the time";
  EXPECT_EQ(limiter_of(20'000, 17'900), Duration{20ms});
  EXPECT_EQ(limiter_of(20'000, 10'000, Vsync::kOn), Duration{0}) << "a display explains it";
  EXPECT_EQ(limiter_of(20'000, 10'000, Vsync::kUnknown, 10'300), Duration{0}) << "20.3 ms of work in 20";
  EXPECT_EQ(limiter_of(20'000, 10'000, Vsync::kUnknown, 10'500), Duration{20ms}) << "20.5";
}

/// Times of so many frames, each `host_ms` of its host and then `gpu_ms` of the GPU.
FrameFigures alone_with(const FramePace& pace, std::int64_t gpu_ms, std::size_t frames) {
  FrameLog log;
  log.frames.resize(frames);
  log.gpu_ns.assign(frames, gpu_ms * 1'000'000);
  return figures_alone(log, pace);
}

FramePace pace_with(std::size_t frames, Duration host, std::uint32_t ahead) {
  FramePace pace;
  pace.queued_ahead = ahead;
  pace.host.assign(frames, host);
  pace.bubble.assign(frames, Duration{0});
  return pace;
}

TEST(FiguresAlone, HostAndGpuWorkAtTheSameTimeOnlyWithFramesAhead) {
  EXPECT_NEAR(alone_with(pace_with(50, 4ms, 0), 6, 50).fps, 100, 1e-6);
  EXPECT_NEAR(alone_with(pace_with(50, 4ms, 1), 6, 50).fps, 1e3 / 6, 1e-6);
  FramePace bubbles = pace_with(50, 4ms, 1);
  bubbles.bubble.assign(50, 2ms);
  EXPECT_NEAR(alone_with(bubbles, 6, 50).fps, 125, 1e-6);
}

TEST(FiguresAlone, ALimiterCountsFromBeginToBeginAndADisplayFromTickToTick) {
  FramePace limited = pace_with(50, 4ms, 0);
  limited.limiter_period = 15ms;
  EXPECT_NEAR(alone_with(limited, 6, 50).fps, 1e3 / 15, 1e-6);
  limited.limiter_period = 9ms;
  EXPECT_NEAR(alone_with(limited, 6, 50).fps, 100, 1e-6) << "faster than the game";
  FramePace shown = pace_with(50, 4ms, 0);
  shown.vsync_period = 16ms;
  EXPECT_NEAR(alone_with(shown, 6, 50).fps, 1e3 / 16, 1e-6);
  EXPECT_NEAR(alone_with(shown, 13, 50).fps, 1e3 / 32, 1e-6) << "17 ms take two ticks";
  EXPECT_NEAR(alone_with(shown, 12, 50).fps, 1e3 / 16, 1e-6) << "16 ms take one";
}

}  // namespace
}  // namespace corun
