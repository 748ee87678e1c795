#include "experiments/validate/scoring/cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/experiments/validate/stand_in.h"

namespace corun::validation {
namespace {

using namespace std::chrono_literals;
using testing::kMixes;
using testing::Question;

/// The cells of a text.
class Cut {
 public:
  explicit Cut(const std::string& text, Duration window = 20s, const std::vector<std::string>& only = {})
      : question_(text),
        hashes_(make_plan(question_.experiment).hashes),
        experiment_(with_solos(question_.experiment, {window}, hashes_, only)),
        inputs_(experiment_, hashes_, question_.policies),
        cells_(make_cells(experiment_, hashes_, inputs_, question_.policies)) {}

  const Experiment& experiment() const { return experiment_; }
  const std::vector<Cell>& cells() const { return cells_; }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Cell& cell : cells_) all.push_back(cell.key.scenario + "/" + cell.key.policy);
    return all;
  }
  /// "scenario/policy#seed" in the order of measuring.
  std::vector<std::string> order(unsigned repetitions, bool has_canary) const {
    std::vector<std::string> all;
    for (const RunSpec& run : measurement_runs(experiment_, cells_, hashes_, repetitions, has_canary)) {
      const Scenario& scenario = experiment_.scenarios[run.scenario];
      all.push_back(fmt::format("{}/{}#{}", scenario.name, scenario.policies[run.policy].label, run.seed));
    }
    return all;
  }
  std::set<std::string> run_ids(unsigned repetitions) const {
    std::set<std::string> ids;
    for (const RunSpec& run : measurement_runs(experiment_, cells_, hashes_, repetitions, true)) ids.insert(run.id);
    return ids;
  }

 private:
  Question question_;
  FileHashes hashes_;
  Experiment experiment_;
  RunInputs inputs_;
  std::vector<Cell> cells_;
};

TEST(Cells, AreEveryScenarioUnderEveryPolicyAndEveryDifferentClientAlone) {
  EXPECT_EQ(Cut(kMixes).names(), (std::vector<std::string>{"alone: filler/passthrough", "alone: waiter/passthrough",
                                                           "alone: game/passthrough", "pair/passthrough",
                                                           "pair/exclusive", "game/passthrough"}))
      << "the filler of both scenarios is one client alone";
}

TEST(Cells, KnowTheirTierAndWhoseTheyAre) {
  const Cut cut(kMixes);
  EXPECT_EQ(cut.cells()[0].tier, Tier::kSolo);
  EXPECT_EQ(cut.cells()[3].tier, Tier::kTimeSliced);
  EXPECT_EQ(cut.cells()[5].tier, Tier::kGame);
  EXPECT_FALSE(cut.cells()[3].is_seen);
  EXPECT_TRUE(cut.cells()[5].is_seen);
  EXPECT_EQ(cut.cells()[5].clients[1].solo.scenario, "alone: filler");
}

TEST(Cells, OfADeviceThatIsSharedAtOnceAreOfTheMpsTier) {
  std::string text = kMixes;
  text.replace(text.find("device: h200"), 12, "device: { model: h200, sharing: concurrent }");
  const Cut cut(text);
  EXPECT_EQ(cut.cells()[3].tier, Tier::kConcurrent);
  EXPECT_EQ(cut.experiment().scenarios[cut.cells()[0].scenario].device.sharing, Sharing::kTimeSliced)
      << "a client alone needs no daemon";
}

TEST(Cells, BoundsComeFromThePredictedRunAlone) {
  Cut cut(kMixes);
  std::vector<Cell> cells = cut.cells();
  Figures predicted;
  predicted.add({"alone: filler", "passthrough"}, 1, {{"filler", "gpu_busy_ratio", 0.99, "ratio"}});
  predicted.add({"alone: waiter", "passthrough"}, 1, {{"waiter", "gpu_busy_ratio", 0.5, "ratio"}});
  find_bounds(cells, predicted);
  EXPECT_EQ(cells[3].clients[0].bound, Bound::kDevice);
  EXPECT_EQ(cells[3].clients[1].bound, Bound::kHost);
  cells[3].clients[1].has_tiny_kernels = true;
  find_bounds(cells, predicted);
  EXPECT_EQ(cells[3].clients[1].bound, Bound::kTinyKernels);
}

