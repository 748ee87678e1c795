#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "traces/reader.h"

namespace corun {
namespace {

// Captures by our own tracer on an H200; traces/samples/README.md says how they were made.
Timeline sample(const std::string& name) {
  return load_timeline(fmt::format("{}/traces/samples/h200/{}.corun", CORUN_SOURCE_DIR, name));
}

TEST(Samples, HoldWhatTheirPageSays) {
  const TimelineSummary training = summarize(sample("resnet50_train"));
  EXPECT_EQ(training.kernels, 81'066u);
  EXPECT_EQ(training.memops, 6'425u);
  const TimelineSummary inference = summarize(sample("encoder_infer"));
  EXPECT_EQ(inference.kernels, 95'161u);
  EXPECT_EQ(inference.memops, 14'784u);
  EXPECT_EQ(summarize(sample("openarena_4k")).frames, 2'254u);
  const TimelineSummary both = summarize(sample("together"));
  EXPECT_EQ(both.kernels, 41'342u);
  EXPECT_EQ(both.frames, 250u);
}

TEST(Samples, EveryOperationOfAProgramAloneHasItsCall) {
  const Timeline timeline = sample("encoder_infer");
  for (const OpRecord& op : timeline.ops()) {
    ASSERT_NE(op.call, OpRecord::kNoIndex);
    ASSERT_LE(timeline.calls()[op.call].start_ns, op.start_ns);
  }
}

TEST(Samples, FramesFollowEachOtherOnTheGpuAndOnTheHost) {
  const Timeline timeline = sample("openarena_4k");
  std::int64_t present = -1, end = -1;
  for (const FrameRecord& frame : timeline.frames()) {
    EXPECT_GT(frame.present_ns, present);
    present = frame.present_ns;
    if (frame.gpu_begin_ns < 0) continue;
    EXPECT_GE(frame.gpu_begin_ns, end - 20'000) << "clock error at most 10 us at either end";
    EXPECT_GE(frame.gpu_end_ns, frame.gpu_begin_ns);
    end = frame.gpu_end_ns;
  }
}

TEST(Samples, OnlyTheCaptureOfTwoProgramsIsMarkedCoRun) {
  EXPECT_TRUE(sample("together").fidelity().co_run);
  for (const char* alone : {"resnet50_train", "encoder_infer", "openarena_4k"}) {
    EXPECT_FALSE(sample(alone).fidelity().co_run) << alone;
  }
}

}  // namespace
}  // namespace corun
