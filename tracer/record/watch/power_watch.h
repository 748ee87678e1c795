#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tracer/record/host/nvml.h"
#include "tracer/record/watch/reading_log.h"
#include "traces/timeline.h"

namespace corun::record {

/// What the GPUs drew while a recording ran, by the energy meters of the driver. Asked from outside of the program,
/// which is not touched by it; all that runs on a GPU is in it.
class PowerWatch {
 public:
  /// Reads the meters. Call it several times a second.
  void look();

  /// Mean of each GPU between two instants of CLOCK_MONOTONIC, by its uuid; PowerMean::device is 0. A GPU is missing
  /// that tells no energy, and where fewer than two looks lie in that time or these are less than kLeastNs apart.
  std::map<std::string, PowerMean> between(std::int64_t from_ns, std::int64_t to_ns) const;

  /// Meters are updated ten times a second: less is too coarse.
  static constexpr std::int64_t kLeastNs = 500'000'000;

 private:
  struct Reading {
    std::int64_t at_ns;
    std::uint64_t energy_mj;
    double sm_mhz;
  };
  static constexpr std::size_t kMostReadings = 32'768;

  Nvml nvml_;
  std::map<std::string, ReadingLog<Reading, kMostReadings>> readings_;
};

}  // namespace corun::record
