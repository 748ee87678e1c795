// What a table of means is said to mean.

#include "experiments/summary/conclusions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace corun {
namespace {

const double kNone = std::nan("");

ClientMeans game_of(const std::string& name, double fps, double alone = 60, double quality = kNone) {
  return {name, fps, fps, alone, quality};
}
ClientMeans work_of(const std::string& name, double per_s, double alone) { return {name, kNone, per_s, alone, kNone}; }

std::vector<std::string> said_of(std::vector<PolicyMeans> policies) { return conclusions(std::move(policies)); }

TEST(Conclusions, ThePolicyThatKeepsTheGameAndHarvestsMostAndTheOneThatRunsTheRestFastest) {
  const auto said = said_of({{"gentle", 0.5, {game_of("game", 60), work_of("train", 10, 40)}},
                             {"better", 0.8, {game_of("game", 60), work_of("train", 16, 40)}},
                             {"greedy", 1.1, {game_of("game", 31), work_of("train", 24, 40)}}});
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "better keeps game at 60.0 fps (alone 60.0) and harvests 80 % of the time it leaves idle.");
  EXPECT_EQ(said[1], "greedy runs train 1.50 times faster than that, but shows game at 31.0 fps (alone 60.0).");
}

TEST(Conclusions, AmongPoliciesThatAreAlikeTheFirstIsNamed) {
  const auto said = said_of({{"first", 0.8, {game_of("game", 60), work_of("train", 16, 40)}},
                             {"second", 0.803, {game_of("game", 60), work_of("train", 16.06, 40)}}});
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].starts_with("first keeps")) << said[0];
  const auto clear = said_of({{"first", 0.8, {game_of("game", 60), work_of("train", 16, 40)}},
                              {"second", 0.81, {game_of("game", 60), work_of("train", 16.2, 40)}}});
  ASSERT_EQ(clear.size(), 1U);
  EXPECT_TRUE(clear[0].starts_with("second keeps")) << clear[0];
}

TEST(Conclusions, OfSeveralGamesTheOneThatLosesTheLargestPartOfItsRateCounts) {
  // 45 of 50 is a smaller loss than 45 of 60.
  const auto said = said_of({{"only", 0.9, {game_of("slow", 45, 50), game_of("quick", 45), work_of("train", 20, 40)}},
                             {"other", 0.1, {game_of("slow", 50, 50), game_of("quick", 60), work_of("train", 2, 40)}}});
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "other keeps slow at 50.0 fps (alone 50.0) and harvests 10 % of the time it leaves idle.");
  EXPECT_EQ(said[1], "only runs train 10.00 times faster than that, but shows quick at 45.0 fps (alone 60.0).");
}

TEST(Conclusions, WhereNoPolicyKeepsTheGamesThatIsSaidFirst) {
  const auto said = said_of({{"one", 1, {game_of("game", 40), work_of("a", 10, 40), work_of("b", 5, 10)}},
                             {"two", 1, {game_of("game", 50), work_of("a", 10, 40), work_of("b", 1, 10)}}});
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "No policy keeps every game at the frame rate it has alone.");
  EXPECT_EQ(said[1],
            "one shows game at 40.0 fps (alone 60.0) and runs the 2 other clients at 0.75 of one's speed alone.");
}

TEST(Conclusions, GamesAloneAreComparedByTheSlowest) {
  const auto said = said_of({{"free", kNone, {game_of("a", 20, 60, 1.0), game_of("b", 40, 60, 1.0)}},
                             {"fair", kNone, {game_of("a", 30, 60, 0.8), game_of("b", 31, 60, 0.9)}}});
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0],
            "fair keeps the slowest of 2 games at 30.0 fps at quality 0.85; free lets it fall to 20.0 fps at quality "
            "1.00.");
  EXPECT_EQ(said_of({{"fair", kNone, {game_of("a", 30)}}}), std::vector<std::string>{"fair keeps a at 30.0 fps."});
}

TEST(Conclusions, OtherWorkAloneIsComparedByTheSumOfItsSpeeds) {
  const auto said = said_of({{"turns", kNone, {work_of("a", 20, 40), work_of("b", 5, 10)}},
                             {"mps", kNone, {work_of("a", 30, 40), work_of("b", 4, 10)}}});
  EXPECT_EQ(said, std::vector<std::string>{"mps runs a at 0.750, b at 0.400 of the speed alone, 1.150 together."});
  EXPECT_EQ(said_of({{"mps", kNone, {work_of("a", 30, 40)}}}),
            std::vector<std::string>{"mps runs a at 0.750 of the speed alone."});
}

TEST(Conclusions, NothingIsSaidOfRatesThatAreNotKnownAlone) {
  EXPECT_TRUE(said_of({{"live", kNone, {work_of("a", 30, kNone)}}}).empty());
  EXPECT_TRUE(said_of({{"live", 0.5, {game_of("game", 60, kNone), work_of("a", 30, 40)}}}).empty());
  EXPECT_TRUE(said_of({}).empty());
}

TEST(Conclusions, PoliciesThatTurnedAwayAllOfAKindAreLeftOut) {
  const auto said = said_of(
      {{"refuses", 0, {game_of("game", 60)}}, {"serves", 0.5, {game_of("game", 60), work_of("train", 10, 40)}}});
  EXPECT_EQ(said, std::vector<std::string>{
                      "serves keeps game at 60.0 fps (alone 60.0) and harvests 50 % of the time it leaves idle."});
}

}  // namespace
}  // namespace corun
