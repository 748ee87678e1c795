#include "traces/parts/part_reader.h"

#include <cstring>
#include <utility>

#include "traces/base/error.h"
#include "traces/native/chunk.h"

namespace corun {
namespace {

using part::RecordHead;
using part::RecordType;

constexpr std::size_t kAlignment = 8;
constexpr char kPackedTag = 0x0A;  // of Records.packed: field number * 8 + wire type

// The way out of reading one chunk; it does not leave this file.
struct Damage {
  std::string what;
};

template <class... Args>
[[noreturn]] void throw_damage(fmt::format_string<Args...> format, Args&&... args) {
  throw Damage{fmt::format(format, std::forward<Args>(args)...)};
}

// The packed records of a Records message that has nothing else in it.
std::string_view packed_records(std::string_view payload) {
  if (!payload.starts_with(kPackedTag)) throw_damage("a payload without records, expected a Records message");
  std::uint64_t length = 0;
  std::size_t at = 1;
  for (int shift = 0; at < payload.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(payload[at++]);
    length |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  if (payload.size() - at != length) {
    throw_damage("{} bytes of records, expected {} as the payload says", payload.size() - at, length);
  }
  return payload.substr(at);
}

template <class Record>
Record read_as(std::string_view bytes, const char* name) {
  if (bytes.size() < sizeof(Record)) {
    throw_damage("a {} record of {} bytes, expected at least {}", name, bytes.size(), sizeof(Record));
  }
  Record record;
  std::memcpy(&record, bytes.data(), sizeof(record));
  return record;
}

// Fills a PartContent, record by record.
class Reading {
 public:
  explicit Reading(PartContent& content) : content_(content) {}

  bool has_process() const { return has_process_; }

  void take_chunk(std::string_view payload) {
    std::string_view rest = packed_records(payload);
    while (!rest.empty()) {
      const auto head = read_as<RecordHead>(rest, "record");
      if (head.size < sizeof(head) || head.size % kAlignment != 0 || head.size > rest.size()) {
        throw_damage("a record of {} bytes with {} bytes left, expected a multiple of {}", head.size, rest.size(),
                     kAlignment);
      }
      take(head.type, rest.substr(0, head.size));
      rest.remove_prefix(head.size);
    }
  }

 private:
  void take(RecordType type, std::string_view bytes) {
    if (type == RecordType::kProcess) return take_process(bytes);
    if (type == RecordType::kText) return take_text(bytes);
    if (!has_process_) throw_damage("a record of type {}, expected the process first", static_cast<int>(type));
    if (!take_setup(type, bytes) && !take_cuda(type, bytes) && !take_frames(type, bytes)) ++content_.unknown_records;
  }

  void take_process(std::string_view bytes) {
    if (has_process_) throw_damage("a second process, expected one for each part");
    content_.process = read_as<part::ProcessRecord>(bytes, "process");
    has_process_ = true;
  }

  void take_text(std::string_view bytes) {
    const auto text = read_as<part::TextRecord>(bytes, "text");
    const std::size_t most = bytes.size() - sizeof(text);
    if (text.length > most || text.length > part::kMostTextBytes) {
      throw_damage("a text of {} bytes in a record of {}", text.length, bytes.size());
    }
    content_.texts[text.id] = bytes.substr(sizeof(text), text.length);
  }

  bool take_setup(RecordType type, std::string_view bytes) {
    if (type == RecordType::kDevice) return keep(content_.devices, bytes, "device");
    if (type == RecordType::kContext) return keep(content_.contexts, bytes, "context");
    if (type == RecordType::kStream) return keep(content_.streams, bytes, "stream");
    if (type == RecordType::kSwapchain) return keep(content_.swapchains, bytes, "swap chain");
    if (type == RecordType::kLaunchCount) return keep(content_.launch_counts, bytes, "launch count");
    if (type == RecordType::kLost) return add_lost(read_as<part::LostRecord>(bytes, "loss"));
    if (type != RecordType::kEnd) return false;
    content_.end = read_as<part::EndRecord>(bytes, "end");
    return true;
  }

  bool take_cuda(RecordType type, std::string_view bytes) {
    if (type == RecordType::kKernel) return keep(content_.kernels, bytes, "kernel");
    if (type == RecordType::kCopy) return keep(content_.copies, bytes, "copy");
    if (type == RecordType::kMemset) return keep(content_.memsets, bytes, "memset");
    if (type == RecordType::kCall) return keep(content_.calls, bytes, "call");
    if (type == RecordType::kSync) return keep(content_.syncs, bytes, "synchronisation");
    if (type == RecordType::kEventRecord) return keep(content_.event_records, bytes, "event");
    if (type == RecordType::kOverhead) return keep(content_.overheads, bytes, "overhead");
    if (type == RecordType::kContextSwitch) return keep(content_.context_switches, bytes, "context switch");
    if (type == RecordType::kMark) return keep(content_.marks, bytes, "range");
    return false;
  }

  bool take_frames(RecordType type, std::string_view bytes) {
    if (type == RecordType::kVisit) return keep(content_.visits, bytes, "visit");
    if (type == RecordType::kFrame) return keep(content_.frames, bytes, "frame");
    if (type == RecordType::kDraw) return keep(content_.draws, bytes, "draw");
    return false;
  }

  template <class Record>
  bool keep(std::vector<Record>& records, std::string_view bytes, const char* name) {
    records.push_back(read_as<Record>(bytes, name));
    return true;
  }

  bool add_lost(const part::LostRecord& lost) {
    content_.lost[lost.reason] += lost.count;
    return true;
  }

  PartContent& content_;
  bool has_process_ = false;
};

// Takes chunks until the end or the first damage. Returns what is wrong, in the form of PartContent::damage.
std::string read_chunks(std::string_view bytes, Reading& reading) {
  ChunkReader chunks{bytes};
  std::uint32_t number = 0;
  std::uint64_t at = 0;
  try {
    while (const std::optional<Chunk> chunk = chunks.next()) {
      at = chunk->offset;
      if (chunk->header.sequence != number) throw_damage("chunk {}, expected {}", chunk->header.sequence, number);
      if (chunk->header.kind == static_cast<std::uint32_t>(ChunkKind::kRecords)) reading.take_chunk(chunk->payload);
      ++number;
    }
    if (chunks.damage().empty()) return {};
    at = chunks.offset();
    throw_damage("{}", chunks.damage());
  } catch (const Damage& damage) {
    return fmt::format("chunk {}, byte {}: {}", number + 1, at, damage.what);
  }
}

}  // namespace

bool is_part(std::string_view bytes) {
  return first_chunk_kind(bytes) == static_cast<std::uint32_t>(ChunkKind::kRecords);
}

PartContent read_part(std::string_view bytes, const std::string& path) {
  PartContent content;
  content.path = path;
  Reading reading{content};
  content.damage = read_chunks(bytes, reading);
  if (!reading.has_process()) {
    throw_input({path}, "{}, expected a part that begins with its process",
                content.damage.empty() ? "no records in it" : content.damage);
  }
  if (content.process.version > part::kVersion) {
    throw Error(ErrorKind::kUnsupported, SourceLocation{path},
                fmt::format("records of version {}, expected {}", content.process.version, part::kVersion),
                "read it with a newer corun");
  }
  return content;
}

}  // namespace corun
