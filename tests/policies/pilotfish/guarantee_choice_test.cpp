#include "policies/pilotfish/guarantee_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

GuaranteeCosts costs(Duration snapshot = 80ms, Duration restore = 580ms) {
  return {.period = 16'667us, .window = 10ms, .snapshot = snapshot, .restore = restore};
}

/// Frames of work that are kept out of all frames, drawn one by one.
double drawn_ratio(const GuaranteeCosts& costs, double overruns, std::int64_t every, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution is_killed(overruns);
  const double snapshot = to_seconds(costs.snapshot) / to_seconds(costs.period);
  const double restore = to_seconds(costs.restore) / to_seconds(costs.period);
  double kept = 0, all = 0;
  while (all < 2e6) {
    std::int64_t done = 0;
    for (; done < every; ++done) {
      ++all;
      if (!is_killed(random)) continue;
      all += restore;
      done = -1;  // from the last snapshot
    }
    kept += static_cast<double>(every);
    all += snapshot;
  }
  return kept / all;
}

TEST(GuaranteeChoice, KeptRatioIsThatOfKillsDrawnAtRandom) {
  for (const double overruns : {0.0005, 0.002, 0.02})
    for (const std::int64_t every : {4, 15, 60, 240}) {
      if (overruns * static_cast<double>(every) > 2) continue;  // drawn too seldom
      EXPECT_NEAR(kept_ratio(costs(), overruns, every), drawn_ratio(costs(), overruns, every, 1), 0.02)
          << overruns << " every " << every;
    }
}

TEST(GuaranteeChoice, SnapshotPeriodIsTheBestOfAll) {
  for (const Duration snapshot : {Duration{12ms}, Duration{80ms}, Duration{1s}})
    for (const double overruns : {0.0001, 0.002, 0.019, 0.3}) {
      const GuaranteeCosts its = costs(snapshot);
      double best = 0;
      for (std::int64_t every = 1; every < 5000; ++every) best = std::max(best, kept_ratio(its, overruns, every));
      EXPECT_DOUBLE_EQ(choose_snapshots(its, {Duration{0}, overruns}).kept, best) << overruns;
    }
}

TEST(GuaranteeChoice, WithoutKillsThereAreNoSnapshots) {
  const GuaranteeChoice choice = choose_snapshots(costs(), {2ms, 0.0});
  EXPECT_EQ(choice.snapshot_every, 0);
  EXPECT_DOUBLE_EQ(choice.kept, 0.8);
}

TEST(GuaranteeChoice, SnapshotsAreRarerTheRarerKillsAreAndTheMoreTheyCost) {
  const auto every = [](Duration snapshot, double overruns) {
    return choose_snapshots(costs(snapshot), {Duration{0}, overruns}).snapshot_every;
  };
  EXPECT_LT(every(80ms, 0.02), every(80ms, 0.002));
  EXPECT_LT(every(12ms, 0.002), every(80ms, 0.002));
}

TEST(GuaranteeChoice, MarginIsWorthWhatItSavesInKills) {
  const std::vector<OverrunRate> steep = {{Duration{0}, 0.05}, {1ms, 0.0005}, {4ms, 0.0001}};
  const std::vector<OverrunRate> flat = {{Duration{0}, 0.002}, {1ms, 0.0019}, {4ms, 0.0018}};
  EXPECT_EQ(choose_guarantee(costs(), steep, 1.0).overruns.margin, Duration{1ms});
  EXPECT_EQ(choose_guarantee(costs(), flat, 1.0).overruns.margin, Duration{0});
}

TEST(GuaranteeChoice, BoundOnOverrunsComesFirst) {
  const std::vector<OverrunRate> margins = {{Duration{0}, 0.002}, {1ms, 0.0019}, {4ms, 0.0005}};
  EXPECT_EQ(choose_guarantee(costs(), margins, 0.001).overruns.margin, Duration{4ms});
  EXPECT_LT(choose_guarantee(costs(), margins, 0.0001).kept, 0.0);
}

TEST(GuaranteeChoice, ExtremeRatesStayInRange) {
  EXPECT_EQ(choose_snapshots(costs(), {Duration{0}, 0.999}).snapshot_every, 1);
  EXPECT_EQ(choose_snapshots(costs(), {Duration{0}, 1e-15}).snapshot_every, 1'000'000);
  EXPECT_EQ(choose_snapshots(costs(), {20ms, 0.001}).kept, 0.0) << "the margin is longer than the window";
}

}  // namespace
}  // namespace corun
