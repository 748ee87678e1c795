#pragma once

#include <string>

#include "experiments/fit/fit.h"

namespace corun {

/// "2 (surely 1, perhaps 3) servers like chat keep TTFT 500 ms, TPOT 50 ms on h200 under MPS; 1 in turns.", of a
/// question with servers.
std::string server_fit_sentence(const FitQuestion& question, const FitAnswer& answer);

/// A line each point.
std::string server_fit_table(const FitQuestion& question, const FitAnswer& answer, std::size_t width);

/// So far in begins what is behind a column's name in its legend.
inline constexpr std::size_t kServerLegendIndent = 12;

/// What its columns mean, and what was assumed.
std::string server_fit_legend(const FitQuestion& question, const FitAnswer& answer);

}  // namespace corun
