#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bands/bands.h"
#include "experiments/question/experiment.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// A neighbour of the server: jobs per second, mean over seeds.
struct NeighbourRate {
  std::string client;
  double throughput_per_s = 0;
};

/// What a server gives at a load, the worst over seeds.
struct LoadPoint {
  double rate_per_s = 0;
  double ttft_p99_ms = 0, tpot_p99_ms = 0;  ///< 0 = no request had one
  double rejected = 0;
  bool holds = false;         ///< requests were answered, both within the service level, and none rejected
  bool surely_holds = false;  ///< the upper ends of their bands (figure_band()) do, too; false without bands
  bool has_bands = false;
  std::vector<NeighbourRate> neighbours{};
};

/// The largest load of a server in a scenario under a policy.
struct LargestLoad {
  std::string scenario, policy, client;
  double stated_per_s = 0;  ///< the rate that the experiment states
  ServiceLevel level{};     ///< what the client promises
  LoadPoint at{};           ///< the largest that holds; its rate is 0 where not even the least that was tried does
  LoadPoint beyond{};       ///< the least that was tried and does not hold
  std::optional<double> surely_per_s{};  ///< the largest that surely holds, 0 = none that was tried; nullopt: no bands
};

/// "TTFT 512 ms": what ends the loads that hold; "more was not tried".
std::string reason_of(const LargestLoad& load);

/// Searches the largest rate of requests at which the server of each scenario keeps its service level (`slo`) by the
/// 99th percentile in every seed, under each policy: doubling or halving the stated rate, then by bisection to
/// `precision` (a fraction, > 0). Rates from 1/1024 to 1024 times the stated one are tried. Each scenario must have one
/// client with `server`, whose requests are drawn at a rate, and an `slo` that bounds the TTFT: without it a queue may
/// grow for as long as the horizon lasts. Throws Error(kInput), located, where one has not. `tick` is told of each load
/// before it is simulated. The same experiment gives the same answer.
std::vector<LargestLoad> largest_loads(const Experiment& experiment, const PolicyRegistry& policies, double precision,
                                       const std::function<void(const std::string&)>& tick = {},
                                       const Bands& bands = Bands::built_in());

}  // namespace corun
