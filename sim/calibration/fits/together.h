#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/calibration/probes/sample.h"

namespace corun::calibration {

/// Samples that one trial's probes measured together, in the order of its probes.
using Together = std::vector<const Sample*>;

/// Every repetition of a trial in which no probe failed.
std::vector<Together> together(const Samples& samples, const std::string& trial);

/// A stretch of a trial, nanoseconds since its start.
struct Window {
  std::int64_t from = 0, to = 0;
};
/// While all of them spun; at least one.
Window window_of_spinners(std::span<const Sample* const> spinners);
/// From the first kernel's end to the last one's of every load; empty where one ended fewer than `fewest` kernels.
Window window_of_loads(std::span<const Sample* const> loads, std::size_t fewest);

/// How many of a load's kernels ended in a window, its end excluded.
std::int64_t ended_in(Window window, const Sample& load);
/// Part of its time that a spinner was not away.
double share_of_spinner(const Sample& spinner);

inline double as_double(std::int64_t number) { return static_cast<double>(number); }
/// A series as numbers to calculate with.
std::vector<double> numbers(const Sample& sample, const std::string& name);

}  // namespace corun::calibration
