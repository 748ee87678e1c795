#include "traces/native/native.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>
#include <vector>

#include "traces/base/column.h"
#include "traces/base/error.h"
#include "traces/base/write_file.h"
#include "traces/native/chunk.h"
#include "traces/native/chunk_meta.h"
#include "traces/native/chunk_rows.h"
#include "traces/native/native_scan.h"

namespace corun {
namespace {

constexpr std::array kDictionaries{ChunkKind::kStrings, ChunkKind::kQueues, ChunkKind::kThreads, ChunkKind::kShapes,
                                   ChunkKind::kSwapchains};
constexpr std::array kTimedRows{ChunkKind::kOps, ChunkKind::kCalls, ChunkKind::kFrames, ChunkKind::kMarks,
                                ChunkKind::kDraws};

constexpr std::size_t kMostMetaBytes = 1 << 20;  // of a file's first chunk, to be read alone

class FileWriter {
 public:
  explicit FileWriter(const Timeline& timeline) : timeline_(timeline) {}

  std::string write() {
    append(ChunkKind::kMeta, 0, {.payload = encode_meta(timeline_)});
    for (ChunkKind kind : kDictionaries) append_all(kind);
    append_all(ChunkKind::kCounters);
    append_by_time();
    append(ChunkKind::kFooter, 0, {.payload = encode_footer(footer_)});
    return std::move(file_);
  }

 private:
  // The next rows of one kind.
  struct Next {
    ChunkKind kind;
    std::uint64_t first_row;
    EncodedRows rows;
  };

  void append(ChunkKind kind, std::uint64_t first_row, const EncodedRows& rows) {
    const ChunkHeader header{.sequence = static_cast<std::uint32_t>(footer_.chunk_offsets.size()),
                             .kind = static_cast<std::uint32_t>(kind),
                             .first_row = first_row,
                             .row_count = rows.row_count,
                             .first_ns = rows.first_ns,
                             .last_ns = rows.last_ns};
    footer_.chunk_offsets.push_back(file_.size());
    append_chunk(file_, header, rows.payload);
  }

  void append_all(ChunkKind kind) {
    for (std::uint64_t first_row = 0; first_row < count_rows(timeline_, kind);) {
      const EncodedRows rows = encode_rows(timeline_, kind, first_row);
      append(kind, first_row, rows);
      first_row += rows.row_count;
    }
  }

  // Chunks in order of time, so that the readable part of a damaged file is a stretch of time.
  void append_by_time() {
    std::vector<Next> nexts;
    for (ChunkKind kind : kTimedRows) {
      // Readers that do not know of draws count without them.
      if (kind != ChunkKind::kDraws) footer_.row_count += count_rows(timeline_, kind);
      if (count_rows(timeline_, kind) > 0) nexts.push_back({kind, 0, encode_rows(timeline_, kind, 0)});
    }
    while (!nexts.empty()) {
      const auto earliest = std::min_element(
          nexts.begin(), nexts.end(), [](const Next& a, const Next& b) { return a.rows.first_ns < b.rows.first_ns; });
      append(earliest->kind, earliest->first_row, earliest->rows);
      earliest->first_row += earliest->rows.row_count;
      if (earliest->first_row == count_rows(timeline_, earliest->kind)) {
        nexts.erase(earliest);
      } else {
        earliest->rows = encode_rows(timeline_, earliest->kind, earliest->first_row);
      }
    }
  }

