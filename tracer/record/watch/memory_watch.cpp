#include "tracer/record/watch/memory_watch.h"

#include <algorithm>

namespace corun::record {

void MemoryWatch::begin() {
  before_.clear();
  peaks_.clear();
  for (const Nvml::MemoryInUse& one : nvml_.memory_in_use()) before_[one.uuid] = one.bytes;
}

bool MemoryWatch::look() {
  bool has_grown = false;
  for (const Nvml::MemoryInUse& one : nvml_.memory_in_use()) {
    const auto before = before_.find(one.uuid);
    if (before == before_.end() || one.bytes <= before->second) continue;
    std::uint64_t& peak = peaks_[one.uuid];
    has_grown |= one.bytes - before->second > peak;
    peak = std::max(peak, one.bytes - before->second);
  }
  return has_grown;
}

}  // namespace corun::record
