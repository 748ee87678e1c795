#include <simdjson.h>

#include <charconv>
#include <cmath>
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

namespace dom = simdjson::dom;

constexpr double kLongestUs = 1e15;
constexpr std::string_view kGpu = "/device:GPU:", kStream = "Stream #";

std::string_view text_of(dom::object object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

std::optional<std::int64_t> integer_of(dom::object object, std::string_view key) {
  std::int64_t number = 0;
  if (object[key].get(number) == simdjson::SUCCESS) return number;
  return parse_integer(text_of(object, key));
}

/// Microseconds as nanoseconds. They count from the start of the profile, so a double holds them.
std::optional<std::int64_t> time_of(dom::object event, std::string_view key) {
  double us = 0;
  if (event[key].get(us) != simdjson::SUCCESS || !(us >= 0) || us > kLongestUs) return std::nullopt;
  return std::llround(us * 1e3);
}

/// The text between `name:` and the next blank, of details such as "regs:154 grid:128,1,1".
std::string_view detail(std::string_view details, std::string_view name) {
  const std::string key = std::string(name) + ':';
  std::size_t at = details.starts_with(key) ? 0 : details.find(' ' + key);
  if (at == std::string_view::npos) return {};
  at = details.find(':', at) + 1;
  return details.substr(at, details.find(' ', at) - at);
}

std::uint32_t number_in(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void take_triple(std::string_view text, std::uint32_t& x, std::uint32_t& y, std::uint32_t& z) {
  for (std::uint32_t* part : {&x, &y, &z}) {
    *part = number_in(text);
    const std::size_t comma = text.find(',');
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
}

LaunchShape shape_of(std::string_view details) {
  LaunchShape shape;
  take_triple(detail(details, "grid"), shape.grid_x, shape.grid_y, shape.grid_z);
  take_triple(detail(details, "block"), shape.block_x, shape.block_y, shape.block_z);
  shape.registers_per_thread = number_in(detail(details, "regs"));
  shape.shared_memory_bytes =
      number_in(detail(details, "static_shared")) + number_in(detail(details, "dynamic_shared"));
  return shape;
}

/// "MemcpyH2D" as profilers of CUDA write it.
OpKind kind_of(std::string_view name) {
  if (name.starts_with("Memset")) return OpKind::kMemset;
  if (!name.starts_with("Memcpy")) return OpKind::kKernel;
  std::string words(name);
  if (const std::size_t at = words.find('2'); at != std::string::npos) words.replace(at, 1, "to");
  return copy_kind_of(words);
}

/// Reads one file into a builder.
class XlaReading {
 public:
  explicit XlaReading(const SourceFile& source)
      : source_(source),
        text_(source.bytes),
        lines_(text_),
        file_(std::filesystem::path(source.path).filename().string()) {}

  Timeline read() {
    read_events();
    calls_.join(builder_);
    set_provenance();
    return std::move(builder_).seal();
  }

 private:
  void read_events() {
    const std::size_t key = text_.find("\"traceEvents\""), array = text_.find('[', std::min(key, text_.size()));
    if (array == std::string_view::npos)
      throw Error(ErrorKind::kInput, SourceLocation{source_.path}, "no \"traceEvents\" array, expected an XLA profile");
    JsonRecords records{text_, array + 1};
    for (;;) {
      const JsonRecords::Next next = records.advance();
      offset_ = records.offset();
      if (next == JsonRecords::Next::kEnd) return;
      if (next == JsonRecords::Next::kTruncated) return skip("file ends inside the event array");
      dom::object event;
      if (next == JsonRecords::Next::kRecord &&
          parser_.parse(records.record().data(), records.record().size()).get(event) == simdjson::SUCCESS) {
        take(event);
        continue;
      }
      skip("event is not valid JSON");
      if (next == JsonRecords::Next::kRecord) records.reject();
    }
  }

  void take(dom::object event) {
    const std::string_view phase = text_of(event, "ph");
    const std::int64_t process = integer_of(event, "pid").value_or(-1), thread = integer_of(event, "tid").value_or(-1);
    dom::object arguments;
    const bool has_arguments = event["args"].get(arguments) == simdjson::SUCCESS;
    if (phase == "M" && has_arguments)
      return take_name(text_of(event, "name"), process, thread, text_of(arguments, "name"));
    if (phase != "X") return;
    const auto start_ns = time_of(event, "ts"), duration_ns = time_of(event, "dur");
    if (!start_ns || !duration_ns) return skip("event without a readable ts or dur");
    const Event found{text_of(event, "name").substr(0, kLongestName), *start_ns, *duration_ns, process, thread};
    if (const auto gpu = gpus_.find(process); gpu != gpus_.end()) {
      if (const auto stream = streams_.find({process, thread}); stream != streams_.end() && has_arguments)
        take_operation(found, arguments, gpu->second, stream->second);
    } else if (hosts_.contains(process)) {
      take_call(found, has_arguments ? correlation_of(arguments) : kNoCorrelation);
      take_mark(found, has_arguments ? integer_of(arguments, "step_num") : std::nullopt);
    }
  }

  struct Event {
    std::string_view name;
    std::int64_t start_ns, duration_ns, process, thread;
  };

  void take_name(std::string_view what, std::int64_t process, std::int64_t thread, std::string_view name) {
    if (what == "process_name" && name.starts_with(kGpu)) gpus_[process] = number_in(name.substr(kGpu.size()));
    if (what == "process_name" && name.starts_with("/host:")) hosts_.insert(process);
    if (what == "thread_name" && name.starts_with(kStream))
      streams_[{process, thread}] = number_in(name.substr(kStream.size()));
  }

  void take_operation(const Event& event, dom::object arguments, std::uint32_t gpu, std::uint32_t stream) {
    OpRecord op;
    op.start_ns = event.start_ns;
    op.duration_ns = event.duration_ns;
    op.kind = kind_of(event.name);
    op.name = builder_.intern(event.name);
    op.queue = builder_.queue({.device = gpu, .context = 1, .stream = stream});
    if (const std::string_view details = text_of(arguments, "kernel_details"); !details.empty())
      op.shape = builder_.shape(shape_of(details));
    const std::string_view moved = text_of(arguments, op.kind == OpKind::kMemset ? "memset_details" : "memcpy_details");
    op.bytes = static_cast<std::uint64_t>(parse_integer(detail(moved, "size")).value_or(0));
    op.graph_node = static_cast<std::uint64_t>(integer_of(arguments, "cuda_graph_node_id").value_or(0));
    const std::uint32_t row = builder_.add(op);
    const bool blocks = detail(moved, "kind_dst") == "pageable";
    calls_.add_submission(row, 0, correlation_of(arguments), blocks);
  }

  static std::uint64_t correlation_of(dom::object arguments) {
    const auto id = integer_of(arguments, "correlation_id");
    return id && *id > 0 ? static_cast<std::uint64_t>(*id) : kNoCorrelation;
  }

  /// Host events that are calls of CUDA or HIP: `cuGraphLaunch (CudaGraph:2)`.
  void take_call(const Event& event, std::uint64_t correlation) {
    const std::string_view function = event.name.substr(0, event.name.find(' '));
    const LoggedCall call{.start_ns = event.start_ns,
                          .duration_ns = event.duration_ns,
                          .thread = thread_of(event),
                          .correlation = correlation,
                          .kind = kind_of_api_call(function),
                          .is_driver = is_driver_call(function)};
    if (call.kind || correlation != kNoCorrelation) calls_.add(call);
  }

  static ThreadRecord thread_of(const Event& event) {
    return {static_cast<std::uint64_t>(event.process), static_cast<std::uint64_t>(event.thread)};
  }

  /// Steps that a program names (StepTraceAnnotation), and calls of a jitted function.
  void take_mark(const Event& event, std::optional<std::int64_t> step) {
    if (!step && !event.name.starts_with("PjitFunction(")) return;
    const std::string name = step ? fmt::format("{} (step {})", event.name, *step) : std::string(event.name);
    builder_.add(
        MarkRecord{event.start_ns, event.duration_ns, builder_.intern(name), builder_.thread(thread_of(event))});
  }

  void set_provenance() {
    Provenance& provenance = builder_.provenance();
    provenance.source_format = "xla";
    provenance.source_file = file_;
    provenance.content_hash = source_.hash;
    provenance.clock = "capture_start";
    Fidelity& fidelity = builder_.fidelity();
    fidelity.has_calls = calls_.has_known_calls();
    fidelity.host_gaps_inflated = true;
  }

  void skip(std::string_view reason) {
    builder_.skip(reason, fmt::format("{}:{} (byte {})", file_, lines_.line_at(offset_), offset_));
  }

  const SourceFile& source_;
  std::string_view text_;
  LineCounter lines_;
  std::string file_;
  std::size_t offset_ = 0;  // of the record at hand
  dom::parser parser_;
  TimelineBuilder builder_;
  CallLog calls_;
  std::map<std::int64_t, std::uint32_t> gpus_;                              // number of each process that is one
  std::set<std::int64_t> hosts_;                                            // processes
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> streams_;  // number of each process' thread
};

class XlaImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "xla"; }
  std::string_view description() const override {
    return "profile of JAX or TensorFlow (trace.json.gz beside xplane.pb): kernels, copies, launches, steps";
  }
  int sniff(const SourceFile& source) const override {
    const auto head = std::string_view{source.bytes}.substr(0, kSniffedBytes);
    const auto holds = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    return holds("\"traceEvents\"") && holds("\"process_name\"") && (holds("\"/host:CPU\"") || holds(kGpu)) ? 95 : 0;
  }
  Timeline read(const SourceFile& source) const override { return XlaReading{source}.read(); }
};

}  // namespace

std::unique_ptr<TraceImporter> make_xla_importer() { return std::make_unique<XlaImporter>(); }

}  // namespace corun
