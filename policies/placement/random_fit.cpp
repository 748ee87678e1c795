/// Random fit - every pod goes to any node with room.
/// Source:      the baseline of every placement study.
/// Hears:       nothing.      Needs: a cluster.
/// Decides:     a fitting node drawn uniformly; there the lowest-numbered cards with room.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <random>

#include "policies/builtin.h"
#include "policies/placement/candidates.h"

namespace corun {

namespace {

class RandomFit : public PlacementPolicy {
 public:
  explicit RandomFit(std::int64_t seed) : random_(static_cast<std::uint64_t>(seed)) {}

  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    fitting_.clear();
    for (const NodeView& node : view.nodes)
      if (fits(node, pod)) fitting_.push_back(&node);
    if (fitting_.empty()) return std::nullopt;
    const NodeView& node = *fitting_[random_() % fitting_.size()];
    return Placement{node.index, first_cards(node, pod, std::less<>())};
  }

 private:
  std::mt19937_64 random_;
  std::vector<const NodeView*> fitting_;  // kept for its storage
};

}  // namespace

PolicyDescriptor random_fit_policy() {
  PolicyDescriptor policy;
  policy.name = "random_fit";
  policy.summary = "Every pod goes to a node drawn from those with room.";
  policy.source = "ours; the baseline of placement studies";
  policy.parameters.integer("seed", 1).range(0, 1'000'000'000).means("Of the random numbers.").from("ours");
  policy.create_placement = [](const Parameters& values) {
    return std::make_unique<RandomFit>(values.integer("seed"));
  };
  return policy;
}

}  // namespace corun
