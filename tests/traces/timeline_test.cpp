#include "traces/timeline.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/tiny_timelines.h"
#include "traces/base/error.h"

namespace corun {
namespace {

std::string error_of_sealing(TimelineBuilder&& builder) {
  try {
    std::move(builder).seal();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "no error";
}

TimelineBuilder builder_with_queue_and_thread() {
  TimelineBuilder b;
  b.provenance().source_file = "a.json";
  b.queue({});
  b.thread({});
  return b;
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Timeline, EqualDictionaryEntriesAreKeptOnce) {
  TimelineBuilder b;
  EXPECT_EQ(b.intern("gemm"), b.intern(std::string("ge") + "mm"));
  EXPECT_NE(b.intern("gemm"), b.intern("relu"));
  EXPECT_EQ(b.queue({.stream = 7}), b.queue({.stream = 7}));
  EXPECT_NE(b.queue({.stream = 7}), b.queue({.stream = 7, .process = 1}));
  EXPECT_EQ(b.shape({.grid_x = 3}), b.shape({.grid_x = 3}));
  EXPECT_NE(b.shape({.grid_x = 3}), b.shape({.grid_y = 3}));
  EXPECT_EQ(b.thread({.thread = 2}), b.thread({.thread = 2}));
  EXPECT_EQ(b.swapchain({.address = "0x1"}), b.swapchain({.address = "0x1"}));
  EXPECT_NE(b.swapchain({.address = "0x1"}), b.swapchain({.address = "0x2"}));
}

TEST(Timeline, TextOfNoneIsEmpty) {
  TimelineBuilder b;
  const StringId id = b.intern("gemm");
  const Timeline timeline = std::move(b).seal();
  EXPECT_EQ(timeline.text(id), "gemm");
  EXPECT_EQ(timeline.text(StringId::none()), "");
}

TEST(Timeline, SealSortsRowsAndReferencesFollow) {
  TimelineBuilder b = builder_with_queue_and_thread();
  const std::uint32_t late_call = b.add(CallRecord{.start_ns = 900});
  const std::uint32_t early_call = b.add(CallRecord{.start_ns = 100});
  const std::uint32_t late_op = b.add(OpRecord{.start_ns = 1000, .duration_ns = 7, .call = late_call});
  b.add(OpRecord{.start_ns = 200, .duration_ns = 5, .call = early_call});
  b.add(CallRecord{.start_ns = 950, .kind = CallKind::kSynchronizeEvent, .awaited = late_op});
  const Timeline t = std::move(b).seal();

  ASSERT_EQ(t.ops().size(), 2u);
  EXPECT_EQ(t.ops()[0].duration_ns, 5);
  EXPECT_EQ(t.calls()[t.ops()[0].call].start_ns, 0);
  EXPECT_EQ(t.calls()[t.ops()[1].call].start_ns, 800);
  EXPECT_EQ(t.calls()[2].awaited, 1u);
}

TEST(Timeline, RowsOfEqualStartKeepTheirRecordedOrder) {
  TimelineBuilder b = builder_with_queue_and_thread();
  b.add(OpRecord{.start_ns = 9, .bytes = 1});
  b.add(OpRecord{.start_ns = 5, .bytes = 2});
  b.add(OpRecord{.start_ns = 5, .bytes = 3});
  b.add(OpRecord{.start_ns = 5, .bytes = 4});
  const Timeline t = std::move(b).seal();
  EXPECT_EQ(t.ops()[0].bytes, 2u);
  EXPECT_EQ(t.ops()[1].bytes, 3u);
  EXPECT_EQ(t.ops()[2].bytes, 4u);
  EXPECT_EQ(t.ops()[3].bytes, 1u);
}

TEST(Timeline, SealMovesTheEarliestRowToZeroAndRemembersHowFar) {
  TimelineBuilder b = builder_with_queue_and_thread();
  b.swapchain({});
  b.provenance().origin_ns = 10;
  b.add(OpRecord{.start_ns = 5'000});
  b.add(MarkRecord{.start_ns = 4'500});
  b.add(FrameRecord{.present_ns = 6'000, .submit_ns = 4'000});
  const Timeline t = std::move(b).seal();
  EXPECT_EQ(t.provenance().origin_ns, 4'010);
  EXPECT_EQ(t.ops()[0].start_ns, 1'000);
  EXPECT_EQ(t.marks()[0].start_ns, 500);
  EXPECT_EQ(t.frames()[0].present_ns, 2'000);
  EXPECT_EQ(t.frames()[0].submit_ns, 0);
  EXPECT_EQ(t.frames()[0].gpu_begin_ns, -1) << "what was absent stays absent";
}

TEST(Timeline, SealRefusesANegativeDurationAndNamesTheRow) {
  TimelineBuilder b = builder_with_queue_and_thread();
  b.add(OpRecord{.start_ns = 5});
  b.add(OpRecord{.start_ns = 1, .duration_ns = -3});
  const std::string error = error_of_sealing(std::move(b));
  EXPECT_HAS(error, "a.json: operation 1");
  EXPECT_HAS(error, "duration -3 ns, expected 0");
}

TEST(Timeline, SealRefusesEveryIndexThatPointsNowhere) {
  const auto error_with = [](auto&& add) {
    TimelineBuilder b = builder_with_queue_and_thread();
    add(b);
    return error_of_sealing(std::move(b));
  };
  EXPECT_HAS(error_with([](auto& b) { b.add(OpRecord{.queue = 1}); }), "queue 1");
  EXPECT_HAS(error_with([](auto& b) { b.add(OpRecord{.name = StringId{0}}); }), "name 0");
  EXPECT_HAS(error_with([](auto& b) { b.add(OpRecord{.call = 0}); }), "call 0");
  EXPECT_HAS(error_with([](auto& b) { b.add(OpRecord{.shape = 2}); }), "shape 2");
  EXPECT_HAS(error_with([](auto& b) { b.add(CallRecord{.thread = 1}); }), "thread 1");
  EXPECT_HAS(error_with([](auto& b) { b.add(CallRecord{.queue = 5}); }), "queue 5");
  EXPECT_HAS(error_with([](auto& b) { b.add(CallRecord{.awaited = 0}); }), "awaited operation 0");
  EXPECT_HAS(error_with([](auto& b) { b.add(FrameRecord{}); }), "swap chain 0");
  EXPECT_HAS(error_with([](auto& b) { b.add(MarkRecord{.thread = 9}); }), "thread 9");
  EXPECT_HAS(error_with([](auto& b) { b.swapchain({.application = StringId{4}}); }), "name 4");
}

TEST(Timeline, SealRefusesTimesThatWouldOverflow) {
  const auto error_at = [](std::int64_t start_ns, std::int64_t duration_ns) {
    TimelineBuilder b = builder_with_queue_and_thread();
    b.add(OpRecord{.start_ns = start_ns, .duration_ns = duration_ns});
    b.add(OpRecord{.start_ns = INT64_MAX / 4});
    return error_of_sealing(std::move(b));
  };
  EXPECT_HAS(error_at(INT64_MAX, 0), "start");
  EXPECT_HAS(error_at(INT64_MIN, 0), "start");
  EXPECT_HAS(error_at(0, INT64_MAX), "duration");
  EXPECT_HAS(error_at(-INT64_MAX / 4, 0), "rows begin over");
  EXPECT_EQ(error_at(0, 0), "no error");
}

TEST(Timeline, SkippedRecordsAreCountedAndTheFirstThreeOfAReasonNamed) {
  TimelineBuilder b;
  for (int line = 1; line <= 5; ++line) b.skip("no duration", "a.json:" + std::to_string(line));
  b.skip("no name", "a.json:9");
  const Timeline t = std::move(b).seal();
  EXPECT_EQ(t.provenance().skipped.at("no duration"), 5u);
  EXPECT_EQ(t.provenance().skipped.at("no name"), 1u);
  EXPECT_EQ(t.provenance().skipped_examples, (std::vector<std::string>{"a.json:1: no duration", "a.json:2: no duration",
                                                                       "a.json:3: no duration", "a.json:9: no name"}));
}

TEST(Timeline, SummaryCountsOperations) {
  const TimelineSummary summary = summarize(testing::tiny_timeline());
  EXPECT_EQ(summary.kernels, 2u);
  EXPECT_EQ(summary.memops, 1u);
  EXPECT_EQ(summary.frames, 1u);
  EXPECT_EQ(summary.streams, 2u);
  EXPECT_EQ(summary.span_ns, 54'000);
  EXPECT_EQ(summary.busy_ns, 51'500);
}

TEST(Timeline, SummaryOfFramesAloneSpansThePresents) {
  TimelineBuilder b;
  b.swapchain({});
  b.add(FrameRecord{.present_ns = 0, .gpu_busy_ns = 3});
  b.add(FrameRecord{.present_ns = 16'000});
  b.add(FrameRecord{.present_ns = 32'000, .gpu_busy_ns = 4});
  const TimelineSummary summary = summarize(std::move(b).seal());
  EXPECT_EQ(summary.frames, 3u);
  EXPECT_EQ(summary.span_ns, 32'000);
  EXPECT_EQ(summary.busy_ns, 7);
}

TEST(Timeline, AnEmptyTimelineIsATimeline) {
  const Timeline t = TimelineBuilder{}.seal();
  EXPECT_EQ(summarize(t).span_ns, 0);
}

TEST(Timeline, EveryKindHasANameOfItsOwn) {
  EXPECT_EQ(to_string(OpKind::kCopyHostToDevice), "copy_host_to_device");
  EXPECT_EQ(to_string(OpKind::kRender), "render");
  EXPECT_EQ(to_string(CallKind::kStreamWaitEvent), "stream_wait_event");
  EXPECT_TRUE(is_copy(OpKind::kCopyPeer));
  EXPECT_FALSE(is_copy(OpKind::kMemset));
}

}  // namespace
}  // namespace corun
