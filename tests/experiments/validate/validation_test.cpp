#include "experiments/validate/validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/validate/report.h"
#include "tests/experiments/validate/stand_in.h"

namespace corun::validation {
namespace {

using testing::kMixes;
using testing::Question;
using testing::quickly;
using testing::stand_in;

/// Predicts, measures in a stand-in and scores.
struct Trial {
  Trial(const std::string& text, const ExecutionBackend& backend, const ValidationOptions& options)
      : question(text), validation(question.experiment, question.policies, options) {
    validation.predict({});
    validation.measure(backend, nullptr, {});
    result = validation.score();
  }
  Question question;
  Validation validation;
  ValidationResult result;

  const ScoreRow& row(const std::string& scenario, const std::string& client, const std::string& metric) const {
    for (const ScoreRow& found : result.rows)
      if (found.cell == CellKey{scenario, "passthrough"} && found.client == client && found.metric == metric)
        return found;
    throw std::runtime_error("no row of " + scenario + " " + client + " " + metric);
  }
};

TEST(Validation, FindsNoErrorWhereTheWorldIsTheModel) {
  const Trial trial(kMixes, stand_in(), quickly());
  EXPECT_GE(trial.result.rows.size(), 15U);
  for (const ScoreRow& row : trial.result.rows) {
    if (row.tier == Tier::kSolo) continue;  // measured with other seeds in part
    EXPECT_NEAR(row.error, 0.0, 1e-12) << row.cell.scenario << ' ' << row.client << ' ' << row.metric;
    const bool is_of_slowest_frames = row.tier == Tier::kGame && row.metric.ends_with("_p99_ms");
    EXPECT_EQ(row.verdict == Verdict::kTooFewFrames, is_of_slowest_frames) << row.metric;
    EXPECT_NE(row.verdict, Verdict::kOutside) << row.metric;
  }
  EXPECT_TRUE(meets_goals(trial.result));
  EXPECT_EQ(score_rankings(trial.result.rankings).discordant, 0U);
}

/// A group of rows that decide nothing had errors of 0.0 %, which is what a perfect prediction has.
TEST(Validation, ReportsNoErrorOfFramesThatAreTooFew) {
  const Trial trial(kMixes, stand_in(), quickly());
  const std::string report = validation_report(trial.validation, trial.result, {});
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = report.find("| frame_time_p99_ms | 1/1 |", at)) != std::string::npos; ++at, ++lines)
    EXPECT_EQ(report.substr(at, 39), "| frame_time_p99_ms | 1/1 |  |  |  |  |");
  EXPECT_GE(lines, 1U);
}

TEST(Validation, FindsExactlyTheErrorThatTheWorldHas) {
  const auto slower = [](RunInput& input) {
    for (ClientSpec& client : input.clients)
      if (client.name == "waiter") client.host_gap_scale *= 2;
  };
  const Trial trial(kMixes, stand_in(slower), quickly());
  EXPECT_NEAR(trial.row("alone: waiter", "waiter", "throughput_per_s").error, 0.9 / 0.6 - 1, 0.02)
      << "300 us of kernel behind 600 us of host in place of 300 us";
  EXPECT_EQ(trial.row("alone: waiter", "waiter", "throughput_per_s").verdict, Verdict::kOutside);
  EXPECT_NEAR(trial.row("alone: filler", "filler", "throughput_per_s").error, 0.0, 0.002);
}

TEST(Validation, NamesTheTimeSliceWhereTheWorldHasAnother) {
  ValidationOptions options = quickly();
  options.has_budget = true;
  const auto longer = [](RunInput& input) {
    input.device.time_slice = Duration{static_cast<std::int64_t>(to_ns(input.device.time_slice) * 1.2)};
  };
  const Trial trial(kMixes, stand_in(longer), options);
  EXPECT_GT(std::abs(trial.row("pair", "waiter", "throughput_per_s").error), 0.05) << "it waits a slice each time";
  EXPECT_EQ(trial.row("pair", "waiter", "throughput_per_s").verdict, Verdict::kOutside);
  ASSERT_FALSE(trial.result.explanations.empty());
  const Explanation& best = trial.result.explanations.front();
  EXPECT_EQ(best.constant, "time_slice");
  EXPECT_NEAR(best.moved, 0.20, 0.05);
  EXPECT_GT(best.explained, 0.9);
}

TEST(Validation, ConstantsAreAsUncertainAsTheDevicesFileSays) {
  const auto uncertainty = [](const DeviceSpreads& spreads, const std::string& name) {
    const auto constants = model_constants(0, spreads);
    return std::ranges::find(constants, name, &Constant::name)->uncertainty;
  };
  EXPECT_EQ(uncertainty({}, "time_slice"), "2 %");
  EXPECT_EQ(uncertainty({}, "switch_cost"), "25us");
  EXPECT_EQ(uncertainty({{"time_slice", "2.0ms to 2.2ms"}}, "time_slice"), "100us");
  EXPECT_EQ(uncertainty({{"switch_cost", "158us to 198us"}}, "switch_cost"), "20us");
  EXPECT_EQ(uncertainty({{"sm_rate_exponent", "0.30 to 0.76"}}, "sm_rate_exponent"), "0.23");
  EXPECT_EQ(uncertainty({{"switch_cost", "nobody knows"}}, "switch_cost"), "25us");
  RunInput input;
  input.device.time_slice = Duration{2'100'000};
  model_constants(0, {{"time_slice", "2.0ms to 2.2ms"}}).front().move(input, -1.0);
  EXPECT_EQ(input.device.time_slice, Duration{2'000'000});
}

