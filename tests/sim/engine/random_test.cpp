#include "sim/engine/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace corun {
namespace {

// Known answers published with Random123 (philox4x64, 10 rounds).
TEST(RandomStream, TheGeneratorGivesThePublishedValues) {
  const auto zeros = r123::Philox4x64()({{0, 0, 0, 0}}, {{0, 0}});
  EXPECT_EQ(zeros[0], 0x16554d9eca36314cULL);
  EXPECT_EQ(zeros[1], 0xdb20fe9d672d0fdcULL);
  EXPECT_EQ(zeros[2], 0xd7e772cee186176bULL);
  EXPECT_EQ(zeros[3], 0x7e68b68aec7ba23bULL);
  EXPECT_EQ(r123::Philox4x64()({{1, 0, 0, 0}}, {{1, 2}})[0], 0x4f2f4313b5536b09ULL);
}

TEST(RandomStream, DrawsCountBlocksFromOneUnderTheKeyOfSeedAndName) {
  RandomStream stream(7, "arrivals");
  const std::uint64_t name = XXH3_64bits("arrivals", 8);
  for (std::uint64_t counter = 1; counter <= 3; ++counter) {
    const auto block = r123::Philox4x64()({{counter, 0, 0, 0}}, {{7, name}});
    for (int i = 0; i < 4; ++i) EXPECT_EQ(stream.bits(), block[i]);
  }
}

TEST(RandomStream, SeedAndNameEachMakeAnotherStream) {
  EXPECT_EQ(RandomStream(1, "a").bits(), RandomStream(1, "a").bits());
  EXPECT_NE(RandomStream(1, "a").bits(), RandomStream(1, "b").bits());
  EXPECT_NE(RandomStream(1, "a").bits(), RandomStream(2, "a").bits());
}

struct Moments {
  double mean = 0, variance = 0;
};

template <class Draw>
Moments moments_of(Draw draw, int count = 200'000) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

// Bounds are about five standard errors of 200,000 draws.
TEST(RandomStream, UniformLiesInTheUnitIntervalWithItsMoments) {
  RandomStream stream(1, "uniform");
  const Moments m = moments_of([&] {
    const double x = stream.uniform();
    EXPECT_TRUE(x >= 0 && x < 1);
    return x;
  });
  EXPECT_NEAR(m.mean, 0.5, 0.0035);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
}

TEST(RandomStream, ExponentialHasItsMeanAsItsDeviation) {
  RandomStream stream(1, "exponential");
  const Moments m = moments_of([&] { return stream.exponential(3); });
  EXPECT_NEAR(m.mean, 3, 0.035);
  EXPECT_NEAR(std::sqrt(m.variance), 3, 0.05);
}

TEST(RandomStream, NormalHasItsMomentsAndItsTails) {
  RandomStream stream(1, "normal");
  int beyond_1 = 0, beyond_3 = 0;
  const Moments m = moments_of([&] {
    const double x = stream.normal();
    beyond_1 += std::abs(x) > 1;
    beyond_3 += std::abs(x) > 3;
    return x;
  });
  EXPECT_NEAR(m.mean, 0, 0.012);
  EXPECT_NEAR(m.variance, 1, 0.016);
  EXPECT_NEAR(beyond_1 / 200e3, 0.317311, 0.0053);
  EXPECT_NEAR(beyond_3 / 200e3, 0.0026998, 0.0006);
}

// Kolmogorov's distance of the sample from the normal distribution; 1.95 / sqrt(n) is exceeded once in a thousand.
TEST(RandomStream, NormalFollowsItsDistribution) {
  RandomStream stream(2, "normal");
  std::vector<double> sample(100'000);
  for (double& x : sample) x = stream.normal();
  std::sort(sample.begin(), sample.end());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double expected = std::erfc(-sample[i] / std::sqrt(2.0)) / 2;
    distance = std::max(distance, std::abs(static_cast<double>(i) / sample.size() - expected));
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(sample.size()));
}

// Of the part of the unit interval that a number of the generator stands for.
TEST(RandomStream, NormalIsTheQuantileOfTheNumberDrawn) {
  RandomStream stream(3, "normal"), numbers(3, "normal");
  for (int i = 0; i < 10'000; ++i) {
    const double part = (static_cast<double>(numbers.bits() >> 12) + 0.5) * 0x1.0p-52;
    const double drawn = stream.normal();
    ASSERT_EQ(drawn < 0, part < 0.5);
    const double beyond = std::erfc(std::abs(drawn) / std::sqrt(2.0)) / 2;
    ASSERT_NEAR(beyond / std::min(part, 1 - part), 1, 1e-12) << part;
  }
}

TEST(RandomStream, LognormalIsGivenByItsOwnMeanAndVariation) {
  RandomStream stream(1, "lognormal");
  const Moments m = moments_of([&] { return stream.lognormal(10, 0.5); });
  EXPECT_NEAR(m.mean, 10, 0.06);
  EXPECT_NEAR(std::sqrt(m.variance) / m.mean, 0.5, 0.01);
  EXPECT_EQ(stream.lognormal(4, 0), 4);
}

}  // namespace
}  // namespace corun
