#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/identify/design.h"
#include "experiments/identify/report.h"
#include "tests/experiments/identify/hidden_gpu.h"

namespace corun::identification {
namespace {

using namespace std::chrono_literals;
using testing::builtin;

Figure figure(double mean, double squares = 0, std::uint32_t count = 1, std::string client = "a") {
  return {std::move(client), "x_ms", mean, squares, count};
}

TEST(Deviation, CountsInStandardDeviationsOfTheNoise) {
  const Noise noise{0.03, 0.4};  // of 10 ms: 0.3 and 0.4, together 0.5
  EXPECT_NEAR(deviation(figure(11), figure(10), noise), 2, 1e-12);
  EXPECT_NEAR(deviation(figure(9.5), figure(10), noise), -1, 1e-12);
}

TEST(Deviation, ForgivesWhatScattersBetweenRepetitions) {
  const Noise noise{0, 1e-9};
  // Three and three with a variance of 1.5 in all: the difference of means has 1.5 * 2/3 = 1.
  EXPECT_NEAR(deviation(figure(12, 4, 3), figure(10, 2, 3), noise), 2, 1e-6);
}

TEST(Likelihood, IsNotDecidedByOneBadFigure) {
  const Noise noise;
  const double near = log_likelihood({figure(10.2)}, {figure(10)}, noise);
  const double far = log_likelihood({figure(100)}, {figure(10)}, noise);
  EXPECT_LT(far, near);
  EXPECT_GT(far, -30) << "a Gaussian would say less than -900";
}

TEST(Misfit, IsNotMadeByOneFigureThatJumps) {
  Figures predicted(9, figure(10)), measured = predicted;
  measured[0].mean = 1000;
  EXPECT_NEAR(misfit(measured, predicted, Noise{}), 2, 1e-12);
  for (Figure& each : measured) each.mean = 20;
  EXPECT_NEAR(misfit(measured, predicted, Noise{}), 6, 1e-12);
  const Figures of_two = {figure(10), figure(10), figure(10, 0, 1, "b")};
  EXPECT_NEAR(misfit({figure(10), figure(10), figure(20, 0, 1, "b")}, of_two, Noise{}), 6, 1e-12)
      << "one client that is predicted badly is enough";
}

TEST(Likelihood, CountsTheFiguresOfAClientAsOne) {
  const Noise noise;
  const double one = log_likelihood({figure(11)}, {figure(10)}, noise);
  EXPECT_DOUBLE_EQ(log_likelihood({figure(11), figure(11)}, {figure(10), figure(10)}, noise), one);
  EXPECT_DOUBLE_EQ(log_likelihood({figure(11), figure(11, 0, 1, "b")}, {figure(10), figure(10, 0, 1, "b")}, noise),
                   2 * one);
}

TEST(Pooled, KeepsMeanAndScatter) {
  const Figures figures = pooled({{figure(1)}, {figure(2)}, {figure(6)}});
  EXPECT_DOUBLE_EQ(figures[0].mean, 3);
  EXPECT_DOUBLE_EQ(figures[0].squares, 4 + 1 + 9);
  EXPECT_EQ(figures[0].count, 3U);
}

TEST(Entropy, IsInBits) {
  EXPECT_DOUBLE_EQ(entropy_bits({0.25, 0.25, 0.25, 0.25}), 2);
  EXPECT_DOUBLE_EQ(entropy_bits({1, 0}), 0);
}

const Trial& trial_named(const std::vector<Trial>& trials, std::string_view name) {
  return *std::ranges::find(trials, name, &Trial::name);
}

TEST(Design, PrefersTheTrialWhosePredictionsDiffer) {
  const DeviceSpec base = builtin("h200");
  Predictions predictions(rules_of_contexts(base, true), base, 2);
  const std::vector<Trial> trials = trial_pool(base, 200ms);
  // to_completion against sliced, same slice: only frames longer than the slice tell.
  const std::vector<Weighted> rivals = {{{0, {64, 48}}, 0.5}, {{2, {64, 48}}, 0.5}};
  const Noise noise;
  EXPECT_LT(expected_bits(rivals, trial_named(trials, "two_long"), predictions, noise), 0.05);
  EXPECT_GT(expected_bits(rivals, trial_named(trials, "heavy_game"), predictions, noise), 0.5);
  const Choice choice =
      choose_trial(rivals, {&trial_named(trials, "two_long"), &trial_named(trials, "heavy_game")}, predictions, noise);
  EXPECT_EQ(choice.trial->name, "heavy_game");
}

TEST(Trials, AreManyAndNamedApart) {
  const std::vector<Trial> trials = trial_pool(builtin("h200"));
  std::set<std::string> names;
  for (const Trial& trial : trials) {
    names.insert(trial.name);
    EXPECT_GE(trial.clients.size(), 2U) << trial.name;
    EXPECT_LE(trial.clients.size(), 4U) << trial.name;
  }
  EXPECT_EQ(names.size(), trials.size());
  EXPECT_GE(trials.size(), 15U);
}

TEST(Trials, SayNothingOfVisitsThatHardwareDoesNotShow) {
  const DeviceSpec base = builtin("h200");
  const std::vector<Trial> trials = trial_pool(base, 200ms);
  const Trial& trial = trial_named(trials, "two_draws");
  const Observation shown = observe(simulation_backend(), base, trial, trial.clients, 1);
  const Observation hidden = observe(simulation_backend(), base, trial, with_trailing_visits(trial.clients), 1);
  ASSERT_EQ(shown.size(), hidden.size());
  EXPECT_EQ(hidden[1].name, "op_span_p50_ms");
  EXPECT_NEAR(hidden[1].mean, 3, 0.1) << "draws, not the visits after them";
  EXPECT_GT(hidden[0].mean, 1.4 * shown[0].mean) << "every visit waits its turn";
}

TEST(DeviceFile, SaysWhatWasIdentifiedAndReadsBack) {
  const DeviceSpec base = builtin("h200");
  Predictions predictions(rules_of_contexts(base, true), base, 2);
  Identification found;
  found.fits = true;
  found.steps.resize(4);
  found.verdicts = {{2, 0.995, {2, {0, 0}}}, {0, 0.004, {0, {0, 0}}}};
  found.values = {{"time_slice", 1'024'123.4, 1e6, 1.05e6}, {"switch_cost", 1.5e5, 1.4e5, 1.6e5}};
  const std::vector<DeviceLine> lines = identified_lines(found, predictions);
  const DeviceFile file = read_device_file(device_file_text("mine", "", lines), "mine.yaml");
  EXPECT_EQ(file.spec.sharing, Sharing::kTimeSliced);
  EXPECT_EQ(file.spec.graphics, GraphicsScheduling::kSliced);
  EXPECT_EQ(file.spec.time_slice, Duration{1'024'123});
  EXPECT_EQ(file.spec.switch_cost, Duration{150'000});
  EXPECT_EQ(file.sources.at("graphics"), "identified: 4 trials");
}

}  // namespace
}  // namespace corun::identification
