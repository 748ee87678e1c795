#include "experiments/validate/scoring/ranking.h"

#include <gtest/gtest.h>

namespace corun::validation {
namespace {

Estimate about(double mean, double half) { return {mean, mean - half, mean + half, 5}; }

/// Policies with predicted and measured merits, each measured within 0.1.
Ranking ranking(const std::vector<std::pair<double, double>>& merits) {
  Ranking out{"mix", Merit::kProgress, false, {}};
  for (const auto& [predicted, measured] : merits)
    out.policies.push_back({std::to_string(out.policies.size()), about(predicted, 0.0), about(measured, 0.1)});
  return out;
}

TEST(Ranking, TheSameOrderGivesTauOneAndNoRegret) {
  const RankingScore score = score_rankings({ranking({{1, 10}, {2, 20}, {3, 30}})});
  EXPECT_EQ(score.concordant, 3U);
  EXPECT_DOUBLE_EQ(score.tau.value(), 1.0);
  EXPECT_EQ(score.worst_regret, 0.0);
}

TEST(Ranking, TheReverseOrderGivesTauMinusOneAndTheWholeRegret) {
  const RankingScore score = score_rankings({ranking({{3, 10}, {2, 20}, {1, 40}})});
  EXPECT_DOUBLE_EQ(score.tau.value(), -1.0);
  EXPECT_DOUBLE_EQ(score.worst_regret, 0.75) << "10 chosen where there was 40";
}

TEST(Ranking, OneSwapOfThreePairsGivesAThird) {
  EXPECT_NEAR(score_rankings({ranking({{1, 10}, {3, 20}, {2, 30}})}).tau.value(), 1.0 / 3, 1e-12);
}

TEST(Ranking, PairsWithinTwiceTheNoiseDoNotCount) {
  const RankingScore score = score_rankings({ranking({{2, 10.0}, {1, 10.2}, {3, 20}})});
  EXPECT_EQ(score.too_close, 1U);
  EXPECT_EQ(score.concordant, 2U);
  EXPECT_DOUBLE_EQ(score.tau.value(), 1.0);
  EXPECT_EQ(score_rankings({ranking({{2, 10.0}, {1, 10.2}})}).worst_regret, 0.0) << "nobody can tell the two apart";
  EXPECT_FALSE(score_rankings({ranking({{2, 10.0}, {1, 10.2}})}).tau);
}

TEST(Ranking, RegretIsAveragedOverRankings) {
  const RankingScore score = score_rankings({ranking({{1, 10}, {2, 20}}), ranking({{2, 10}, {1, 20}})});
  EXPECT_DOUBLE_EQ(score.mean_regret, 0.25);
  EXPECT_DOUBLE_EQ(score.tau.value(), 0.0);
}

/// A cell of two clients with their rates in every run; their solo rates are 10/s and 20/s.
class RankedCells : public ::testing::Test {
 protected:
  RankedCells() {
    figures_.add({"alone: a", "passthrough"}, 1, {{"a", "throughput_per_s", 10, "1/s"}});
    figures_.add({"alone: b", "passthrough"}, 1, {{"b", "throughput_per_s", 20, "1/s"}});
  }
  void add(const std::string& policy, double a, double b) {
    Cell cell;
    cell.key = {"mix", policy};
    cell.clients = {{"a", {"alone: a", "passthrough"}, "a"}, {"b", {"alone: b", "passthrough"}, "b"}};
    cells_.push_back(cell);
    figures_.add(cell.key, 1, {{"a", "throughput_per_s", a, "1/s"}, {"b", "throughput_per_s", b, "1/s"}});
  }
  std::vector<Cell> cells_;
  Figures figures_;
};

TEST_F(RankedCells, MeritsAreProgressAndTheLeastOfIt) {
  add("one", 5, 10);
  add("other", 1, 20);
  const auto rankings = rank(cells_, figures_, figures_);
  ASSERT_EQ(rankings.size(), 2U);
  EXPECT_EQ(rankings[0].merit, Merit::kProgress);
  EXPECT_DOUBLE_EQ(rankings[0].policies[0].measured.mean, 1.0);
  EXPECT_DOUBLE_EQ(rankings[0].policies[1].measured.mean, 1.1);
  EXPECT_EQ(rankings[1].merit, Merit::kFairness);
  EXPECT_DOUBLE_EQ(rankings[1].policies[0].measured.mean, 0.5);
  EXPECT_DOUBLE_EQ(rankings[1].policies[1].measured.mean, 0.1);
}

TEST_F(RankedCells, OnePolicyIsNoRanking) {
  add("one", 5, 10);
  EXPECT_TRUE(rank(cells_, figures_, figures_).empty());
}

TEST_F(RankedCells, APolicyThatWasNotMeasuredIsLeftOut) {
  add("one", 5, 10);
  add("other", 1, 20);
  Figures measured;
  for (const char* name : {"a", "b"})
    measured.add({std::string("alone: ") + name, "passthrough"}, 1, {{name, "throughput_per_s", 10, "1/s"}});
  measured.add({"mix", "one"}, 1, {{"a", "throughput_per_s", 5, "1/s"}, {"b", "throughput_per_s", 5, "1/s"}});
  EXPECT_TRUE(rank(cells_, figures_, measured).empty()) << "one is left";
}

}  // namespace
}  // namespace corun::validation
