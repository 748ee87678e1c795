#pragma once

#include <deque>
#include <vector>

#include "sim/cluster/cluster.h"

namespace corun {

/// What the pod asks for, as a policy sees it; what it refers to must outlive the view.
PodView view_of(const PodSpec& pod, std::uint64_t number);

/// What every node has left, as the scheduler keeps it, with how much compute is promised and how much of the free one
/// is broken. Pods are taken to fit where they are put.
class NodeBooks {
 public:
  /// Nodes have their host resources from the start, and their cards once they advertise them.
  explicit NodeBooks(const ClusterInput& input);

  void advertise();
  void take(const Placement& placement, const PodView& pod) { change(placement, pod, 1); }
  void release(const Placement& placement, const PodView& pod) { change(placement, pod, -1); }

  bool could_ever_fit(const PodView& pod) const;
  const std::vector<NodeView>& nodes() const { return views_; }
  const std::vector<PodShare>& mix() const { return mix_; }
  double cards() const { return all_cards_; }
  double allocated() const { return allocated_ / kWholeCard; }    ///< in cards
  double fragmented() const { return fragmented_ / kWholeCard; }  ///< in cards

 private:
  struct Cards {
    std::vector<CardView> now, empty;
    double fragmented = 0.0;
  };
  void add(const NodeSpec& spec);
  void change(const Placement& placement, const PodView& pod, int sign);
  void count_fragments(std::size_t node);

  const std::vector<PodShare> mix_;
  std::deque<Cards> cards_;  ///< a deque: views point into its elements
  std::vector<NodeView> views_, empty_;
  double all_cards_ = 0.0, allocated_ = 0.0, fragmented_ = 0.0;
};

}  // namespace corun
