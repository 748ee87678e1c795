#include "traces/native/chunk.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "traces/base/crc32c.h"
#include "traces/base/error.h"
#include "traces/base/varint.h"
#include "traces/schema/trace.pb.h"

namespace corun {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's fixed-width numbers are little-endian");

// Tags of the fields of TraceFile and Chunk: field number * 8 + wire type.
constexpr char kChunkTag = 0x0A;
constexpr char kHeaderTag = 0x12;
constexpr char kHeaderCrcTag = 0x1D;
constexpr char kPayloadTag = 0x22;

// Tag and value of the sync word. The value begins with a byte beyond ASCII and ends with a line break, so that a
// transfer in text mode damages the first chunk and is noticed.
constexpr std::string_view kSync{
    "\x09\x89"
    "CORUN\r\n",
    9};

constexpr int kCompressionLevel = 3;
constexpr std::size_t kMaxHeaderBytes = 127;
constexpr std::size_t kMaxVarintBytes = 5;  // of the lengths, which all fit 32 bits
constexpr int kMostResyncs = 1000;          // a hostile file can have a sync word every few bytes

void append_fixed32(std::string& out, std::uint32_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string compress(std::string_view payload) {
  std::string out(ZSTD_compressBound(payload.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), payload.data(), payload.size(), kCompressionLevel);
  CORUN_ASSERT(!ZSTD_isError(size), "zstd: {}", ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

std::string encode_header(const ChunkHeader& header, std::uint32_t raw_length, bool is_compressed,
                          std::uint32_t payload_crc) {
  schema::ChunkHeader wire;
  wire.set_sequence(header.sequence);
  wire.set_kind(static_cast<schema::ChunkHeader::Kind>(header.kind));
  wire.set_codec(is_compressed ? schema::ChunkHeader::ZSTD : schema::ChunkHeader::NONE);
  wire.set_raw_length(raw_length);
  wire.set_payload_crc(payload_crc);
  wire.set_first_row(header.first_row);
  wire.set_row_count(header.row_count);
  wire.set_first_ns(header.first_ns);
  wire.set_last_ns(header.last_ns);
  wire.set_lost_before(header.lost_before);
  return wire.SerializeAsString();
}

ChunkHeader decode_header(const schema::ChunkHeader& wire) {
  return {.sequence = wire.sequence(),
          .kind = static_cast<std::uint32_t>(wire.kind()),
          .first_row = wire.first_row(),
          .row_count = wire.row_count(),
          .first_ns = wire.first_ns(),
          .last_ns = wire.last_ns(),
          .lost_before = wire.lost_before()};
}

// The way out of the nested readers below; it does not leave this file.
struct Damage {
  std::string what;
};

template <class... Args>
[[noreturn]] void throw_damage(fmt::format_string<Args...> format, Args&&... args) {
  throw Damage{fmt::format(format, std::forward<Args>(args)...)};
}

// Takes the parts of a chunk off the front of the file.
class Cursor {
 public:
  Cursor(std::string_view file, std::uint64_t offset) : file_(file), offset_(offset) {}

  std::uint64_t offset() const { return offset_; }

  void expect(std::string_view expected, std::string_view what) {
    const std::string_view found = file_.substr(offset_, expected.size());
    if (found.size() < expected.size()) fail_at_end(what);
    if (found != expected) throw_damage("found {:02x}, expected {}", fmt::join(as_bytes(found), " "), what);
    offset_ += expected.size();
  }

  std::uint32_t varint(std::string_view what) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kMaxVarintBytes; ++i) {
      if (offset_ == file_.size()) fail_at_end(what);
      const auto byte = static_cast<unsigned char>(file_[offset_++]);
      value |= std::uint64_t{byte & 0x7Fu} << (7 * i);
      if (byte < 0x80) return checked_length(value, what);
    }
    throw_damage("length of {} of more than {} bytes", what, kMaxVarintBytes);
  }

  std::uint32_t fixed32(std::string_view what) {
    std::uint32_t value;
    std::memcpy(&value, bytes(sizeof(value), what).data(), sizeof(value));
    return value;
  }

  std::string_view bytes(std::size_t size, std::string_view what) {
    if (file_.size() - offset_ < size) fail_at_end(what);
    offset_ += size;
    return file_.substr(offset_ - size, size);
  }

 private:
  static std::uint32_t checked_length(std::uint64_t length, std::string_view what) {
    constexpr std::uint32_t kMost = kMaxChunkBytes + 1024;
    if (length > kMost) throw_damage("length of {} is {}, expected at most {}", what, length, kMost);
    return static_cast<std::uint32_t>(length);
  }

  static std::vector<unsigned char> as_bytes(std::string_view text) { return {text.begin(), text.end()}; }

  [[noreturn]] void fail_at_end(std::string_view what) const {
    throw_damage("the file ends at byte {}, expected {}", file_.size(), what);
  }

  std::string_view file_;
  std::uint64_t offset_;
};

void check_crc(std::string_view bytes, std::uint32_t expected, const char* what) {
  const std::uint32_t found = crc32c(bytes);
  if (found != expected) throw_damage("checksum of {} 0x{:08x}, expected 0x{:08x}", what, found, expected);
}

/// What zstd works with, made once for each thread: it is as large as several chunks.
ZSTD_DCtx* decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (!context) throw std::bad_alloc();
  return context.get();
}

std::string decompress(std::string_view stored, const schema::ChunkHeader& header) {
  if (header.codec() == schema::ChunkHeader::NONE) return std::string{stored};
  if (header.codec() != schema::ChunkHeader::ZSTD) {
    throw_damage("codec {}, expected 0 (none) or 1 (zstd)", static_cast<int>(header.codec()));
  }
  std::string payload(header.raw_length(), '\0');
  const std::size_t size =
      ZSTD_decompressDCtx(decompressor(), payload.data(), payload.size(), stored.data(), stored.size());
  if (ZSTD_isError(size)) throw_damage("zstd: {}", ZSTD_getErrorName(size));
  payload.resize(size);
  return payload;
}

void check_limits(const schema::ChunkHeader& header) {
  if (header.raw_length() > kMaxChunkBytes) {
    throw_damage("payload of {} bytes, expected at most {}", header.raw_length(), kMaxChunkBytes);
  }
  if (header.row_count() > kMaxChunkRows) {
    throw_damage("{} rows, expected at most {}", header.row_count(), kMaxChunkRows);
  }
}

schema::ChunkHeader read_header(Cursor& cursor) {
  cursor.expect(kSync, "the sync word");
  cursor.expect({&kHeaderTag, 1}, "a chunk header (12)");
  const std::string_view header_bytes = cursor.bytes(cursor.varint("the header"), "the rest of the header");
  cursor.expect({&kHeaderCrcTag, 1}, "a header checksum (1d)");
  check_crc(header_bytes, cursor.fixed32("the header checksum"), "the header");

  schema::ChunkHeader header;
  if (!header.ParseFromArray(header_bytes.data(), static_cast<int>(header_bytes.size()))) {
    throw_damage("header is not a ChunkHeader message");
  }
  check_limits(header);
  return header;
}

/// A chunk whose header is right.
struct Frame {
  schema::ChunkHeader header;
  std::uint64_t end = 0;    ///< byte after it
  std::string_view stored;  ///< its payload, as it lies in the file
};

Frame read_frame(std::string_view file, std::uint64_t offset) {
  Cursor cursor{file, offset};
  cursor.expect({&kChunkTag, 1}, "a chunk (0a)");
  const std::uint32_t length = cursor.varint("a chunk");
  const std::uint64_t body = cursor.offset();
  const schema::ChunkHeader header = read_header(cursor);
  cursor.expect({&kPayloadTag, 1}, "a payload (22)");
  const std::uint32_t stored_length = cursor.varint("the payload");
  if (cursor.offset() + stored_length != body + length) {
    throw_damage("payload of {} bytes in a chunk of {}, expected it to fill the chunk", stored_length, length);
  }
  const std::string_view stored = cursor.bytes(stored_length, "the rest of the payload");
  return {.header = header, .end = cursor.offset(), .stored = stored};
}

Chunk read_chunk(std::string_view file, std::uint64_t offset) {
  const auto [header, end, stored] = read_frame(file, offset);
  check_crc(stored, header.payload_crc(), "the payload");

  Chunk chunk{decode_header(header), offset, end, decompress(stored, header)};
  if (chunk.payload.size() != header.raw_length()) {
    throw_damage("payload of {} bytes, expected {}", chunk.payload.size(), header.raw_length());
  }
  return chunk;
}

}  // namespace

