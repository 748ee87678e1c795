#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "traces/base/time.h"

namespace corun {

/// Numbers as people write them. Every parser takes the whole text or nothing, and no unit is ever guessed: a bare
/// number where a unit is due gives nullopt, and the caller says which units there are.

/// "300us", "16.6ms", "2s", "1.5min", "3h", "250ns", "-1ms". Exact: the decimal is read as integer nanoseconds.
std::optional<Duration> parse_duration(std::string_view text);
/// "15.3GB" (10^9), "256MiB" (2^20), "512B".
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// Per second: "484/s", "60fps", "5/min", "1.2k/s".
std::optional<double> parse_rate(std::string_view text);
/// "0.4", "40%", "1e-3".
std::optional<double> parse_real(std::string_view text);
/// A number of the one unit there is: "690W" of "W".
std::optional<double> parse_of(std::string_view unit, std::string_view text);

/// Shortest exact form with one unit: "300us", "16.667ms", "1.5s".
std::string format_duration(Duration duration);
/// Three digits: "60 GiB", "4.75 GiB", "512 MiB".
std::string format_size(std::uint64_t bytes);

/// The candidate nearest to `word` by edit distance (transpositions count one), if near enough to be a likely slip:
/// distance at most 2, or a third of the word. Empty if none.
template <class Names>
std::string nearest_name(std::string_view word, const Names& names);
std::uint32_t edit_distance(std::string_view a, std::string_view b);

template <class Names>
std::string nearest_name(std::string_view word, const Names& names) {
  std::string best;
  std::uint32_t best_distance = static_cast<std::uint32_t>(word.size() / 3 < 2 ? 2 : word.size() / 3) + 1;
  for (const auto& name : names) {
    const std::size_t longer = std::max(word.size(), std::size(name)), shorter = std::min(word.size(), std::size(name));
    if (longer - shorter >= best_distance) continue;
    const std::uint32_t distance = edit_distance(word, name);
    if (distance < best_distance && distance < word.size()) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace corun
