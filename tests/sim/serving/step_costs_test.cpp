#include "sim/serving/step_costs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace corun {
namespace {

using namespace std::chrono_literals;

StepSize decode(std::uint32_t batch, std::uint32_t context = 0) { return {StepSize::Kind::kDecode, batch, context}; }

/// 10 us, 1 us for each sequence and 1 ns for each token of their contexts.
Duration cost(std::uint32_t batch, std::uint32_t context) { return 10us + batch * 1us + Duration{batch * context}; }

std::vector<CapturedStep> grid() {
  std::vector<CapturedStep> steps;
  for (const std::uint32_t batch : {1u, 8u, 32u})
    for (const std::uint32_t context : {0u, 1000u, 4000u})
      steps.push_back({decode(batch, context), steps.size(), cost(batch, context)});
  return steps;
}

TEST(StepCosts, ACapturedSizeCostsWhatWasCaptured) {
  const StepCosts costs(grid(), false);
  EXPECT_EQ(costs.device_time(decode(8, 1000)), cost(8, 1000));
}

RC_GTEST_PROP(StepCosts, SizesBetweenCapturedOnesAreInterpolatedInBoth, ()) {
  const StepCosts costs(grid(), false);
  const auto batch = *rc::gen::inRange(1u, 33u), context = *rc::gen::inRange(0u, 4001u);
  const Duration told = costs.device_time(decode(batch, context));
  RC_ASSERT(told >= cost(batch, context) - 1ns && told <= cost(batch, context) + 1ns);
}

RC_GTEST_PROP(StepCosts, AReplayedStepTimesItsFactorIsTheTimeOfTheStep, (bool pads)) {
  const std::vector<CapturedStep> steps = grid();
  StepCosts costs(steps, pads);
  const StepSize size = decode(*rc::gen::inRange(1u, 33u), *rc::gen::inRange(0u, 4001u));
  const StepReplay replay = costs.next(size);
  const CapturedStep& captured = steps[replay.job];
  RC_ASSERT(captured.size.count >= size.count && captured.size.context >= size.context);
  const double ns = replay.factor * static_cast<double>(to_ns(captured.device_time));
  RC_ASSERT(std::abs(ns - static_cast<double>(to_ns(costs.device_time(size)))) <= 1);
}

TEST(StepCosts, AnEngineThatPadsPaysForTheNextLargerCapturedSize) {
  EXPECT_EQ(StepCosts(grid(), true).device_time(decode(9, 1)), cost(32, 1000));
}

TEST(StepCosts, StepsThatWereCapturedSeveralTimesTakeTurnsAndCostTheirMean) {
  StepCosts costs({{decode(1), 0, 10us}, {decode(1), 1, 14us}}, false);
  const StepReplay first = costs.next(decode(1)), second = costs.next(decode(1));
  EXPECT_NE(first.job, second.job);
  EXPECT_EQ(first.factor, 1.0) << "each keeps its own length";
  EXPECT_EQ(costs.device_time(decode(1)), Duration{12us});
}

TEST(StepCosts, SizesBeyondTheCapturedOnesAreSaidNotToBeCovered) {
  const StepCosts costs(grid(), false);
  EXPECT_TRUE(costs.covers(decode(32, 4000)));
  EXPECT_FALSE(costs.covers(decode(33, 0)));
  EXPECT_FALSE(costs.covers(decode(2, 4001)));
  EXPECT_EQ(costs.device_time(decode(64, 9000)), cost(32, 4000));
  EXPECT_FALSE(costs.has(StepSize::Kind::kPrefill));
}

TEST(StepCosts, TheErrorIsThatOfACapturedSizeAmongItsNeighbours) {
  EXPECT_LT(StepCosts(grid(), false).interpolation_error(), 1e-9) << "the grid is linear";
  const StepCosts bent({{decode(1), 0, 10us}, {decode(2), 1, 10us}, {decode(3), 2, 20us}}, false);
  EXPECT_NEAR(bent.interpolation_error(), 0.5, 1e-9) << "15 us between its neighbours, 10 us captured";
}

}  // namespace
}  // namespace corun
