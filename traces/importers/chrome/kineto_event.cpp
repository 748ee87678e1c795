#include "traces/importers/chrome/kineto_event.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "traces/importers/chrome/json_records.h"
#include "traces/text/decimal.h"

namespace corun {
namespace {

using Category = KinetoEvent::Category;
namespace ondemand = simdjson::ondemand;

bool ends_with_word(std::string_view category, std::string_view lower, std::string_view upper) {
  return category.ends_with(lower) || category == upper;
}

Category category_of(std::string_view category) {
  if (category == "kernel" || category == "Kernel") return Category::kKernel;
  if (category == "gpu_memcpy" || category == "Memcpy") return Category::kCopy;
  if (category == "gpu_memset" || category == "Memset") return Category::kMemset;
  if (category == "cuda_sync") return Category::kWait;
  if (category == "user_annotation") return Category::kMark;
  if (category == "cpu_instant_event") return Category::kMemory;
  if (ends_with_word(category, "_runtime", "Runtime")) return Category::kRuntimeCall;
  if (ends_with_word(category, "_driver", "Driver")) return Category::kDriverCall;
  return Category::kOther;
}

// In 2021 the profiler's steps were operators.
bool may_hold_steps(std::string_view category) { return category == "cpu_op" || category == "Operator"; }

// Number as it stands in the file: 7, "7", or the 2021 thread names "stream 7".
std::optional<std::int64_t> integer_of(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  if (const std::size_t word = token.find("stream "); word != std::string_view::npos) token.remove_prefix(word + 7);
  return parse_integer(token);
}

std::uint32_t small_integer_of(ondemand::value& value) {
  const std::optional<std::int64_t> integer = integer_of(value);
  return integer && *integer >= 0 && *integer <= UINT32_MAX ? static_cast<std::uint32_t>(*integer) : 0;
}

std::optional<std::int64_t> time_of(ondemand::value& value) {
  return parse_decimal(value.raw_json_token(), kNsPerUsDigits);
}

// [x, y, z]
void read_triple(ondemand::value& value, std::uint32_t& x, std::uint32_t& y, std::uint32_t& z) {
  ondemand::array array;
  if (value.get_array().get(array)) return;
  std::uint32_t* const parts[] = {&x, &y, &z};
  std::size_t i = 0;
  for (auto item : array) {
    ondemand::value element;
    if (std::move(item).get(element) || i == 3) return;
    *parts[i++] = small_integer_of(element);
  }
}

void read_argument(std::string_view key, ondemand::value& value, KinetoEvent& event) {
  if (key == "device")
    event.device = integer_of(value);
  else if (key == "stream")
    event.stream = integer_of(value);
  else if (key == "context")
    event.context = integer_of(value);
  else if (key == "correlation")
    event.correlation = integer_of(value);
  else if (key == "bytes")
    event.bytes = integer_of(value);
  else if (key == "grid")
    read_triple(value, event.shape.grid_x, event.shape.grid_y, event.shape.grid_z);
  else if (key == "block")
    read_triple(value, event.shape.block_x, event.shape.block_y, event.shape.block_z);
  else if (key == "registers per thread")
    event.shape.registers_per_thread = small_integer_of(value);
  else if (key == "shared memory")
    event.shape.shared_memory_bytes = small_integer_of(value);
  else if (key == "graph node id")
    event.graph_node = integer_of(value);
  else if (key == "wait_on_stream")
    event.awaited_stream = integer_of(value);
  else if (key == "wait_on_cuda_event_record_corr_id")
    event.awaited_record = integer_of(value);
  else if (key == "Total Reserved")
    event.reserved_bytes = integer_of(value);
  else if (key == "Device Id")
    event.memory_device = integer_of(value);
  else if (key == "Device Type")
    event.memory_device_type = integer_of(value);
}

// Raw text of a key between its quotation marks: the keys that matter have no escapes.
std::string_view raw_key(ondemand::field& field) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"') ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

simdjson::error_code read_arguments(ondemand::value& value, KinetoEvent& event) {
  ondemand::object arguments;
  if (value.get_object().get(arguments)) return simdjson::SUCCESS;  // not an object: nothing to learn
  for (auto item : arguments) {
    ondemand::field field;
    if (const auto error = std::move(item).get(field)) return error;
    const std::string_view key = raw_key(field);
    read_argument(key, field.value(), event);
  }
  return simdjson::SUCCESS;
}

// State of one record while its keys pass by.
struct Reading {
  KinetoEvent& event;
  bool has_category = false;
  char phase = '\0';             // first letter of "ph"; not seen yet
  bool needs_step_name = false;  // category alone does not decide; the name has to be a profiler step
  bool has_name = false;

