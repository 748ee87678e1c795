#include "sim/workload/capture/frame_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/workload/capture/frames.h"
#include "traces/base/error.h"

namespace corun {
namespace {

constexpr std::int64_t kOneMs = 1'000'000;

Timeline timeline_of(const std::vector<FrameRecord>& frames, const SwapchainRecord& chain = {}) {
  TimelineBuilder builder;
  builder.swapchain(chain);
  for (const FrameRecord& frame : frames) builder.add(frame);
  builder.fidelity().has_frames = true;
  return std::move(builder).seal();
}

FrameLog log_with(const std::vector<FrameRecord>& frames, double ratio = 0, const SwapchainRecord& chain = {}) {
  WorkloadOptions options;
  options.gpu_busy_ratio = ratio;
  return frame_log(timeline_of(frames, chain), options);
}

std::vector<std::int64_t> times(std::size_t count, std::int64_t ms) {
  return std::vector<std::int64_t>(count, ms * kOneMs);
}

TEST(FiguresOfFrames, AreOverTheTimesThatAreKnown) {
  EXPECT_FALSE(figures_of({kOneMs}));
  EXPECT_FALSE(figures_of({kOneMs, 0, -1}));
  EXPECT_DOUBLE_EQ(figures_of({10 * kOneMs, 30 * kOneMs, -1, 0})->fps, 50);
}

TEST(FiguresOfFrames, TheOnePercentLowIsOfTheSlowestInAHundredAndTheQuantileOfTheOneBelow) {
  std::vector<std::int64_t> of_100 = times(100, 10), of_200 = times(200, 10);
  of_100[7] = of_200[7] = 50 * kOneMs;
  of_100[9] = of_200[9] = 30 * kOneMs;
  EXPECT_DOUBLE_EQ(figures_of(of_100)->fps_1low, 20) << "one of a hundred";
  EXPECT_DOUBLE_EQ(figures_of(of_100)->frame_time_p99_s, 0.03);
  EXPECT_DOUBLE_EQ(figures_of(of_200)->fps_1low, 25) << "two of two hundred: 80 ms";
  EXPECT_DOUBLE_EQ(figures_of(of_200)->frame_time_p99_s, 0.01);
  EXPECT_DOUBLE_EQ(figures_of({10 * kOneMs, 40 * kOneMs})->fps_1low, 25) << "one of few";
  EXPECT_DOUBLE_EQ(figures_of({10 * kOneMs, 40 * kOneMs})->frame_time_p99_s, 0.04);
}

/// Frames every 10 ms whose GPU begins at the present and takes so long; its time itself is not recorded.
std::vector<FrameRecord> ended_frames(std::size_t count, std::int64_t gpu_ms) {
  std::vector<FrameRecord> frames;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t present = static_cast<std::int64_t>(i + 1) * 10 * kOneMs;
    frames.push_back({.present_ns = present,
                      .interval_ns = 10 * kOneMs,
                      .in_present_ns = kOneMs,
                      .gpu_end_ns = present + gpu_ms * kOneMs});
  }
  return frames;
}

TEST(FrameLog, EndsOfFramesBoundWhatTheGpuWorked) {
  // From 1 ms after a present, when its call returned, to the end; and at most from the return of the one before.
  const FrameLog log = log_with(ended_frames(11, 4), 0.5);
  ASSERT_TRUE(log.bounds);
  EXPECT_DOUBLE_EQ(log.bounds->least, 0.3);
  EXPECT_DOUBLE_EQ(log.bounds->most, 1.0) << "from the end before to the end";
  EXPECT_EQ(log.source, GpuTimeSource::kStated);
  EXPECT_EQ(log.gpu_ns, std::vector<std::int64_t>(11, 5 * kOneMs));
  const FrameLog shown = log_with(ended_frames(11, 4), 0.5, {.vsync = Vsync::kOn});
  EXPECT_EQ(shown.bounds->least, 0) << "a display that holds presents back holds the GPU, too";
}

TEST(FrameLog, AFrameThatEndedBeforeTheNextBeganIsBoundedByItsHost) {
  std::vector<FrameRecord> frames = ended_frames(11, 0);
  EXPECT_DOUBLE_EQ(log_with(frames, 0.5).bounds->most, 0.9) << "9 ms from the return of the call before to its end";
  EXPECT_DOUBLE_EQ(log_with(frames, 0.5).bounds->least, 0);
}

TEST(FrameLog, AStatedRatioMayBeTwoHundredthsBeyondTheBounds) {
  EXPECT_NO_THROW(log_with(ended_frames(11, 4), 0.285));
  EXPECT_THROW(log_with(ended_frames(11, 4), 0.275), Error);
  EXPECT_NO_THROW(log_with(ended_frames(11, 0), 0.915));
  EXPECT_THROW(log_with(ended_frames(11, 0), 0.925), Error);
}

TEST(FrameLog, WhereTheBoundsAreCloseTheirMiddleIsTaken) {
  // Each frame begins as the one before ends, 30 ms after its present.
  const FrameLog log = log_with(ended_frames(11, 30));
  EXPECT_EQ(log.source, GpuTimeSource::kEnds);
  EXPECT_EQ(log.gpu_ns.front(), -1) << "what was before it is not known";
  EXPECT_EQ(log.gpu_ns.back(), 10 * kOneMs);
  EXPECT_TRUE(log.counts_ends());
  EXPECT_EQ(log.times_ns(), log.gpu_ns);
  EXPECT_EQ(log_with(ended_frames(11, 9)).source, GpuTimeSource::kNone) << "8 to 10 ms";
}

TEST(FrameLog, ALoggedLoadIsKeptWithinTheBounds) {
  const SwapchainRecord low{.gpu_load_ppm = 100'000}, middle{.gpu_load_ppm = 500'000};
  EXPECT_EQ(log_with(ended_frames(11, 4), 0, middle).gpu_ns.back(), 5 * kOneMs);
  EXPECT_EQ(log_with(ended_frames(11, 4), 0, low).gpu_ns.back(), 3 * kOneMs);
  EXPECT_EQ(log_with(ended_frames(11, 4), 0, low).source, GpuTimeSource::kLoad);
}

TEST(FrameLog, BetweenTwoPresentsTheHostWorksWhereNothingElseIsSaid) {
  std::vector<FrameRecord> frames = ended_frames(3, 4);
  frames[2].cpu_busy_ns = 7;
  const FrameLog log = log_with(frames, 0.5);
  EXPECT_EQ(log.frames[0].cpu_busy_ns, -1);
  EXPECT_EQ(log.frames[1].cpu_busy_ns, 9 * kOneMs);
  EXPECT_EQ(log.frames[2].cpu_busy_ns, 7);
}

TEST(FrameLog, TheShareOfTheGpuIsOfFramesThatHaveBothTimes) {
  FrameLog log;
  log.frames = {{.interval_ns = 10}, {.interval_ns = 0}, {.interval_ns = 30}, {.interval_ns = 60}};
  log.gpu_ns = {5, 100, -1, 23};
  EXPECT_DOUBLE_EQ(log.gpu_share(), 28.0 / 70);
  EXPECT_EQ(FrameLog{}.gpu_share(), 0);
}

TEST(FrameLog, NineInTenFramesAreAlikeInAStillPicture) {
  FrameLog log;
  log.source = GpuTimeSource::kMeasured;
  log.gpu_ns.assign(100, 10'000);
  for (std::size_t i = 0; i < 5; ++i) log.gpu_ns[i] = 1'000;
  for (std::size_t i = 5; i < 9; ++i) log.gpu_ns[i] = 90'000;
  EXPECT_TRUE(log.is_still());
  log.gpu_ns[9] = 10'051;
  log.gpu_ns[10] = 10'050;
  EXPECT_FALSE(log.is_still()) << "more than half a percent";
  log.gpu_ns[9] = 10'050;
  EXPECT_TRUE(log.is_still());
  log.gpu_ns.pop_back();
  EXPECT_FALSE(log.is_still()) << "99 are too few";
  log.gpu_ns.assign(100, 10'000);
  log.source = GpuTimeSource::kStated;
  EXPECT_FALSE(log.is_still());
}

TEST(FrameLog, PresentsThatRunAheadOfTheGpuAreCountedWhenItsWorkEnds) {
  std::vector<FrameRecord> frames;
  for (std::int64_t i = 0; i < 5; ++i)
    frames.push_back({.present_ns = i * 10, .interval_ns = 10, .gpu_end_ns = 100 + i * 11, .gpu_busy_ns = 11});
  const FrameLog log = log_with(frames);
  EXPECT_TRUE(log.counts_ends());
  EXPECT_EQ(log.times_ns(), (std::vector<std::int64_t>{-1, 11, 11, 11, 11}));
  frames[2].gpu_end_ns = -1;
  EXPECT_EQ(log_with(frames).times_ns(), (std::vector<std::int64_t>{-1, 10, 10, 10, 10}));
  EXPECT_FALSE(log_with(frames).figures_by_ends());
}

TEST(FrameLog, TheChainWithMostFramesOfTheRunIsReplayedAndThatIsSaid) {
  TimelineBuilder builder;
  builder.swapchain({.application = builder.intern("overlay")});
  builder.swapchain({.application = builder.intern("game")});
  builder.swapchain({.application = builder.intern("dwm.exe")});
  for (const auto& [chain, count] : {std::pair{0U, 2}, std::pair{1U, 3}, std::pair{2U, 9}})
    for (int i = 0; i < count; ++i)
      builder.add(FrameRecord{.present_ns = i * kOneMs, .gpu_busy_ns = 5, .swapchain = chain});
  builder.fidelity().has_frames = true;
  const FrameLog log = frame_log(std::move(builder).seal(), {});
  EXPECT_EQ(log.frames.size(), 3u);
  EXPECT_EQ(log.notes, std::vector<std::string>{"1 of 3 swap chains replayed: game with 3 frames"});
}

TEST(FrameLog, RunsAreNamedWhereThereAreSeveral) {
  const auto notes_of = [](std::uint32_t stated) {
    TimelineBuilder builder;
    for (std::uint32_t run : {1U, 2U}) {
      builder.swapchain({.run = run});
      for (std::uint32_t i = 0; i < 2 * run; ++i)
        builder.add(FrameRecord{.present_ns = i * kOneMs, .gpu_busy_ns = 5, .swapchain = run - 1});
    }
    builder.fidelity().has_frames = true;
    WorkloadOptions options;
    options.run = stated;
    return frame_log(std::move(builder).seal(), options).notes;
  };
  EXPECT_EQ(notes_of(0), std::vector<std::string>{"run 2 of 2 replayed, the longest; `run` chooses: 4 frames"});
  EXPECT_EQ(notes_of(1), std::vector<std::string>{"run 1 of 2 replayed, as stated: 2 frames"});
}

}  // namespace
}  // namespace corun
