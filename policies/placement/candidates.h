#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/policy/placement.h"

namespace corun {

/// The first `pod.cards` cards with room for the pod, in the order `before` puts them, as ascending numbers. The node
/// must fit the pod. `before(a, b)` compares two card numbers; cards it holds equal stay in the order of their numbers.
template <class Before>
std::vector<std::uint32_t> first_cards(const NodeView& node, const PodView& pod, Before before) {
  std::vector<std::uint32_t> cards;
  for (std::uint32_t i = 0; i < node.cards.size(); ++i)
    if (fits(node.cards[i], pod)) cards.push_back(i);
  std::ranges::stable_sort(cards, before);
  cards.resize(pod.cards);
  std::ranges::sort(cards);
  return cards;
}

/// As first_cards: the cards with the least free compute (best fit), the lowest number first among equals.
inline std::vector<std::uint32_t> fullest_cards(const NodeView& node, const PodView& pod) {
  return first_cards(node, pod, [&](auto a, auto b) { return node.cards[a].free < node.cards[b].free; });
}

/// As first_cards: the cards with the most free compute.
inline std::vector<std::uint32_t> emptiest_cards(const NodeView& node, const PodView& pod) {
  return first_cards(node, pod, [&](auto a, auto b) { return node.cards[a].free > node.cards[b].free; });
}

/// Free compute of all cards of a node together.
inline std::int64_t free_compute(const NodeView& node) {
  std::int64_t sum = 0;
  for (const CardView& card : node.cards) sum += card.free;
  return sum;
}

/// The node with the least `score(node)` among those that fit the pod, the first among equals; nullptr if none fits.
template <class Score>
const NodeView* best_node(const ClusterView& view, const PodView& pod, Score score) {
  const NodeView* best = nullptr;
  decltype(score(view.nodes.front())) least{};
  for (const NodeView& node : view.nodes) {
    if (!fits(node, pod)) continue;
    const auto its = score(node);
    if (best != nullptr && !(its < least)) continue;
    best = &node;
    least = its;
  }
  return best;
}

}  // namespace corun
