#pragma once

#include <cstddef>
#include <cstdint>

namespace corun::guest {

/// The bytes around the records of a chunk, as traces/schema/FORMAT.md has them, made without memory of its own.
///
/// A payload is the message Records: kPayloadPrefix bytes (tag and length of the packed records), then the records.
inline constexpr std::size_t kPayloadPrefix = 4;

/// Writes the payload's prefix for `packed_bytes` (below 2 MiB) of records.
void write_payload_prefix(unsigned char (&out)[kPayloadPrefix], std::size_t packed_bytes);

/// What comes before the payload in the file. Returns the number of bytes written.
struct ChunkFrame {
  unsigned char bytes[96];
  std::size_t size;
};
ChunkFrame make_chunk_frame(std::uint32_t sequence, std::uint32_t rows, const unsigned char* payload,
                            std::size_t payload_bytes);

}  // namespace corun::guest
