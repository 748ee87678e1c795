#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "traces/base/error.h"
#include "traces/call_log.h"
#include "traces/importers/api_calls.h"
#include "traces/importers/importers.h"
#include "traces/importers/sqlite_source.h"

namespace corun {
namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

// Numbers of ENUM_CUDA_MEM_KIND and ENUM_CUDA_DEV_MEM_EVENT_OPER.
constexpr std::int64_t kDeviceMemory = 2, kArrayMemory = 3, kStaticMemory = 5;
constexpr std::int64_t kAllocation = 0;

// A global id packs hardware, machine, process and thread.
std::uint64_t process_of(std::int64_t global_id) { return (static_cast<std::uint64_t>(global_id) >> 24) & 0xFFFFFF; }
ThreadRecord thread_of(std::int64_t global_id) {
  return {process_of(global_id), static_cast<std::uint64_t>(global_id) & 0xFFFFFF};
}

struct CopyDirection {
  OpKind kind;
  std::string_view name;
};

// By CUPTI's number of the copy's kind.
constexpr auto kCopyDirections = std::to_array<CopyDirection>({
    {OpKind::kCopyDeviceToDevice, "Memcpy"},
    {OpKind::kCopyHostToDevice, "Memcpy HtoD"},
    {OpKind::kCopyDeviceToHost, "Memcpy DtoH"},
    {OpKind::kCopyHostToDevice, "Memcpy HtoA"},
    {OpKind::kCopyDeviceToHost, "Memcpy AtoH"},
    {OpKind::kCopyDeviceToDevice, "Memcpy AtoA"},
    {OpKind::kCopyDeviceToDevice, "Memcpy AtoD"},
    {OpKind::kCopyDeviceToDevice, "Memcpy DtoA"},
    {OpKind::kCopyDeviceToDevice, "Memcpy DtoD"},
    {OpKind::kCopyHostToDevice, "Memcpy HtoH"},
    {OpKind::kCopyPeer, "Memcpy PtoP"},
    {OpKind::kCopyHostToDevice, "Memcpy unified HtoD"},
    {OpKind::kCopyDeviceToHost, "Memcpy unified DtoH"},
    {OpKind::kCopyDeviceToDevice, "Memcpy unified DtoD"},
});

constexpr std::int64_t kPageableMemory = 0;
constexpr std::int64_t kEventSync = 1, kStreamWait = 2, kStreamSync = 3;  // CUPTI's kinds of synchronisation
constexpr std::int64_t kPushPopRange = 59, kStartEndRange = 60;           // NVTX events that have two ends

/// Reads one database into a builder.
class NsysReading {
 public:
  explicit NsysReading(const SourceFile& source)
      : source_(source), file_(std::filesystem::path(source.path).filename().string()), database_(source.bytes) {}

  Timeline read();

 private:
  void check_tables() const;
  void read_strings();
  void read_priorities();
  void read_kernels();
  void read_copies();
  void read_memsets();
  void read_graphs();
  void read_graphics(std::string_view table, std::string_view context_column);
  void read_calls();
  void read_event_records();
  void read_waits();
  void read_ranges();
  void read_meta(std::string_view table);
  void read_clock();
  void read_devices();
  void read_memory();

  /// Where a device row ran: columns deviceId, contextId, streamId, globalPid from `first` on.
  std::uint32_t queue_of(SQLite::Statement& row, int first);
  std::uint32_t queue_of(QueueRecord queue);
  std::optional<std::pair<std::int64_t, std::int64_t>> interval_of(SQLite::Statement& row, std::string_view table,
                                                                   std::uint64_t number);
  std::string_view string_of(std::optional<std::int64_t> id) const;
  StringId name(std::string_view text) { return builder_.intern(text.substr(0, kLongestName)); }
  void submit(const OpRecord& op, SQLite::Statement& row, int pid_column, int correlation_column, bool blocks = false);

  using EventId = std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;
  struct EventRecord {
    std::uint32_t queue = 0;
    std::uint64_t correlation = 0;
  };

