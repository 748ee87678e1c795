#include "policies/placement/topology_tree.h"

#include <algorithm>
#include <tuple>

namespace corun {

namespace {

constexpr Link kLevels[] = {Link::kSwitch, Link::kSwitches, Link::kHostBridge, Link::kSocket, Link::kSystem};

}  // namespace

TopologyTree::TopologyTree(const NodeView& node) : node_(node) {
  std::vector<std::size_t> roots;
  for (std::uint32_t card = 0; card < node.cards.size(); ++card) {
    roots.push_back(vertices_.size());
    vertices_.push_back({Link::kSame, {card}, {}, SIZE_MAX});
  }
  for (const Link level : kLevels) {
    std::vector<std::size_t> joined;
    for (const std::size_t vertex : roots) {
      const std::uint32_t card = vertices_[vertex].cards.front();
      const auto near = std::ranges::find_if(
          joined, [&](std::size_t group) { return node.link(vertices_[group].cards.front(), card) <= level; });
      if (near == joined.end()) {
        joined.push_back(vertices_.size());
        vertices_.push_back({level, vertices_[vertex].cards, {vertex}, SIZE_MAX});
        vertices_[vertex].parent = vertices_.size() - 1;
        continue;
      }
      Vertex& group = vertices_[*near];
      group.cards.insert(group.cards.end(), vertices_[vertex].cards.begin(), vertices_[vertex].cards.end());
      std::ranges::sort(group.cards);
      group.children.push_back(vertex);
      vertices_[vertex].parent = *near;
    }
    roots = joined;
  }
}

std::uint32_t TopologyTree::free_below(const Vertex& vertex) const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(vertex.cards, [&](std::uint32_t card) { return node_.cards[card].is_free(); }));
}

std::vector<std::uint32_t> TopologyTree::lowest_free(const Vertex& vertex, std::uint32_t count) const {
  std::vector<std::uint32_t> free;
  for (const std::uint32_t card : vertex.cards)
    if (free.size() < count && node_.cards[card].is_free()) free.push_back(card);
  return free;
}

std::optional<std::vector<std::uint32_t>> TopologyTree::link(std::uint32_t count) const {
  const Vertex* best = nullptr;
  std::tuple<Link, std::uint32_t, std::uint32_t> least;
  for (std::size_t leaf = 0; leaf < node_.cards.size(); ++leaf) {
    if (!node_.cards[leaf].is_free()) continue;
    std::size_t vertex = leaf;
    while (vertex != SIZE_MAX && free_below(vertices_[vertex]) < count) vertex = vertices_[vertex].parent;
    if (vertex == SIZE_MAX) continue;
    const Vertex& candidate = vertices_[vertex];
    const std::tuple rank(candidate.level, free_below(candidate), candidate.cards.front());
    if (best != nullptr && !(rank < least)) continue;
    best = &candidate;
    least = rank;
  }
  if (best == nullptr) return std::nullopt;
  return lowest_free(*best, count);
}

std::optional<std::vector<std::uint32_t>> TopologyTree::fragment(std::uint32_t count) const {
  if (vertices_.empty() || free_below(vertices_.back()) < count) return std::nullopt;
  const Vertex* vertex = &vertices_.back();
  while (!vertex->children.empty()) {
    const Vertex* next = nullptr;
    for (const std::size_t child : vertex->children) {
      const std::uint32_t free = free_below(vertices_[child]);
      if (free >= count && (next == nullptr || free < free_below(*next))) next = &vertices_[child];
    }
    if (next == nullptr) break;
    vertex = next;
  }
  return lowest_free(*vertex, count);
}

std::optional<std::uint32_t> TopologyTree::share(const PodView& pod) const {
  std::optional<std::uint32_t> best;
  std::tuple<Milli, std::uint64_t, std::uint32_t> least;
  for (std::uint32_t i = 0; i < node_.cards.size(); ++i) {
    const CardView& card = node_.cards[i];
    if (!fits(card, pod)) continue;
    const std::tuple rank(card.free, card.free_memory_bytes, card.pods);
    if (best && !(rank < least)) continue;
    best = i;
    least = rank;
  }
  return best;
}

}  // namespace corun
