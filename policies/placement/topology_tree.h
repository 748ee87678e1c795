#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/policy/placement.h"

namespace corun {

/// The cards of one node as a tree of links, as GaiaGPU's manager builds it: leaves are cards, an inner vertex joins
/// what is at most that link apart, the root holds all cards. Only wholly free cards count.
///
/// Source: tkestack/gpu-manager, pkg/algorithm/nvidia and pkg/device/nvidia. Orders are lexicographic, ascending.
class TopologyTree {
 public:
  explicit TopologyTree(const NodeView& node);

  /// Several whole cards, close together: every free card climbs to the lowest vertex with enough free cards; of those
  /// vertices the one with the closest link, then the fewest free cards, then the lowest card gives its lowest free
  /// cards.
  std::optional<std::vector<std::uint32_t>> link(std::uint32_t count) const;

  /// One whole card (or `count`), sparing intact groups: from the root always into the child with the fewest free
  /// cards that still has enough; there the lowest free cards.
  std::optional<std::vector<std::uint32_t>> fragment(std::uint32_t count) const;

  /// A part of a card: best fit by free compute, then free memory, then pods on it, then number.
  std::optional<std::uint32_t> share(const PodView& pod) const;

 private:
  struct Vertex {
    Link level = Link::kSame;
    std::vector<std::uint32_t> cards;   ///< below it, ascending
    std::vector<std::size_t> children;  ///< indices of vertices; empty for a card
    std::size_t parent = SIZE_MAX;
  };
  std::uint32_t free_below(const Vertex& vertex) const;
  std::vector<std::uint32_t> lowest_free(const Vertex& vertex, std::uint32_t count) const;

  const NodeView& node_;
  std::vector<Vertex> vertices_;  ///< leaves first, by card; the root last
};

}  // namespace corun
