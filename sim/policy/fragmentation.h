#pragma once

#include "sim/policy/placement.h"

namespace corun {

/// Free compute of a node, in thousandths of a card, that a pod drawn from `mix` can be expected not to be able to use:
/// all that is free where the pod does not fit on the node, else what is free on cards without room for its share.
/// Pods without cards are not in the mix. Source: Q. Weng et al., "Beware of fragmentation: scheduling GPU-sharing
/// workloads with fragmentation gradient descent", USENIX ATC 2023, section 3.
double fragmentation(const NodeView& node, std::span<const PodShare> mix);

}  // namespace corun
