/// Bin-pack - every pod goes where the least is free.
/// Source:      the "most allocated" rule of Kubernetes' scheduler; best fit.
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     the fitting node with the least free compute, among equals the one with the least free CPU; there the
///              fullest cards with room. A pod without cards goes where the least compute and CPU are free.
/// Parameters:  none.
/// Departs:     see deviations

#include <tuple>

#include "policies/builtin.h"
#include "policies/placement/candidates.h"

namespace corun {

namespace {

class BinPack : public PlacementPolicy {
 public:
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    const NodeView* node =
        best_node(view, pod, [](const NodeView& each) { return std::tuple(free_compute(each), each.free_cpu_milli); });
    if (node == nullptr) return std::nullopt;
    return Placement{node->index, fullest_cards(*node, pod)};
  }
};

}  // namespace

PolicyDescriptor bin_pack_policy() {
  PolicyDescriptor policy;
  policy.name = "bin_pack";
  policy.summary = "Every pod goes to the node, and the cards, with the least free compute that is enough.";
  policy.source = "best fit; the \"most allocated\" rule of Kubernetes' scheduler";
  policy.create_placement = [](const Parameters&) { return std::make_unique<BinPack>(); };
  return policy;
}

}  // namespace corun
