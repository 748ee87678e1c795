#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tracer/record/host/nvml.h"

namespace corun::record {

/// Notices programs that use a GPU while we record and that do not belong to the recording, and which GPUs those use
/// that do.
///
/// Those are ours: processes that descend from this one, and writers of parts. In a container the driver may count
/// processes by the host's numbers, which say nothing here; of these only the ones that worked before the recording
/// began are taken for foreign.
class Neighbours {
 public:
  /// Looks which programs are at work already.
  Neighbours();

  /// Forgets the programs that worked until now.
  void skip() { nvml_.workers(); }

  /// The programs that worked since the last look or skip(); call it about once a second.
  void look(const std::vector<std::string>& parts);

  /// GPUs (uuids, as text and in the way of Nvml) on which foreign programs were at work, as look() saw it.
  const std::set<std::string>& gpus() const { return gpus_; }
  /// GPUs on which our programs were at work; fewer, or none, where the driver counts them by other numbers.
  const std::set<std::string>& own_gpus() const { return own_gpus_; }

 private:
  Nvml nvml_;
  std::set<std::int64_t> before_;
  std::set<std::string> gpus_, own_gpus_;
};

}  // namespace corun::record
