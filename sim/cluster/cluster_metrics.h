#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/metrics/metric.h"

namespace corun {

/// The cluster metrics of the metric table, which defines each, under the client "cluster"; those that clients have as
/// well also under the name of each client, over its pods that finished. Those of an estimate have ranges next to them.
/// Means over time run from the first arrival to the last, since what follows only drains, and to the end where all
/// pods arrive together.
std::vector<Metric> cluster_metrics(const ClusterResult& result);

}  // namespace corun
