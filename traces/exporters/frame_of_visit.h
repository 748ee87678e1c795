#pragma once

#include <cstdint>
#include <vector>

#include "traces/timeline.h"

namespace corun {

/// The frame that each operation draws: an index into Timeline::frames(), or OpRecord::kNoIndex.
///
/// A visit belongs to the frame of its program that began to submit last before the visit was submitted. Where that is
/// not known or does not fit, it belongs to the one that the GPU began last before the visit. Either way it lies within
/// the frame's GPU span, or it belongs to none.
std::vector<std::uint32_t> frames_of_visits(const Timeline& timeline);

}  // namespace corun
