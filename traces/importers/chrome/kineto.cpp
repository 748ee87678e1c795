#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "traces/base/error.h"
#include "traces/call_log.h"
#include "traces/importers/api_calls.h"
#include "traces/importers/chrome/json_records.h"
#include "traces/importers/chrome/kineto_event.h"
#include "traces/importers/importers.h"
#include "traces/text/decimal.h"

namespace corun {
namespace {

constexpr std::int64_t kLongestNs = std::int64_t{1} << 61;
constexpr std::int64_t kCpuDeviceType = 0;  // PyTorch's numbers of kinds of devices
// A time written in microseconds since 1970 is beyond 2001; one relative to a base or to the start is months at most.
constexpr std::int64_t kEarliestEpochNs = 1'000'000'000'000'000'000;

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

/// Values of the file's head that a timeline keeps, as they stand in the text.
struct Head {
  std::string_view schema_version, base_time_ns, devices;

  void take(std::string_view key, std::string_view value) {
    if (key == "schemaVersion") schema_version = value;
    if (key == "baseTimeNanoseconds") base_time_ns = value;
    if (key == "deviceProperties") devices = value;
  }
};

std::uint64_t unsigned_field(simdjson::dom::element device, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::uint64_t value = 0;
    if (device[name].get(value) == simdjson::SUCCESS) return value;
  }
  return 0;
}

std::uint32_t small_field(simdjson::dom::element device, std::initializer_list<const char*> names) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(unsigned_field(device, names), UINT32_MAX));
}

CapturedDevice device_of(simdjson::dom::element properties) {
  std::string_view name;
  if (properties["name"].get(name)) name = {};
  return {.name = std::string{name.substr(0, kLongestName)},
          .sm_count = small_field(properties, {"numSms"}),
          .memory_bytes = unsigned_field(properties, {"totalGlobalMem"}),
          .max_threads_per_sm = small_field(properties, {"maxThreadsPerMultiprocessor"}),
          .registers_per_sm = small_field(properties, {"regsPerMultiprocessor"}),
          .shared_memory_per_sm_bytes =
              small_field(properties, {"sharedMemPerMultiprocessor", "maxSharedMemoryPerMultiProcessor"})};
}

std::vector<CapturedDevice> devices_of(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  std::vector<CapturedDevice> devices;
  if (parser.parse(simdjson::padded_string(json)).get(array)) return devices;
  for (simdjson::dom::element properties : array) devices.push_back(device_of(properties));
  return devices;
}

std::uint64_t correlation_of(const KinetoEvent& event) {
  return event.correlation && *event.correlation > 0 ? static_cast<std::uint64_t>(*event.correlation) : kNoCorrelation;
}

/// Reads one file into a builder.
class KinetoReading {
 public:
  explicit KinetoReading(const SourceFile& source)
      : source_(source),
        text_(source.bytes),
        lines_(text_),
        file_(std::filesystem::path(source.path).filename().string()) {}

  Timeline read();

 private:
  void read_head_and_events();
  std::size_t read_value(std::string_view key, std::size_t begin);
  std::size_t read_events(std::size_t begin);
  void read_event(std::string_view record);
  void take(const KinetoEvent& event);
  bool has_usable_times(const KinetoEvent& event);
  void take_operation(const KinetoEvent& event);
  void take_call(const KinetoEvent& event);
  void take_wait(const KinetoEvent& event);
  void take_mark(const KinetoEvent& event, std::string_view name);
  void take_memory(const KinetoEvent& event);
  std::uint32_t stream_index(std::int64_t device, std::int64_t context, std::int64_t stream);
  void name_queues();
  void set_clock();
  void set_provenance();
  void skip(std::string_view reason);
  [[noreturn]] void fail(std::size_t offset, std::string_view found, std::string_view expected);

  struct Stream {
    std::int64_t device, context, stream;
    auto operator<=>(const Stream&) const = default;
  };

