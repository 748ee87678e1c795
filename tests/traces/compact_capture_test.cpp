#include "traces/compact_capture.h"

#include <gtest/gtest.h>

#include "tests/support/tiny_timelines.h"
#include "traces/native/chunk.h"
#include "traces/native/native.h"

namespace corun {
namespace {

using testing::periodic_kernels;
using testing::tiny_timeline;

void expect_same_ops(const CompactCapture& capture, const Timeline& timeline) {
  ASSERT_EQ(capture.op_count(), timeline.ops().size());
  for (std::size_t i = 0; i < capture.op_count(); ++i) {
    const OpRecord& op = timeline.ops()[i];
    OpRecord found = capture.prototype(i);
    found.start_ns = capture.starts[i], found.duration_ns = capture.durations[i], found.call = capture.call_of[i];
    EXPECT_EQ(found.graph_node != 0, op.graph_node != 0) << i;
    found.graph_node = op.graph_node;
    EXPECT_EQ(found, op) << i;
  }
}

void expect_same_calls(const CompactCapture& capture, const Timeline& timeline) {
  ASSERT_EQ(capture.call_starts.size(), timeline.calls().size());
  auto other = capture.other_calls.begin();
  for (std::uint32_t i = 0; i < capture.call_starts.size(); ++i) {
    EXPECT_EQ(capture.call_starts[i], timeline.calls()[i].start_ns) << i;
    if (timeline.calls()[i].kind == CallKind::kLaunch) continue;
    ASSERT_NE(other, capture.other_calls.end());
    EXPECT_EQ(other->number, i);
    EXPECT_EQ((other++)->call, timeline.calls()[i]);
  }
}

void expect_same(const CompactCapture& capture, Timeline timeline) {
  expect_same_ops(capture, timeline);
  expect_same_calls(capture, timeline);
  timeline.forget_ops();
  timeline.forget_calls();
  EXPECT_EQ(capture.rest, timeline);
}

TEST(CompactCapture, ReadFromAFileSaysWhatItsTimelineSays) {
  for (const Timeline& timeline : {tiny_timeline(), periodic_kernels(30'000, 10'000, 5'000)}) {
    const auto capture = read_native_compact(encode_native(timeline), "a.corun");
    ASSERT_TRUE(capture.has_value());
    expect_same(*capture, timeline);
    expect_same(compact(timeline), timeline);
  }
}

TEST(CompactCapture, IsNotMadeOfADamagedOrUnfinishedFile) {
  std::string bytes = encode_native(periodic_kernels(30'000, 10'000, 5'000));
  EXPECT_FALSE(read_native_compact(bytes.substr(0, bytes.size() / 2), "a.corun").has_value());
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_FALSE(read_native_compact(bytes, "a.corun").has_value());
}

/// Adds rows to a sink, as a reader does whose rows have not been checked.
template <class... Rows>
bool are_sound(const Rows&... rows) {
  TimelineBuilder builder;
  CompactRows sink;
  builder.divert(sink);
  builder.queue({.stream = 7});
  builder.thread({.thread = 1});
  (builder.add(rows), ...);
  return sink.are_sound(std::move(builder).seal());
}

TEST(CompactCapture, IsNotMadeOfRowsThatCannotBePartOfATimeline) {
  const OpRecord op{.start_ns = 5, .duration_ns = 1}, earlier{.start_ns = 0, .duration_ns = 1};
  EXPECT_TRUE(are_sound(earlier, op, CallRecord{}));
  EXPECT_FALSE(are_sound(op, earlier));
  EXPECT_FALSE(are_sound(OpRecord{.duration_ns = -1}));
  EXPECT_FALSE(are_sound(OpRecord{.duration_ns = INT64_MAX}));
  EXPECT_FALSE(are_sound(OpRecord{.name = StringId{0}}));
  EXPECT_FALSE(are_sound(OpRecord{.queue = 1}));
  EXPECT_FALSE(are_sound(OpRecord{.queue = OpRecord::kNoIndex}));
  EXPECT_FALSE(are_sound(OpRecord{.call = 0}));
  EXPECT_FALSE(are_sound(OpRecord{.shape = 0}));
  EXPECT_FALSE(are_sound(CallRecord{.thread = 1}));
  EXPECT_FALSE(are_sound(CallRecord{.queue = 1}));
  EXPECT_FALSE(are_sound(CallRecord{.awaited = 0}));
}

}  // namespace
}  // namespace corun
