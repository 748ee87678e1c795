#include "experiments/summary/conclusions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/summary/summary.h"

namespace corun {
namespace {

const double kNone = std::nan("");

using Lines = std::vector<std::string>;

PolicyMeans beside_game(const char* policy, double harvest, double fps, double rate, double alone = 30) {
  return {policy, harvest, {{"game", fps, fps, 60, kNone}, {"train", kNone, rate, alone, kNone}}};
}

PolicyMeans work(const char* policy, std::vector<double> rates, double alone = 0.5) {
  PolicyMeans means{policy, kNone, {}};
  for (std::size_t i = 0; i < rates.size(); ++i)
    means.clients.push_back({std::string(1, static_cast<char>('a' + i)), kNone, rates[i], alone, kNone});
  return means;
}

TEST(Conclusions, OfWorkWithoutGamesIsThePolicyUnderWhichItIsFastestInAll) {
  EXPECT_EQ(conclusions({work("slow", {0.1, 0.1}), work("fast", {0.3, 0.125}), work("slower", {0.05, 0.05})}),
            (Lines{"fast runs a at 0.600, b at 0.250 of the speed alone, 0.850 together."}));
  EXPECT_EQ(conclusions({work("only", {0.2})}), (Lines{"only runs a at 0.400 of the speed alone."}));
  EXPECT_TRUE(conclusions({work("only", {0.2}, kNone)}).empty()) << "its speed alone is not known";
}

TEST(Conclusions, OfEqualSpeedsThePolicyListedFirstIsNamed) {
  EXPECT_EQ(conclusions({work("first", {0.2}), work("second", {0.2})}),
            (Lines{"first runs a at 0.400 of the speed alone."}));
}

TEST(Conclusions, AGameIsWholeAtNinetyEightHundredthsOfItsRateAlone) {
  EXPECT_EQ(conclusions({beside_game("open", 0.5, 58.8, 9)}),
            (Lines{"open keeps game at 58.8 fps (alone 60.0) and harvests 50 % of the time it leaves idle."}));
  EXPECT_EQ(conclusions({beside_game("open", 0.5, 58.7, 9)}),
            (Lines{"open shows game at 58.7 fps (alone 60.0) and runs train at 0.30 of its speed alone."}));
}

TEST(Conclusions, WhereNoPolicyKeepsTheGameWholeThatIsSaid) {
  EXPECT_EQ(conclusions({beside_game("a", 0.5, 30, 9), beside_game("b", 0.5, 20, 12)}),
            (Lines{"No policy keeps every game at the frame rate it has alone.",
                   "b shows game at 20.0 fps (alone 60.0) and runs train at 0.40 of its speed alone."}));
}

TEST(Conclusions, SeveralOtherClientsAreCountedAndTheirSpeedsAddedUp) {
  PolicyMeans both = beside_game("open", 0.5, 30, 9);
  both.clients.push_back({"infer", kNone, 0.2, 0.5, kNone});
  EXPECT_EQ(conclusions({both}), (Lines{"open shows game at 30.0 fps (alone 60.0) and runs the 2 other clients at 0.70 "
                                        "of one's speed alone."}));
}

TEST(Conclusions, LessThanHalfAPercentMoreIsNotWorthASentence) {
  EXPECT_EQ(conclusions({beside_game("first", 0.7, 60, 10), beside_game("second", 0.703, 60, 10.04)}),
            (Lines{"first keeps game at 60.0 fps (alone 60.0) and harvests 70 % of the time it leaves idle."}));
  EXPECT_EQ(conclusions({beside_game("first", 0.7, 60, 10), beside_game("second", 0.71, 60, 10.04)}),
            (Lines{"second keeps game at 60.0 fps (alone 60.0) and harvests 71 % of the time it leaves idle."}));
  EXPECT_EQ(conclusions({beside_game("kind", 0.7, 60, 10), beside_game("greedy", 0.7, 40, 10.06)}).size(), 2u);
}

TEST(Conclusions, OfSeveralGamesTheOneThatLosesMostOfItsOwnRateCounts) {
  const PolicyMeans two{
      "open", 0.5, {{"fast", 110, 110, 120, kNone}, {"slow", 29.9, 29.9, 30, kNone}, {"t", kNone, 9, 30, kNone}}};
  EXPECT_EQ(conclusions({two}),
            (Lines{"open shows fast at 110.0 fps (alone 120.0) and runs t at 0.30 of its speed alone."}));
}

TEST(Conclusions, OfGamesAloneASingleOneIsNamedAndASinglePolicyComparedWithNone) {
  const auto game = [](const char* policy, double fps) {
    return PolicyMeans{policy, kNone, {{"game", fps, fps, 60, kNone}}};
  };
  EXPECT_EQ(conclusions({game("a", 40)}), (Lines{"a keeps game at 40.0 fps."}));
  EXPECT_EQ(conclusions({game("a", 40), game("b", 50), game("c", 45)}),
            (Lines{"b keeps game at 50.0 fps; a lets it fall to 40.0 fps."}));
}

TEST(ShortNumber, OfNothingAndOfAThousandHasNoDecimals) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(1000), "1000");
  EXPECT_EQ(short_number(999.94), "999.9");
  EXPECT_EQ(short_number(10), "10.0");
  EXPECT_EQ(short_number(9.994), "9.99");
  EXPECT_EQ(short_number(0.01236), "0.012");
  EXPECT_EQ(short_number(-6.914), "-6.91");
}

TEST(Figure, HasTheUnitOfItsMetricAndAnIntervalWhereThereIsOne) {
  const Estimate three{60, 59.75, 60.25, 3}, two{60, 60, 60, 2};
  EXPECT_EQ(figure(three, "fps_mean", true), "60.0 fps [59.8,60.2]");
  EXPECT_EQ(figure(three, "fps_mean", false), "60.0 fps");
  EXPECT_EQ(figure(two, "fps_mean", true), "60.0 fps");
  EXPECT_EQ(figure({0.25, 0.2, 0.3, 3}, "gpu_busy_ratio", true), "25.0 % [20.0,30.0]");
  EXPECT_EQ(figure({0.25, 0, 0, 1}, "slowdown", true), "0.250");
  EXPECT_EQ(figure({1, 1, 1, 1}, "refused", true), "1");
  EXPECT_EQ(figure({0.5, 0.5, 0.5, 1}, "refused", true), "0.500");
  EXPECT_EQ(figure({7.5, 7.5, 7.5, 1}, "throughput_per_s", true), "7.50 /s");
  EXPECT_EQ(figure({7.5, 7.5, 7.5, 1}, "of_another_version", true), "7.50");
}

TEST(Figure, RangesHaveOneUnitAndAreOneFigureWhereTheirEndsReadTheSame) {
  const Estimate low{31, 30, 32, 3}, high{44.2, 44, 45, 3}, nearly{31.02, 31, 32, 3};
  EXPECT_EQ(figure_range(low, high, "throughput_per_s", true), "31.0 to 44.2 /s");
  EXPECT_EQ(figure_range(low, nearly, "throughput_per_s", true), "31.0 /s [30.0,32.0]");
}

}  // namespace
}  // namespace corun
