#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tracer/record/host/nvml.h"

namespace corun::record {

/// The most device memory that came into use while a recording ran, by what the driver reports.
///
/// Asked from outside of the program, which is not touched by it. All that a program holds is in it, contexts and the
/// code of kernels too; so is what other programs take meanwhile, and a peak between two looks can be missed.
class MemoryWatch {
 public:
  /// From now on: what is in use already does not count.
  void begin();
  /// Call it several times a second. True where a peak is higher than at the last look.
  bool look();
  /// Bytes by the GPU's uuid; GPUs on which nothing came into use are missing.
  const std::map<std::string, std::uint64_t>& peaks() const { return peaks_; }

 private:
  Nvml nvml_;
  std::map<std::string, std::uint64_t> before_, peaks_;
};

}  // namespace corun::record
