/// Spread - every pod goes where the most is free.
/// Source:      the "least allocated" rule of Kubernetes' scheduler; worst fit.
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     the fitting node with the most free compute, among equals the one with the most free CPU; there the
///              emptiest cards.
/// Parameters:  none.
/// Departs:     see deviations

#include <tuple>

#include "policies/builtin.h"
#include "policies/placement/candidates.h"

namespace corun {

namespace {

class Spread : public PlacementPolicy {
 public:
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    const NodeView* node = best_node(
        view, pod, [](const NodeView& each) { return std::tuple(-free_compute(each), -each.free_cpu_milli); });
    if (node == nullptr) return std::nullopt;
    return Placement{node->index, emptiest_cards(*node, pod)};
  }
};

}  // namespace

PolicyDescriptor spread_policy() {
  PolicyDescriptor policy;
  policy.name = "spread";
  policy.summary = "Every pod goes to the node, and the cards, with the most free compute.";
  policy.source = "worst fit; the \"least allocated\" rule of Kubernetes' scheduler";
  policy.create_placement = [](const Parameters&) { return std::make_unique<Spread>(); };
  return policy;
}

}  // namespace corun
