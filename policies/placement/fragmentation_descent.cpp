/// Fragmentation gradient descent - every pod goes where it makes the least free compute useless.
/// Source:      Q. Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient
///              descent", USENIX ATC 2023.
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     of all fitting nodes and, for a pod on one card, all cards with room, those whose expected
///              fragmentation grows least; among equals the fullest card, then the first node.
/// Parameters:  none.
/// Departs:     see deviations

#include <cmath>
#include <tuple>

#include "policies/builtin.h"
#include "policies/placement/candidates.h"
#include "sim/policy/fragmentation.h"

namespace corun {

namespace {

class FragmentationDescent : public PlacementPolicy {
 public:
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    std::optional<Placement> best;
    std::tuple<std::int64_t, std::int64_t> least;
    for (const NodeView& node : view.nodes) {
      if (!fits(node, pod)) continue;
      const double before = fragmentation(node, view.mix);
      for (std::vector<std::uint32_t>& cards : choices(node, pod)) {
        const std::int64_t free = cards.empty() ? 0 : node.cards[cards.front()].free;
        const std::tuple its(growth(node, pod, cards, view.mix, before), free);
        if (best && !(its < least)) continue;
        best = Placement{node.index, std::move(cards)};
        least = its;
      }
    }
    return best;
  }

 private:
  /// One card with room of each free amount; for several cards, or none, the one choice there is to speak of.
  static std::vector<std::vector<std::uint32_t>> choices(const NodeView& node, const PodView& pod) {
    if (pod.cards != 1) return {fullest_cards(node, pod)};
    std::vector<std::vector<std::uint32_t>> single;
    std::vector<Milli> seen;
    for (std::uint32_t i = 0; i < node.cards.size(); ++i) {
      const CardView& card = node.cards[i];
      if (!fits(card, pod) || std::ranges::find(seen, card.free) != seen.end()) continue;
      seen.push_back(card.free);
      single.push_back({i});
    }
    return single;
  }

  /// In millionths of a thousandth of a card: what differs by less is equal, and the sums are rounded.
  std::int64_t growth(const NodeView& node, const PodView& pod, const std::vector<std::uint32_t>& cards,
                      std::span<const PodShare> mix, double before) {
    after_.assign(node.cards.begin(), node.cards.end());
    for (const std::uint32_t card : cards) {
      after_[card].free -= pod.milli;
      after_[card].free_memory_bytes -= pod.memory_bytes;
    }
    NodeView changed = node;
    changed.cards = after_;
    changed.free_cpu_milli -= pod.cpu_milli;
    changed.free_memory_mib -= pod.memory_mib;
    return std::llround((fragmentation(changed, mix) - before) * 1e6);
  }

  std::vector<CardView> after_;  // kept for its storage
};

}  // namespace

PolicyDescriptor fragmentation_descent_policy() {
  PolicyDescriptor policy;
  policy.name = "fragmentation_descent";
  policy.summary = "Every pod goes where it makes the least free compute useless to the pods that usually come.";
  policy.source =
      "Q. Weng et al., \"Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient "
      "descent\", "
      "USENIX ATC 2023";
  policy.deviations = {"The mix of pods that defines a fragment is that of the whole workload, not a sampled history.",
                       "Pods without cards are left out of that mix, so that CPU alone never makes a fragment."};
  policy.create_placement = [](const Parameters&) { return std::make_unique<FragmentationDescent>(); };
  return policy;
}

}  // namespace corun
