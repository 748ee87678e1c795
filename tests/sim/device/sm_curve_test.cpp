#include "sim/device/sm_curve.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

TEST(SmCurve, IsExactWhereItWasMeasuredAndLinearInOneOverTheSmsBetween) {
  const SmCurve curve({{0.5, 1.5}, {0.25, 3.5}});
  EXPECT_DOUBLE_EQ(curve.time_on(1.0), 1.0);
  EXPECT_DOUBLE_EQ(curve.time_on(0.5), 1.5);
  EXPECT_DOUBLE_EQ(curve.time_on(0.25), 3.5);
  EXPECT_DOUBLE_EQ(curve.time_on(1 / 1.5), 1.25);  // half way from 1 to 2
  EXPECT_DOUBLE_EQ(curve.time_on(1 / 3.0), 2.5);   // half way from 2 to 4
}

TEST(SmCurve, GrowsOnBelowTheFewestSmsAtLeastInProportion) {
  EXPECT_DOUBLE_EQ(SmCurve({{0.5, 1.5}, {0.25, 3.5}}).time_on(0.125), 7.5);  // 1 for each 1 / SMs, as before
  EXPECT_DOUBLE_EQ(SmCurve({{0.5, 1.0}, {0.25, 1.2}}).time_on(0.125), 2.4);  // 0.1 for each would be too little
  EXPECT_DOUBLE_EQ(SmCurve({{0.5, 1.0}}).time_on(0.25), 2.0);
}

TEST(SmCurve, NeverMakesAKernelFaster) {
  const SmCurve noise({{0.5, 0.97}, {0.25, 1.02}});
  EXPECT_DOUBLE_EQ(noise.time_on(0.5), 1.0);
  EXPECT_DOUBLE_EQ(SmCurve({}).time_on(0.1), 1.0);
}

}  // namespace
}  // namespace corun