  const SourceFile& source_;
  std::string_view text_;
  LineCounter lines_;
  std::string file_;
  std::size_t offset_ = 0;  // of the record at hand
  Head head_;
  bool has_events_ = false;
  KinetoEventReader reader_;
  TimelineBuilder builder_;
  CallLog calls_;
  std::map<Stream, std::uint32_t> streams_;  // in order of number, with the index operations carry until the end
  std::vector<std::uint32_t> ops_;           // rows whose queue is still such an index
  std::vector<LoggedWait> waits_;            // the same
  std::set<std::uint64_t> calling_processes_;
  bool is_finer_than_us_ = false;
  std::optional<std::int64_t> some_time_ns_;
};

Timeline KinetoReading::read() {
  read_head_and_events();
  name_queues();
  set_clock();
  calls_.join(builder_);
  set_provenance();
  return std::move(builder_).seal();
}

void KinetoReading::read_head_and_events() {
  std::size_t at = skip_json_space(text_, text_.size() - without_byte_order_mark(text_).size());
  if (at < text_.size() && text_[at] == '[') {
    has_events_ = true;
    read_events(at + 1);
    return;
  }
  if (at >= text_.size() || text_[at] != '{') fail(at, "no JSON object", "a trace with a \"traceEvents\" array");
  for (++at; (at = skip_json_space(text_, at)) < text_.size() && text_[at] != '}';) {
    const std::optional<std::size_t> key_end = text_[at] == '"' ? json_value_end(text_, at) : std::nullopt;
    if (!key_end) break;
    const std::string_view key = text_.substr(at + 1, *key_end - at - 2);
    at = skip_json_space(text_, *key_end);
    if (at >= text_.size() || text_[at] != ':') break;
    at = skip_json_space(text_, read_value(key, skip_json_space(text_, at + 1)));
    if (at < text_.size() && text_[at] == ',') ++at;
  }
  if (has_events_) return;
  const std::size_t key = text_.find("\"traceEvents\"");  // behind a head that is broken
  const std::size_t array = key == std::string_view::npos ? key : text_.find('[', key);
  if (array == std::string_view::npos) fail(at, "no \"traceEvents\" array", "a PyTorch or Chrome trace");
  builder_.provenance().notes.push_back("The file's head is not valid JSON; its values were not read.");
  read_events(array + 1);
}

std::size_t KinetoReading::read_value(std::string_view key, std::size_t begin) {
  if (key == "traceEvents" && begin < text_.size() && text_[begin] == '[') {
    has_events_ = true;
    return read_events(begin + 1);
  }
  const std::size_t end = json_value_end(text_, begin).value_or(text_.size());
  head_.take(key, text_.substr(std::min(begin, end), end - std::min(begin, end)));
  return end;
}

std::size_t KinetoReading::read_events(std::size_t begin) {
  JsonRecords records{text_, begin};
  for (;;) {
    const JsonRecords::Next next = records.advance();
    offset_ = records.offset();
    if (next == JsonRecords::Next::kEnd) return records.offset();
    if (next == JsonRecords::Next::kTruncated) {
      skip("file ends inside the event array");
      return text_.size();
    }
    if (next == JsonRecords::Next::kBroken) {
      skip("event without an end, perhaps an unescaped quotation mark");
      continue;
    }
    KinetoEvent event;
    const std::string_view record = records.record();
    if (const char* error = reader_.read(record, text_.size() - offset_, event)) {
      skip(fmt::format("event is not valid JSON: {}", error));
      records.reject();
    } else {
      take(event);
    }
  }
}

void KinetoReading::take(const KinetoEvent& event) {
  using Category = KinetoEvent::Category;
  if (event.category == Category::kOther) return;
  if (event.category == Category::kWait) return take_wait(event);
  if (event.category == Category::kMemory) return take_memory(event);
  if (!has_usable_times(event)) return;
  if (event.category == Category::kMark) return take_mark(event, event.name);
  if (event.is_gpu()) return take_operation(event);
  take_call(event);
}

