#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corun {

/// Index of the frame from which on a program plays steadily: before it lie the frames of its start, some of which take
/// seconds (a map is loaded). `lengths_ns`: how long each frame takes the host or the GPU, whichever is longer.
///
/// A frame is slow if it takes over twice the median of all. Steady begins with the first frame that is not slow and
/// has at most three slow ones among the sixty from it on. 0 where no frame of the first half is such a one, or there
/// are fewer than 120 frames.
std::size_t steady_start(const std::vector<std::int64_t>& lengths_ns);

}  // namespace corun
