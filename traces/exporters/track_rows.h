#pragma once

#include <cstdint>
#include <vector>

namespace corun {

/// A stretch of time on a track.
struct Slice {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t event = 0;  ///< what it is: the caller's number
};

/// Whether a slice may lie inside another one on the same row: calls do, work on a queue does not.
enum class Nesting : bool { kNone, kAllowed };

/// Distributes the slices of one track over as few rows as first fit needs, in each of which they follow one another
/// or nest. Each row is in order of start, of equal ones outer slices first; row 0 takes most.
std::vector<std::vector<Slice>> rows_of(std::vector<Slice> slices, Nesting nesting);

}  // namespace corun
