#pragma once

#include <string>
#include <vector>

#include "experiments/report/report.h"

namespace corun::report {

/// All that the page draws, as one compact JSON object; what its members mean stands where they are written. Numbers of
/// long series are one text, separated by spaces. Throws as make_report does.
std::string contents(const std::vector<std::string>& files, const ReportChoice& choice);

}  // namespace corun::report
