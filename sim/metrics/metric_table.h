#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/metrics/metric.h"

namespace corun {

/// What has a metric. In a Metric, `client` is the name of the client, "device" or "cluster".
enum class MetricOwner : std::uint8_t {
  kFrameClient,       ///< a client that shows frames
  kServer,            ///< a client that serves requests
  kClient,            ///< every client
  kClientAndDevice,   ///< every client, and the device as a whole
  kDevice,            ///< the device as a whole
  kCluster,           ///< the cluster as a whole
  kClusterAndClient,  ///< the cluster, and each client over the pods that do its work
};

enum class Better : std::uint8_t { kMore, kLess, kNeither };

std::string_view to_string(MetricOwner owner);  ///< "client with frames", "client", "client and device", ...
std::string_view to_string(Better better);      ///< "more", "less", "neither"

/// All that the project says about one metric. Texts are plain, without a full stop at their end, and live as long as
/// the program.
struct MetricDescriptor {
  std::string_view name;  ///< "frame_time_p99_ms"; the ending of a time, rate or ratio says its unit
  std::string_view unit;  ///< of stored values: "fps", "ms", "s", "ratio", "1/s", "J", "W", "MHz" or "count"
  MetricOwner owner = MetricOwner::kClient;
  Better better = Better::kNeither;
  std::string_view noun = {};        ///< in sentences: "p99 frame time"; "" = the name
  std::string_view heading = {};     ///< of a column: "p99 frame"; "" = no table has one
  std::string_view meaning;          ///< one line
  std::string_view definition = {};  ///< what the line leaves open; "" = nothing
  bool is_percentage = false;        ///< a part of a whole, printed in per cent
  bool counts_from_zero = false;     ///< has no row in a run where nothing of the kind happened, which then counts as 0
};

/// Every metric that a run can give, in the order in which they are listed. To add one, add a row here and compute it
/// in Collector or cluster_metrics.
std::span<const MetricDescriptor> metric_table();

/// nullptr where the table has no such metric.
const MetricDescriptor* find_metric(std::string_view name);

/// By its name, or its name without its ending (_ms, _ratio, _per_s, _mean); the first of the table where several fit,
/// nullptr where none does.
const MetricDescriptor* metric_called(std::string_view text);

/// The row of a metric that is known to be in the table.
const MetricDescriptor& metric_named(std::string_view name);

/// A figure with the unit that the table states. `name` must be in the table.
Metric make_metric(std::string client, std::string_view name, double value);

/// Whether less of it is better. For a metric that the table does not know, as one of another program's results, a time
/// is taken to be better when short.
bool is_better_small(std::string_view name, std::string_view unit);

/// Whether a run without the metric counts as 0 of it.
bool counts_from_zero(std::string_view name);

}  // namespace corun