void append_chunk(std::string& file, const ChunkHeader& header, std::string_view payload) {
  if (payload.size() > kMaxChunkBytes) {
    throw_input({}, "chunk of {} bytes, expected at most {}", payload.size(), kMaxChunkBytes);
  }
  const std::string compressed = compress(payload);
  const bool is_compressed = compressed.size() < payload.size();
  const std::string_view stored = is_compressed ? std::string_view{compressed} : payload;
  const std::string wire_header =
      encode_header(header, static_cast<std::uint32_t>(payload.size()), is_compressed, crc32c(stored));
  CORUN_ASSERT(wire_header.size() <= kMaxHeaderBytes, "header of {} bytes", wire_header.size());

  std::string start{kSync};
  start.push_back(kHeaderTag);
  append_varint(start, wire_header.size());
  start += wire_header;
  start.push_back(kHeaderCrcTag);
  append_fixed32(start, crc32c(wire_header));
  start.push_back(kPayloadTag);
  append_varint(start, stored.size());

  file.push_back(kChunkTag);
  append_varint(file, start.size() + stored.size());
  file += start;
  file += stored;
}

bool begins_chunk(std::string_view file) {
  const std::size_t sync = file.substr(0, 1 + kMaxVarintBytes + kSync.size()).find(kSync);
  return file.starts_with(kChunkTag) && sync != std::string_view::npos && sync >= 2;
}

