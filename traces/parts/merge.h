#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/parts/part_reader.h"
#include "traces/timeline.h"

namespace corun {

/// Mean power of GPUs between two instants of the parts' clock, by the GPU's uuid as uuid_text() writes it.
using PowerBetween = std::function<std::map<std::string, PowerMean>(std::int64_t from_ns, std::int64_t to_ns)>;

/// What threads had of the CPU between two instants of the parts' clock.
using HostBetween = std::function<std::vector<HostUse>(std::int64_t from_ns, std::int64_t to_ns)>;

/// How parts become one timeline.
struct MergeOptions {
  std::uint64_t first_frame = 1;  ///< with `last_frame`: all rows are cut to the span of these frames
  std::uint64_t last_frame = UINT64_MAX;
  bool other_contexts = false;  ///< foreign programs were on the device: marks the capture co-run
  /// Device memory that came into use meanwhile, by the GPU's uuid as uuid_text() writes it.
  std::map<std::string, std::uint64_t> memory_in_use = {};
  PowerBetween power_between = {};  ///< empty: nothing is known of power
  HostBetween host_between = {};    ///< empty: nothing is known of the CPU
  std::optional<UntracedRate> untraced_rate =
      {};                         ///< of the untraced pass, where there was one: kept in the provenance
  std::string source_file = {};   ///< base name, for the provenance
  std::string content_hash = {};  ///< the same
};

/// What a capture amounts to in addition to its timeline: for the summary that `simtrace record` prints.
struct MergeReport {
  std::uint64_t processes = 0;
  std::uint64_t parts = 0;
  std::uint64_t lost_records = 0;
  std::int64_t tracer_ns = 0;      ///< host time of the capture itself, as far as it was seen
  std::vector<std::string> notes;  ///< one sentence each: why a part ended early, what is missing
};

/// Joins the parts of one session into a timeline on CLOCK_MONOTONIC.
///
/// Calls find their operations and waits their events as in CallLog. Names of kernels are demangled. Every visit of a
/// frame is an operation of kind render on a queue of its own; a frame has its first submission, the start of its first
/// and the end of its last GPU work, and the union of its visits as busy time. Where GL ran on top of Vulkan in one
/// process and both were seen, the Vulkan frames stand and the GL ones are left out. Where more than one context (two
/// processes, or graphics and CUDA) worked during the same time, the capture is marked co-run.
/// Parts of an untraced pass add nothing but their notes. `report` is filled in any case.
/// Throws Error(kInput) where there is no part with anything in it, or no frame of those asked for.
Timeline merge_parts(std::vector<PartContent> parts, const MergeOptions& options, MergeReport& report);

/// The untraced launch rate of the same stretch of an untraced pass: see UntracedRate in timeline.h. `from` and `to`
/// are numbers of launches, counted from 1, as the traced pass saw them. Throws Error(kInput) where the pass counted
/// fewer than 10 x kLaunchesPerCount launches in it.
UntracedRate untraced_rate(const PartContent& untraced_pass, std::uint64_t from, std::uint64_t to);

/// Queues of graphics work have contexts from here on: this one for all queues of Vulkan, this one plus its number for
/// a context of GL. CUDA's numbers are smaller.
inline constexpr std::uint64_t kGraphicsContext = std::uint64_t{1} << 32;

}  // namespace corun