  const SourceFile& source_;
  std::string file_;
  SqliteSource database_;
  TimelineBuilder builder_;
  CallLog calls_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::int32_t>
      priorities_;                                // process, context, stream
  std::map<EventId, EventRecord> event_records_;  // by process, context, event, synchronisation id
};

Timeline NsysReading::read() {
  check_tables();
  read_strings();
  read_priorities();
  read_kernels();
  read_copies();
  read_memsets();
  read_graphs();
  read_graphics("VULKAN_WORKLOAD", "contextId");
  read_graphics("OPENGL_WORKLOAD", "contextId");
  read_graphics("DX12_WORKLOAD", "longContextId");
  read_calls();
  read_event_records();
  read_waits();
  read_ranges();
  calls_.join(builder_);

  Provenance& provenance = builder_.provenance();
  provenance.source_format = "nsys";
  provenance.source_file = file_;
  provenance.content_hash = source_.hash;
  read_meta("EXPORT_META_DATA");
  read_meta("META_DATA_EXPORT");
  read_clock();
  read_devices();
  read_memory();
  builder_.fidelity().has_calls = !calls_.calls().empty();
  return std::move(builder_).seal();
}

void NsysReading::check_tables() const {
  for (std::string_view table : {"META_DATA_EXPORT", "EXPORT_META_DATA", "CUPTI_ACTIVITY_KIND_KERNEL",
                                 "CUPTI_ACTIVITY_KIND_RUNTIME", "TARGET_INFO_SESSION_START_TIME"}) {
    if (database_.has_table(table)) return;
  }
  throw Error(ErrorKind::kInput, SourceLocation{source_.path},
              "an SQLite database without any table of Nsight Systems, expected an export of a report",
              "make one with `nsys export --type sqlite REPORT.nsys-rep`");
}

void NsysReading::read_strings() {
  auto row = database_.select("StringIds", {"id", "value"});
  while (row && row->executeStep()) {
    if (const auto id = integer_at(*row, 0)) strings_.emplace(*id, row->getColumn(1).getString());
  }
}

void NsysReading::read_priorities() {
  auto row = database_.select("TARGET_INFO_CUDA_STREAM", {"processId", "contextId", "streamId", "priority"});
  while (row && row->executeStep()) {
    const auto process = static_cast<std::uint64_t>(integer_at(*row, 0).value_or(0));
    const auto context = static_cast<std::uint64_t>(integer_at(*row, 1).value_or(0));
    const auto stream = static_cast<std::uint64_t>(integer_at(*row, 2).value_or(0));
    // Stored as if unsigned: 4294967291 is -5.
    const auto priority = static_cast<std::int32_t>(static_cast<std::uint32_t>(integer_at(*row, 3).value_or(0)));
    priorities_[{process, context, stream}] = priority;
  }
}

void NsysReading::read_kernels() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
  auto row = database_.select(kTable, {"start",
                                       "end",
                                       "deviceId",
                                       "contextId",
                                       "streamId",
                                       "globalPid",
                                       "correlationId",
                                       "demangledName",
                                       "shortName",
                                       "mangledName",
                                       "graphNodeId",
                                       "gridX",
                                       "gridY",
                                       "gridZ",
                                       "blockX",
                                       "blockY",
                                       "blockZ",
                                       "registersPerThread",
                                       "staticSharedMemory",
                                       "dynamicSharedMemory"});
  for (std::uint64_t number = 1; row && row->executeStep(); ++number) {
    const auto interval = interval_of(*row, kTable, number);
    if (!interval) continue;
    const auto small = [&](int column) { return static_cast<std::uint32_t>(integer_at(*row, column).value_or(0)); };
    OpRecord op{.start_ns = interval->first, .duration_ns = interval->second};
    std::string_view text;
    for (int column = 7; column <= 9 && text.empty(); ++column) text = string_of(integer_at(*row, column));
    op.name = name(text);
    op.queue = queue_of(*row, 2);
    op.graph_node = static_cast<std::uint64_t>(integer_at(*row, 10).value_or(0));
    op.shape = builder_.shape(
        {small(11), small(12), small(13), small(14), small(15), small(16), small(17), small(18) + small(19)});
    submit(op, *row, 5, 6);
  }
}

void NsysReading::read_copies() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
  auto row =
      database_.select(kTable, {"start", "end", "deviceId", "contextId", "streamId", "globalPid", "correlationId",
                                "bytes", "copyKind", "dstKind", "srcDeviceId", "dstDeviceId", "graphNodeId"});
  for (std::uint64_t number = 1; row && row->executeStep(); ++number) {
    const auto interval = interval_of(*row, kTable, number);
    if (!interval) continue;
    const auto kind = static_cast<std::uint64_t>(integer_at(*row, 8).value_or(0));
    const CopyDirection& direction = kCopyDirections[kind < kCopyDirections.size() ? kind : 0];
    OpRecord op{.start_ns = interval->first, .duration_ns = interval->second, .kind = direction.kind};
    op.name = name(direction.name);
    op.queue = queue_of(*row, 2);
    op.bytes = static_cast<std::uint64_t>(integer_at(*row, 7).value_or(0));
    op.graph_node = static_cast<std::uint64_t>(integer_at(*row, 12).value_or(0));
    const auto from = integer_at(*row, 10), to = integer_at(*row, 11);
    if (op.kind == OpKind::kCopyDeviceToDevice && from && to && *from != *to) op.kind = OpKind::kCopyPeer;
    // A copy into pageable memory returns when it is done, in spite of the function's name.
    const bool blocks = op.kind == OpKind::kCopyDeviceToHost && integer_at(*row, 9) == kPageableMemory;
    submit(op, *row, 5, 6, blocks);
  }
}

