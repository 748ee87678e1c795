#include "traces/native/chunk_rows.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "traces/base/error.h"
#include "traces/native/chunk_columns.h"

namespace corun {
namespace {

constexpr std::uint64_t kRowsPerChunk = 8192;
constexpr std::uint64_t kSwapchainsPerChunk = 128;  // each with an address of up to kMaxStringBytes
constexpr std::uint32_t kTextField = 1;             // of Strings
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

// One list of fields for each kind of row serves writing and reading: number in schema/trace.proto, name, member.

template <template <class> class Codec>
void visit(Codec<QueueRecord>& codec) {
  codec.plain(1, "device", &QueueRecord::device);
  codec.plain(2, "context", &QueueRecord::context);
  codec.plain(3, "stream", &QueueRecord::stream);
  codec.plain(4, "process", &QueueRecord::process);
  codec.delta(5, "priority", &QueueRecord::priority);
}

template <template <class> class Codec>
void visit(Codec<ThreadRecord>& codec) {
  codec.plain(1, "process", &ThreadRecord::process);
  codec.plain(2, "thread", &ThreadRecord::thread);
}

template <template <class> class Codec>
void visit(Codec<LaunchShape>& codec) {
  codec.plain(1, "grid_x", &LaunchShape::grid_x);
  codec.plain(2, "grid_y", &LaunchShape::grid_y);
  codec.plain(3, "grid_z", &LaunchShape::grid_z);
  codec.plain(4, "block_x", &LaunchShape::block_x);
  codec.plain(5, "block_y", &LaunchShape::block_y);
  codec.plain(6, "block_z", &LaunchShape::block_z);
  codec.plain(7, "registers_per_thread", &LaunchShape::registers_per_thread);
  codec.plain(8, "shared_memory_bytes", &LaunchShape::shared_memory_bytes);
}

template <template <class> class Codec>
void visit(Codec<SwapchainRecord>& codec) {
  codec.plain(1, "application", &SwapchainRecord::application, Offset::kPlusOne);
  codec.plain(2, "process", &SwapchainRecord::process);
  codec.texts(3, "address", &SwapchainRecord::address);
  codec.plain(4, "run", &SwapchainRecord::run);
  codec.plain(5, "vsync", &SwapchainRecord::vsync);
  codec.plain(6, "gpu_load_ppm", &SwapchainRecord::gpu_load_ppm);
}

template <template <class> class Codec>
void visit(Codec<OpRecord>& codec) {
  codec.delta(1, "start_ns", &OpRecord::start_ns);
  codec.plain(2, "duration_ns", &OpRecord::duration_ns);
  codec.plain(3, "kind", &OpRecord::kind);
  codec.plain(4, "name", &OpRecord::name, Offset::kPlusOne);
  codec.plain(5, "queue", &OpRecord::queue);
  codec.delta(6, "call", &OpRecord::call, Offset::kPlusOne);
  codec.plain(7, "shape", &OpRecord::shape, Offset::kPlusOne);
  codec.plain(8, "bytes", &OpRecord::bytes);
  codec.delta(9, "graph_node", &OpRecord::graph_node);
}

template <template <class> class Codec>
void visit(Codec<CallRecord>& codec) {
  codec.delta(1, "start_ns", &CallRecord::start_ns);
  codec.plain(2, "duration_ns", &CallRecord::duration_ns);
  codec.plain(3, "kind", &CallRecord::kind);
  codec.plain(4, "thread", &CallRecord::thread);
  codec.plain(5, "queue", &CallRecord::queue, Offset::kPlusOne);
  codec.delta(6, "awaited", &CallRecord::awaited, Offset::kPlusOne);
}

template <template <class> class Codec>
void visit(Codec<FrameRecord>& codec) {
  codec.delta(1, "present_ns", &FrameRecord::present_ns);
  codec.plain(2, "interval_ns", &FrameRecord::interval_ns, Offset::kPlusOne);
  codec.plain(3, "cpu_busy_ns", &FrameRecord::cpu_busy_ns, Offset::kPlusOne);
  codec.plain(4, "in_present_ns", &FrameRecord::in_present_ns, Offset::kPlusOne);
  codec.delta(5, "submit_ns", &FrameRecord::submit_ns, Offset::kPlusOne);
  codec.delta(6, "gpu_begin_ns", &FrameRecord::gpu_begin_ns, Offset::kPlusOne);
  codec.delta(7, "gpu_end_ns", &FrameRecord::gpu_end_ns, Offset::kPlusOne);
  codec.plain(8, "gpu_busy_ns", &FrameRecord::gpu_busy_ns, Offset::kPlusOne);
  codec.plain(9, "visits", &FrameRecord::visits);
  codec.plain(10, "swapchain", &FrameRecord::swapchain);
  codec.plain(11, "dropped", &FrameRecord::dropped);
}

template <template <class> class Codec>
void visit(Codec<MarkRecord>& codec) {
  codec.delta(1, "start_ns", &MarkRecord::start_ns);
  codec.plain(2, "duration_ns", &MarkRecord::duration_ns);
  codec.plain(3, "name", &MarkRecord::name, Offset::kPlusOne);
  codec.plain(4, "thread", &MarkRecord::thread);
}

template <template <class> class Codec>
void visit(Codec<DrawRecord>& codec) {
  codec.delta(1, "start_ns", &DrawRecord::start_ns);
  codec.plain(2, "duration_ns", &DrawRecord::duration_ns);
  codec.plain(3, "calls", &DrawRecord::calls);
  codec.plain(4, "swapchain", &DrawRecord::swapchain);
  codec.plain(5, "pass", &DrawRecord::pass);
}

template <template <class> class Codec>
void visit(Codec<CounterRecord>& codec) {
  codec.plain(1, "name", &CounterRecord::name, Offset::kPlusOne);
  codec.plain(2, "shape", &CounterRecord::shape, Offset::kPlusOne);
  codec.plain(3, "launches", &CounterRecord::launches);
  codec.plain(4, "mean_ns", &CounterRecord::mean_ns);
  codec.plain(5, "dram_ppm", &CounterRecord::dram_ppm);
  codec.plain(6, "l2_ppm", &CounterRecord::l2_ppm);
  codec.plain(7, "l2_hits_ppm", &CounterRecord::l2_hits_ppm);
  codec.plain(8, "sm_ppm", &CounterRecord::sm_ppm);
  codec.plain(9, "warps_ppm", &CounterRecord::warps_ppm);
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

template <class Row>
EncodedRows encode(const std::vector<Row>& all, std::uint64_t first_row, std::uint64_t most = kRowsPerChunk) {
  const auto count = std::min<std::uint64_t>(most, all.size() - first_row);
  const std::span<const Row> rows{all.data() + first_row, count};
  ColumnWriter<Row> writer{rows};
  visit(writer);
  EncodedRows encoded{.payload = writer.take(), .row_count = static_cast<std::uint32_t>(count)};
  if constexpr (requires { time_range(rows.front()); }) set_time_range(encoded, rows);
  return encoded;
}

EncodedRows encode_strings(const std::vector<std::string>& all, std::uint64_t first_row) {
  EncodedRows encoded;
  std::size_t bytes = 0;
  for (std::uint64_t i = first_row; i < all.size() && i - first_row < kRowsPerChunk; ++i) {
    check_string_size(all[i]);
    bytes += all[i].size();
    if (bytes > kStringBytesPerChunk && i > first_row) break;
    append_field(encoded.payload, kTextField, all[i]);
    ++encoded.row_count;
  }
  return encoded;
}

template <class Row>
std::vector<Row> decode(std::string_view payload, std::uint32_t row_count) {
  ColumnReader<Row> reader{payload, row_count};
  reader.read_all([](ColumnReader<Row>& codec) { visit(codec); });
  return reader.take();
}

std::vector<std::string_view> decode_strings(std::string_view payload, std::uint32_t row_count) {
  std::vector<std::string_view> strings = texts_of(payload, kTextField);
  if (strings.size() != row_count) throw_input({}, "{} strings, expected {}", strings.size(), row_count);
  for (const std::string_view text : strings) check_string_size(text);
  return strings;
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
    case ChunkKind::kCounters:
      return timeline.counters().size();
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
      return encode(timeline.queues(), first_row);
    case ChunkKind::kThreads:
      return encode(timeline.threads(), first_row);
    case ChunkKind::kShapes:
      return encode(timeline.shapes(), first_row);
    case ChunkKind::kSwapchains:
      return encode(timeline.swapchains(), first_row, kSwapchainsPerChunk);
    case ChunkKind::kOps:
      return encode(timeline.ops(), first_row);
    case ChunkKind::kCalls:
      return encode(timeline.calls(), first_row);
    case ChunkKind::kFrames:
      return encode(timeline.frames(), first_row);
    case ChunkKind::kMarks:
      return encode(timeline.marks(), first_row);
    case ChunkKind::kDraws:
      return encode(timeline.draws(), first_row);
    case ChunkKind::kCounters:
      return encode(timeline.counters(), first_row);
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
                         [&](std::string_view text) { return builder.intern(text).value; });
    case ChunkKind::kQueues:
      return add_entries(decode<QueueRecord>(payload, row_count), first_row,
                         [&](const QueueRecord& row) { return builder.queue(row); });
    case ChunkKind::kThreads:
      return add_entries(decode<ThreadRecord>(payload, row_count), first_row,
                         [&](const ThreadRecord& row) { return builder.thread(row); });
    case ChunkKind::kShapes:
      return add_entries(decode<LaunchShape>(payload, row_count), first_row,
                         [&](const LaunchShape& row) { return builder.shape(row); });
    case ChunkKind::kSwapchains:
      return add_entries(decode<SwapchainRecord>(payload, row_count), first_row,
                         [&](const SwapchainRecord& row) { return builder.swapchain(row); });
    case ChunkKind::kOps:
      return builder.add(decode<OpRecord>(payload, row_count));
    case ChunkKind::kCalls:
      return builder.add(decode<CallRecord>(payload, row_count));
    case ChunkKind::kFrames:
      return add_rows(decode<FrameRecord>(payload, row_count), builder);
    case ChunkKind::kMarks:
      return add_rows(decode<MarkRecord>(payload, row_count), builder);
    case ChunkKind::kDraws:
      return add_rows(decode<DrawRecord>(payload, row_count), builder);
    case ChunkKind::kCounters:
      return add_rows(decode<CounterRecord>(payload, row_count), builder);
    case ChunkKind::kMeta:
    case ChunkKind::kFooter:
    case ChunkKind::kRecords:
      break;
  }
  CORUN_ASSERT(false, "chunk kind {} has no rows", static_cast<int>(kind));
}

}  // namespace corun
