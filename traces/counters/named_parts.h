#pragma once

#include <array>
#include <string_view>

#include "traces/counters/bound_by.h"

namespace corun {

/// A part of a whole or of a peak, with the name that all programs give it in JSON.
struct NamedPart {
  std::string_view name;
  double part = 0;
};

/// Parts of the kernels' time by what bounds them; those that are not counted are in none.
inline std::array<NamedPart, 4> named_parts(const BoundBy& bound) {
  return {{{"dram", bound.dram}, {"l2", bound.l2}, {"sms", bound.sms}, {"nothing", bound.nothing}}};
}

/// Parts of the units' peaks, and the part of the kernel time that is counted.
inline std::array<NamedPart, 4> named_parts(const MeanUse& use) {
  return {{{"dram", use.dram}, {"l2", use.l2}, {"sms", use.sms}, {"counted", use.counted}}};
}

}  // namespace corun
