#include "traces/native/native_scan.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "traces/base/error.h"
#include "traces/native/chunk.h"
#include "traces/native/chunk_meta.h"
#include "traces/native/chunk_rows.h"

namespace corun {
namespace {

bool has_rows(std::uint32_t kind) {
  return kind >= static_cast<std::uint32_t>(ChunkKind::kStrings) && kind < kChunkKinds;
}

// Neither entries of a dictionary nor draws and counters, which the footer does not count.
bool has_timed_rows(std::uint32_t kind) {
  return kind >= static_cast<std::uint32_t>(ChunkKind::kOps) && kind <= static_cast<std::uint32_t>(ChunkKind::kMarks);
}

class Scan {
 public:
  Scan(std::string_view file, const std::string& path, TimelineBuilder& builder,
       const std::function<void(std::uint64_t)>& on_read)
      : file_(file),
        path_(path),
        most_rows_(max_rows_of(file.size())),
        builder_(builder),
        on_read_(on_read),
        reader_(file) {}

  NativeReport run() {
    reserve();
    if (reader_.is_at_end()) set_damage(0, "the file is empty, expected a chunk");
    do {
      while (const std::optional<Chunk> chunk = reader_.next()) take(*chunk);
      if (!reader_.damage().empty()) set_damage(reader_.offset(), reader_.damage());
    } while (!reader_.is_at_end() && reader_.skip_damage());
    report_.chunks = std::max(report_.chunks, next_sequence_);
    report_.rows = std::max({report_.rows, sum(known_rows_), report_.rows_readable});
    return std::move(report_);
  }

 private:
  /// Memory for what the file announces, but for no more rows than it has bytes. Where there is not so much, perhaps
  /// less is needed: what is announced need not be there.
  void reserve() try {
    const RowCounts rows = announced_rows(file_);
    const auto room_for = [&](ChunkKind kind) {
      return std::min<std::uint64_t>(rows[static_cast<std::size_t>(kind)], file_.size());
    };
    builder_.reserve(room_for(ChunkKind::kOps), room_for(ChunkKind::kCalls));
  } catch (const std::bad_alloc&) {
    return;
  }

  static std::uint64_t sum(const RowCounts& counts) {
    std::uint64_t rows = 0;
    for (std::uint32_t kind = 0; kind < kChunkKinds; ++kind) rows += has_timed_rows(kind) ? counts[kind] : 0;
    return rows;
  }

  void set_damage(std::uint64_t byte, std::string what) {
    if (report_.damage) return;
    report_.damage = NativeDamage{next_sequence_ + 1, byte, std::move(what)};
    report_.chunks = report_.damage->chunk;
  }

  void take(const Chunk& chunk) {
    if (!report_.damage) accept(chunk);
    if (on_read_) on_read_(chunk.end);
    count(chunk.header);
    if (report_.damage && chunk.header.kind == static_cast<std::uint32_t>(ChunkKind::kFooter)) trust_footer(chunk);
  }

  // Everything that checksums of single chunks cannot show.
  void accept(const Chunk& chunk) try {
    check_order(chunk.header);
    decode(chunk);
    offsets_.push_back(chunk.offset);
    ++report_.chunks_before_damage;
    if (!has_timed_rows(chunk.header.kind)) return;
    report_.rows_before_damage += chunk.header.row_count;
    report_.end_before_damage_ns = std::max(report_.end_before_damage_ns, chunk.header.last_ns);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUnsupported) {
      throw Error(error.kind(), SourceLocation{path_}, error.message(), error.help());
    }
    set_damage(chunk.offset, error.message());
  }

  void check_order(const ChunkHeader& header) const {
    if (report_.has_footer) throw_input({}, "a chunk after the footer, expected the end of the file");
    if (header.sequence != next_sequence_) {
      throw_input({}, "chunk with number {}, expected {}", header.sequence + std::uint64_t{1}, next_sequence_ + 1);
    }
    const bool is_meta = header.kind == static_cast<std::uint32_t>(ChunkKind::kMeta);
    if (is_meta != (header.sequence == 0)) throw_input({}, "chunk of kind {}, expected kind 1 first", header.kind);
    if (!has_rows(header.kind)) return;
    const std::uint64_t rows_before = known_rows_[header.kind];
    if (header.first_row != rows_before) throw_input({}, "first row {}, expected {}", header.first_row, rows_before);
    check_limits(header);
  }

  void check_limits(const ChunkHeader& header) const {
    std::uint64_t all = header.row_count;
    for (std::uint64_t rows : known_rows_) all += rows;
    if (all > most_rows_) throw_input({}, "{} rows up to here, expected at most {}", all, most_rows_);
    const std::uint64_t most = max_rows(static_cast<ChunkKind>(header.kind));
    const std::uint64_t rows = header.first_row + header.row_count;
    if (rows > most) throw_input({}, "{} rows of kind {}, expected at most {}", rows, header.kind, most);
  }

  void decode(const Chunk& chunk) {
    const ChunkHeader& header = chunk.header;
    if (header.kind == static_cast<std::uint32_t>(ChunkKind::kMeta)) {
      decode_meta(chunk.payload, builder_);
    } else if (header.kind == static_cast<std::uint32_t>(ChunkKind::kFooter)) {
      check_footer(decode_footer(chunk.payload));
    } else if (has_rows(header.kind)) {
      decode_rows(chunk.payload, static_cast<ChunkKind>(header.kind), header.first_row, header.row_count, builder_);
    } else {
      builder_.provenance().notes.push_back(
          fmt::format("Chunk {} is of kind {}, which this version does not know.", next_sequence_ + 1, header.kind));
    }
    if (header.lost_before > 0) builder_.provenance().skipped["lost while capturing"] += header.lost_before;
  }

  void check_footer(const FileFooter& footer) {
    if (footer.chunk_offsets != offsets_) throw_input({}, "footer lists other chunks than the file has");
    if (footer.row_count != sum(known_rows_)) {
      throw_input({}, "{} rows, expected {} as the footer says", sum(known_rows_), footer.row_count);
    }
    report_.has_footer = true;
  }

  // Behind damage, the footer still says how much there was.
  void trust_footer(const Chunk& chunk) try {
    report_.rows = std::max(report_.rows, decode_footer(chunk.payload).row_count);
    report_.has_footer = true;
  } catch (const Error&) {
    return;
  }

  void count(const ChunkHeader& header) {
    next_sequence_ = std::max<std::uint64_t>(next_sequence_, header.sequence + std::uint64_t{1});
    ++report_.chunks_readable;
    if (!has_rows(header.kind)) return;
    std::uint64_t& known = known_rows_[header.kind];
    known = std::max(known, std::min(header.first_row, kMaxFileRows) + header.row_count);
    if (has_timed_rows(header.kind)) report_.rows_readable += header.row_count;
  }

  const std::string_view file_;
  const std::string& path_;
  const std::uint64_t most_rows_;
  TimelineBuilder& builder_;
  const std::function<void(std::uint64_t)>& on_read_;
  ChunkReader reader_;
  NativeReport report_;
  std::uint64_t next_sequence_ = 0;
  RowCounts known_rows_{};
  std::vector<std::uint64_t> offsets_;
};

}  // namespace

NativeReport scan_native(std::string_view file, const std::string& path, TimelineBuilder& builder,
                         const std::function<void(std::uint64_t)>& on_read) {
  return Scan{file, path, builder, on_read}.run();
}

}  // namespace corun
