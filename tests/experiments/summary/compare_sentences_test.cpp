// What a comparison is said to mean.

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/summary/compare.h"

namespace corun {
namespace {

Comparison times(const Estimate& ratio) {
  Comparison row;
  row.scenario = "pair", row.policy = "mps", row.client = "train", row.metric = "throughput_per_s", row.unit = "1/s";
  row.baseline = {10, 9, 11, ratio.count};
  row.value = {10 * ratio.mean, 10 * ratio.low, 10 * ratio.high, ratio.count};
  row.difference = {10 * (ratio.mean - 1), 10 * (ratio.low - 1), 10 * (ratio.high - 1), ratio.count};
  row.ratio = ratio;
  return row;
}

std::string said_of(const Estimate& ratio) { return sentence(times(ratio), "turns"); }

TEST(CompareSentences, BehindTheRatioStandsTheFartherEndOfItsInterval) {
  EXPECT_EQ(said_of({1.8, 1.75, 1.91, 5}), "mps gives train 1.80 ± 0.11 times the throughput of turns");
  EXPECT_EQ(said_of({1.8, 1.69, 1.85, 5}), "mps gives train 1.80 ± 0.11 times the throughput of turns");
}

TEST(CompareSentences, DecimalsMakeTwoDigitsOfTheIntervalTwoToFour) {
  EXPECT_EQ(said_of({3, 1.5, 4.5, 5}), "mps gives train 3.00 ± 1.50 times the throughput of turns");
  EXPECT_EQ(said_of({1.8, 1.788, 1.812, 5}), "mps gives train 1.800 ± 0.012 times the throughput of turns");
  EXPECT_EQ(said_of({1.8, 1.7988, 1.8012, 5}), "mps gives train 1.8000 ± 0.0012 times the throughput of turns");
  EXPECT_EQ(said_of({1.8, 1.79988, 1.80012, 5}), "mps gives train 1.8000 ± 0.0001 times the throughput of turns");
}

TEST(CompareSentences, WithoutAnIntervalThereIsNone) {
  EXPECT_EQ(said_of({1.8, 1.8, 1.8, 5}), "mps gives train 1.800 times the throughput of turns");
  EXPECT_EQ(said_of({1.8, 1.8, 1.8, 1}), "mps gives train 1.80 times the throughput of turns");
}

TEST(CompareSentences, AnEffectWhoseIntervalHoldsNoneIsNotSignificant) {
  EXPECT_EQ(said_of({1.1, 0.9, 1.3, 5}), "mps gives train 1.10 ± 0.20 times the throughput of turns (not significant)");
  EXPECT_EQ(said_of({1.1, 1, 1.2, 5}), "mps gives train 1.10 ± 0.10 times the throughput of turns (not significant)");
  EXPECT_EQ(said_of({0.9, 0.8, 1, 5}), "mps gives train 0.90 ± 0.10 times the throughput of turns (not significant)");
}

TEST(CompareSentences, WhatIsTheSameIsSaidSo) {
  EXPECT_EQ(said_of({1, 1, 1, 5}), "mps gives train the same throughput as turns");
  EXPECT_EQ(said_of({1.0002, 0.9995, 1.0009, 5}), "mps gives train the same throughput as turns, to 0.1 %");
  EXPECT_EQ(said_of({1.0005, 1.0001, 1.0012, 5}).find("the same"), std::string::npos) << "up to 0.12 %";
}

TEST(CompareSentences, WithoutARatioTheFiguresStandThere) {
  Comparison row = times({NAN, NAN, NAN, 5});
  row.value = {12, 11, 13, 5}, row.baseline = {0, 0, 0, 5}, row.difference = {12, 11, 13, 5};
  EXPECT_EQ(sentence(row, "exclusive"), "mps gives train a throughput of 12.0 /s [11.0,13.0], exclusive 0 /s");
}

TEST(CompareSentences, TheDeviceHasAnArticleAndOtherRevisionsAreNamed) {
  Comparison row = times({1.8, 1.75, 1.91, 5});
  row.client = "device", row.metric = "gpu_busy_ratio", row.revisions = {"4", "5"};
  EXPECT_TRUE(sentence(row, "turns").starts_with("mps gives the device 1.80 ± 0.11 times the "));
  EXPECT_TRUE(sentence(row, "turns").ends_with(" of turns (of results revisions 4, 5)"));
}

TEST(CompareSentences, AScenarioIsNamedWhereSeveralHaveTheFigure) {
  Comparisons found;
  found.baseline = "turns";
  found.rows = {times({1.8, 1.75, 1.91, 5}), times({1.2, 1.09, 1.31, 5})};
  const auto all = [](const Comparison&) { return true; };
  found.rows[1].scenario = "other";
  EXPECT_EQ(sentences(found, all),
            (std::vector<std::string>{"pair: mps gives train 1.80 ± 0.11 times the throughput of turns",
                                      "other: mps gives train 1.20 ± 0.11 times the throughput of turns"}));
  found.rows[1].client = "infer";
  EXPECT_EQ(sentences(found, [](const Comparison& row) { return row.client == "infer"; }),
            std::vector<std::string>{"mps gives infer 1.20 ± 0.11 times the throughput of turns"});
}

}  // namespace
}  // namespace corun
