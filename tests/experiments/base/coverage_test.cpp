// How often 95 % intervals of pairs hold what is true, for so many pairs as people have: counted over experiments whose
// truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "experiments/statistics/statistics.h"
#include "sim/engine/random.h"

namespace corun {
namespace {

constexpr int kTrials = 4000;  // the fraction of 0.95 has a standard deviation of 0.0034

struct Population {
  const char* name;
  std::function<void(RandomStream&, double& value, double& baseline)> draw;
  double difference, ratio;  ///< of the means
  double least[4], most[4];  ///< fraction of intervals of the difference that hold it, for 3, 5, 10 and 30 pairs
  double least_of_ratio[4];
};

const Population kPopulations[] = {
    {"normal",
     [](RandomStream& random, double& value, double& baseline) {
       baseline = 10 + 2 * random.normal();
       value = baseline + 1 + random.normal();
     },
     1,
     1.1,
     {0.935, 0.935, 0.935, 0.935},
     {0.965, 0.965, 0.965, 0.965},
     {0.93, 0.935, 0.935, 0.935}},
    {"exponential differences",
     [](RandomStream& random, double& value, double& baseline) {
       baseline = 10 + 2 * random.normal();
       value = baseline + random.exponential(1);
     },
     1,
     1.1,
     {0.865, 0.87, 0.885, 0.905},
     {0.9, 0.91, 0.92, 0.94},
     {0.86, 0.88, 0.89, 0.91}},
    {"lognormal, with what a seed gives to both",
     [](RandomStream& random, double& value, double& baseline) {
       const double common = std::exp(0.5 * random.normal());
       baseline = common * std::exp(0.2 * random.normal());
       value = 1.3 * common * std::exp(0.2 * random.normal());
     },
     0.3 * std::exp(0.145),
     1.3,
     {0.92, 0.92, 0.925, 0.93},
     {0.965, 0.965, 0.965, 0.97},
     {0.9, 0.93, 0.94, 0.935}},
};

class Coverage : public ::testing::TestWithParam<Population> {};
INSTANTIATE_TEST_SUITE_P(Of, Coverage, ::testing::ValuesIn(kPopulations), [](const auto& population) {
  return std::string(population.param.name).substr(0, std::string(population.param.name).find_first_of(" ,"));
});

TEST_P(Coverage, IsWhatItsHeaderSays) {
  const Population& population = GetParam();
  constexpr std::size_t kPairs[] = {3, 5, 10, 30};
  RandomStream random(7, population.name);
  for (std::size_t i = 0; i < std::size(kPairs); ++i) {
    int held = 0, ratio_held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(kPairs[i]), baseline(kPairs[i]);
      for (std::size_t pair = 0; pair < kPairs[i]; ++pair) population.draw(random, values[pair], baseline[pair]);
      const Estimate difference = paired_interval(values, baseline, Effect::kDifference);
      const Estimate ratio = paired_interval(values, baseline, Effect::kRatio);
      held += difference.low <= population.difference && population.difference <= difference.high ? 1 : 0;
      const bool is_unknown = std::isnan(ratio.low);
      ratio_held += is_unknown || (ratio.low <= population.ratio && population.ratio <= ratio.high) ? 1 : 0;
    }
    const double fraction = static_cast<double>(held) / kTrials, of_ratio = static_cast<double>(ratio_held) / kTrials;
    RecordProperty(std::to_string(kPairs[i]) + "_pairs", std::to_string(fraction));
    EXPECT_GE(fraction, population.least[i]) << kPairs[i] << " pairs";
    EXPECT_LE(fraction, population.most[i]) << kPairs[i] << " pairs";
    EXPECT_GE(of_ratio, population.least_of_ratio[i]) << kPairs[i] << " pairs";
  }
}

/// A resample that leaves a pair out again and again is of other experiments.
TEST(Coverage, ResamplesDrawEveryPairAlike) {
  for (const std::size_t pairs : {2, 5, 30}) {
    constexpr std::size_t kRows = 9999;
    std::vector<double> drawn(pairs);
    for (const std::uint32_t index : draw_resamples(kRows, pairs, 1)) {
      ASSERT_LT(index, pairs);
      ++drawn[index];
    }
    for (const double count : drawn) EXPECT_NEAR(count / kRows, 1, 0.06) << pairs << " pairs";
  }
}

}  // namespace
}  // namespace corun