bool KinetoReading::has_usable_times(const KinetoEvent& event) {
  if (!event.ts_ns || !event.duration_ns) {
    skip("event without a readable ts or dur");
    return false;
  }
  if (*event.duration_ns < 0) {
    skip("event with a negative duration");
    return false;
  }
  if (*event.ts_ns > kLongestNs || *event.ts_ns < -kLongestNs || *event.duration_ns > kLongestNs) {
    skip("event whose time is out of range");
    return false;
  }
  some_time_ns_ = event.ts_ns;
  is_finer_than_us_ = is_finer_than_us_ || event.is_finer_than_us();
  return true;
}

void KinetoReading::take_operation(const KinetoEvent& event) {
  using Category = KinetoEvent::Category;
  const std::optional<std::int64_t> device = event.device ? event.device : event.pid;
  const std::optional<std::int64_t> stream = event.stream ? event.stream : event.tid;
  if (!device || !stream || *device < 0) return skip("GPU event without device or stream");

  OpRecord op;
  op.start_ns = *event.ts_ns;
  op.duration_ns = *event.duration_ns;
  if (event.category == Category::kCopy) op.kind = copy_kind_of(event.name);
  if (event.category == Category::kMemset) op.kind = OpKind::kMemset;
  op.name = builder_.intern(event.name.substr(0, kLongestName));
  op.queue = stream_index(*device, event.context.value_or(0), *stream);
  if (event.shape != LaunchShape{}) op.shape = builder_.shape(event.shape);
  op.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(event.bytes.value_or(0), 0));
  op.graph_node = static_cast<std::uint64_t>(event.graph_node.value_or(0));
  const std::uint32_t row = builder_.add(op);
  ops_.push_back(row);

  // A copy into pageable memory returns when it is done, in spite of the function's name.
  const bool blocks = event.name.find("-> Pageable") != std::string_view::npos;
  calls_.add_submission(row, 0, correlation_of(event), blocks);
}

void KinetoReading::take_call(const KinetoEvent& event) {
  if (begins_graph_capture(event.name)) take_mark(event, kGraphCaptureMark);
  LoggedCall call;
  call.start_ns = *event.ts_ns;
  call.duration_ns = *event.duration_ns;
  call.thread = {static_cast<std::uint64_t>(event.pid.value_or(0)), static_cast<std::uint64_t>(event.tid.value_or(0))};
  call.correlation = correlation_of(event);
  call.kind = kind_of_api_call(event.name);
  call.is_driver = event.category == KinetoEvent::Category::kDriverCall || is_driver_call(event.name);
  calling_processes_.insert(call.thread.process);
  calls_.add(call);
}

void KinetoReading::take_wait(const KinetoEvent& event) {
  if (!event.correlation || !event.device) return;
  const auto stream_of = [&](std::optional<std::int64_t> stream) -> std::optional<std::uint32_t> {
    if (!stream || *stream < 0 || *stream == UINT32_MAX) return std::nullopt;  // both mean "no stream"
    return stream_index(*event.device, event.context.value_or(0), *stream);
  };
  LoggedWait wait;
  wait.correlation = static_cast<std::uint64_t>(*event.correlation);
  wait.queue = stream_of(event.stream);
  if (event.awaited_record && *event.awaited_record >= 0) {
    wait.record_queue = stream_of(event.awaited_stream);
    wait.record_correlation = static_cast<std::uint64_t>(*event.awaited_record);
  }
  waits_.push_back(wait);
}

void KinetoReading::take_mark(const KinetoEvent& event, std::string_view name) {
  MarkRecord mark;
  mark.start_ns = *event.ts_ns;
  mark.duration_ns = *event.duration_ns;
  mark.name = builder_.intern(name.substr(0, kLongestName));
  mark.thread = builder_.thread(
      {static_cast<std::uint64_t>(event.pid.value_or(0)), static_cast<std::uint64_t>(event.tid.value_or(0))});
  builder_.add(mark);
}

// PyTorch's allocators of host memory report as well.
void KinetoReading::take_memory(const KinetoEvent& event) {
  const std::int64_t bytes = event.reserved_bytes.value_or(0), device = event.memory_device.value_or(-1);
  const bool is_of_a_gpu = event.memory_device_type.value_or(kCpuDeviceType) != kCpuDeviceType;
  if (!is_of_a_gpu || device < 0 || device > UINT32_MAX || bytes <= 0) return;
  builder_.note_memory({.device = static_cast<std::uint32_t>(device),
                        .process = static_cast<std::uint64_t>(event.pid.value_or(0)),
                        .bytes = static_cast<std::uint64_t>(bytes),
                        .source = MemorySource::kReserved});
}

