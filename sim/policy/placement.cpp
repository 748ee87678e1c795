#include "sim/policy/placement.h"

#include <algorithm>

#include "sim/policy/fragmentation.h"

namespace corun {

bool fits(const CardView& card, const PodView& pod) {
  return card.free >= pod.milli && (pod.memory_bytes == 0 || card.free_memory_bytes >= pod.memory_bytes);
}

bool fits(const NodeView& node, const PodView& pod) {
  if (node.free_cpu_milli < pod.cpu_milli || node.free_memory_mib < pod.memory_mib) return false;
  if (pod.cards == 0) return true;
  if (!pod.models.empty() && std::ranges::find(pod.models, node.model) == pod.models.end()) return false;
  const auto room = std::ranges::count_if(node.cards, [&](const CardView& card) { return fits(card, pod); });
  return room >= static_cast<std::ptrdiff_t>(pod.cards);
}

double fragmentation(const NodeView& node, std::span<const PodShare> mix) {
  double expected = 0;
  for (const PodShare& kind : mix) {
    const bool is_usable = fits(node, kind.pod);
    double unusable = 0;
    for (const CardView& card : node.cards)
      if (!is_usable || !fits(card, kind.pod)) unusable += card.free;
    expected += kind.share * unusable;
  }
  return expected;
}

}  // namespace corun
