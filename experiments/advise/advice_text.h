#pragma once

#include <string>

#include "experiments/advise/advice.h"
#include "experiments/base/table.h"

namespace corun {

/// "Share them: MPS. a keeps 0.92 (0.87 to 0.95), b 0.71 (0.60 to 0.78). In turns: a keeps 0.46, b 0.52." and a line
/// end.
std::string verdict_text(const AdviceQuestion& question, const Advice& advice);

/// The verdict, a table of all ways, and what was assumed.
std::string advice_text(const AdviceQuestion& question, const Advice& advice, std::size_t width = kAnyWidth);

/// What sets up the best way of those that `kind` (of deploy_kinds()) can. Throws Error(kInput) where it can none.
std::string deployment_text(const std::string& kind, const AdviceQuestion& question, const Advice& advice);

}  // namespace corun
