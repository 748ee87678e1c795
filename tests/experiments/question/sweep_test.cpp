#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "experiments/run/plan.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

constexpr char kBase[] = R"(
name: swept
device: h200
clients: [{ name: game, synthetic: { game: fable }, pacing: 60fps }]
policies: [passthrough, nvshare]
)";

Experiment expanded(const std::string& section, const std::vector<std::string>& options = {}) {
  ExperimentOverrides overrides;
  overrides.sweeps = options;
  overrides.expands_sweep = true;
  return testing::read_text(kBase + section, overrides);
}

/// What the points set the parameter to.
std::vector<std::string> values(const Experiment& experiment, std::size_t parameter = 0) {
  std::vector<std::string> texts;
  for (const std::vector<PointValue>& point : experiment.points) texts.push_back(point[parameter].text);
  return texts;
}

/// "line: message" of everything that is wrong.
std::vector<std::string> mistakes(const std::string& section) {
  try {
    expanded(section);
  } catch (const InvalidInput& wrong) {
    std::vector<std::string> texts;
    for (const Diagnostic& diagnostic : wrong.diagnostics())
      texts.push_back(fmt::format("{}: {}", diagnostic.where.line, diagnostic.message));
    return texts;
  }
  return {};
}

TEST(Sweep, AGridHasEveryCombinationAndTheFirstParameterVariesSlowest) {
  const Experiment experiment =
      expanded("sweep: { nvshare.quantum: [1ms, 2ms], clients.game.pacing: [30fps, 60fps, 90fps] }");
  EXPECT_EQ(values(experiment), (std::vector<std::string>{"1ms", "1ms", "1ms", "2ms", "2ms", "2ms"}));
  EXPECT_EQ(values(experiment, 1), (std::vector<std::string>{"30fps", "60fps", "90fps", "30fps", "60fps", "90fps"}));
  ASSERT_EQ(experiment.scenarios.size(), 6U);
  EXPECT_EQ(experiment.scenarios[4].clients[0].pacing->period, Duration(16'666'667));
  EXPECT_EQ(experiment.scenarios[4].point, 4U);
}

TEST(Sweep, WhatNoPointChangesIsRunOnce) {
  const Experiment experiment = expanded("sweep: { nvshare.quantum: [1ms, 2ms, 3ms] }");
  const Plan plan = make_plan(experiment);
  EXPECT_EQ(plan.runs.size(), 4U);  // passthrough has no quantum
  EXPECT_EQ(plan.places.size(), 6U);
  EXPECT_EQ(plan.places[0].run, plan.places[4].run);
  EXPECT_EQ(plan.places[4].point, 2U);
}

TEST(Sweep, RangesAreStepped) {
  EXPECT_EQ(values(expanded("sweep: { nvshare.quantum: { from: 1ms, to: 2ms, step: 300us } }")),
            (std::vector<std::string>{"1ms", "1.3ms", "1.6ms", "1.9ms"}));
  EXPECT_EQ(values(expanded("sweep: { clients.game.duration_jitter: { from: 0, to: 0.3, step: 0.1 } }")),
            (std::vector<std::string>{"0", "0.1", "0.2", "0.3"}));
  EXPECT_EQ(values(expanded("sweep: { nvshare.quantum: { from: 1ms, to: 1s, count: 4, scale: log } }")),
            (std::vector<std::string>{"1ms", "10ms", "100ms", "1s"}));
}

TEST(Sweep, OptionsOfTheCommandLineReplaceAndAdd) {
  const Experiment experiment = expanded("sweep: { nvshare.quantum: [1ms] }",
                                         {"nvshare.quantum=5ms,6ms", "horizon={from: 1s, to: 2s, step: 1s}"});
  EXPECT_EQ(values(experiment), (std::vector<std::string>{"5ms", "5ms", "6ms", "6ms"}));
  EXPECT_EQ(experiment.scenarios[3].horizon, Duration(2'000'000'000));
}

TEST(Sweep, ALatinHypercubeHasOnePointInEachStratumOfEachParameter) {
  const std::string section =
      "sweep: { nvshare.quantum: { from: 100ms, to: 200ms }, clients.game.duration_jitter: { from: 0, to: 1 },\n"
      "         sample: { method: latin_hypercube, points: 50, seed: 3 } }";
  const Experiment experiment = expanded(section);
  std::set<int> quanta, jitters;
  for (const std::vector<PointValue>& point : experiment.points) {
    quanta.insert(static_cast<int>((point[0].quantity->number - 100e6) / 2e6));
    jitters.insert(static_cast<int>(point[1].quantity->number * 50));
  }
  EXPECT_EQ(quanta.size(), 50U);
  EXPECT_EQ(jitters.size(), 50U);
  EXPECT_FALSE(
      std::ranges::is_sorted(experiment.points, {}, [](const auto& point) { return point[0].quantity->number; }));
  EXPECT_EQ(values(expanded(section)), values(experiment));
}

TEST(Sweep, RandomPointsFillARangeOnItsScale) {
  const Experiment experiment = expanded(
      "sweep: { nvshare.quantum: { from: 1ms, to: 1s, scale: log }, sample: { method: random, points: 2000 } }");
  const auto below =
      std::ranges::count_if(experiment.points, [](const auto& point) { return point[0].quantity->number < 31.6e6; });
  EXPECT_NEAR(static_cast<double>(below), 1000, 100);  // half of the decades
  EXPECT_NE(values(experiment), values(expanded("sweep: { nvshare.quantum: { from: 1ms, to: 1s, scale: log }, "
                                                "sample: { method: random, points: 2000, seed: 2 } }")));
}

TEST(Sweep, EveryMistakeIsToldWhereItStands) {
  EXPECT_EQ(mistakes("sweep:\n  nvshre.quantum: [1ms]"),
            (std::vector<std::string>{"7: unknown first part of a swept parameter: `nvshre`"}));
  EXPECT_EQ(mistakes("sweep:\n  nvshare.quantm: [1ms]"),
            (std::vector<std::string>{"7: unknown parameter of policy `nvshare`: `quantm`"}));
  EXPECT_EQ(mistakes("sweep:\n  nvshare.quantum:\n    - 1ms\n    - 2").size(), 1U);
  EXPECT_EQ(mistakes("sweep:\n  record.frames: [all]"),
            (std::vector<std::string>{"7: `record` is one for all points: it cannot be swept"}));
  EXPECT_EQ(mistakes("sweep:\n  horizon: { from: 1s, to: 2s }"),
            (std::vector<std::string>{"7: a grid needs the `step` or the `count` of `horizon`"}));
  EXPECT_EQ(mistakes("sweep:\n  horizon: { from: 1s, to: 2 }"),
            (std::vector<std::string>{"7: `from`, `to` and `step` are not of one unit"}));
  EXPECT_EQ(mistakes("sweep:\n  horizon: [1s, 2s]\n  sample: { method: random }"),
            (std::vector<std::string>{"7: a sample needs its number of `points`"}));
  EXPECT_EQ(mistakes("sweep: { sample: { method: lhs, points: 3 } }"),
            (std::vector<std::string>{"6: no parameter is swept"}));
}

}  // namespace
}  // namespace corun
