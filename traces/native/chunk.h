#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corun {

/// What a chunk of a native file holds. The numbers are those of schema/trace.proto.
enum class ChunkKind : std::uint8_t {
  kMeta = 1,
  kFooter = 2,
  kStrings = 3,
  kQueues = 4,
  kThreads = 5,
  kShapes = 6,
  kSwapchains = 7,
  kOps = 8,
  kCalls = 9,
  kFrames = 10,
  kMarks = 11,
  kDraws = 12,
  kCounters = 13,
  kRecords = 32,  ///< records of a part (traces/parts/part_record.h), which has chunks of no other kind
};

/// One past the largest kind of a timeline's chunks: the size of an array indexed by kind.
inline constexpr std::size_t kChunkKinds = 14;

/// Limits of the format. Readers check them before they allocate; a file beyond them is damaged.
inline constexpr std::uint32_t kMaxChunkBytes = 16u << 20;   ///< payload before compression
inline constexpr std::uint32_t kMaxChunkRows = 1u << 16;     ///< rows in a chunk
inline constexpr std::uint64_t kMaxFileRows = 1ull << 28;    ///< rows in a file, all kinds together
inline constexpr std::uint64_t kMaxFreeRows = 1ull << 26;    ///< of them, those that need no bytes: 4 GiB in memory
inline constexpr std::uint32_t kMaxStringBytes = 64u << 10;  ///< a string of the dictionary

/// What a chunk says of itself, protected by a checksum of its own.
struct ChunkHeader {
  std::uint32_t sequence = 0;   ///< 0, 1, 2, ... within a file
  std::uint32_t kind = 0;       ///< a ChunkKind, or a number that a later version of the format gave a meaning
  std::uint64_t first_row = 0;  ///< rows of this kind in the chunks before
  std::uint32_t row_count = 0;
  std::int64_t first_ns = 0;      ///< earliest instant of the rows
  std::int64_t last_ns = 0;       ///< latest instant of the rows, ends included
  std::uint64_t lost_before = 0;  ///< records that the capture knows it lost since the chunk before
};

/// Appends one chunk to `file`. The payload is compressed where that makes it smaller.
/// Throws Error(kInput) if the payload is larger than kMaxChunkBytes.
void append_chunk(std::string& file, const ChunkHeader& header, std::string_view payload);

/// A chunk whose checksums are right.
struct Chunk {
  ChunkHeader header;
  std::uint64_t offset = 0;  ///< byte of the file at which the chunk begins
  std::uint64_t end = 0;     ///< byte after it
  std::string payload;       ///< uncompressed
};

/// Most rows of a kind in a file: 2^20 strings and counters, 2^16 threads and swap chains, which are searched one by
/// one.
constexpr std::uint64_t max_rows(ChunkKind kind) {
  if (kind == ChunkKind::kStrings || kind == ChunkKind::kCounters) return 1u << 20;
  if (kind == ChunkKind::kThreads || kind == ChunkKind::kSwapchains) return 1u << 16;
  return kMaxFileRows;
}

/// Most rows in a file of so many bytes. Rows that equal one another take next to no bytes in a chunk, but all of their
/// memory; beyond 2^26 a file needs a byte for each of its rows, so that a small file cannot ask for much.
constexpr std::uint64_t max_rows_of(std::uint64_t file_bytes) {
  return file_bytes < kMaxFreeRows ? kMaxFreeRows : file_bytes < kMaxFileRows ? file_bytes : kMaxFileRows;
}

/// True if the bytes begin as a chunk does: enough to recognise a native file.
bool begins_chunk(std::string_view file);

/// Kind of the first chunk, by its header alone; empty where there is no readable one. For recognising files.
std::optional<std::uint32_t> first_chunk_kind(std::string_view file);

/// Rows by kind of chunk.
using RowCounts = std::array<std::uint64_t, kChunkKinds>;

/// How many rows the headers of a file's chunks announce, up to the first that is damaged: what memory there may be
/// need of. The rows have not been read.
RowCounts announced_rows(std::string_view file);

/// Reads chunks out of a file in memory, one after another. It holds no more than one payload at a time.
///
/// Damage is an ordinary answer here: callers decide whether to stop, to skip or to report it. One thread.
class ChunkReader {
 public:
  explicit ChunkReader(std::string_view file) : file_(file) {}

  /// The next chunk; empty at the end of the file and at damage. After damage it stays where it is.
  std::optional<Chunk> next();

  /// What is wrong at offset(), in the form "found, expected"; empty while all is well.
  const std::string& damage() const { return damage_; }
  std::uint64_t offset() const { return offset_; }
  bool is_at_end() const { return offset_ == file_.size(); }

  /// Goes to the next undamaged chunk after the damage; false, and to the end of the file, if there is none.
  bool skip_damage();

 private:
  std::optional<Chunk> read_at(std::uint64_t offset);

  std::string_view file_;
  std::uint64_t offset_ = 0;
  std::string damage_;
};

}  // namespace corun
