#include "sim/calibration/fits/quantile.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

namespace corun::calibration {
namespace {

TEST(Quantile, LiesBetweenNeighboursInProportion) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.25), 1.25);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

TEST(Quantile, OneWildValueInTenMovesNeitherMedianNorSpread) {
  std::vector<double> values(40, 10.0);
  values[3] = 1e9;
  values[4] = 0;
  const Spread spread = spread_of(values);
  EXPECT_DOUBLE_EQ(spread.value, 10);
  EXPECT_DOUBLE_EQ(spread.low, 10);
  EXPECT_DOUBLE_EQ(spread.high, 10);
  EXPECT_EQ(spread.count, 40U);
}

TEST(Quantile, FewValuesSpreadFromTheLeastToTheGreatest) {
  const Spread spread = spread_of({5, 1, 3});
  EXPECT_DOUBLE_EQ(spread.low, 1);
  EXPECT_DOUBLE_EQ(spread.high, 5);
}

TEST(Quantile, TheExponentOfAPowerLawIsFoundWhateverItIs) {
  EXPECT_TRUE(rc::check([] {
    const double exponent = *rc::gen::inRange(5, 150) / 100.0;
    std::vector<double> x, y;
    for (const int percent : {75, 50, 33, 25, 12}) {
      x.push_back(percent / 100.0);
      y.push_back(std::pow(x.back(), exponent));
    }
    RC_ASSERT(std::abs(exponent_through_one(x, y) - exponent) < 1e-9);
  }));
}

}  // namespace
}  // namespace corun::calibration
