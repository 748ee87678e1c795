/// GaiaGPU's scheduler - the most loaded node that fits; on it, cards by mode: link, fragment, share or exclusive.
/// Source:      J. Gu, S. Song, Y. Li, H. Luo, "GaiaGPU: sharing GPUs in container clouds", ISPA 2018; artifacts
///              tkestack/gpu-admission (node filter, exclusive) and tkestack/gpu-manager (topology tree).
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     nodes in order of free compute, free memory and name, fewest first; the first that fits. Several whole
///              cards: the closest group (link); one whole card: from the group with the fewest free ones (fragment);
///              a part: best fit (share). With `scheduler: admission`, the filter keeps books of its own, chooses whole
///              cards by number alone (exclusive) and parts by best fit. The allocator on the node chooses again: whole
///              cards by the tree, whatever the filter chose; a part of another card than the filter's is refused.
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
    return Placement{node->index, admission_chooses_ ? by_numbers(*node, pod) : by_tree(*node, pod)};
  }

  std::vector<std::uint32_t> allocate(const ClusterView& view, const PodView& pod, const Placement& chosen) override {
    if (!admission_chooses_) return chosen.cards;
    std::vector<std::uint32_t> cards = by_tree(view.nodes[chosen.node], pod);
    if (pod.milli < kWholeCard && cards != chosen.cards) cards.clear();
    return cards;
  }

  bool has_two_books() const override { return admission_chooses_; }

 private:
  static std::uint64_t free_memory(const NodeView& node) {
    std::uint64_t sum = 0;
    for (const CardView& card : node.cards) sum += card.free_memory_bytes;
    return sum;
  }

  /// The filter's share mode knows no processes, its exclusive mode no links.
  static std::vector<std::uint32_t> by_numbers(const NodeView& node, const PodView& pod) {
    return first_cards(node, pod, [&](auto a, auto b) {
      const CardView &one = node.cards[a], &other = node.cards[b];
      return std::tuple(one.free, one.free_memory_bytes) < std::tuple(other.free, other.free_memory_bytes);
    });
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
                       "The allocator answers pods in the order in which their nodes were chosen.",
                       "`scheduler: tree`, in which scheduler and allocator agree, is ours."};
  policy.parameters.choice("scheduler", {"tree", "admission"})
      .means(
          "What chooses cards: the tree that the allocator uses too, or the admission filter, which sees neither links "
          "nor what the allocator gave away.")
      .from("ours (artifact: admission; a part of a card on which the allocator disagrees fails)");
  policy.create_placement = [](const Parameters& values) {
    return std::make_unique<GaiaGpuTopology>(values.choice("scheduler") == "admission");
  };
  return policy;
}

}  // namespace corun
