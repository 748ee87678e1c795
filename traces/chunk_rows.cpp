#include "traces/chunk_rows.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "traces/base/error.h"
#include "traces/chunk_columns.h"
#include "traces/schema/trace.pb.h"

namespace corun {
namespace {

constexpr std::uint64_t kRowsPerChunk = 8192;
constexpr std::uint64_t kSwapchainsPerChunk = 128;  // each with an address of up to kMaxStringBytes
constexpr std::size_t kStringBytesPerChunk = std::size_t{1} << 20;

using TimeRange = std::pair<std::int64_t, std::int64_t>;

template <class Row>
TimeRange time_range(const Row& row) requires requires {
  row.duration_ns;
}
{ return {row.start_ns, row.start_ns + row.duration_ns}; }

TimeRange time_range(const FrameRecord& frame) {
  TimeRange range{frame.present_ns, frame.present_ns};
  for (std::int64_t instant : {frame.submit_ns, frame.gpu_begin_ns, frame.gpu_end_ns}) {
    if (instant == -1) continue;
    range = {std::min(range.first, instant), std::max(range.second, instant)};
  }
  return range;
}

// One list of fields for each kind of row serves writing and reading.

template <class Codec>
void visit(Codec&& codec, schema::Queues& c) {
  codec.plain("device", c.mutable_device(), &QueueRecord::device);
  codec.plain("context", c.mutable_context(), &QueueRecord::context);
  codec.plain("stream", c.mutable_stream(), &QueueRecord::stream);
  codec.plain("process", c.mutable_process(), &QueueRecord::process);
  codec.delta("priority", c.mutable_priority(), &QueueRecord::priority);
}

template <class Codec>
void visit(Codec&& codec, schema::Threads& c) {
  codec.plain("process", c.mutable_process(), &ThreadRecord::process);
  codec.plain("thread", c.mutable_thread(), &ThreadRecord::thread);
}

template <class Codec>
void visit(Codec&& codec, schema::Shapes& c) {
  codec.plain("grid_x", c.mutable_grid_x(), &LaunchShape::grid_x);
  codec.plain("grid_y", c.mutable_grid_y(), &LaunchShape::grid_y);
  codec.plain("grid_z", c.mutable_grid_z(), &LaunchShape::grid_z);
  codec.plain("block_x", c.mutable_block_x(), &LaunchShape::block_x);
  codec.plain("block_y", c.mutable_block_y(), &LaunchShape::block_y);
  codec.plain("block_z", c.mutable_block_z(), &LaunchShape::block_z);
  codec.plain("registers_per_thread", c.mutable_registers_per_thread(), &LaunchShape::registers_per_thread);
  codec.plain("shared_memory_bytes", c.mutable_shared_memory_bytes(), &LaunchShape::shared_memory_bytes);
}

template <class Codec>
void visit(Codec&& codec, schema::Swapchains& c) {
  codec.plain("application", c.mutable_application(), &SwapchainRecord::application, Offset::kPlusOne);
  codec.plain("process", c.mutable_process(), &SwapchainRecord::process);
  codec.bytes("address", c.mutable_address(), &SwapchainRecord::address);
}

template <class Codec>
void visit(Codec&& codec, schema::Ops& c) {
  codec.delta("start_ns", c.mutable_start_ns(), &OpRecord::start_ns);
  codec.plain("duration_ns", c.mutable_duration_ns(), &OpRecord::duration_ns);
  codec.plain("kind", c.mutable_kind(), &OpRecord::kind);
  codec.plain("name", c.mutable_name(), &OpRecord::name, Offset::kPlusOne);
  codec.plain("queue", c.mutable_queue(), &OpRecord::queue);
  codec.delta("call", c.mutable_call(), &OpRecord::call, Offset::kPlusOne);
  codec.plain("shape", c.mutable_shape(), &OpRecord::shape, Offset::kPlusOne);
  codec.plain("bytes", c.mutable_bytes(), &OpRecord::bytes);
  codec.delta("graph_node", c.mutable_graph_node(), &OpRecord::graph_node);
}

template <class Codec>
void visit(Codec&& codec, schema::Calls& c) {
  codec.delta("start_ns", c.mutable_start_ns(), &CallRecord::start_ns);
  codec.plain("duration_ns", c.mutable_duration_ns(), &CallRecord::duration_ns);
  codec.plain("kind", c.mutable_kind(), &CallRecord::kind);
  codec.plain("thread", c.mutable_thread(), &CallRecord::thread);
  codec.plain("queue", c.mutable_queue(), &CallRecord::queue, Offset::kPlusOne);
  codec.delta("awaited", c.mutable_awaited(), &CallRecord::awaited, Offset::kPlusOne);
}

template <class Codec>
void visit(Codec&& codec, schema::Frames& c) {
  codec.delta("present_ns", c.mutable_present_ns(), &FrameRecord::present_ns);
  codec.plain("interval_ns", c.mutable_interval_ns(), &FrameRecord::interval_ns, Offset::kPlusOne);
  codec.plain("cpu_busy_ns", c.mutable_cpu_busy_ns(), &FrameRecord::cpu_busy_ns, Offset::kPlusOne);
  codec.plain("in_present_ns", c.mutable_in_present_ns(), &FrameRecord::in_present_ns, Offset::kPlusOne);
  codec.delta("submit_ns", c.mutable_submit_ns(), &FrameRecord::submit_ns, Offset::kPlusOne);
  codec.delta("gpu_begin_ns", c.mutable_gpu_begin_ns(), &FrameRecord::gpu_begin_ns, Offset::kPlusOne);
  codec.delta("gpu_end_ns", c.mutable_gpu_end_ns(), &FrameRecord::gpu_end_ns, Offset::kPlusOne);
  codec.plain("gpu_busy_ns", c.mutable_gpu_busy_ns(), &FrameRecord::gpu_busy_ns, Offset::kPlusOne);
  codec.plain("visits", c.mutable_visits(), &FrameRecord::visits);
  codec.plain("swapchain", c.mutable_swapchain(), &FrameRecord::swapchain);
  codec.plain("dropped", c.mutable_dropped(), &FrameRecord::dropped);
}

template <class Codec>
void visit(Codec&& codec, schema::Marks& c) {
  codec.delta("start_ns", c.mutable_start_ns(), &MarkRecord::start_ns);
  codec.plain("duration_ns", c.mutable_duration_ns(), &MarkRecord::duration_ns);
  codec.plain("name", c.mutable_name(), &MarkRecord::name, Offset::kPlusOne);
  codec.plain("thread", c.mutable_thread(), &MarkRecord::thread);
}

template <class Codec>
void visit(Codec&& codec, schema::Draws& c) {
  codec.delta("start_ns", c.mutable_start_ns(), &DrawRecord::start_ns);
  codec.plain("duration_ns", c.mutable_duration_ns(), &DrawRecord::duration_ns);
  codec.plain("calls", c.mutable_calls(), &DrawRecord::calls);
  codec.plain("swapchain", c.mutable_swapchain(), &DrawRecord::swapchain);
}

template <class Message>
Message parse(std::string_view payload) {
  Message message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    throw_input({}, "payload of {} bytes, expected a message of schema/trace.proto", payload.size());
  }
  return message;
}

template <class Row>
void set_time_range(EncodedRows& encoded, std::span<const Row> rows) {
  std::tie(encoded.first_ns, encoded.last_ns) = time_range(rows.front());
  for (const Row& row : rows) {
    const auto [first_ns, last_ns] = time_range(row);
    encoded.first_ns = std::min(encoded.first_ns, first_ns);
    encoded.last_ns = std::max(encoded.last_ns, last_ns);
  }
}

template <class Columns, class Row>
EncodedRows encode(const std::vector<Row>& all, std::uint64_t first_row, std::uint64_t most = kRowsPerChunk) {
  const auto count = std::min<std::uint64_t>(most, all.size() - first_row);
  const std::span<const Row> rows{all.data() + first_row, count};
  Columns columns;
  visit(ColumnWriter<Row>{rows}, columns);
  EncodedRows encoded{.payload = columns.SerializeAsString(), .row_count = static_cast<std::uint32_t>(count)};
  if constexpr (requires { time_range(rows.front()); }) set_time_range(encoded, rows);
  return encoded;
}

EncodedRows encode_strings(const std::vector<std::string>& all, std::uint64_t first_row) {
  schema::Strings strings;
  std::size_t bytes = 0;
  for (std::uint64_t i = first_row; i < all.size() && i - first_row < kRowsPerChunk; ++i) {
    check_string_size(all[i]);
    bytes += all[i].size();
    if (bytes > kStringBytesPerChunk && i > first_row) break;
    strings.add_text(all[i]);
  }
  return {.payload = strings.SerializeAsString(), .row_count = static_cast<std::uint32_t>(strings.text_size())};
}

template <class Columns, class Row>
std::vector<Row> decode(std::string_view payload, std::uint32_t row_count) {
  auto columns = parse<Columns>(payload);
  ColumnReader<Row> reader{row_count};
  visit(reader, columns);
  return reader.take();
}

std::vector<std::string> decode_strings(std::string_view payload, std::uint32_t row_count) {
  const auto strings = parse<schema::Strings>(payload);
  if (static_cast<std::uint32_t>(strings.text_size()) != row_count) {
    throw_input({}, "{} strings, expected {}", strings.text_size(), row_count);
  }
  for (const std::string& text : strings.text()) check_string_size(text);
  return {strings.text().begin(), strings.text().end()};
}

// Adds entries of a dictionary, which hold their place only if none of them was there before.
template <class Row, class Add>
void add_entries(const std::vector<Row>& rows, std::uint64_t first_row, Add add) {
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t index = add(rows[i]);
    if (index != first_row + i) throw_input({}, "entry {} repeats entry {}, expected each once", first_row + i, index);
  }
}

