#pragma once

#include <vector>

#include "traces/base/time.h"

namespace corun::live {

/// When each launch of a group ran, of which only the whole is known: one after another, in proportion to what each was
/// expected to take.
///
/// `expected` holds kUnknownDuration where nothing is known: such a launch counts as the mean of the others, and where
/// nothing is known of any, all count alike. The parts sum up to `took` to the nanosecond.
std::vector<Duration> group_times(Duration took, const std::vector<Duration>& expected);

}  // namespace corun::live
