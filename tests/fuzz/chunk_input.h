#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tests/fuzz/harness.h"
#include "traces/native/chunk.h"

namespace corun::fuzz {

/// The bytes of a file of chunks. Random bytes never have the right checksums, so an input that begins with a 0xC5
/// describes chunks instead: kind, rows, length (2 bytes) and payload of each. Any other input is the file itself.
inline std::string chunks_of(std::string_view input) {
  if (input.empty() || static_cast<unsigned char>(input.front()) != 0xC5) return std::string(input);
  Numbers numbers(input.substr(1));
  std::string file;
  std::map<std::uint32_t, std::uint64_t> rows;
  for (std::uint32_t sequence = 0; !numbers.is_empty(); ++sequence) {
    ChunkHeader header{.sequence = sequence, .kind = numbers.byte()};
    header.row_count = numbers.byte();
    header.first_row = rows[header.kind];
    rows[header.kind] += header.row_count;
    const std::size_t size = std::size_t{numbers.byte()} << 8 | numbers.byte();
    append_chunk(file, header, numbers.take(size));
  }
  return file;
}

}  // namespace corun::fuzz