template <class Row>
void add_rows(const std::vector<Row>& rows, TimelineBuilder& builder) {
  for (const Row& row : rows) builder.add(row);
}

}  // namespace

std::uint64_t count_rows(const Timeline& timeline, ChunkKind kind) {
  switch (kind) {
    case ChunkKind::kStrings:
      return timeline.strings().size();
    case ChunkKind::kQueues:
      return timeline.queues().size();
    case ChunkKind::kThreads:
      return timeline.threads().size();
    case ChunkKind::kShapes:
      return timeline.shapes().size();
    case ChunkKind::kSwapchains:
      return timeline.swapchains().size();
    case ChunkKind::kOps:
      return timeline.ops().size();
    case ChunkKind::kCalls:
      return timeline.calls().size();
    case ChunkKind::kFrames:
      return timeline.frames().size();
    case ChunkKind::kMarks:
      return timeline.marks().size();
    case ChunkKind::kDraws:
      return timeline.draws().size();
    case ChunkKind::kMeta:
    case ChunkKind::kFooter:
    case ChunkKind::kRecords:
      break;
  }
  return 0;
}

EncodedRows encode_rows(const Timeline& timeline, ChunkKind kind, std::uint64_t first_row) {
  switch (kind) {
    case ChunkKind::kStrings:
      return encode_strings(timeline.strings(), first_row);
    case ChunkKind::kQueues:
      return encode<schema::Queues>(timeline.queues(), first_row);
    case ChunkKind::kThreads:
      return encode<schema::Threads>(timeline.threads(), first_row);
    case ChunkKind::kShapes:
      return encode<schema::Shapes>(timeline.shapes(), first_row);
    case ChunkKind::kSwapchains:
      return encode<schema::Swapchains>(timeline.swapchains(), first_row, kSwapchainsPerChunk);
    case ChunkKind::kOps:
      return encode<schema::Ops>(timeline.ops(), first_row);
    case ChunkKind::kCalls:
      return encode<schema::Calls>(timeline.calls(), first_row);
    case ChunkKind::kFrames:
      return encode<schema::Frames>(timeline.frames(), first_row);
    case ChunkKind::kMarks:
      return encode<schema::Marks>(timeline.marks(), first_row);
    case ChunkKind::kDraws:
      return encode<schema::Draws>(timeline.draws(), first_row);
    case ChunkKind::kMeta:
    case ChunkKind::kFooter:
    case ChunkKind::kRecords:
      break;
  }
  CORUN_ASSERT(false, "chunk kind {} has no rows", static_cast<int>(kind));
}

