#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/metrics/metric.h"

namespace corun {

/// Figures of a cluster run, most of them under the client "cluster". Ratios of cards are means over time from the
/// first arrival to the last (to the end where all arrive together), since what follows only drains:
///
/// allocated_ratio: compute promised to pods over all; allocated_peak_ratio: the most of it; fragmented_ratio: free
/// compute that a pod drawn from the workload can be expected not to be able to use, over all; pod_wait_mean_s and
/// pod_wait_p99_s: arrival to start of the pods that started; pod_time_mean_s and pod_time_p99_s: arrival to end of
/// those that finished; slowdown_mean: of the pods that finished their client's work, time on the card over time alone
/// on an idle one; pods_started, pods_waiting (never started), pods_rejected (fit on no empty node), pods_failed;
/// stale_configs_mean (from the first arrival to the end) and stale_configs_peak: configurations of pods that have
/// gone. Under the name of each client: pod_time_mean_s and slowdown_mean of its pods that finished.
std::vector<Metric> cluster_metrics(const ClusterResult& result);

}  // namespace corun
