#pragma once

#include <string>

#include "experiments/advise/advice.h"

namespace corun {

/// The advice as one JSON document, without a line end: `verdict` is "share", "apart", "no_way" or "cannot_tell".
std::string advice_json(const AdviceQuestion& question, const Advice& advice);

}  // namespace corun
