#pragma once

#include <string>
#include <vector>

#include "experiments/base/table.h"
#include "experiments/identify/identify.h"
#include "experiments/question/device_file.h"

namespace corun::identification {

/// What is found, in sentences: which rule the GPU follows, with which numbers; or which ones no trial can separate; or
/// that it follows none.
std::vector<std::string> findings(const Identification& found, Predictions& predictions,
                                  const IdentifyOptions& options);

/// A table of the trials that were run, one of the rules, and the findings.
std::string report_text(const Identification& found, Predictions& predictions, const IdentifyOptions& options,
                        std::size_t width = kAnyWidth);

/// The same with every figure: measured, and as each rule that stood at the time predicted it.
std::string report_json(const Identification& found, Predictions& predictions, const IdentifyOptions& options,
                        const std::string& unknown);

/// What a device file can say now: keys on which all rules that stand agree. Empty where no rule fits.
std::vector<DeviceLine> identified_lines(const Identification& found, const Predictions& predictions);

}  // namespace corun::identification
