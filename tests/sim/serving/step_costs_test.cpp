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

StepSize prefill(std::uint32_t tokens, std::uint32_t context = 0) {
  return {StepSize::Kind::kPrefill, tokens, context};
}

StepSize mixed(std::uint32_t tokens, std::uint32_t decodes, std::uint32_t decode_context) {
  return {StepSize::Kind::kMixed, tokens, 0, decodes, decode_context};
}

/// Prefills of 1 us for each token next to the decodes of grid().
std::vector<CapturedStep> both_kinds() {
  std::vector<CapturedStep> steps = grid();
  for (const std::uint32_t tokens : {1u, 512u}) steps.push_back({prefill(tokens), steps.size(), tokens * 1us});
  return steps;
}

TEST(StepCosts, AMixedStepThatWasNotCapturedIsBothOfItsPartsLessHalfOfTheQuickestDecode) {
  StepCosts costs(both_kinds(), false);
  const Duration both = 100us + cost(8, 1000);
  EXPECT_EQ(costs.device_time(mixed(100, 8, 1000)), both - cost(1, 0) / 2);
  EXPECT_EQ(costs.mixed_range(mixed(100, 8, 1000)), std::pair(both - cost(1, 0), both));
  EXPECT_EQ(both_kinds()[costs.next(mixed(100, 8, 0)).job].size, prefill(512));
  EXPECT_TRUE(costs.covers(mixed(512, 32, 4000)));
  EXPECT_FALSE(costs.covers(mixed(513, 32, 4000)));
  EXPECT_FALSE(costs.covers(mixed(512, 33, 4000)));
}

TEST(StepCosts, AMixedStepTakesNoLessThanTheLongerOfItsParts) {
  const StepCosts costs(both_kinds(), false);
  EXPECT_EQ(costs.mixed_range(mixed(1, 1, 0)).first, cost(1, 0)) << "12 us in all, and the decode alone takes 11";
}

TEST(StepCosts, CapturedMixedStepsTellWhatIsDoneOnce) {
  std::vector<CapturedStep> steps = both_kinds();
  steps.push_back({mixed(92, 8, 0), 100, 92us + cost(8, 0) - 4us});
  steps.push_back({mixed(392, 8, 0), 101, 392us + cost(8, 0) - 6us});
  StepCosts costs(steps, false);
  EXPECT_EQ(costs.device_time(mixed(192, 8, 0)), 192us + cost(8, 0) - 5us);
  EXPECT_EQ(costs.next(mixed(192, 8, 0)).job, 101u) << "the one that has as many tokens";
  EXPECT_NEAR(costs.mixed_error(), 1.0 / (92 + 18 - 4), 1e-9);
}

TEST(StepCosts, AnEngineThatPadsComputesTheQuickestMixedStepThatIsAsLarge) {
  std::vector<CapturedStep> steps = both_kinds();
  steps.push_back({mixed(512, 8, 1000), 100, 300us});
  steps.push_back({mixed(512, 32, 1000), 101, 200us});
  steps.push_back({mixed(512, 32, 4000), 102, 400us});
  const StepCosts costs(steps, true);
  EXPECT_EQ(costs.device_time(mixed(100, 4, 10)), 200us);
  EXPECT_EQ(costs.device_time(mixed(100, 4, 1001)), 400us);
  const std::vector<CapturedStep> small = {
      {prefill(512), 0, 500us}, {decode(32, 4000), 1, 100us}, {mixed(128, 8, 1000), 2, 50us}};
  EXPECT_GE(StepCosts(small, true).device_time(mixed(512, 32, 4000)), 500us) << "none is as large";
}

StepSize several(std::uint32_t tokens, std::uint32_t prompts) {
  return {.kind = StepSize::Kind::kPrefill, .count = tokens, .prompts = prompts};
}

TEST(StepCosts, SeveralPromptsCostAsOneOfAllTokensWhereNoneWereCaptured) {
  StepCosts costs(both_kinds(), false);
  EXPECT_EQ(costs.device_time(several(100, 4)), Duration{100us});
  EXPECT_EQ(costs.prompts_range(several(100, 4)), std::pair(Duration{100us}, Duration{100us})) << "no base: no range";
  const std::vector<CapturedStep> flat = {{prefill(50), 0, 90us}, {prefill(100), 1, 100us}, {decode(1), 2, 10us}};
  EXPECT_EQ(StepCosts(flat, false).prompts_range(several(100, 2)), std::pair(Duration{100us}, Duration{180us}));
}

TEST(StepCosts, CapturedStepsOfSeveralPromptsTellWhatAFurtherOneTakes) {
  std::vector<CapturedStep> steps = both_kinds();
  steps.push_back({several(100, 2), 100, 103us});
  steps.push_back({several(300, 4), 101, 315us});
  StepCosts costs(steps, false);
  EXPECT_TRUE(costs.has_several_prompts());
  EXPECT_EQ(costs.device_time(several(200, 3)), Duration{208us}) << "3 us of the first, 5 us each of the second";
  EXPECT_EQ(costs.next(several(200, 3)).job, 101u) << "the one that has as many tokens";
  EXPECT_EQ(costs.device_time(prefill(200)), Duration{200us}) << "one prompt costs what it did";
  EXPECT_NEAR(costs.several_prompts_error(), 1.0 / 103, 1e-9);
}

TEST(StepCosts, AnEngineThatPadsComputesTheQuickestCapturedStepOfAsManyPrompts) {
  std::vector<CapturedStep> steps = both_kinds();
  steps.push_back({several(512, 2), 100, 600us});
  steps.push_back({several(512, 4), 101, 700us});
  const StepCosts costs(steps, true);
  EXPECT_EQ(costs.device_time(several(100, 2)), Duration{600us});
  EXPECT_EQ(costs.device_time(several(100, 3)), Duration{700us});
}

TEST(StepCosts, TheErrorIsThatOfACapturedSizeAmongItsNeighbours) {
  EXPECT_LT(StepCosts(grid(), false).interpolation_error(), 1e-9) << "the grid is linear";
  const StepCosts bent({{decode(1), 0, 10us}, {decode(2), 1, 10us}, {decode(3), 2, 20us}}, false);
  EXPECT_NEAR(bent.interpolation_error(), 0.5, 1e-9) << "15 us between its neighbours, 10 us captured";
}

}  // namespace
}  // namespace corun
