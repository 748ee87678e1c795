#include "traces/exporters/tracks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace corun {
namespace {

Timeline game_with_sampled_draws() {
  TimelineBuilder builder;
  builder.swapchain({.application = builder.intern("quake"), .process = 7});
  builder.add(FrameRecord{.present_ns = 1000, .gpu_begin_ns = 100, .gpu_end_ns = 900});
  builder.add(DrawRecord{.start_ns = 100, .duration_ns = 300, .calls = 1});
  builder.add(DrawRecord{.start_ns = 400, .duration_ns = 500, .calls = 12});
  return std::move(builder).seal();
}

TEST(TimelineTracks, DrawsOfSampledFramesHaveATrackBelowTheirProgram) {
  const Timeline timeline = game_with_sampled_draws();
  const TimelineTracks tracks(timeline);
  const auto draws = std::ranges::find_if(tracks.all(), [](const Track& t) { return t.name.starts_with("draws of"); });
  ASSERT_NE(draws, tracks.all().end());
  EXPECT_EQ(draws->process, 7U);
  ASSERT_EQ(draws->slices.size(), 2U);
  EXPECT_EQ(draws->slices[1].begin_ns - draws->slices[0].begin_ns, 300);
  EXPECT_EQ(draws->slices[1].end_ns - draws->slices[1].begin_ns, 500);
  const auto name = [&](const Slice& slice) { return tracks.names().all()[tracks.event(slice).name - 1]; };
  EXPECT_EQ(name(draws->slices[0]), "draw");
  EXPECT_EQ(name(draws->slices[1]), "12 draws");
}

TEST(TimelineTracks, AProcessGoesByTheNameOfItsProgramOrOfItsSwapChain) {
  const Timeline timeline = game_with_sampled_draws();
  const TimelineTracks tracks(timeline);
  EXPECT_EQ(tracks.process_name(7), "quake");
  EXPECT_EQ(tracks.process_name(8), "process 8");
  EXPECT_EQ(tracks.process_name(0), "program");
}

}  // namespace
}  // namespace corun
