#include "policies/djay/parameters.h"

#include <gtest/gtest.h>

#include "policies/builtin.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

Parameters with(std::initializer_list<std::pair<std::string, ParameterValue>> values) {
  Parameters parameters = djay_policy().defaults();
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

TEST(DjayParameters, DefaultsOfThePartsAreThoseOfTheTable) {
  const Parameters defaults = djay_policy().defaults();
  const GameModel::Settings model = djay_game_settings(defaults).model, its_model;
  EXPECT_EQ(model.kind, its_model.kind);
  EXPECT_EQ(model.ridge, its_model.ridge);
  EXPECT_EQ(model.forgetting, its_model.forgetting);
  EXPECT_EQ(model.quantile, its_model.quantile);
  EXPECT_EQ(model.frames, its_model.frames);
  const DjayGame::Settings game = djay_game_settings(defaults), its_game;
  EXPECT_EQ(game.first_switch_cost, its_game.first_switch_cost);
  EXPECT_EQ(game.joins_cheapest, its_game.joins_cheapest);
  const DjayAdmission::Settings admission = djay_admission_settings(defaults), its_admission;
  EXPECT_EQ(admission.accepts_all, its_admission.accepts_all);
  EXPECT_EQ(admission.verdict_frames, its_admission.verdict_frames);
  EXPECT_EQ(admission.unknown_cost, its_admission.unknown_cost);
  EXPECT_EQ(admission.evicts_last_joined, its_admission.evicts_last_joined);
  EXPECT_EQ(admission.eviction_frames, its_admission.eviction_frames);
  const DjayProbes::Settings probes = djay_probe_settings(defaults), its_probes;
  EXPECT_EQ(probes.every, its_probes.every);
  EXPECT_EQ(probes.until, its_probes.until);
  const LevelChooser::Settings levels = djay_level_settings(defaults), its_levels;
  EXPECT_EQ(levels.objective, its_levels.objective);
  EXPECT_EQ(levels.solver, its_levels.solver);
  EXPECT_EQ(levels.bin, its_levels.bin);
  EXPECT_EQ(levels.bin, kUsualBin);
  EXPECT_EQ(levels.bin, 100us);
}

TEST(DjayParameters, HeadroomIsTakenOffTheBudgetAndMayBeUsedByFirstFrames) {
  const Parameters parameters = with({{"frame_budget", Duration{10ms}}, {"headroom", 0.25}});
  EXPECT_EQ(djay_budget(parameters), 7'500us);
  EXPECT_EQ(djay_level_settings(parameters).reserve, 2'500us);
}

TEST(DjayParameters, ChoicesChooseWhatTheyAreCalled) {
  using Kind = GameModel::Kind;
  const auto kind = [](const char* name) {
    return djay_game_settings(with({{"cost_model", std::string(name)}})).model.kind;
  };
  EXPECT_EQ(kind("regression"), Kind::kRegression);
  EXPECT_EQ(kind("ratio"), Kind::kRatio);
  EXPECT_EQ(kind("static_table"), Kind::kStaticTable);
  const auto levels = [](const char* name, const char* choice) {
    return djay_level_settings(with({{name, std::string(choice)}}));
  };
  EXPECT_EQ(levels("solver", "exact").solver, LevelChooser::Solver::kExact);
  EXPECT_EQ(levels("solver", "bins").solver, LevelChooser::Solver::kBins);
  EXPECT_EQ(levels("objective", "max_min").objective, LevelChooser::Objective::kMaxMin);
  EXPECT_EQ(levels("objective", "weighted").objective, LevelChooser::Objective::kSum);
  EXPECT_TRUE(djay_admission_settings(with({{"admission", std::string("accept_all")}})).accepts_all);
  EXPECT_TRUE(djay_admission_settings(with({{"eviction", std::string("last_joined")}})).evicts_last_joined);
  EXPECT_FALSE(djay_game_settings(with({{"join_level", std::string("as_configured")}})).joins_cheapest);
}

TEST(DjayParameters, OnlyTheRegressionAsksForShadows) {
  EXPECT_EQ(djay_probe_settings(with({{"probe_every", std::int64_t{7}}})).every, 7U);
  for (const char* model : {"ratio", "static_table"})
    EXPECT_EQ(djay_probe_settings(with({{"cost_model", std::string(model)}})).every, 0U);
}

}  // namespace
}  // namespace corun
