#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "traces/native/chunk.h"
#include "traces/timeline.h"

namespace corun {

/// Some consecutive rows of one kind as the payload of a chunk: columns of varints, as schema/trace.proto says.
struct EncodedRows {
  std::string payload;
  std::uint32_t row_count = 0;
  std::int64_t first_ns = 0;  ///< earliest instant of the rows; 0 for dictionaries
  std::int64_t last_ns = 0;   ///< latest instant of the rows, ends included; 0 for dictionaries
};

/// Rows of a kind in a timeline: strings, queues, ..., operations, calls, frames, marks.
std::uint64_t count_rows(const Timeline& timeline, ChunkKind kind);

/// The next rows of `kind`, beginning with `first_row` (below count_rows), as many as belong into one chunk.
/// Throws Error(kInput) for a string longer than the format holds.
EncodedRows encode_rows(const Timeline& timeline, ChunkKind kind, std::uint64_t first_row);

/// Adds all rows of a payload to the builder: throws Error(kInput), without a location, if the payload does
/// not hold exactly `row_count` rows of `kind`, a value is out of range or an entry of a dictionary is there twice.
/// `first_row` counts the rows of this kind before. References between rows are not checked.
void decode_rows(std::string_view payload, ChunkKind kind, std::uint64_t first_row, std::uint32_t row_count,
                 TimelineBuilder& builder);

}  // namespace corun