TEST(Validation, SpreadsComeFromTheDevicesFileUnlessTheExperimentHasAnotherValue) {
  testing::TemporaryFolder folder;
  testing::write_text(folder, "mine.yaml",
                      device_file_text("mine", "",
                                       {{"time_slice", "2ms", "measured", "1.9ms to 2.1ms"},
                                        {"switch_cost", "170us", "measured", "150us to 190us"}}));
  std::string text = kMixes;
  text.replace(text.find("device: h200"), 12,
               fmt::format("device: {{ file: {}, switch_cost: 100us }}", folder / "mine.yaml"));
  const Question question(text);
  EXPECT_EQ(question.experiment.scenarios.front().device_facts.spreads,
            (DeviceSpreads{{"time_slice", "1.9ms to 2.1ms"}}));
}

TEST(Validation, NamesTheSwitchCostWhereTheWorldHasAnother) {
  ValidationOptions options = quickly();
  options.has_budget = true;
  const Trial trial(kMixes, stand_in([](RunInput& input) { input.device.switch_cost += Duration{100'000}; }), options);
  const Explanation& best = trial.result.explanations.front();
  EXPECT_EQ(best.constant, "switch_cost");
  EXPECT_NEAR(best.steps, 4.0, 1.0) << "of 25 us";
}

TEST(Validation, TheBudgetCountsVisitsOfGamesAlone) {
  ValidationOptions options = quickly(1);
  options.has_budget = true;
  const Trial trial(kMixes, stand_in(), options);
  const auto visits = std::ranges::find(trial.result.effects, "visits", &ConstantEffect::constant);
  ASSERT_NE(visits, trial.result.effects.end());
  double of_games = 0, of_pairs = 0;
  for (std::size_t i = 0; i < trial.result.rows.size(); ++i)
    (trial.result.rows[i].cell.scenario == "game" ? of_games : of_pairs) += std::abs(visits->change[i]);
  EXPECT_GT(of_games, 0.005) << "another visit is another wait for a slice";
  EXPECT_LT(of_pairs, 0.005);
}

TEST(Validation, ACellThatFailsIsMissingWithItsReason) {
  ExecutionBackend backend = stand_in();
  backend.run = [run = backend.run](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
    if (input.policy_name == "exclusive") throw Error(ErrorKind::kUnsupported, "nothing here is exclusive");
    return run(input, recorder, notes);
  };
  const Trial trial(kMixes, backend, quickly());
  std::size_t missing = 0;
  for (const ScoreRow& row : trial.result.rows) {
    EXPECT_EQ(row.verdict == Verdict::kMissing, row.cell.policy == "exclusive");
    missing += row.verdict == Verdict::kMissing;
  }
  EXPECT_GT(missing, 0U);
  const std::string report = validation_report(trial.validation, trial.result, {});
  EXPECT_NE(report.find("pair / exclusive (measured, 3 runs): nothing here is exclusive"), std::string::npos) << report;
}

TEST(Validation, ADisturbedRunIsToldByTheCanaryBeforeIt) {
  ValidationOptions options = quickly(2);
  options.has_canary = true;
  int canaries = 0;
  const auto busy = [&](RunInput& input) {
    const bool is_fourth = input.clients.front().name == "canary" && ++canaries == 4;
    if (is_fourth) input.clients.front().host_gap_scale *= 20;
  };
  const Trial trial(kMixes, stand_in(busy), options);
  const auto disturbances = trial.validation.disturbances();
  ASSERT_EQ(disturbances.size(), 1U);
  EXPECT_EQ(disturbances.front().cell, (CellKey{"pair", "passthrough"})) << "three run alone first";
  EXPECT_EQ(disturbances.front().seed, 1U);
  EXPECT_LT(disturbances.front().change, -0.01);
}

TEST(Validation, PredictionsAreTheSameTextEveryTimeAndForAnyNumberOfJobs) {
  const Question question(kMixes);
  ValidationOptions options = quickly();
  Validation one(question.experiment, question.policies, options);
  options.jobs = 1;
  options.repetitions = 9;
  Validation other(question.experiment, question.policies, options);
  one.predict({});
  other.predict({});
  EXPECT_EQ(one.predictions().text, other.predictions().text);
  EXPECT_EQ(one.predictions().sha256.size(), 64U);
}

TEST(Validation, TheBudgetMovesWhatIsKeptAsFarAsTheRateItself) {
  ValidationOptions options = quickly(1);
  options.has_budget = true;
  const Trial trial(kMixes, stand_in(), options);
  const auto visits = std::ranges::find(trial.result.effects, "visits", &ConstantEffect::constant);
  ASSERT_NE(visits, trial.result.effects.end());
  const auto change = [&](const char* metric) {
    return visits->change[static_cast<std::size_t>(&trial.row("game", "filler", metric) - trial.result.rows.data())];
  };
  EXPECT_GT(std::abs(change("throughput_per_s")), 1e-4);
  EXPECT_NEAR(change("rate_kept"), change("throughput_per_s"), 1e-4) << "alone it has no frames that could change";
}

TEST(Validation, ConcurrentCellsHaveDispatchOrderForARival) {
  std::string text = kMixes;
  text.replace(text.find("device: h200"), 12, "device: { model: h200, sharing: concurrent }");
  const Trial trial(text, stand_in(), quickly(1));
  const auto& nulls = trial.row("pair", "waiter", "throughput_per_s").nulls;
  EXPECT_TRUE(std::ranges::any_of(nulls, [](const NullFigure& null) { return null.model == "dispatch order"; }));
  EXPECT_NE(trial.validation.predictions().text.find("\"dispatch order\""), std::string::npos) << "published, too";
}

}  // namespace
}  // namespace corun::validation
