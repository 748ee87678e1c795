#include "experiments/statistics.h"

#include <gtest/gtest.h>

#include <vector>

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
}

}  // namespace
}  // namespace corun
