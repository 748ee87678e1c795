#pragma once

#include <string>

#include "sim/calibration/fits/fit.h"

namespace corun::calibration {

/// The fit report as Markdown: a table of all values, then for each its method, what it should explain, with residuals,
/// and by how much the null models are beaten.
std::string fit_report(const Calibration& calibration);

}  // namespace corun::calibration
