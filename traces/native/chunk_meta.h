#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/timeline.h"

namespace corun {

/// Version of the native format that this build writes, and the newest that it reads.
inline constexpr std::uint32_t kFormatVersion = 1;

/// Provenance and fidelity of a timeline: the payload of a file's first chunk.
std::string encode_meta(const Timeline& timeline);

/// Sets provenance and fidelity. Throws Error without a location: kUnsupported for a newer format version, else kInput.
void decode_meta(std::string_view payload, TimelineBuilder& builder);

/// Where things are in a finished file: the payload of its last chunk.
struct FileFooter {
  std::vector<std::uint64_t> chunk_offsets;  ///< of the chunks before the footer
  std::uint64_t row_count = 0;               ///< operations, calls, frames and marks in the file
  friend bool operator==(const FileFooter&, const FileFooter&) = default;
};
std::string encode_footer(const FileFooter& footer);
/// Throws Error(kInput) without a location.
FileFooter decode_footer(std::string_view payload);

}  // namespace corun
