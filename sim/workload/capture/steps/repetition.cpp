#include "sim/workload/capture/steps/repetition.h"

#include <algorithm>

namespace corun {

namespace {

using Sequence = std::vector<std::uint32_t>;

constexpr std::size_t kFewestPeriods = 3;

/// For each position of a sequence, how many symbols from there on equal the sequence's own first ones (Z function).
std::vector<std::uint32_t> equal_prefixes(const Sequence& sequence) {
  std::vector<std::uint32_t> equal(sequence.size());
  std::size_t known_from = 0, known_to = 0;  // the stretch, reaching furthest, that is known to equal a prefix
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    std::size_t length = i < known_to ? std::min<std::size_t>(known_to - i, equal[i - known_from]) : 0;
    while (i + length < sequence.size() && sequence[length] == sequence[i + length]) ++length;
    equal[i] = static_cast<std::uint32_t>(length);
    if (i + length > known_to) {
      known_from = i;
      known_to = i + length;
    }
  }
  return equal;
}

}  // namespace

std::optional<Repetition> find_repetition(const Sequence& sequence) {
  const std::size_t size = sequence.size();
  const std::size_t first_half = size / 2;
  const auto middle = static_cast<std::ptrdiff_t>(first_half);
  const std::vector<std::uint32_t> forward = equal_prefixes(Sequence(sequence.begin() + middle, sequence.end()));
  // Backwards from the middle: the first half reversed, and behind it all of the sequence reversed.
  Sequence reversed(sequence.rend() - middle, sequence.rend());
  reversed.insert(reversed.end(), sequence.rbegin(), sequence.rend());
  const std::vector<std::uint32_t> backward = equal_prefixes(reversed);

  std::optional<Repetition> best;
  for (std::size_t period = 1; period * kFewestPeriods <= size; ++period) {
    const std::size_t before = std::min<std::size_t>(first_half, backward[size - period]);
    const std::size_t after = forward[period];
    const std::size_t equal = before + after;
    const bool is_enough = equal >= (kFewestPeriods - 1) * period && 2 * equal >= size;
    const Repetition found{first_half - before, first_half + period + after, period};
    if (is_enough && (!best || found.end - found.begin > best->end - best->begin)) best = found;
  }
  return best;
}

}  // namespace corun
