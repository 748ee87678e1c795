#pragma once

#include <string>

#include "experiments/base/table.h"
#include "experiments/fit/fit.h"

namespace corun {

/// Whether a session holds the frame rate at all.
bool fits(const FitAnswer& answer);

/// "3 sessions of game hold 60 FPS on h200 (surely 2, perhaps 3). With train: 2, in turns, where train keeps 0.31." and
/// a line end.
std::string fit_sentence(const FitQuestion& question, const FitAnswer& answer);

/// The sentence, a table of all points with a bar for the frame rate, and what was assumed.
std::string fit_text(const FitQuestion& question, const FitAnswer& answer, std::size_t width = kAnyWidth);

}  // namespace corun