std::uint32_t KinetoReading::stream_index(std::int64_t device, std::int64_t context, std::int64_t stream) {
  return streams_.try_emplace({device, context, stream}, static_cast<std::uint32_t>(streams_.size())).first->second;
}

// Streams belong to the process that calls; which one that is, is known at the end only.
void KinetoReading::name_queues() {
  const std::uint64_t process = calling_processes_.size() == 1 ? *calling_processes_.begin() : 0;
  std::vector<std::uint32_t> queue_of(streams_.size());
  for (const auto& [stream, index] : streams_) {
    queue_of[index] = builder_.queue({.device = static_cast<std::uint32_t>(stream.device),
                                      .context = static_cast<std::uint64_t>(stream.context),
                                      .stream = static_cast<std::uint64_t>(stream.stream),
                                      .process = process});
  }
  for (std::uint32_t row : ops_) builder_.op(row).queue = queue_of[builder_.op(row).queue];
  for (LoggedWait& wait : waits_) {
    if (wait.queue) wait.queue = queue_of[*wait.queue];
    if (wait.record_queue) wait.record_queue = queue_of[*wait.record_queue];
    calls_.add(wait);
  }
}

void KinetoReading::set_clock() {
  const bool is_absolute = some_time_ns_ && *some_time_ns_ >= kEarliestEpochNs;
  const std::optional<std::int64_t> base_ns = parse_integer(head_.base_time_ns);
  builder_.provenance().clock = is_absolute || base_ns ? "unix_epoch" : "capture_start";
  if (!is_absolute && base_ns) builder_.provenance().origin_ns = *base_ns;
}

void KinetoReading::set_provenance() {
  Provenance& provenance = builder_.provenance();
  provenance.source_format = "kineto";
  if (const auto version = parse_integer(head_.schema_version)) provenance.source_version = std::to_string(*version);
  provenance.source_file = file_;
  provenance.content_hash = source_.hash;
  provenance.devices = devices_of(head_.devices);

  Fidelity& fidelity = builder_.fidelity();
  fidelity.has_calls = calls_.has_known_calls();
  fidelity.integer_microseconds = some_time_ns_ && !is_finer_than_us_;
  fidelity.host_gaps_inflated = true;
}

void KinetoReading::skip(std::string_view reason) {
  builder_.skip(reason, fmt::format("{}:{} (byte {})", file_, lines_.line_at(offset_), offset_));
}

void KinetoReading::fail(std::size_t offset, std::string_view found, std::string_view expected) {
  throw Error(ErrorKind::kInput, SourceLocation{source_.path, lines_.line_at(offset)},
              fmt::format("{}, expected {}", found, expected));
}

class KinetoImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "kineto"; }
  std::string_view description() const override {
    return "PyTorch profiler or Chrome trace JSON, 2021 to today, CUDA and ROCm: kernels, copies, launches, waits";
  }

  int sniff(const SourceFile& source) const override {
    const auto head = without_byte_order_mark(std::string_view{source.bytes}.substr(0, kSniffedBytes));
    const auto holds = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    const std::size_t first = skip_json_space(head, 0);
    if (first == head.size() || (head[first] != '{' && head[first] != '[')) return 0;
    if (holds("\"traceEvents\"")) return 90;
    if (holds("\"baseTimeNanoseconds\"") || holds("\"deviceProperties\"") || holds("\"distributedInfo\"")) return 70;
    return head[first] == '[' && holds("\"ph\"") && holds("\"ts\"") ? 60 : 0;
  }

  Timeline read(const SourceFile& source) const override { return KinetoReading{source}.read(); }
};

}  // namespace

std::unique_ptr<TraceImporter> make_kineto_importer() { return std::make_unique<KinetoImporter>(); }

}  // namespace corun
