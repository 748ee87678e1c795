#include "experiments/advise/way_loads.h"

#include "experiments/advise/figures/simulated_means.h"
#include "experiments/load/load.h"
#include "experiments/question/experiment.h"
#include "experiments/run/ranges.h"

namespace corun {

namespace {

constexpr double kLoadPrecision = 0.05;

}  // namespace

WayLoads loads_of(const AdviceQuestion& question, const SharingWay& way, const PolicyRegistry& known,
                  const Bands& bands) {
  PolicyRegistry policies = known;
  const Experiment experiment = with_host_ranges(
      with_draw_ranges(parse_experiment(advice_experiment(question, {way}), kMadeExperiment, {}, policies)));
  std::optional<Spread> largest, surely;
  WayLoads loads;
  for (const LargestLoad& load : largest_loads(experiment, policies, kLoadPrecision, {}, bands)) {
    widen(largest, load.at.rate_per_s);
    widen(surely, load.surely_per_s);
    if (load.at.rate_per_s == largest->low) loads.beyond = reason_of(load);
  }
  loads.largest = *largest;
  loads.surely = surely;
  return loads;
}

}  // namespace corun
