#include <gtest/gtest.h>

#include <filesystem>

#include "experiments/run/ranges.h"
#include "experiments/run/runner.h"
#include "experiments/summary/summary.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::TemporaryFolder;

std::string sample(const char* name) {
  return std::filesystem::absolute(std::filesystem::path(CORUN_SOURCE_DIR "/traces/samples") / name).string();
}
const std::string kCapture = sample("resnet50_train_bs64.kineto.json.gz");
const std::string kFrames = sample("h200/openarena_4k.corun");

/// An experiment with one client, checked as `simcli check` does.
class Checked {
 public:
  explicit Checked(const std::string& client, const std::string& keys = "horizon: 2s\n",
                   const std::string& policy = "passthrough") {
    const std::string text = fmt::format("name: x\ndevice: h200\n{}policies: [{}]\nclients:\n  - {{ name: it, {} }}\n",
                                         keys, policy, client);
    policies_ = builtin_policies();
    experiment_ = with_host_ranges(read_experiment(testing::write_text(folder_, "e.yaml", text), {}, policies_));
    plan_ = make_plan(experiment_);
    inputs_.emplace(experiment_, plan_.hashes, policies_);
    try {
      inputs_->check();
      warnings_ = inputs_->warnings();
    } catch (const Error& error) {
      error_ = fmt::format("{} {}", error.what(), error.help());
    }
  }

