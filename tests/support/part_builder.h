#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "traces/native/chunk.h"
#include "traces/parts/part_record.h"

namespace corun::testing {

/// The process of a part, for tests that do not care: number 100, started at tick 1.
inline part::ProcessRecord some_process(part::Source source = part::Source::kCuda,
                                        part::Detail detail = part::Detail::kCalls, std::uint32_t process = 100) {
  part::ProcessRecord record{};
  record.source = source;
  record.detail = detail;
  record.process = process;
  record.start_ticks = 1;
  record.version = 1;
  return record;
}

/// Writes parts as a traced process does: records into chunks, chunks into a file.
class PartBuilder {
 public:
  explicit PartBuilder(part::ProcessRecord process = some_process(), std::string_view program = "program") {
    process.program = 1;
    add(part::RecordType::kProcess, process);
    text(program);
  }

  /// Fills in the head and appends. `extra` is put behind the record: text, or what a later version knows.
  template <class Record>
  PartBuilder& add(part::RecordType type, Record record, std::string extra = {}) {
    extra.resize((extra.size() + 7) / 8 * 8);
    record.head = {type, static_cast<std::uint16_t>(sizeof(record) + extra.size()), 0};
    packed_.append(reinterpret_cast<const char*>(&record), sizeof(record));
    packed_ += extra;
    return *this;
  }

  /// Id of a text, written the first time.
  std::uint32_t text(std::string_view text) {
    const auto [entry, is_new] = texts_.try_emplace(std::string{text}, static_cast<std::uint32_t>(texts_.size() + 1));
    if (is_new) {
      const auto length = static_cast<std::uint32_t>(text.size());
      add(part::RecordType::kText, part::TextRecord{.head = {}, .id = entry->second, .length = length},
          std::string{text});
    }
    return entry->second;
  }

  PartBuilder& lost(part::LossReason reason, std::uint64_t count) {
    return add(part::RecordType::kLost, part::LostRecord{.head = {}, .count = count, .reason = reason, .reserved = 0});
  }

  PartBuilder& end(part::EndReason reason = part::EndReason::kExit) {
    part::EndRecord record{};
    record.reason = reason;
    return add(part::RecordType::kEnd, record);
  }

  /// Bytes as they are, for what no guest would write.
  PartBuilder& raw(std::string_view bytes) {
    packed_ += bytes;
    return *this;
  }

  /// The chunk ends here.
  PartBuilder& flush() {
    std::string payload = "\x0A";
    std::uint64_t length = packed_.size();
    for (; length >= 0x80; length >>= 7) payload.push_back(static_cast<char>(length | 0x80));
    payload.push_back(static_cast<char>(length));
    append_chunk(file_, {.sequence = sequence_++, .kind = static_cast<std::uint32_t>(ChunkKind::kRecords)},
                 payload + packed_);
    packed_.clear();
    return *this;
  }

  /// The file so far.
  std::string bytes() {
    if (!packed_.empty()) flush();
    return file_;
  }

 private:
  std::string file_, packed_;
  std::uint32_t sequence_ = 0;
  std::map<std::string, std::uint32_t> texts_;
};

}  // namespace corun::testing
