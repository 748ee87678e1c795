#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/yardstick/replay_floor.h"
#include "traces/timeline.h"

namespace corun::bench {

inline constexpr std::uint32_t kKernelsPerIteration = 512;

/// A made-up capture of one program: iterations of 512 kernels that the host launches 2 to 10 us apart, a wait for all
/// of them, and a pause of 10 to 40 ms. Kernels take 1 to 20 us and go to its streams in turn. Every launch and wait is
/// recorded, as a tracer would.
Timeline make_capture(std::size_t iterations, std::uint32_t streams);

/// The same kernels as the yardstick wants them: of `clients` such programs, one column of gaps and durations for each
/// stream.
std::vector<yardstick::StreamColumns> floor_columns(const Timeline& capture, std::uint32_t clients);

}  // namespace corun::bench
