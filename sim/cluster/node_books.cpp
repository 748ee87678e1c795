#include "sim/cluster/node_books.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/policy/fragmentation.h"
#include "traces/base/error.h"

namespace corun {

namespace {

/// The kinds of pods that ask for cards, each with its share of them; a kind is what it asks of a card, with the least
/// of host resources that any of the kind asks for.
std::vector<PodShare> mix_of(const std::vector<PodSpec>& pods) {
  std::map<std::tuple<std::uint32_t, Milli, std::uint64_t>, PodShare> kinds;
  double total = 0;
  for (const PodSpec& pod : pods) {
    if (pod.cards == 0) continue;
    auto [kind, is_new] = kinds.try_emplace({pod.cards, pod.milli, pod.memory_bytes}, PodShare{view_of(pod, 0), 0});
    PodView& its = kind->second.pod;
    its.models = {};
    its.cpu_milli = std::min(its.cpu_milli, pod.cpu_milli);
    its.memory_mib = std::min(its.memory_mib, pod.memory_mib);
    kind->second.share += 1;
    total += 1;
  }
  std::vector<PodShare> mix;
  for (auto& [key, kind] : kinds) mix.push_back({kind.pod, kind.share / total});
  return mix;
}

}  // namespace

PodView view_of(const PodSpec& pod, std::uint64_t number) {
  PodView view;
  view.number = number;
  view.name = pod.name;
  view.cards = pod.cards;
  view.milli = pod.milli;
  view.memory_bytes = pod.memory_bytes;
  view.cpu_milli = pod.cpu_milli;
  view.memory_mib = pod.memory_mib;
  view.models = pod.models;
  return view;
}

NodeBooks::NodeBooks(const ClusterInput& input) : mix_(mix_of(input.pods)) {
  for (const NodeSpec& spec : input.nodes) add(spec);
}

void NodeBooks::add(const NodeSpec& spec) {
  CORUN_ASSERT(spec.links.empty() || spec.links.size() == std::size_t{spec.cards} * spec.cards, "node '{}': {} links",
               spec.name, spec.links.size());
  Cards& cards = cards_.emplace_back();
  cards.now.assign(spec.cards, CardView{kWholeCard, spec.card_memory_bytes, 0});
  cards.empty = cards.now;
  NodeView view;
  view.index = static_cast<std::uint32_t>(views_.size());
  view.name = spec.name;
  view.model = spec.model;
  view.card_memory_bytes = spec.card_memory_bytes;
  view.cpu_milli = view.free_cpu_milli = spec.cpu_milli;
  view.memory_mib = view.free_memory_mib = spec.memory_mib;
  view.links = spec.links;
  views_.push_back(view);
  view.cards = cards.empty;
  empty_.push_back(view);
  all_cards_ += spec.cards;
}

void NodeBooks::advertise() {
  for (std::size_t node = 0; node < views_.size(); ++node) {
    views_[node].cards = cards_[node].now;
    count_fragments(node);
  }
}

bool NodeBooks::could_ever_fit(const PodView& pod) const {
  return std::ranges::any_of(empty_, [&](const NodeView& node) { return fits(node, pod); });
}

void NodeBooks::change(const Placement& placement, const PodView& pod, int sign) {
  NodeView& node = views_[placement.node];
  node.free_cpu_milli -= sign * pod.cpu_milli;
  node.free_memory_mib -= sign * pod.memory_mib;
  for (const std::uint32_t index : placement.cards) {
    CardView& card = cards_[placement.node].now[index];
    card.free -= static_cast<Milli>(sign) * pod.milli;
    card.free_memory_bytes -= static_cast<std::uint64_t>(sign) * pod.memory_bytes;
    card.pods += static_cast<std::uint32_t>(sign);
    allocated_ += sign * static_cast<double>(pod.milli);
  }
  count_fragments(placement.node);
}

void NodeBooks::count_fragments(std::size_t node) {
  fragmented_ -= cards_[node].fragmented;
  cards_[node].fragmented = fragmentation(views_[node], mix_);
  fragmented_ += cards_[node].fragmented;
}

}  // namespace corun
