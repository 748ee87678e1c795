#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace corun {

/// The stretch [begin, end) of a sequence in which every symbol equals the one `period` before it.
struct Repetition {
  std::size_t begin = 0, end = 0;
  std::size_t period = 0;
};

/// The longest stretch of at least three periods in which half of the sequence's symbols, or more, equal the one a
/// period before; of equally long ones that of the shortest period. None: the sequence does not repeat itself.
///
/// What comes before and after the stretch may be anything. A small loop inside the repeated part does not win: it
/// covers no such stretch. One unequal symbol ends a stretch. Linear time and memory.
/// Source: G. Main and R. Lorentz, "An O(n log n) algorithm for finding all repetitions in a string", 1984: its step
/// for repetitions that touch the middle, as one that covers half does.
std::optional<Repetition> find_repetition(const std::vector<std::uint32_t>& sequence);

}  // namespace corun
