#include "experiments/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "experiments/statistics/steady_state.h"

namespace corun {
namespace {

TEST(StudentT, MatchesThePublishedTable) {
  const std::pair<unsigned, double> table[] = {{1, 12.7062},   {2, 4.30265},     {3, 3.18245},  {4, 2.77645},
                                               {7, 2.36462},   {9, 2.26216},     {19, 2.09302}, {30, 2.04227},
                                               {120, 1.97993}, {100000, 1.95999}};
  for (const auto& [degrees, value] : table) EXPECT_NEAR(student_t_95(degrees), value, 2e-5) << degrees;
}

TEST(StudentT, ProbabilityOfOneDegreeIsCauchy) {
  EXPECT_NEAR(student_t_probability(1, 1), 0.75, 1e-12);
  EXPECT_NEAR(student_t_probability(0, 5), 0.5, 1e-12);
  EXPECT_NEAR(student_t_probability(-1, 1), 0.25, 1e-12);
  EXPECT_EQ(student_t_probability(HUGE_VAL, 3), 1);
}

TEST(Estimate, MeanAndIntervalOfASample) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const Estimate estimated = estimate(values);
  EXPECT_DOUBLE_EQ(estimated.mean, 3);
  EXPECT_NEAR(estimated.low, 3 - 2.776445 * 1.5811388 / 2.2360680, 1e-5);
  EXPECT_NEAR(estimated.high, 3 + 2.776445 * 1.5811388 / 2.2360680, 1e-5);
}

TEST(Estimate, OneValueHasNoSpread) {
  const std::vector<double> values = {7};
  EXPECT_EQ(estimate(values).low, 7);
  EXPECT_EQ(estimate(values).high, 7);
  EXPECT_EQ(estimate(values).count, 1U);
}

// tests/python/test_statistics.py holds these against SciPy; here is what can be counted by hand.

TEST(FigureEstimate, OfTwoRunsHasNoInterval) {
  const std::vector<double> two{10, 190}, three{60, 60, 61};
  EXPECT_FALSE(has_interval(figure_estimate(two)));
  EXPECT_EQ(figure_estimate(two).low, 100);
  EXPECT_EQ(figure_estimate(two).high, 100);
  EXPECT_EQ(figure_estimate(two).mean, 100);
  EXPECT_TRUE(has_interval(figure_estimate(three)));
  EXPECT_EQ(figure_estimate(three).low, estimate(three).low);
}

TEST(FigureEstimate, OfWhatIsNeverNegativeEndsAtZero) {
  const std::vector<double> spread{1, 2, 300}, from_zero{0, 2, 300}, signed_values{-1, 2, 300};
  ASSERT_LT(estimate(spread).low, 0);
  EXPECT_EQ(figure_estimate(spread).low, 0);
  EXPECT_EQ(figure_estimate(from_zero).low, 0);
  EXPECT_EQ(figure_estimate(spread).high, estimate(spread).high);
  EXPECT_LT(figure_estimate(signed_values).low, 0);
}

TEST(PairedBootstrap, QuantilesOfTheEffectOverResamplesOfPairs) {
  const std::vector<double> values = {11, 12, 16}, baseline = {10, 10, 10};
  const std::vector<std::uint32_t> resamples = {0, 0, 0, 1, 1, 1, 2, 2, 2};  // effects 1, 2 and 6
  const Estimate found = paired_bootstrap(values, baseline, Effect::kDifference, resamples, false);
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_DOUBLE_EQ(found.low, 1 + 0.05);  // rank 0.05 of 0 to 2
  EXPECT_DOUBLE_EQ(found.high, 6 - 0.05 * 4);
  const Estimate ratio = paired_bootstrap(values, baseline, Effect::kRatio, resamples, false);
  EXPECT_DOUBLE_EQ(ratio.mean, 1.3);
  EXPECT_DOUBLE_EQ(ratio.low, 1.105);
}

TEST(PairedBootstrap, AnExpandedIntervalIsWider) {
  const std::vector<double> values = {11, 12, 16, 14, 13, 19}, baseline(6, 10.0);
  const auto resamples = draw_resamples(9999, 6, 1);
  const Estimate plain = paired_bootstrap(values, baseline, Effect::kDifference, resamples, false);
  const Estimate expanded = paired_bootstrap(values, baseline, Effect::kDifference, resamples);
  EXPECT_LT(expanded.low, plain.low);
  EXPECT_GT(expanded.high, plain.high);
}

TEST(PairedBootstrap, OnePairOrNoBaselineHasNoInterval) {
  const std::vector<double> one = {2}, two = {2, 4}, none = {0, 0};
  const Estimate single = paired_bootstrap(one, one, Effect::kDifference, draw_resamples(9, 1, 1));
  EXPECT_EQ(single.low, single.high);
  EXPECT_TRUE(std::isnan(paired_bootstrap(two, none, Effect::kRatio, draw_resamples(9, 2, 1)).mean));
}

TEST(Mser5, CutsWhatIsUnlikeTheRest) {
  std::vector<double> series(10, 9.0);
  for (int i = 0; i < 45; ++i) series.insert(series.end(), {1.0, 1.1});
  EXPECT_EQ(mser5(series).count, 10U);
  EXPECT_TRUE(mser5(series).is_settled);
}

TEST(Mser5, ASeriesThatStillRisesIsNotSettled) {
  std::vector<double> rising;
  for (int i = 0; i < 100; ++i) rising.push_back(i);
  EXPECT_FALSE(mser5(rising).is_settled);
  EXPECT_FALSE(mser5(std::vector<double>(9, 1.0)).is_settled);
  EXPECT_EQ(mser5(std::vector<double>(100, 1.0)).count, 0U);
}

TEST(BatchMeans, AreTakenFromTheEnd) {
  const std::vector<double> series = {100, 1, 3, 2, 4};  // batches of 2: means 2 and 3
  const Estimate found = batch_means(series, 2);
  EXPECT_DOUBLE_EQ(found.mean, 2.5);
  EXPECT_EQ(found.count, 2U);
  EXPECT_NEAR(found.high - 2.5, 12.7062 * 0.5, 1e-3);
}

TEST(Lag1Correlation, OfAlternatingAndOfEqualValues) {
  EXPECT_NEAR(lag1_correlation(std::vector<double>{1, -1, 1, -1, 1, -1, 1, -1}), -7.0 / 8, 1e-12);
  EXPECT_EQ(lag1_correlation(std::vector<double>(5, 2.0)), 0);
}

TEST(PairedInterval, OfADifferenceIsThatOfTheDifferences) {
  const std::vector<double> values = {11, 13, 18}, baseline = {10, 11, 12};  // differences 1, 2 and 6
  const double half = 4.302653 * std::sqrt(7.0 / 3);
  const Estimate found = paired_interval(values, baseline, Effect::kDifference);
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_NEAR(found.low, 3 - half, 1e-5);
  EXPECT_NEAR(found.high, 3 + half, 1e-5);
  EXPECT_EQ(found.count, 3U);
}

TEST(PairedInterval, OfARatioToOneBaselineIsThatOfTheMeanDivided) {
  const std::vector<double> values = {11, 12, 16}, baseline(3, 10.0);
  const double half = 4.302653 * std::sqrt(7.0 / 3) / 10;
  const Estimate found = paired_interval(values, baseline, Effect::kRatio);
  EXPECT_DOUBLE_EQ(found.mean, 1.3);
  EXPECT_NEAR(found.low, 1.3 - half, 1e-6);
  EXPECT_NEAR(found.high, 1.3 + half, 1e-6);
}

TEST(PairedInterval, EndsOfARatioAreWhereTheRestOfTheValuesIsJustNotZero) {
  const std::vector<double> values = {11, 14, 16, 13, 19}, baseline = {10, 9, 12, 11, 13};
  const auto rest_without = [&](double ratio) {
    std::vector<double> rest;
    for (std::size_t i = 0; i < values.size(); ++i) rest.push_back(values[i] - ratio * baseline[i]);
    return estimate(rest);
  };
  const Estimate found = paired_interval(values, baseline, Effect::kRatio);
  EXPECT_DOUBLE_EQ(found.mean, 73.0 / 55);
  EXPECT_LT(found.low, found.mean);
  EXPECT_GT(found.high, found.mean);
  EXPECT_NEAR(rest_without(found.low).low, 0, 1e-9);
  EXPECT_NEAR(rest_without(found.high).high, 0, 1e-9);
}

TEST(PairedInterval, OfARatioToABaselineThatMayBeZeroHasNoEnds) {
  const std::vector<double> values = {3, 4, 5}, wide = {1, -2, 4}, none = {1, -2, 1};
  const Estimate found = paired_interval(values, wide, Effect::kRatio);
  EXPECT_DOUBLE_EQ(found.mean, 4);
  EXPECT_TRUE(std::isnan(found.low) && std::isnan(found.high));
  EXPECT_TRUE(std::isnan(paired_interval(values, none, Effect::kRatio).mean));
}

TEST(PairedInterval, OfOnePairIsItsEffect) {
  const std::vector<double> value = {6}, baseline = {4};
  const Estimate difference = paired_interval(value, baseline, Effect::kDifference);
  const Estimate ratio = paired_interval(value, baseline, Effect::kRatio);
  EXPECT_TRUE(difference.mean == 2 && difference.low == 2 && difference.high == 2);
  EXPECT_TRUE(ratio.mean == 1.5 && ratio.low == 1.5 && ratio.high == 1.5);
}

TEST(PairedInterval, OfTwoPairsIsTheirEffectHoweverFarTheyLieApart) {
  const std::vector<double> values = {10, 400}, baseline = {9, 100};
  for (const Effect effect : {Effect::kDifference, Effect::kRatio}) {
    const Estimate found = paired_interval(values, baseline, effect);
    EXPECT_FALSE(has_interval(found));
    EXPECT_TRUE(found.low == found.mean && found.high == found.mean) << "not a ratio of [-31, 38]";
    const Estimate drawn = paired_bootstrap(values, baseline, effect, draw_resamples(99, 2, 1));
    EXPECT_TRUE(drawn.low == drawn.mean && drawn.high == drawn.mean);
  }
}

TEST(PairedInterval, OfARatioOfWhatIsNeverNegativeEndsAtZero) {
  const std::vector<double> values = {1, 2, 300}, baseline = {100, 101, 102}, signed_values = {-1, 2, 300};
  const Estimate found = paired_interval(values, baseline, Effect::kRatio);
  EXPECT_EQ(found.low, 0);
  EXPECT_GT(found.high, found.mean);
  EXPECT_LT(paired_interval(signed_values, baseline, Effect::kRatio).low, 0);
}

TEST(PairedBootstrap, AnExpandedIntervalEndsAtTheQuantileOfTheWiderNormal) {
  const std::vector<double> values = {0, 1, 2, 1, 1}, baseline(5, 0.0);
  std::vector<std::uint32_t> resamples(101 * 5, 1);  // effects 0, 99 times 1, and 2
  std::fill_n(resamples.begin(), 5, 0);
  std::fill_n(resamples.rbegin(), 5, 2);
  const double rank = 100 * 0.5 * std::erfc(2.776445 * std::sqrt(5.0 / 4) / std::sqrt(2.0));
  const Estimate found = paired_bootstrap(values, baseline, Effect::kDifference, resamples);
  EXPECT_NEAR(found.low, rank, 1e-5);
  EXPECT_NEAR(found.high, 2 - rank, 1e-5);
}

TEST(PairedBootstrap, AResampleWithoutARatioLeavesNoEnds) {
  const std::vector<double> values = {2, 4, 6}, baseline = {0, 2, 2};
  const std::vector<std::uint32_t> resamples = {1, 1, 1, 0, 0, 0, 0, 1, 2};
  const Estimate found = paired_bootstrap(values, baseline, Effect::kRatio, resamples);
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_TRUE(std::isnan(found.low) && std::isnan(found.high));
}

TEST(PairedBootstrap, TheOrderOfResamplesDoesNotMatter) {
  const std::vector<double> values = {11, 12, 16}, baseline = {10, 10, 10};
  const std::vector<std::uint32_t> resamples = {2, 2, 2, 0, 0, 0, 1, 1, 1};
  const Estimate found = paired_bootstrap(values, baseline, Effect::kDifference, resamples, false);
  EXPECT_DOUBLE_EQ(found.low, 1 + 0.05);
  EXPECT_DOUBLE_EQ(found.high, 6 - 0.05 * 4);
}

TEST(PairedBootstrap, WithoutResamplesThereIsNoInterval) {
  const std::vector<double> values = {2, 4, 6}, baseline = {1, 2, 4.5};
  const Estimate found = paired_bootstrap(values, baseline, Effect::kDifference, {});
  EXPECT_TRUE(found.mean == 1.5 && found.low == 1.5 && found.high == 1.5);
}

TEST(DrawResamples, AreAllOfTheSizeThatWasAskedForAndOfTheSeed) {
  EXPECT_EQ(draw_resamples(7, 3, 1).size(), 21U);
  EXPECT_EQ(draw_resamples(7, 3, 1), draw_resamples(7, 3, 1));
  EXPECT_NE(draw_resamples(7, 3, 1), draw_resamples(7, 3, 2));
}

TEST(Mser5, OfTwoBatchesMayCutOne) {
  EXPECT_EQ(mser5(std::vector<double>{9, 9, 9, 9, 9, 1, 1, 1, 1, 1}).count, 5U);
  EXPECT_FALSE(mser5(std::vector<double>{9, 9, 9, 9, 9, 1, 1, 1, 1, 1}).is_settled);
  EXPECT_EQ(mser5(std::vector<double>(10, 1.0)).count, 0U);
  EXPECT_TRUE(mser5(std::vector<double>(10, 1.0)).is_settled);
}

TEST(BatchMeans, OfAsManyValuesAsBatchesAreTheValues) {
  const std::vector<double> series = {1, 2, 6};
  EXPECT_DOUBLE_EQ(batch_means(series, 3).mean, 3);
  EXPECT_DOUBLE_EQ(batch_means(series, 3).high, estimate(series).high);
}

TEST(Lag1Correlation, OfARiseAndOfTooFewValues) {
  EXPECT_NEAR(lag1_correlation(std::vector<double>{1, 2, 3, 4}), 0.25, 1e-12);
  EXPECT_NEAR(lag1_correlation(std::vector<double>{1, 3}), -0.5, 1e-12);
  EXPECT_EQ(lag1_correlation(std::vector<double>{3}), 0);
}

}  // namespace
}  // namespace corun
