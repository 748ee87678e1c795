#pragma once

#include <span>
#include <string>
#include <string_view>

#include "traces/counters/bound_by.h"

namespace corun {

/// Of programs whose counters hold less of their kernel time, nothing is concluded. Nor of those that do not keep the
/// device busy (kMostlyBusy): their hosts decide.
inline constexpr double kCountedEnough = 0.75;

/// The note of a run on a client whose kernels were counted: what they use, and the part of the time in which the
/// device works for it alone.
std::string counted_use_note(const std::string& client, const MeanUse& use, double busy);

/// By such a note, the class of a figure where programs share SMs: "sms" of programs that keep the device busy and
/// whose kernels use SMs more than memory; "" of others, which have no class of their own (studies/counters), and where
/// the notes do not say.
std::string_view counted_bound(std::span<const std::string> notes, const std::string& client);

}  // namespace corun