void decode_rows(std::string_view payload, ChunkKind kind, std::uint64_t first_row, std::uint32_t row_count,
                 TimelineBuilder& builder) {
  switch (kind) {
    case ChunkKind::kStrings:
      return add_entries(decode_strings(payload, row_count), first_row,
                         [&](const std::string& text) { return builder.intern(text).value; });
    case ChunkKind::kQueues:
      return add_entries(decode<schema::Queues, QueueRecord>(payload, row_count), first_row,
                         [&](const QueueRecord& row) { return builder.queue(row); });
    case ChunkKind::kThreads:
      return add_entries(decode<schema::Threads, ThreadRecord>(payload, row_count), first_row,
                         [&](const ThreadRecord& row) { return builder.thread(row); });
    case ChunkKind::kShapes:
      return add_entries(decode<schema::Shapes, LaunchShape>(payload, row_count), first_row,
                         [&](const LaunchShape& row) { return builder.shape(row); });
    case ChunkKind::kSwapchains:
      return add_entries(decode<schema::Swapchains, SwapchainRecord>(payload, row_count), first_row,
                         [&](const SwapchainRecord& row) { return builder.swapchain(row); });
    case ChunkKind::kOps:
      return add_rows(decode<schema::Ops, OpRecord>(payload, row_count), builder);
    case ChunkKind::kCalls:
      return add_rows(decode<schema::Calls, CallRecord>(payload, row_count), builder);
    case ChunkKind::kFrames:
      return add_rows(decode<schema::Frames, FrameRecord>(payload, row_count), builder);
    case ChunkKind::kMarks:
      return add_rows(decode<schema::Marks, MarkRecord>(payload, row_count), builder);
    case ChunkKind::kDraws:
      return add_rows(decode<schema::Draws, DrawRecord>(payload, row_count), builder);
    case ChunkKind::kMeta:
    case ChunkKind::kFooter:
    case ChunkKind::kRecords:
      break;
  }
  CORUN_ASSERT(false, "chunk kind {} has no rows", static_cast<int>(kind));
}

}  // namespace corun
