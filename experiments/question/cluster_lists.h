#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

namespace corun {

inline constexpr Duration kLongestPodTime{std::chrono::hours{24 * 3650}};  ///< of any arrival or runtime

/// Reads a list of nodes: CSV with the columns sn, cpu_milli, memory_mib, gpu and model (openb's format). Cards of a
/// node are taken as far from one another as the default of NodeSpec says: the list does not state links. Throws
/// Error(kInput) with the line of what is wrong.
std::vector<NodeSpec> read_node_list(const std::string& path);

/// Reads a list of pods, plain or gzipped, in the order of arrival. Two formats, distinguished by their columns:
///
///   openb   name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, creation_time, deletion_time, scheduled_time;
///           times in seconds. A pod runs from its scheduled time (creation, where it never was) to its deletion.
///   philly  job_id, submit_time, num_gpu, duration in seconds, as ElasticFlow publishes it: whole cards.
///
/// Throws Error(kInput) with the line of what is wrong.
std::vector<PodSpec> read_pod_list(const std::string& path);

}  // namespace corun