TEST(Cells, OfSomeScenariosAloneHaveTheNamesAndWindowsThatTheyHaveAmongAll) {
  std::string text = kMixes;
  const std::size_t game = text.find("seen: true");
  text.replace(text.find("name: waiter"), 12, "name: game  ");
  text.insert(game, "horizon: 2s\n    ");
  const Cut whole(text), part(text, 20s, {"game"});
  EXPECT_EQ(part.names(),
            (std::vector<std::string>{"alone: filler/passthrough", "alone: game (2)/passthrough", "game/passthrough"}));
  for (const Cell& cell : part.cells()) {
    const auto same = std::ranges::find(whole.cells(), cell.key, &Cell::key);
    ASSERT_NE(same, whole.cells().end()) << cell.key.scenario;
    EXPECT_EQ(cell.window, same->window);
  }
  EXPECT_EQ(part.cells()[0].window, 800ms) << "as in the first scenario that has it, which is left out here";
  EXPECT_TRUE(is_canary(part.experiment().scenarios.back()));
}

TEST(Cells, WindowsAreNoLongerThanAsked) {
  const Cut whole(kMixes), cut_short(kMixes, 400ms);
  EXPECT_EQ(whole.experiment().scenarios[0].horizon, 1s) << "as written";
  EXPECT_EQ(cut_short.experiment().scenarios[0].warmup, 100ms) << "a quarter of the window at most";
  EXPECT_EQ(cut_short.experiment().scenarios[0].horizon, 500ms);
}

TEST(Measurement, InterleavesRepetitionsBetweenRunsAlone) {
  const std::vector<std::string> solos = {"alone: filler/passthrough", "alone: waiter/passthrough",
                                          "alone: game/passthrough"};
  const std::vector<std::string> mixes = {"pair/passthrough", "pair/exclusive", "game/passthrough"};
  std::vector<std::string> expected;
  const auto add = [&](const std::vector<std::string>& cells, int number) {
    for (const std::string& cell : cells) expected.push_back(fmt::format("{}#{}", cell, number));
  };
  add(solos, 1);
  add(mixes, 1);
  add(mixes, 2);
  add(solos, 2);
  EXPECT_EQ(Cut(kMixes).order(2, false), expected);
}

TEST(Measurement, OfManyRepetitionsHasRunsAloneInItsMiddle) {
  const auto order = Cut(kMixes).order(4, false);
  ASSERT_EQ(order.size(), 4 * 3 + 3 * 3U);
  EXPECT_EQ(order[9], "alone: filler/passthrough#2");
  EXPECT_EQ(order[18], "alone: filler/passthrough#3");
  EXPECT_EQ(order[17], "game/passthrough#4") << "seeds go on beyond those that are written";
}

TEST(Measurement, ACanaryComesBeforeEveryRun) {
  const auto order = Cut(kMixes).order(1, true);
  ASSERT_EQ(order.size(), 2 * (3 + 3 + 3U));
  for (std::size_t i = 0; i < order.size(); i += 2) EXPECT_TRUE(order[i].starts_with("canary")) << order[i];
  EXPECT_FALSE(order[1].starts_with("canary"));
}

TEST(Measurement, NoTwoRunsShareAnId) { EXPECT_EQ(Cut(kMixes).run_ids(5).size(), 2 * (5 * 3 + 3 * 3U)); }

TEST(Cells, AClusterIsRefused) {
  const Question question(R"(
name: pods
cluster: { nodes: [{ cards: 1 }], pods: [{ cards: 1, runtime: 1h }] }
policies: [bin_pack]
)");
  EXPECT_THROW(with_solos(question.experiment, {20s}, {}), Error);
}

}  // namespace
}  // namespace corun::validation
