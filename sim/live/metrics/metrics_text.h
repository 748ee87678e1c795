#pragma once

#include <string>
#include <string_view>

#include "sim/live/metrics/figures_board.h"

namespace corun::live {

/// What a scrape reads: figures in the text format of Prometheus, version 0.0.4. Times are in seconds and memory in
/// bytes. Every family is there, with its HELP and TYPE, where it has no sample yet, too; what is not known has no
/// sample. `version` is that of this program.
std::string metrics_text(const FiguresBoard::Posted& posted, std::string_view version);

}  // namespace corun::live
