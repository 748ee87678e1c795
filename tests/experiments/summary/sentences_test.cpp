#include <gtest/gtest.h>

#include <cmath>

#include "experiments/summary/compare.h"

namespace corun {
namespace {

Estimate between(double low, double mean, double high, std::size_t count = 5) { return {mean, low, high, count}; }

/// A throughput of which a policy gives so many times the baseline's, 10.
Comparison compared(const Estimate& ratio) {
  Comparison row;
  row.scenario = "pair", row.backend = "simulation", row.policy = "kind", row.client = "train";
  row.metric = "throughput_per_s", row.unit = "1/s";
  row.baseline = between(10, 10, 10, ratio.count);
  row.value = between(10 * ratio.low, 10 * ratio.mean, 10 * ratio.high, ratio.count);
  row.difference = between(10 * (ratio.low - 1), 10 * (ratio.mean - 1), 10 * (ratio.high - 1), ratio.count);
  row.ratio = ratio;
  return row;
}

std::string said(const Estimate& ratio) { return sentence(compared(ratio), "open"); }

TEST(Sentence, HasTwoDigitsOfWhatStandsBehindPlusMinus) {
  EXPECT_EQ(said(between(1.3, 1.8, 2.3)), "kind gives train 1.80 ± 0.50 times the throughput of open");
  EXPECT_EQ(said(between(1.77, 1.83, 1.88)), "kind gives train 1.830 ± 0.060 times the throughput of open");
  EXPECT_EQ(said(between(1.829, 1.83, 1.834)), "kind gives train 1.8300 ± 0.0040 times the throughput of open");
  EXPECT_EQ(said(between(1.8299, 1.83, 1.8304)), "kind gives train 1.8300 ± 0.0004 times the throughput of open");
  EXPECT_EQ(said(between(20, 35, 50)), "kind gives train 35.00 ± 15.00 times the throughput of open");
  EXPECT_EQ(said(between(1.83, 1.83, 1.83)), "kind gives train 1.830 times the throughput of open");
  EXPECT_EQ(said(between(1.83, 1.83, 1.83, 1)), "kind gives train 1.83 times the throughput of open");
}

TEST(Sentence, SaysWhatMayBeChanceAndWhatIsTheSame) {
  EXPECT_EQ(said(between(0.9, 1.1, 1.3)),
            "kind gives train 1.10 ± 0.20 times the throughput of open (not significant)");
  EXPECT_EQ(said(between(1, 1.1, 1.2)), "kind gives train 1.10 ± 0.10 times the throughput of open (not significant)")
      << "no effect is in the interval";
  EXPECT_EQ(said(between(1, 1, 1)), "kind gives train the same throughput as open");
  EXPECT_EQ(said(between(0.9991, 1, 1.0009)), "kind gives train the same throughput as open, to 0.1 %");
  EXPECT_EQ(said(between(0.9991, 1.0005, 1.002)),
            "kind gives train 1.0005 ± 0.0015 times the throughput of open (not significant)");
}

TEST(Sentence, OfWhatIsNoneGivesTheFigures) {
  EXPECT_EQ(said(between(0, 0, 0)), "kind gives train a throughput of 0 /s, open 10.0 /s");
  Comparison row = compared(between(1.5, 2, 2.5));
  row.ratio.low = std::nan("");
  EXPECT_EQ(sentence(row, "open"), "kind gives train a throughput of 20.0 /s [15.0,25.0], open 10.0 /s");
}

TEST(Sentence, NamesDeviceClusterAndRevisions) {
  Comparison row = compared(between(2, 2, 2));
  row.client = "device", row.metric = "harvest_ratio", row.revisions = {"3", "4"};
  EXPECT_EQ(sentence(row, "open"), "kind gives the device 2.000 times the harvest of open (of results revisions 3, 4)");
  row.client = "cluster", row.metric = "of_another_version";
  EXPECT_TRUE(sentence(row, "open").starts_with("kind gives the cluster 2.000 times the of_another_version of open"));
}

TEST(Sentences, OfASweepNameThePointsOfTheLeastAndTheGreatestEffect) {
  Comparisons found;
  found.baseline = "open";
  found.points = {{"horizon"}, {{"1s"}, {"2s"}, {"3s"}}};
  for (const double ratio : {1.5, 3.0, 2.0}) {
    found.rows.push_back(compared(between(ratio, ratio, ratio)));
    found.rows.back().point = found.rows.size() - 1;
  }
  const auto all = [](const Comparison&) { return true; };
  EXPECT_EQ(
      sentences(found, all),
      (std::vector<std::string>{"kind gives train 1.500 times the throughput of open (least of 3 points: horizon 1s)",
                                "kind gives train 3.000 times the throughput of open (most of 3 points: horizon 2s)"}));
  for (Comparison& row : found.rows) row = compared(between(2, 2, 2)), row.point = 0;
  EXPECT_EQ(sentences(found, all),
            (std::vector<std::string>{"kind gives train 2.000 times the throughput of open (at each of 3 points)"}));
  EXPECT_TRUE(sentences(found, [](const Comparison&) { return false; }).empty());
}

TEST(Sentences, NameTheScenarioWhereSeveralHaveTheFigure) {
  Comparisons found;
  found.baseline = "open";
  found.rows = {compared(between(2, 2, 2)), compared(between(3, 3, 3))};
  const auto all = [](const Comparison&) { return true; };
  EXPECT_EQ(sentences(found, all)[1], "kind gives train 3.000 times the throughput of open");
  found.rows[1].scenario = "other";
  EXPECT_EQ(sentences(found, all),
            (std::vector<std::string>{"pair: kind gives train 2.000 times the throughput of open",
                                      "other: kind gives train 3.000 times the throughput of open"}));
}

}  // namespace
}  // namespace corun