  const Timeline& timeline_;
  std::string file_;
  FileFooter footer_;
};

/// What no reader would take back.
void check_row_limits(const Timeline& timeline, std::uint64_t file_bytes) {
  std::uint64_t rows = 0;
  const auto count = [&](ChunkKind kind) {
    const std::uint64_t of_kind = count_rows(timeline, kind);
    const std::uint64_t most = max_rows(kind);
    rows += of_kind;
    if (of_kind > most)
      throw_input({}, "{} rows of kind {}, expected at most {}", of_kind, static_cast<int>(kind), most);
  };
  for (ChunkKind kind : kDictionaries) count(kind);
  for (ChunkKind kind : kTimedRows) count(kind);
  count(ChunkKind::kCounters);
  const std::uint64_t most = max_rows_of(file_bytes);
  if (rows > most) throw_input({}, "timeline of {} rows in {} bytes, expected at most {} rows", rows, file_bytes, most);
}

std::string describe_total(const NativeReport& report) {
  return fmt::format("{}{}", report.has_footer ? "" : ">= ", report.chunks);
}

std::string describe_readable(const NativeReport& report) {
  const double percent =
      report.rows == 0 ? 0 : 100.0 * static_cast<double>(report.rows_before_damage) / static_cast<double>(report.rows);
  return fmt::format("{} chunks ({:.1f} s, {:.1f} % of rows)", report.chunks_before_damage,
                     static_cast<double>(report.end_before_damage_ns) * 1e-9, percent);
}

[[noreturn]] void fail_at_damage(const NativeReport& report, const std::string& path) {
  const NativeDamage& damage = *report.damage;
  std::string help;
  if (report.chunks_before_damage > 0) {
    help = fmt::format("{} are readable: `simcli info {} --recover FILE` writes them to a new file",
                       describe_readable(report), path);
  }
  throw Error(
      ErrorKind::kInput, SourceLocation{path},
      fmt::format("chunk {} of {}, byte {}: {}", damage.chunk, describe_total(report), damage.byte, damage.what), help);
}

// Rows refer to rows that may be recorded later. Those behind the end of what was read are as good as not recorded.
void drop_dangling(TimelineBuilder& builder) {
  const auto drop = [](std::uint32_t& reference, std::size_t count) {
    if (reference >= count) reference = OpRecord::kNoIndex;
  };
  const auto ops = static_cast<std::uint32_t>(builder.op_count());
  const auto calls = static_cast<std::uint32_t>(builder.call_count());
  for (std::uint32_t i = 0; i < ops; ++i) drop(builder.op(i).call, calls);
  for (std::uint32_t i = 0; i < calls; ++i) drop(builder.call(i).awaited, ops);
}

void note_losses(const NativeReport& report, TimelineBuilder& builder) {
  std::vector<std::string>& notes = builder.provenance().notes;
  if (report.damage) {
    notes.push_back(fmt::format("The file is damaged in chunk {} of {}: only {} were read.", report.damage->chunk,
                                describe_total(report), describe_readable(report)));
  } else if (!report.has_footer) {
    notes.push_back("The file has no footer: the capture did not end properly.");
  }
}

/// Frees the memory pages of bytes [from, to), which read as zero from then on. Returns up to where it did. A large
/// page is given back as a whole.
std::uint64_t give_back(std::string& bytes, std::uint64_t from, std::uint64_t to) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = (begin + from + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t last = (begin + to) / kLargePage * kLargePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  return last - begin;
}

class NativeImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "corun"; }
  std::string_view description() const override { return "native traces (.corun): everything that a timeline holds"; }
  int sniff(const SourceFile& source) const override {
    const bool is_part = first_chunk_kind(source.bytes) == static_cast<std::uint32_t>(ChunkKind::kRecords);
    return begins_chunk(source.bytes) && !is_part ? 100 : 0;
  }
  Timeline read(const SourceFile& source) const override { return read_native(source.bytes, source.path); }
};

}  // namespace

std::string encode_native(const Timeline& timeline) {
  check_row_limits(timeline, UINT64_MAX);
  std::string file = FileWriter{timeline}.write();
  check_row_limits(timeline, file.size());
  return file;
}

void write_native(const Timeline& timeline, const std::string& path, bool overwrite) {
  write_file(path, encode_native(timeline), overwrite);
}

Timeline read_native(std::string_view bytes, const std::string& path, const NativeRead& options) {
  TimelineBuilder builder;
  const NativeReport report = scan_native(bytes, path, builder);
  const bool is_prefix_wanted = options.use_prefix && report.chunks_before_damage > 0;
  if (report.damage && !is_prefix_wanted) fail_at_damage(report, path);
  if (report.damage || !report.has_footer) drop_dangling(builder);
  note_losses(report, builder);
  try {
    return std::move(builder).seal();
  } catch (const Error& error) {
    throw Error(error.kind(), SourceLocation{path}, error.message(), error.help());
  }
}

std::optional<CompactCapture> read_native_compact(std::string bytes, const std::string& path) {
  CompactRows rows;
  TimelineBuilder builder;
  builder.divert(rows);
  std::uint64_t given_back = 0;
  const NativeReport report = scan_native(bytes, path, builder, [&](std::uint64_t read) {
    if (read - given_back >= 2 * kLargePage) given_back = give_back(bytes, given_back, read);
  });
  if (report.damage || !report.has_footer) return std::nullopt;
  const std::int64_t origin_ns = builder.provenance().origin_ns;
  try {
    Timeline rest = std::move(builder).seal();
    const bool is_at_origin = rest.provenance().origin_ns == origin_ns;
    if (!is_at_origin || !rows.are_sound(rest)) return std::nullopt;
    return std::move(rows).take(std::move(rest));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<PowerMean> recorded_power(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string beginning(kMostMetaBytes, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  const std::optional<Chunk> first = ChunkReader(beginning).next();
  if (!first || first->header.kind != static_cast<std::uint32_t>(ChunkKind::kMeta)) return {};
  try {
    TimelineBuilder builder;
    decode_meta(first->payload, builder);
    return builder.provenance().power;
  } catch (const Error&) {
    return {};
  }
}

NativeReport verify_native(std::string_view bytes, const std::string& path) {
  TimelineBuilder builder;
  return scan_native(bytes, path, builder);
}

NativeReport verify_native(const std::string& path) { return verify_native(read_source(path).bytes, path); }

std::unique_ptr<TraceImporter> make_native_importer() { return std::make_unique<NativeImporter>(); }

}  // namespace corun
