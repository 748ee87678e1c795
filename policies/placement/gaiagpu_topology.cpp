/// GaiaGPU's scheduler - the most loaded node that fits; on it, cards by mode: link, fragment, share or exclusive.
/// Source:      J. Gu, S. Song, Y. Li, H. Luo, "GaiaGPU: sharing GPUs in container clouds", ISPA 2018; artifacts
///              tkestack/gpu-admission (node filter, exclusive) and tkestack/gpu-manager (topology tree).
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     nodes in order of free compute, free memory and name, fewest first; the first that fits. Several whole
///              cards: the closest group (link); one whole card: from the group with the fewest free ones (fragment);
///              a part: best fit (share). With `scheduler: admission`, whole cards are chosen by number alone
///              (exclusive), and the allocator on the node, which knows the tree, must come to the same cards.
///              Its units, 100 vcores a card and 256 MiB of memory, are the cluster's `unit_cores` and `unit_memory`.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <tuple>

#include "policies/builtin.h"
#include "policies/placement/candidates.h"
#include "policies/placement/topology_tree.h"

namespace corun {

namespace {

class GaiaGpuTopology : public PlacementPolicy {
 public:
  explicit GaiaGpuTopology(bool admission_chooses) : admission_chooses_(admission_chooses) {}

  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    const NodeView* node = best_node(
        view, pod, [](const NodeView& each) { return std::tuple(free_compute(each), free_memory(each), each.name); });
    if (node == nullptr) return std::nullopt;
    const bool by_number = admission_chooses_ && pod.milli == kWholeCard;
    return Placement{node->index, by_number ? first_cards(*node, pod, std::less<>()) : by_tree(*node, pod)};
  }

  std::vector<std::uint32_t> allocate(const ClusterView& view, const PodView& pod, const Placement& chosen) override {
    return admission_chooses_ ? by_tree(view.nodes[chosen.node], pod) : chosen.cards;
  }

 private:
  static std::uint64_t free_memory(const NodeView& node) {
    std::uint64_t sum = 0;
    for (const CardView& card : node.cards) sum += card.free_memory_bytes;
    return sum;
  }

  static std::vector<std::uint32_t> by_tree(const NodeView& node, const PodView& pod) {
    if (pod.cards == 0) return {};
    const TopologyTree tree(node);
    if (pod.milli < kWholeCard && pod.cards == 1) {
      const auto card = tree.share(pod);
      return card ? std::vector{*card} : std::vector<std::uint32_t>{};
    }
    return (pod.cards == 1 ? tree.fragment(1) : tree.link(pod.cards)).value_or(std::vector<std::uint32_t>{});
  }

  const bool admission_chooses_;
};

}  // namespace

PolicyDescriptor gaiagpu_topology_policy() {
  PolicyDescriptor policy;
  policy.name = "gaiagpu_topology";
  policy.summary = "The most loaded node that fits; on it, cards by their links.";
  policy.source =
      "J. Gu, S. Song, Y. Li, H. Luo, \"GaiaGPU: sharing GPUs in container clouds\", ISPA 2018; artifacts "
      "tkestack/gpu-admission and tkestack/gpu-manager";
  policy.deviations = {"Running processes are counted as pods.",
                       "`scheduler: tree`, in which scheduler and allocator agree, is ours."};
  policy.parameters.choice("scheduler", {"tree", "admission"})
      .means("What chooses whole cards: the tree that the allocator uses too, or the admission filter by number.")
      .from("ours (artifact: admission; a pod whose allocator disagrees fails)");
  policy.create_placement = [](const Parameters& values) {
    return std::make_unique<GaiaGpuTopology>(values.choice("scheduler") == "admission");
  };
  return policy;
}

}  // namespace corun