void NsysReading::read_memsets() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MEMSET";
  auto row = database_.select(kTable, {"start", "end", "deviceId", "contextId", "streamId", "globalPid",
                                       "correlationId", "bytes", "graphNodeId"});
  for (std::uint64_t number = 1; row && row->executeStep(); ++number) {
    const auto interval = interval_of(*row, kTable, number);
    if (!interval) continue;
    OpRecord op{.start_ns = interval->first, .duration_ns = interval->second, .kind = OpKind::kMemset};
    op.name = name("Memset");
    op.queue = queue_of(*row, 2);
    op.bytes = static_cast<std::uint64_t>(integer_at(*row, 7).value_or(0));
    op.graph_node = static_cast<std::uint64_t>(integer_at(*row, 8).value_or(0));
    submit(op, *row, 5, 6);
  }
}

// Graphs traced as a whole: one row stands for all kernels of a launch.
void NsysReading::read_graphs() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  auto row = database_.select(
      kTable, {"start", "end", "deviceId", "contextId", "streamId", "globalPid", "correlationId", "graphId"});
  std::uint64_t graphs = 0;
  for (std::uint64_t number = 1; row && row->executeStep(); ++number) {
    const auto interval = interval_of(*row, kTable, number);
    if (!interval) continue;
    OpRecord op{.start_ns = interval->first, .duration_ns = interval->second};
    op.name = name(fmt::format("CUDA graph {}", integer_at(*row, 7).value_or(0)));
    op.queue = queue_of(*row, 2);
    submit(op, *row, 5, 6);
    ++graphs;
  }
  if (graphs == 0) return;
  builder_.provenance().notes.push_back(
      fmt::format("{} kernels are whole CUDA graphs: the capture did not trace their nodes.", graphs));
}

// Work of the graphics engine; its submissions are in tables that are not read, so no call is joined.
void NsysReading::read_graphics(std::string_view table, std::string_view context_column) {
  auto row = database_.select(table, {"start", "end", "gpu", context_column, "globalTid", "nameId", "textId"});
  for (std::uint64_t number = 1; row && row->executeStep(); ++number) {
    const auto interval = interval_of(*row, table, number);
    if (!interval) continue;
    OpRecord op{.start_ns = interval->first, .duration_ns = interval->second, .kind = OpKind::kRender};
    std::string_view text = string_of(integer_at(*row, 6));
    if (text.empty()) text = string_of(integer_at(*row, 5));
    op.name = name(text.empty() ? table : text);
    op.queue = queue_of(QueueRecord{.device = static_cast<std::uint32_t>(integer_at(*row, 2).value_or(0)),
                                    .context = static_cast<std::uint64_t>(integer_at(*row, 3).value_or(0)),
                                    .process = process_of(integer_at(*row, 4).value_or(0))});
    builder_.add(op);
  }
}

void NsysReading::read_calls() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  auto row = database_.select(kTable, {"start", "end", "globalTid", "correlationId", "nameId"});
  for (std::uint64_t number = 1; row && row->executeStep(); ++number) {
    const auto interval = interval_of(*row, kTable, number);
    const auto thread = integer_at(*row, 2);
    if (!interval || !thread) continue;
    const std::int64_t correlation = integer_at(*row, 3).value_or(0);
    const std::string_view function = string_of(integer_at(*row, 4));
    if (begins_graph_capture(function))
      builder_.add(MarkRecord{interval->first, interval->second, builder_.intern(kGraphCaptureMark),
                              builder_.thread(thread_of(*thread))});
    calls_.add(LoggedCall{.start_ns = interval->first,
                          .duration_ns = interval->second,
                          .thread = thread_of(*thread),
                          .id_space = process_of(*thread),
                          .correlation = correlation > 0 ? static_cast<std::uint64_t>(correlation) : kNoCorrelation,
                          .kind = kind_of_api_call(function),
                          .is_driver = is_driver_call(function)});
  }
}

