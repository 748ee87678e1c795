#pragma once

#include <string>

#include "experiments/fit/fit.h"

namespace corun {

/// The answer as one JSON document, without a line end.
std::string fit_json(const FitQuestion& question, const FitAnswer& answer);

}  // namespace corun