std::optional<std::uint32_t> first_chunk_kind(std::string_view file) {
  try {
    Cursor cursor{file, 0};
    cursor.expect({&kChunkTag, 1}, "a chunk (0a)");
    cursor.varint("a chunk");
    return static_cast<std::uint32_t>(read_header(cursor).kind());
  } catch (const Damage&) {
    return std::nullopt;
  }
}

RowCounts announced_rows(std::string_view file) {
  RowCounts rows{};
  try {
    for (std::uint64_t offset = 0; offset < file.size();) {
      const Frame frame = read_frame(file, offset);
      const auto kind = static_cast<std::uint32_t>(frame.header.kind());
      if (kind < kChunkKinds) rows[kind] += frame.header.row_count();
      offset = frame.end;
    }
  } catch (const Damage&) {
    return rows;
  }
  return rows;
}

std::optional<Chunk> ChunkReader::next() {
  if (is_at_end() || !damage_.empty()) return std::nullopt;
  std::optional<Chunk> chunk = read_at(offset_);
  if (chunk) offset_ = chunk->end;
  return chunk;
}

std::optional<Chunk> ChunkReader::read_at(std::uint64_t offset) {
  try {
    return read_chunk(file_, offset);
  } catch (Damage& damage) {
    damage_ = std::move(damage.what);
    return std::nullopt;
  }
}

bool ChunkReader::skip_damage() {
  std::size_t sync = offset_ + 2;
  for (int tries = 0; tries < kMostResyncs; ++tries) {
    sync = file_.find(kSync, sync + 1);
    if (sync == std::string_view::npos) break;
    for (std::size_t before = 2; before <= 1 + kMaxVarintBytes && before < sync - offset_; ++before) {
      if (file_[sync - before] != kChunkTag || !read_at(sync - before)) continue;
      offset_ = sync - before;
      damage_.clear();
      return true;
    }
  }
  offset_ = file_.size();
  damage_.clear();
  return false;
}

}  // namespace corun