void NsysReading::read_event_records() {
  auto row = database_.select("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {"deviceId", "contextId", "streamId", "globalPid",
                                                                 "eventId", "eventSyncId", "correlationId"});
  while (row && row->executeStep()) {
    const auto process = integer_at(*row, 3), sync_id = integer_at(*row, 5), correlation = integer_at(*row, 6);
    if (!process || !sync_id || !correlation || *sync_id == 0) continue;
    const EventId id{process_of(*process), integer_at(*row, 1).value_or(0), integer_at(*row, 4).value_or(0), *sync_id};
    event_records_[id] = {queue_of(*row, 0), static_cast<std::uint64_t>(*correlation)};
  }
}

void NsysReading::read_waits() {
  auto row = database_.select("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                              {"deviceId", "contextId", "streamId", "globalPid", "correlationId", "syncType",
                               "deprecatedSyncType", "eventId", "eventSyncId"});
  while (row && row->executeStep()) {
    const auto process = integer_at(*row, 3), correlation = integer_at(*row, 4);
    if (!process || !correlation) continue;
    const std::int64_t type = integer_at(*row, 5).value_or(integer_at(*row, 6).value_or(0));
    LoggedWait wait;
    wait.id_space = process_of(*process);
    wait.correlation = static_cast<std::uint64_t>(*correlation);
    if (type == kStreamSync || type == kStreamWait) wait.queue = queue_of(*row, 0);
    if (type == kEventSync || type == kStreamWait) {
      const EventId id{wait.id_space, integer_at(*row, 1).value_or(0), integer_at(*row, 7).value_or(0),
                       integer_at(*row, 8).value_or(0)};
      if (const auto record = event_records_.find(id); record != event_records_.end()) {
        wait.record_queue = record->second.queue;
        wait.record_correlation = record->second.correlation;
      }
    }
    calls_.add(wait);
  }
}

void NsysReading::read_ranges() {
  constexpr std::string_view kTable = "NVTX_EVENTS";
  auto row = database_.select(kTable, {"start", "end", "eventType", "text", "textId", "globalTid"});
  for (std::uint64_t number = 1; row && row->executeStep(); ++number) {
    const auto type = integer_at(*row, 2);
    if ((type != kPushPopRange && type != kStartEndRange) || row->getColumn(1).isNull()) continue;
    const auto interval = interval_of(*row, kTable, number);
    if (!interval) continue;
    std::string text = row->getColumn(3).getString();
    if (text.empty()) text = string_of(integer_at(*row, 4));
    builder_.add(MarkRecord{.start_ns = interval->first,
                            .duration_ns = interval->second,
                            .name = name(text),
                            .thread = builder_.thread(thread_of(integer_at(*row, 5).value_or(0)))});
  }
}

void NsysReading::read_meta(std::string_view table) {
  auto row = database_.select(table, {"name", "value"});
  while (row && row->executeStep()) {
    if (row->getColumn(0).getString() != "EXPORT_SCHEMA_VERSION") continue;
    builder_.provenance().source_version = row->getColumn(1).getString();
  }
}

