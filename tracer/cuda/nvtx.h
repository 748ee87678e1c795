#pragma once

#include <cstdint>

#include "tracer/cuda/nvtx_abi.h"

namespace corun::nvtx {

/// What becomes of ranges.
struct Sink {
  bool (*is_wanted)();                      ///< false: nothing is recorded at present
  std::uint32_t (*name)(const char* text);  ///< number of a name; 0: the range is not recorded
  void (*range)(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t name);
};

/// Puts hooks for ranges into the program's NVTX: from then on ranges go to `sink`. Marks, categories, wide characters
/// and the names of things are left out. Domains are not made: ranges of all of them go to the sink alike, and
/// libraries that ask for one before they name their own (XLA) stay silent. False where the tables are not what is
/// expected.
bool install(GetExportTable get_table, const Sink& sink);

}  // namespace corun::nvtx
