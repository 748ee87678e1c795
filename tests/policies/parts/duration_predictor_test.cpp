#include "policies/parts/duration_predictor.h"

#include <gtest/gtest.h>

#include "policies/pilotfish/margin.h"

namespace corun {
namespace {

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using Kind = DurationPredictor::Kind;

constexpr ClientId kTrain{1};

OpView op(std::string_view name, std::uint64_t blocks = 1, std::uint32_t position = 0) {
  OpView op;
  op.name = name;
  op.blocks = blocks;
  op.position = position;
  return op;
}

OpView profiled(std::string_view name, Duration by_name, Duration by_shape = kUnknownDuration) {
  OpView known = op(name);
  known.predicted_by_name = by_name;
  known.predicted_by_shape = by_shape;
  return known;
}

DurationPredictor predictor(Kind kind) { return DurationPredictor({.kind = kind}); }

TEST(DurationPredictor, NameMeanTakesTheProfileWhateverWasMeasured) {
  DurationPredictor means = predictor(Kind::kNameMean);
  const OpView gemm = profiled("gemm", 100us, 40us);
  means.learn(kTrain, gemm, 900us);
  EXPECT_EQ(means.predict(kTrain, gemm), 100us);
}

TEST(DurationPredictor, NameWithoutAProfileKeepsItsFirstMeasurement) {
  DurationPredictor means = predictor(Kind::kNameMean);
  EXPECT_EQ(means.predict(kTrain, op("new")), kUnknownDuration);
  means.learn(kTrain, op("new"), 70us);
  means.learn(kTrain, op("new"), 90us);
  EXPECT_EQ(means.predict(kTrain, op("new")), 70us);
}

TEST(DurationPredictor, NameShapeMeanPrefersTheShapeAndFallsBackOnTheName) {
  const DurationPredictor means = predictor(Kind::kNameShapeMean);
  EXPECT_EQ(means.predict(kTrain, profiled("gemm", 100us, 40us)), 40us);
  EXPECT_EQ(means.predict(kTrain, profiled("gemm", 100us)), 100us);
}

TEST(DurationPredictor, PositionTellsKernelsOfOneNameApart) {
  DurationPredictor means = predictor(Kind::kPosition);
  for (const Duration noise : {-10us, 0us, 10us}) {
    means.learn(kTrain, op("gemm", 1, 3), 100us + noise);
    means.learn(kTrain, op("gemm", 1, 4), 700us + noise);
  }
  EXPECT_EQ(means.predict(kTrain, op("gemm", 1, 3)), 100us);
  EXPECT_EQ(means.predict(kTrain, op("gemm", 1, 4)), 700us);
}

TEST(DurationPredictor, PositionTakenByAnotherKernelSaysNothing) {
  DurationPredictor means = predictor(Kind::kPosition);
  means.learn(kTrain, op("gemm", 1, 3), 100us);
  OpView other = profiled("add", 5us);
  other.position = 3;
  EXPECT_EQ(means.predict(kTrain, other), 5us);
  OpView elsewhere = profiled("gemm", 60us);
  elsewhere.position = 3;
  EXPECT_EQ(means.predict(ClientId{2}, elsewhere), 60us) << "another client's iteration";
}

TEST(DurationPredictor, MovingMeanFollowsAChangeWithItsWeight) {
  DurationPredictor means({.kind = Kind::kEwma, .ewma_weight = 0.5});
  means.learn(kTrain, op("gemm"), 100us);
  EXPECT_EQ(means.predict(kTrain, op("gemm")), 100us);
  means.learn(kTrain, op("gemm"), 200us);
  EXPECT_EQ(means.predict(kTrain, op("gemm")), 150us);
  EXPECT_EQ(means.predict(kTrain, op("gemm", 7)), 100us) << "another grid: what the name took first";
}

TEST(DurationPredictor, QuantileIsTheNearestRankOfTheNewestMeasurements) {
  DurationPredictor quantiles({.kind = Kind::kQuantile, .quantile = 0.9});
  for (int i = 0; i < 100; ++i) quantiles.learn(kTrain, op("gemm"), 1ms);
  for (int i = 1; i <= 64; ++i) quantiles.learn(kTrain, op("gemm"), i * 10us);
  EXPECT_EQ(quantiles.predict(kTrain, op("gemm")), 580us) << "the 58th of 64; the older ones are forgotten";
}

TEST(DurationPredictor, QuantileOfFewMeasurementsIsTheLongestOfThemAndTheProfile) {
  DurationPredictor quantiles({.kind = Kind::kQuantile, .quantile = 0.9});
  const OpView gemm = profiled("gemm", 100us);
  quantiles.learn(kTrain, gemm, 30us);
  EXPECT_EQ(quantiles.predict(kTrain, gemm), 100us);
  quantiles.learn(kTrain, gemm, 130us);
  EXPECT_EQ(quantiles.predict(kTrain, gemm), 130us);
}

TEST(DurationPredictor, TwentyMeasurementsHaveAQuantileAndNineteenHaveNot) {
  DurationPredictor quantiles({.kind = Kind::kQuantile, .quantile = 0.9});
  const OpView gemm = profiled("gemm", 500us);
  for (int i = 1; i <= 19; ++i) quantiles.learn(kTrain, gemm, i * 10us);
  EXPECT_EQ(quantiles.predict(kTrain, gemm), 500us) << "the profile is longer than all of them";
  quantiles.learn(kTrain, gemm, 200us);
  EXPECT_EQ(quantiles.predict(kTrain, gemm), 180us) << "the 18th of 20";
}

TEST(DurationPredictor, PositionIsTheMeanOfWhatTheSameKernelTookThere) {
  DurationPredictor means = predictor(Kind::kPosition);
  means.learn(kTrain, op("gemm", 1, 0), 100us);
  means.learn(kTrain, op("gemm", 1, 0), 200us);
  means.learn(kTrain, op("gemm", 1, 0), 600us);
  EXPECT_EQ(means.predict(kTrain, op("gemm", 1, 0)), 300us);
  means.learn(kTrain, op("add", 1, 0), 10us);
  EXPECT_EQ(means.predict(kTrain, op("add", 1, 0)), 10us) << "another kernel begins anew";
}

TEST(DurationPredictor, OracleKnows) {
  OpView gemm = profiled("gemm", 100us);
  gemm.exact = 77us;
  EXPECT_EQ(predictor(Kind::kOracle).predict(kTrain, gemm), 77us);
}

TEST(OverrunMargin, IsExceededByNoMoreThanTheChosenFraction) {
  OverrunMargin margin({.epsilon = 0.1, .initial = 1ms, .limit = 5ms, .windows = 99});
  for (int i = 1; i <= 99; ++i) margin.learn(i * 10us);
  EXPECT_EQ(margin.margin(), 900us) << "the 90th of 99: one in ten of the next is larger";
}

TEST(OverrunMargin, IsNegativeWhereWorkEndsEarlierThanPredicted) {
  OverrunMargin margin({.epsilon = 0.5, .initial = 1ms, .limit = 5ms, .windows = 99});
  for (int i = 0; i < 99; ++i) margin.learn(-300us);
  EXPECT_EQ(margin.margin(), -300us);
}

TEST(OverrunMargin, DoesNotFallBelowTheInitialOneBeforeThereAreEnoughWindows) {
  OverrunMargin margin({.epsilon = 0.01, .initial = 500us, .limit = 5ms, .windows = 300});
  for (int i = 0; i < 98; ++i) margin.learn(0us);
  EXPECT_EQ(margin.margin(), 500us);
  margin.learn(0us);
  EXPECT_EQ(margin.margin(), 0us);
}

TEST(OverrunMargin, StaysWithinItsLimitAndForgets) {
  OverrunMargin margin({.epsilon = 0.1, .initial = 500us, .limit = 2ms, .windows = 20});
  for (int i = 0; i < 20; ++i) margin.learn(9ms);
  EXPECT_EQ(margin.margin(), 2ms);
  for (int i = 0; i < 20; ++i) margin.learn(100us);
  EXPECT_EQ(margin.margin(), 100us);
}

}  // namespace
}  // namespace corun
