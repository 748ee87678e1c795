#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/support/tiny_timelines.h"
#include "traces/base/error.h"
#include "traces/native/chunk_rows.h"
#include "traces/native/message.h"
#include "traces/schema/trace.pb.h"

namespace corun {
namespace {

using testing::periodic_kernels;
using testing::tiny_timeline;

/// That protobuf's own code reads a payload, and writes it alike.
template <class Message>
void expect_message(const Timeline& timeline, ChunkKind kind) {
  ASSERT_GT(count_rows(timeline, kind), 0U) << static_cast<int>(kind);
  const std::string payload = encode_rows(timeline, kind, 0).payload;
  Message message;
  ASSERT_TRUE(message.ParseFromString(payload)) << message.GetTypeName();
  EXPECT_EQ(message.SerializeAsString(), payload) << message.GetTypeName();
}

TEST(ChunkSchema, PayloadsAreTheMessagesOfTheSchema) {
  const Timeline timeline = tiny_timeline();
  expect_message<schema::Strings>(timeline, ChunkKind::kStrings);
  expect_message<schema::Queues>(timeline, ChunkKind::kQueues);
  expect_message<schema::Threads>(timeline, ChunkKind::kThreads);
  expect_message<schema::Shapes>(timeline, ChunkKind::kShapes);
  expect_message<schema::Swapchains>(timeline, ChunkKind::kSwapchains);
  expect_message<schema::Ops>(timeline, ChunkKind::kOps);
  expect_message<schema::Calls>(timeline, ChunkKind::kCalls);
  expect_message<schema::Frames>(timeline, ChunkKind::kFrames);
  expect_message<schema::Marks>(timeline, ChunkKind::kMarks);
  TimelineBuilder drawn;
  drawn.add(
      DrawRecord{.start_ns = 5, .duration_ns = 6, .calls = 7, .pass = 8, .swapchain = drawn.swapchain({.process = 1})});
  expect_message<schema::Draws>(std::move(drawn).seal(), ChunkKind::kDraws);
  TimelineBuilder counted;
  counted.add(CounterRecord{.name = counted.intern("gemm"), .launches = 3, .mean_ns = 9, .dram_ppm = 800'000});
  expect_message<schema::Counters>(std::move(counted).seal(), ChunkKind::kCounters);
}

Timeline read_ops(const std::string& payload, std::uint32_t rows) {
  TimelineBuilder builder;
  builder.queue({});
  decode_rows(payload, ChunkKind::kOps, 0, rows, builder);
  return std::move(builder).seal();
}

struct Rows : RowSink {
  void reserve(std::size_t, std::size_t) override {}
  void add(std::span<const OpRecord> more) override { ops.insert(ops.end(), more.begin(), more.end()); }
  void add(std::span<const CallRecord> more) override { calls.insert(calls.end(), more.begin(), more.end()); }
  RowSpan span() const override { return {}; }
  std::vector<OpRecord> ops;
  std::vector<CallRecord> calls;
};

template <class Message>
Rows rows_of(const Message& message, ChunkKind kind, std::uint32_t count) {
  Rows rows;
  TimelineBuilder builder;
  builder.divert(rows);
  decode_rows(message.SerializeAsString(), kind, 0, count, builder);
  return rows;
}

TEST(ChunkSchema, WhatProtobufWritesAsOperationsIsReadAsSuch) {
  schema::Ops ops;
  for (const std::int64_t start : {5L, -3L, 1'000'000'000'000L}) ops.add_start_ns(start);
  for (const std::uint64_t bytes : {std::uint64_t{300}, UINT64_MAX, std::uint64_t{0}}) ops.add_bytes(bytes);
  ops.add_duration_ns(7), ops.add_kind(5), ops.add_name(1), ops.add_queue(2), ops.add_call(4), ops.add_shape(5);
  ops.add_graph_node(6);
  OpRecord op{.start_ns = 5,
              .duration_ns = 7,
              .kind = OpKind::kMemset,
              .name = StringId{0},
              .queue = 2,
              .call = 3,
              .shape = 4,
              .bytes = 300,
              .graph_node = 6};
  std::vector<OpRecord> expected{op};
  op.start_ns = 2, op.call = 7, op.bytes = UINT64_MAX, op.graph_node = 12, expected.push_back(op);
  op.start_ns = 1'000'000'000'002, op.call = 11, op.bytes = 0, op.graph_node = 18, expected.push_back(op);
  EXPECT_EQ(rows_of(ops, ChunkKind::kOps, 3).ops, expected);
}

TEST(ChunkSchema, WhatProtobufWritesAsCallsIsReadAsSuch) {
  schema::Calls calls;
  calls.add_start_ns(-9), calls.add_duration_ns(8), calls.add_kind(6), calls.add_thread(7), calls.add_queue(0);
  calls.add_awaited(2);
  const CallRecord call{.start_ns = -9, .duration_ns = 8, .kind = CallKind::kBlockingCopy, .thread = 7, .awaited = 1};
  EXPECT_EQ(rows_of(calls, ChunkKind::kCalls, 1).calls, std::vector{call});
}

TEST(ChunkSchema, ColumnsAreReadInPiecesPackedOrNotAndBesideUnknownFields) {
  const std::string first("\x12\x02\x05\x06", 4), second("\x12\x03\xAC\x02\x07", 5), unpacked("\x10\x08", 2);
  const std::string unknown("\x9A\x06\x02hi\xA0\x06\x01\xA5\x06wxyz\xA9\x06stuvwxyz", 24);
  const Timeline read = read_ops(first + unknown + unpacked + second, 5);
  std::vector<std::int64_t> durations;
  for (const OpRecord& op : read.ops()) durations.push_back(op.duration_ns);
  EXPECT_EQ(durations, (std::vector<std::int64_t>{5, 6, 8, 300, 7}));
}

TEST(ChunkSchema, WhatIsNoMessageOrEndsInsideANumberIsRefused) {
  const std::string eleven_bytes = "\x12\x0C\x01" + std::string(10, '\xFF') + '\x01', no_number("\x00\x01", 2);
  const std::vector<std::string> payloads{"\x12",       "\x12\x05\x01", "\x12\x02\x01\x80", "\x12\x01\x81\x10\x01",
                                          "\x13\x14",   "\x16",         "\x10\xFF",         "\x15\x01",
                                          eleven_bytes, no_number};
  for (const std::string& payload : payloads)
    EXPECT_THROW(read_ops(payload, 2), Error) << ::testing::PrintToString(payload);
}

}  // namespace
}  // namespace corun
