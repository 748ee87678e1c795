/// KubeShare's fit - shared cards are filled before a new card is opened for sharing.
/// Source:      T.-A. Yeh, H.-H. Chen, J. Chou, "KubeShare: a framework to manage GPUs as first-class and shared
///              resources in container cloud", HPDC 2020; artifact NTHU-LSALAB/KubeShare.
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     a pod on a part of a card goes to the shared card with the least free compute that is enough; if there
///              is none, a free card is opened for sharing, on the node with the fewest free cards. A pod on whole
///              cards goes to the node with the fewest free cards that has enough.
/// Parameters:  none.
/// Departs:     see deviations

#include <tuple>

#include "policies/builtin.h"
#include "policies/placement/candidates.h"

namespace corun {

namespace {

class KubeShareFit : public PlacementPolicy {
 public:
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    const NodeView* node =
        best_node(view, pod, [&](const NodeView& each) { return std::tuple(best_fit(each, pod), free_cards(each)); });
    if (node == nullptr) return std::nullopt;
    return Placement{node->index, fullest_cards(*node, pod)};
  }

 private:
  /// Free compute of the shared card that fits best; a whole card where one has to be opened.
  static Milli best_fit(const NodeView& node, const PodView& pod) {
    Milli least = kWholeCard;
    if (pod.cards != 1) return least;
    for (const CardView& card : node.cards)
      if (fits(card, pod)) least = std::min(least, card.free);
    return least;
  }

  static std::ptrdiff_t free_cards(const NodeView& node) {
    return std::ranges::count_if(node.cards, [](const CardView& card) { return card.is_free(); });
  }
};

}  // namespace

PolicyDescriptor kubeshare_fit_policy() {
  PolicyDescriptor policy;
  policy.name = "kubeshare_fit";
  policy.summary = "Shared cards are filled, best fit first, before a new card is opened for sharing.";
  policy.source =
      "T.-A. Yeh, H.-H. Chen, J. Chou, \"KubeShare: a framework to manage GPUs as first-class and shared resources in "
      "container cloud\", HPDC 2020; artifact NTHU-LSALAB/KubeShare";
  policy.deviations = {"Labels of affinity, anti-affinity and exclusion are absent: no pod list states them.",
                       "Requests and limits are one number, the pod's share."};
  policy.create_placement = [](const Parameters&) { return std::make_unique<KubeShareFit>(); };
  return policy;
}

}  // namespace corun
