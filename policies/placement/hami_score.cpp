/// HAMi's score - nodes and cards are ranked by how full they would be.
/// Source:      Project-HAMi/HAMi, scheduler (score of a device from its slots, cores and memory).
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     a card's score is ten times the sum of its slots, compute and memory in use with the pod on it, each as
///              a part of the card. A node's score is that of its cards. Bin-pack takes the highest score, spread the
///              lowest, first for the node, then for its cards.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <tuple>

#include "policies/builtin.h"
#include "policies/placement/candidates.h"

namespace corun {

namespace {

class HamiScore : public PlacementPolicy {
 public:
  explicit HamiScore(const Parameters& parameters)
      : node_sign_(parameters.choice("node") == "bin_pack" ? -1 : 1),
        card_sign_(parameters.choice("card") == "bin_pack" ? -1 : 1),
        slots_(parameters.integer("slots_per_card")) {}

  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    const NodeView* node = nullptr;
    double least = 0;
    for (const NodeView& each : view.nodes) {
      if (!fits(each, pod) || !has_slots(each, pod)) continue;
      const double score = node_sign_ * node_score(each);
      if (node != nullptr && !(score < least)) continue;
      node = &each;
      least = score;
    }
    if (node == nullptr) return std::nullopt;
    const auto before = [&](auto a, auto b) { return rank(*node, a, pod) < rank(*node, b, pod); };
    return Placement{node->index, first_cards(*node, pod, before)};
  }

 private:
  double fill(const NodeView& node, const CardView& card, const PodView& pod) const {
    const double slots = static_cast<double>(card.pods + 1) / static_cast<double>(slots_);
    const double compute = static_cast<double>(kWholeCard - card.free + pod.milli) / kWholeCard;
    if (node.card_memory_bytes == 0) return 10 * (slots + compute);
    const double memory = static_cast<double>(node.card_memory_bytes - card.free_memory_bytes + pod.memory_bytes) /
                          static_cast<double>(node.card_memory_bytes);
    return 10 * (slots + compute + memory);
  }

  bool has_slot(const CardView& card) const { return static_cast<std::int64_t>(card.pods) < slots_; }

  bool has_slots(const NodeView& node, const PodView& pod) const {
    const auto usable =
        std::ranges::count_if(node.cards, [&](const CardView& card) { return has_slot(card) && fits(card, pod); });
    return usable >= static_cast<std::ptrdiff_t>(pod.cards);
  }

  double node_score(const NodeView& node) const {
    double sum = 0;
    for (const CardView& card : node.cards) sum += fill(node, card, PodView{});
    return node.cards.empty() ? 0 : sum / static_cast<double>(node.cards.size());
  }

  /// Cards without a free slot come last.
  std::tuple<bool, double> rank(const NodeView& node, std::uint32_t card, const PodView& pod) const {
    return {!has_slot(node.cards[card]), card_sign_ * fill(node, node.cards[card], pod)};
  }

  const double node_sign_, card_sign_;
  const std::int64_t slots_;
};

ParameterTable parameters() {
  ParameterTable table;
  table.choice("node", {"bin_pack", "spread"})
      .means("Whether the fullest or the emptiest node is taken.")
      .from("artifact, scheduler policy of nodes");
  table.choice("card", {"spread", "bin_pack"})
      .means("Whether the fullest or the emptiest cards of it are taken.")
      .from("artifact, scheduler policy of GPUs");
  table.integer("slots_per_card", 10)
      .range(1, 1000, "pods")
      .means("Most pods on one card.")
      .from("artifact: device split count 10");
  return table;
}

}  // namespace

PolicyDescriptor hami_score_policy() {
  PolicyDescriptor policy;
  policy.name = "hami_score";
  policy.summary = "Nodes and cards are ranked by how full slots, compute and memory would be.";
  policy.source = "Project-HAMi/HAMi, scheduler";
  policy.deviations = {
      "Of the four rules for cards, mutex, numa and topology-aware are absent.",
      "A card of unknown memory size scores by slots and compute.",
  };
  policy.parameters = parameters();
  policy.create_placement = [](const Parameters& values) { return std::make_unique<HamiScore>(values); };
  return policy;
}

}  // namespace corun