  bool is_of_no_interest() const {
    if (phase != '\0' && phase != 'X' && phase != 'i') return true;
    if (phase != '\0' && has_category && (phase == 'i') != (event.category == Category::kMemory)) return true;
    if (has_name && event.category == Category::kMemory) return event.name != "[memory]";
    if (has_category && event.category == Category::kOther) {
      return !needs_step_name || (has_name && !event.name.starts_with("ProfilerStep#"));
    }
    return false;
  }

  void finish() {
    const bool is_step = needs_step_name && event.name.starts_with("ProfilerStep#");
    if (is_of_no_interest() || !has_category)
      event.category = Category::kOther;
    else if (is_step)
      event.category = Category::kMark;
  }
};

simdjson::error_code read_field(ondemand::field& field, Reading& reading) {
  KinetoEvent& event = reading.event;
  const std::string_view key = raw_key(field);
  ondemand::value value = field.value();
  std::string_view text;
  if (key == "ph") {
    if (const auto error = value.get_string().get(text)) return error;
    reading.phase = text.size() == 1 ? text[0] : '?';
  } else if (key == "cat") {
    if (const auto error = value.get_string().get(text)) return error;
    event.category = category_of(text);
    reading.has_category = true;
    reading.needs_step_name = may_hold_steps(text);
  } else if (key == "name") {
    if (const auto error = value.get_string().get(event.name)) return error;
    reading.has_name = true;
  } else if (key == "ts") {
    event.ts_ns = time_of(value);
  } else if (key == "dur") {
    event.duration_ns = time_of(value);
  } else if (key == "pid") {
    event.pid = integer_of(value);
  } else if (key == "tid") {
    event.tid = integer_of(value);
  } else if (key == "args") {
    return read_arguments(value, event);
  }
  return simdjson::SUCCESS;
}

// Takes a string that has no escapes off the front of the text, and what stands before it if that is only white space
// and `before`.
std::optional<std::string_view> take_string(std::string_view& text, char before) {
  std::size_t at = skip_json_space(text, 0);
  if (at >= text.size() || text[at] != before) return std::nullopt;
  at = skip_json_space(text, at + 1);
  if (at >= text.size() || text[at] != '"') return std::nullopt;
  const std::size_t end = text.find_first_of("\"\\", at + 1);
  if (end == std::string_view::npos || text[end] != '"') return std::nullopt;
  const std::string_view content = text.substr(at + 1, end - at - 1);
  text.remove_prefix(end + 1);
  return content;
}

// Profilers write phase, category and name first, and three records in four are arrows and host operators: a look at
// those strings saves parsing them.
bool begins_without_interest(std::string_view record) {
  bool may_be_step = false;
  for (char before = '{';; before = ',') {
    const auto key = take_string(record, before);
    const auto value = key ? take_string(record, ':') : std::nullopt;
    if (!value) return false;
    if (*key == "ph" && *value != "X" && *value != "i") return true;
    if (*key == "name" && may_be_step) return !value->starts_with("ProfilerStep#");
    if (*key != "cat") continue;
    may_be_step = may_hold_steps(*value);
    if (!may_be_step) return category_of(*value) == Category::kOther;
  }
}

// Bytes of the UTF-8 sequence that the text begins with; 0 where it begins with none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool is_too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool is_no_character = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return is_too_long || is_no_character ? 0 : length;
}

// Half of a character of UTF-16, as JSON writes it: \uD800 to \uDFFF. 0 where the text does not begin with one.
unsigned surrogate_at(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return 0;
  unsigned value = 0;
  const auto [end, failure] = std::from_chars(text.data() + 2, text.data() + 6, value, 16);
  return failure == std::errc{} && end == text.data() + 6 && value >= 0xD800 && value <= 0xDFFF ? value : 0;
}

// The record with a replacement character in place of all that is no character: a name that holds one is a name still.
std::string repaired(std::string_view record) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string text;
  while (!record.empty()) {
    std::size_t length = sequence_length(record);
    bool is_whole = length > 0;
    if (record[0] == '\\' && record.size() > 1) {
      const unsigned first = surrogate_at(record), second = first != 0 ? surrogate_at(record.substr(6)) : 0;
      const bool is_pair = first != 0 && first < 0xDC00 && second >= 0xDC00;
      length = is_pair ? 12 : first != 0 ? 6 : 2;
      is_whole = is_pair || first == 0;
    }
    text += is_whole ? record.substr(0, length) : kReplacement;
    record.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

struct KinetoEventReader::Parser {
  ondemand::parser json;
  std::string padded;  // a record at the very end of the file, with room behind it

  simdjson::error_code read(simdjson::padded_string_view text, KinetoEvent& event) {
    Reading reading{event};
    ondemand::document document;
    if (const auto error = json.iterate(text).get(document)) return error;
    ondemand::object object;
    if (const auto error = document.get_object().get(object)) return error;
    for (auto item : object) {
      ondemand::field field;
      if (const auto error = std::move(item).get(field)) return error;
      if (const auto error = read_field(field, reading)) return error;
      if (reading.is_of_no_interest()) break;
    }
    reading.finish();
    return simdjson::SUCCESS;
  }
};

KinetoEventReader::KinetoEventReader() : parser_(std::make_unique<Parser>()) {}
KinetoEventReader::~KinetoEventReader() = default;

const char* KinetoEventReader::read(std::string_view record, std::size_t readable, KinetoEvent& event) {
  event = KinetoEvent{};
  if (begins_without_interest(record)) return nullptr;
  const char* text = record.data();
  if (readable < record.size() + simdjson::SIMDJSON_PADDING) {
    parser_->padded.assign(record);
    parser_->padded.resize(record.size() + simdjson::SIMDJSON_PADDING, ' ');
    text = parser_->padded.data();
  }
  auto error = parser_->read(
      simdjson::padded_string_view{text, record.size(), record.size() + simdjson::SIMDJSON_PADDING}, event);
  if (error == simdjson::UTF8_ERROR || error == simdjson::STRING_ERROR) {
    event = KinetoEvent{};
    parser_->padded = repaired(record);
    const std::size_t size = parser_->padded.size();
    parser_->padded.resize(size + simdjson::SIMDJSON_PADDING, ' ');
    error = parser_->read(simdjson::padded_string_view{parser_->padded.data(), size, parser_->padded.size()}, event);
  }
  return error ? simdjson::error_message(error) : nullptr;
}

OpKind copy_kind_of(std::string_view name) {
  for (std::string_view upward : {"HtoD", "HtoA", "HtoH", "HostToDevice", "HostToArray"}) {
    if (contains(name, upward)) return OpKind::kCopyHostToDevice;
  }
  for (std::string_view downward : {"DtoH", "AtoH", "DeviceToHost", "ArrayToHost"}) {
    if (contains(name, downward)) return OpKind::kCopyDeviceToHost;
  }
  for (std::string_view peer : {"PtoP", "Peer"}) {
    if (contains(name, peer)) return OpKind::kCopyPeer;
  }
  return OpKind::kCopyDeviceToDevice;
}

}  // namespace corun
