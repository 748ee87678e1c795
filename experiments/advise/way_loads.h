#pragma once

#include <optional>
#include <string>

#include "experiments/advise/figures/spread.h"
#include "experiments/advise/question.h"
#include "experiments/advise/ways.h"
#include "experiments/bands/bands.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// The largest loads at which a way keeps the promises of its server, in requests per second: `simcli load`.
struct WayLoads {
  Spread largest{};                ///< by the figures; 0 = none that was tried
  std::optional<Spread> surely{};  ///< by the upper ends of their bands
  std::string beyond{};            ///< what breaks a promise at more: "TTFT 512 ms"
};

/// Of the one server of the question, over all bounds of what is not known: largest_loads() to 5 %, within the horizon
/// of the way. Throws as that does.
WayLoads loads_of(const AdviceQuestion& question, const SharingWay& way, const PolicyRegistry& policies,
                  const Bands& bands);

}  // namespace corun