  const std::string& error() const { return error_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const Plan& plan() const { return plan_; }
  const Experiment& experiment() const { return experiment_; }
  /// Of the first run.
  RunOutcome run(std::size_t index = 0) { return run_one(experiment_, plan_.runs[index], *inputs_, policies_); }
  double rate(std::size_t index = 0) {
    for (const Metric& metric : run(index).metrics)
      if (metric.client == "it" && metric.name == "throughput_per_s") return metric.value;
    return -1;
  }

 private:
  TemporaryFolder folder_;
  PolicyRegistry policies_;
  Experiment experiment_;
  Plan plan_;
  std::optional<RunInputs> inputs_;
  std::string error_;
  std::vector<std::string> warnings_;
};

std::string captured(const std::string& more) { return fmt::format("trace: {}, {}", kCapture, more); }

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

/// Some of them holds the words.
bool has(const std::vector<std::string>& texts, const std::string& words) {
  return std::ranges::any_of(texts, [&](const std::string& text) { return has(text, words); });
}

double possible_rate(const std::string& error) {
  const std::size_t at = error.find("at most ");
  return at == std::string::npos ? -1 : std::stod(error.substr(at + 8));
}

TEST(SelfCheck, ARateThatDeviceTimesExcludeIsRefusedWithTheLargestPossibleOne) {
  const std::string far = Checked(captured("solo_rate: 3100/s")).error();
  EXPECT_TRUE(has(far, "device times exclude the stated solo_rate of 3100/s")) << far;
  EXPECT_TRUE(has(far, "accept: [solo_rate]")) << far;
  const double possible = possible_rate(far);
  EXPECT_GT(possible, 30);
  EXPECT_LT(possible, 35);
  const std::string near = Checked(captured(fmt::format("solo_rate: {}/s", 1.05 * possible))).error();
  EXPECT_NEAR(possible_rate(near), possible, 0.01 * possible) << near;
  EXPECT_EQ(Checked(captured(fmt::format("solo_rate: {}/s", possible))).error(), "");
}

TEST(SelfCheck, AnAcceptedRateIsANoteAndRunsOn) {
  Checked checked(captured("solo_rate: 3100/s, accept: [solo_rate]"));
  EXPECT_EQ(checked.error(), "");
  EXPECT_TRUE(has(checked.run().notes, "warning: it: accepted (solo_rate): its recorded device times exclude"));
}

TEST(SelfCheck, WrongIterationsAreFoundByTheStatedRate) {
  const std::string error = Checked(captured("iterations: 3, solo_rate: 31/s")).error();
  EXPECT_TRUE(has(error, "its capture is taken as 3 jobs")) << error;
  EXPECT_TRUE(has(error, "its capture may hold at least")) << error;
}

TEST(SelfCheck, ARateOfAnotherUnitIsRefusedAndNotWaitedFor) {
  const std::string error = Checked(captured("solo_rate: 0.001/s")).error();
  EXPECT_TRUE(has(error, "not the stated solo_rate of 0.001/s")) << error;
}

TEST(SelfCheck, AGameIsComparedWithItsLogInTheLogsOwnPacing) {
  EXPECT_EQ(Checked(fmt::format("trace: {}, pacing: 30fps", kFrames)).error(), "");
}

TEST(SelfCheck, TooFewJobsForARateAreDoubted) {
  EXPECT_TRUE(has(Checked(captured("solo_rate: 31/s"), "horizon: 200ms\n").warnings(), "too few for a rate"));
  EXPECT_FALSE(has(Checked(captured("solo_rate: 31/s")).warnings(), "too few for a rate"));
}

TEST(HostRange, AHostOfUnknownSpeedIsAnsweredAtBothEnds) {
  Checked checked(captured("pacing: sync_each_job"));
  ASSERT_EQ(checked.experiment().scenarios.size(), 2U);
  EXPECT_EQ(checked.experiment().scenarios[0].name, "x (it slowest)");
  EXPECT_EQ(checked.experiment().scenarios[1].name, "x (it fastest)");
  EXPECT_EQ(checked.experiment().scenarios[1].bounds, "x");
  EXPECT_TRUE(has(checked.warnings(), "figures are a range"));
  EXPECT_GT(checked.rate(1), 1.02 * checked.rate(0));
  const double stated = 0.5 * (checked.rate(0) + checked.rate(1));
  Checked known(captured(fmt::format("pacing: sync_each_job, solo_rate: {}/s", stated)));
  EXPECT_GT(known.rate(), checked.rate(0));
  EXPECT_LT(known.rate(), checked.rate(1));
}

/// The text of a client, and of another one behind it.
std::string and_other(const std::string& client, const std::string& other) {
  return fmt::format("{} }}\n  - {{ name: other, {}", client, other);
}

TEST(HostRange, OnlyClientsThatStateNothingBecomeARangeInAnyOrder) {
  for (const char* stated : {"host_gaps: recorded", "solo_rate: 31/s"})
    for (const bool is_first : {false, true}) {
      const std::string known = captured(stated), unknown = captured("pacing: sync_each_job");
      Checked checked(is_first ? and_other(known, unknown) : and_other(unknown, known));
      const std::size_t free = is_first ? 1 : 0;
      ASSERT_EQ(checked.experiment().scenarios.size(), 2U) << stated << is_first;
      const auto gaps = [&](std::size_t scenario, std::size_t client) {
        return checked.experiment().scenarios[scenario].clients[client].host_gaps;
      };
      EXPECT_EQ(gaps(0, free), HostGaps::kRecorded);
      EXPECT_EQ(gaps(1, free), HostGaps::kNone);
      EXPECT_EQ(gaps(0, 1 - free), gaps(1, 1 - free)) << stated << is_first;
      const char* names[] = {"it", "other"};
      EXPECT_TRUE(has(checked.warnings(), fmt::format("{}: its host's own speed", names[free])));
      EXPECT_FALSE(has(checked.warnings(), fmt::format("{}: its host's own speed", names[1 - free])));
    }
}

TEST(HostRange, AMistakeIsToldOnceAndOfTheScenarioAsNamed) {
  const std::string error = Checked(captured("pacing: sync_each_job"), "horizon: 2s\n", "pilotfish").error();
  EXPECT_TRUE(has(error, "no client of scenario `x` has them")) << error;
  EXPECT_EQ(error.find("needs frame events"), error.rfind("needs frame events")) << error;
}

TEST(HostRange, FewJobsAreCountedAtBothEnds) {
  const std::string keys = "horizon: 270ms\nwarmup: 0ms\n";
  Checked checked(captured("pacing: sync_each_job, phase: 0"), keys);
  Summary summary(checked.experiment());
  for (const std::size_t run : {0, 1}) summary.add(checked.plan().runs[run], checked.run(run));
  const std::string table = summary.table(checked.experiment().scenarios[0]);
  EXPECT_TRUE(has(table, "(7 to 8 jobs)")) << table;
  EXPECT_TRUE(has(checked.warnings(), " jobs between warm-up and end"))
      << fmt::format("{}", fmt::join(checked.warnings(), "\n"));
}

TEST(IdleKeys, TheDisplayPacesFramesInOpenReplayToo) {
  const auto warned = [](const char* pacing) {
    return has(Checked(fmt::format("trace: {}, replay: open, pacing: {}", kFrames, pacing)).warnings(),
               "`pacing` decides nothing");
  };
  EXPECT_FALSE(warned("60fps"));
  EXPECT_TRUE(warned("{ rate: 60/s, vsync: false }"));
}

TEST(Draws, TheRangeIsOfTheMetricAndTheHorizonThatAreShown) {
  const auto game_with = [](const std::string& draw) {
    return Checked(and_other(fmt::format("trace: {}, pacing: 60fps{}", kFrames, draw), captured("solo_rate: 31/s")),
                   "horizon: 7s\n");
  };
  const auto fps = [](Checked checked) {
    for (const Metric& metric : checked.run().metrics)
      if (metric.client == "it" && metric.name == "fps_mean") return metric.value;
    return -1.0;
  };
  const std::string range =
      fmt::format("passthrough {:.1f} to {:.1f}", fps(game_with(", draw: 500us")), fps(game_with(", draw: 1s")));
  const std::string notes = game_with("").run().notes;
  EXPECT_TRUE(has(notes, "in fps with the first seed: " + range)) << range << notes;
}

TEST(HostRange, AStatedRateOrEndIsOneAnswer) {
  EXPECT_EQ(Checked(captured("solo_rate: 31/s")).experiment().scenarios.size(), 1U);
  EXPECT_EQ(Checked(captured("host_gaps: recorded")).experiment().scenarios.size(), 1U);
  EXPECT_EQ(Checked(fmt::format("trace: {}", kFrames)).experiment().scenarios.size(), 1U);
}

TEST(Requests, ComeUntilTheEndOfTheHorizon) {
  Checked checked(
      "phase: 0, synthetic: { requests: { arrivals: periodic, rate: 50000/s, service: constant, mean: 1us } }",
      "horizon: 5s\nwarmup: 4500ms\n");
  EXPECT_NEAR(checked.rate(), 50'000, 1);
}

TEST(Requests, AreRefusedWhereTheyAreTooManyToDraw) {
  const std::string error =
      Checked("synthetic: { requests: { rate: 50000/s, mean: 1us, kernels: 4 } }", "horizon: 1min\n").error();
  EXPECT_TRUE(has(error, "at most 4000000 kernels are drawn for a client")) << error;
}

TEST(Requests, ThatFollowOneAnotherAreRepeated) {
  Checked checked("replay: closed, synthetic: { requests: { rate: 100/s, service: constant, mean: 1ms } }",
                  "horizon: 2s\nwarmup: 1500ms\n");
  EXPECT_NEAR(checked.rate(), 1000, 10);
}

TEST(Games, SayThatTheirFramesAreRepeated) {
  Checked checked("pacing: 1000000fps, synthetic: { game: { gpu: 400us } }", "horizon: 1s\n");
  EXPECT_TRUE(has(checked.run().notes, "frames are drawn once and repeated")) << checked.run().notes;
}

}  // namespace
}  // namespace corun
