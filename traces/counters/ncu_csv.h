#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/timeline.h"

namespace corun {

/// One launch of a kernel as Nsight Compute counted it.
struct CountedLaunch {
  std::string kernel;  ///< as readable_name() writes it, where the report has mangled names
  std::uint64_t blocks = 0;
  std::uint32_t threads = 0;  ///< of a block
  CounterRecord counted;      ///< without name and shape; `launches` is 1
};

/// Metrics that `ncu --metrics` must collect, separated by commas.
std::string counter_metrics();

/// Reads what `ncu --csv --page raw` prints: a header, a row of units, a row for each launch. Lines before the header
/// are left out, since a program may print, too. Only the time and the DRAM's throughput must be there; of the latter
/// the reports of ncu's own sets have another name, which is known.
///
/// Throws Error(kInput) with the line where there is no header, a column is missing, or a cell is no number. A launch
/// of which ncu says `n/a` was not counted and is left out.
std::vector<CountedLaunch> read_ncu_csv(std::string_view text, const std::string& path);

}  // namespace corun