void NsysReading::read_clock() {
  Provenance& provenance = builder_.provenance();
  provenance.clock = "capture_start";
  auto row = database_.select("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  if (!row || !row->executeStep()) return;
  if (const auto epoch_ns = integer_at(*row, 0); epoch_ns && *epoch_ns > 0) {
    provenance.clock = "unix_epoch";
    provenance.origin_ns = *epoch_ns;
  }
}

void NsysReading::read_devices() {
  auto row = database_.select(
      "TARGET_INFO_GPU",
      {"name", "smCount", "totalMemory", "maxWarpsPerSm", "threadsPerWarp", "maxRegistersPerSm", "maxShmemPerSm"},
      "id");
  while (row && row->executeStep()) {
    const auto small = [&](int column) { return static_cast<std::uint32_t>(integer_at(*row, column).value_or(0)); };
    builder_.provenance().devices.push_back(
        {.name = row->getColumn(0).getString().substr(0, kLongestName),
         .sm_count = small(1),
         .memory_bytes = static_cast<std::uint64_t>(integer_at(*row, 2).value_or(0)),
         .max_threads_per_sm = small(3) * small(4),
         .registers_per_sm = small(5),
         .shared_memory_per_sm_bytes = small(6)});
  }
}

// There with `nsys profile --cuda-memory-usage=true`. Managed memory is not counted: where it lies is not known.
void NsysReading::read_memory() {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::uint64_t> held;  // by device, process, address
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> sums;
  auto row = database_.select("CUDA_GPU_MEMORY_USAGE_EVENTS",
                              {"deviceId", "globalPid", "address", "bytes", "memKind", "memoryOperationType"}, "start");
  while (row && row->executeStep()) {
    const std::int64_t device = integer_at(*row, 0).value_or(-1), process = integer_at(*row, 1).value_or(0);
    const auto bytes = static_cast<std::uint64_t>(integer_at(*row, 3).value_or(0));
    const auto kind = integer_at(*row, 4);
    const bool is_of_device = kind == kDeviceMemory || kind == kArrayMemory || kind == kStaticMemory;
    if (device < 0 || device > UINT32_MAX || !is_of_device) continue;
    std::uint64_t& sum = sums[{device, process}];
    std::uint64_t& piece = held[{device, process, integer_at(*row, 2).value_or(0)}];
    sum -= piece;  // freed, or its freeing is missing
    piece = integer_at(*row, 5) == kAllocation && bytes <= MemoryPeak::kMostBytes ? bytes : 0;
    sum += piece;
    builder_.note_memory({.device = static_cast<std::uint32_t>(device),
                          .process = process_of(process),
                          .bytes = sum,
                          .source = MemorySource::kAllocated});
  }
}

std::uint32_t NsysReading::queue_of(SQLite::Statement& row, int first) {
  return queue_of(QueueRecord{.device = static_cast<std::uint32_t>(integer_at(row, first).value_or(0)),
                              .context = static_cast<std::uint64_t>(integer_at(row, first + 1).value_or(0)),
                              .stream = static_cast<std::uint64_t>(integer_at(row, first + 2).value_or(0)),
                              .process = process_of(integer_at(row, first + 3).value_or(0))});
}

std::uint32_t NsysReading::queue_of(QueueRecord queue) {
  const auto priority = priorities_.find({queue.process, queue.context, queue.stream});
  if (priority != priorities_.end()) queue.priority = priority->second;
  return builder_.queue(queue);
}

// Start and duration of a row whose first columns are start and end; counts rows that have none.
std::optional<std::pair<std::int64_t, std::int64_t>> NsysReading::interval_of(SQLite::Statement& row,
                                                                              std::string_view table,
                                                                              std::uint64_t number) {
  const auto start = integer_at(row, 0), end = integer_at(row, 1);
  const char* reason = nullptr;
  if (!start || !end) {
    reason = "row without start or end";
  } else if (*start == 0 && *end == 0) {
    reason = "row whose time was not collected";
  } else if (*end < *start || *start < -(std::int64_t{1} << 60) || *end > (std::int64_t{1} << 60)) {
    reason = "row that ends before it starts";
  }
  if (reason == nullptr) return std::pair{*start, *end - *start};
  builder_.skip(reason, fmt::format("{}: {} row {}", file_, table, number));
  return std::nullopt;
}

std::string_view NsysReading::string_of(std::optional<std::int64_t> id) const {
  if (!id) return {};
  const auto found = strings_.find(*id);
  return found == strings_.end() ? std::string_view{} : std::string_view{found->second};
}

void NsysReading::submit(const OpRecord& op, SQLite::Statement& row, int pid_column, int correlation_column,
                         bool blocks) {
  const std::uint64_t process = process_of(integer_at(row, pid_column).value_or(0));
  const std::int64_t id = integer_at(row, correlation_column).value_or(0);
  const std::uint64_t correlation = id > 0 ? static_cast<std::uint64_t>(id) : kNoCorrelation;
  calls_.add_submission(builder_.add(op), process, correlation, blocks);
}

class NsysImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "nsys"; }
  std::string_view description() const override {
    return "Nsight Systems SQLite export, schema 2.9 to 3.25: kernels, copies, calls, waits, NVTX ranges";
  }

  int sniff(const SourceFile& source) const override {
    return std::string_view{source.bytes}.starts_with(kSqliteMagic) ? 80 : 0;
  }

  Timeline read(const SourceFile& source) const override {
    try {
      return NsysReading{source}.read();
    } catch (const SQLite::Exception& error) {
      throw Error(ErrorKind::kInput, SourceLocation{source.path},
                  fmt::format("SQLite reports \"{}\", expected a readable Nsight Systems export", error.what()),
                  "export the report again with `nsys export --type sqlite`");
    }
  }
};

}  // namespace

std::unique_ptr<TraceImporter> make_nsys_importer() { return std::make_unique<NsysImporter>(); }

}  // namespace corun
