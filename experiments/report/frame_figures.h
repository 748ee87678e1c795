#pragma once

#include <cstddef>

#include "experiments/base/json.h"
#include "experiments/report/measured.h"

namespace corun::report {

/// Figures made of frames are drawn for so many settings of a scenario; the table and the trade-off show all.
inline constexpr std::size_t kMostDetailed = 12;

/// "1 2 3": numbers as one text, which is a quarter of the bytes of an array.
std::string packed(const std::vector<std::int64_t>& numbers);

/// Probabilities at which distributions of frame times are given: every hundredth, and the tail by tenths of what is
/// left.
const std::vector<double>& probabilities();

/// Adds to the open object of a scenario: "distributions", "courses", "parts", "late" and "timelines".
void add_frame_figures(const Measured& measured, const Scenario& scenario, Json& json);

/// Adds "decisions": how often each setting asked for what, over its runs.
void add_decisions(const Measured& measured, const Scenario& scenario, Json& json);

}  // namespace corun::report
