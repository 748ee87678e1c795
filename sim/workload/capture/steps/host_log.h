#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corun {

/// The host's side of a capture as the search for its steps sees it: what it launched and what it waited for, in order.
struct HostLog {
  enum class What : std::uint8_t { kLaunch, kWait, kWaitAll };

  // By event.
  std::vector<std::uint32_t> symbols;   ///< equal for launches of one kind and name, but for numbers in it
  std::vector<std::uint32_t> names;     ///< equal for launches of one kind and name, and for waits of one kind
  std::vector<std::uint32_t> variants;  ///< equal for launches that also have shape, size and stream in common
  std::vector<std::int64_t> starts_ns;
  std::vector<What> whats;
  std::vector<std::uint32_t> streams;  ///< launched into or waited for
  static constexpr std::uint32_t kAllStreams = UINT32_MAX;

  std::uint32_t symbol_count = 0, name_count = 0, variant_count = 0;
  std::vector<bool> is_update;     ///< by symbol: a kernel that updates the parameters of a model
  std::vector<bool> is_read_back;  ///< by symbol: a copy to the host
  std::vector<bool> is_of_graph;   ///< by variant: came with others in one call

  std::size_t size() const { return symbols.size(); }
  bool is_launch(std::size_t event) const { return whats[event] == What::kLaunch; }
  bool has_launch(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i)
      if (is_launch(i)) return true;
    return false;
  }
  /// The first event at or after `ns`; size() where there is none.
  std::uint32_t first_from(std::int64_t ns) const {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(starts_ns, ns) - starts_ns.begin());
  }
};

/// Indices of events, ascending: where steps begin, or where something recurs.
using Positions = std::vector<std::uint32_t>;

}  // namespace corun
