#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/summary/compare_settling.h"

namespace corun {
namespace {

constexpr double kSecond_ns = 1e9;

/// Results of runs of 10 s with a warm-up of 1 s, unless it is said otherwise.
class Settling : public ::testing::Test {
 protected:
  Settling() : results_(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    results_.exec(
        "CREATE TABLE runs (id TEXT, scenario TEXT, policy TEXT, backend TEXT, error TEXT,"
        " warmup_ns INTEGER, horizon_ns INTEGER)");
    results_.exec("CREATE TABLE metrics (run TEXT, client TEXT, metric TEXT, value REAL)");
    results_.exec("CREATE TABLE frames (run TEXT, client TEXT, present_ns INTEGER)");
  }

  void run(const std::string& id, double horizon_s = 10, double warmup_s = 1, const std::string& error = "NULL",
           const std::string& backend = "simulation") {
    results_.exec("INSERT INTO runs VALUES ('" + id + "', 'pair', 'open', '" + backend + "', " + error + ", " +
                  std::to_string(std::llround(warmup_s * kSecond_ns)) + ", " +
                  std::to_string(std::llround(horizon_s * kSecond_ns)) + ")");
  }
  void metric(const std::string& run, const std::string& name, double value) {
    results_.exec("INSERT INTO metrics VALUES ('" + run + "', 'train', '" + name + "', " + std::to_string(value) + ")");
  }
  /// Frames shown at these times (s).
  void frames(const std::string& run, const std::vector<double>& presents_s) {
    SQLite::Transaction at_once(results_);
    for (const double at : presents_s)
      results_.exec("INSERT INTO frames VALUES ('" + run + "', 'game', " +
                    std::to_string(std::llround(at * kSecond_ns)) + ")");
    at_once.commit();
  }
  /// 100 frames of 9 ms, then 900 of about 1 ms: they have settled after 0.9 s.
  void settles_late(const std::string& run, bool settles = true) {
    std::vector<double> presents{0};
    for (int i = 0; i < 1'000; ++i) {
      const double ms = !settles ? 1 + 0.01 * i : i < 100 ? 9 : i % 2 == 0 ? 1 : 1.1;
      presents.push_back(presents.back() + ms * 1e-3);
    }
    frames(run, presents);
  }
  std::vector<std::string> warnings() { return horizon_warnings(results_); }

  SQLite::Database results_;
};

using Lines = std::vector<std::string>;

TEST_F(Settling, FramesThatSettleWithinAQuarterOfTheHorizonOrTheWarmUpHaveSettled) {
  run("a", 3.8, 0.1);
  settles_late("a");
  EXPECT_EQ(warnings(), Lines{}) << "0.9 s of 3.8";
}

TEST_F(Settling, FramesThatSettleLaterHaveNot) {
  run("a", 3.2, 0.1);
  settles_late("a");
  EXPECT_EQ(warnings(), (Lines{"pair, open, game: in 1 of 1 runs the frame times had not settled after the warm-up of "
                               "0.1 s (MSER-5): try a horizon of 12.8 s"}));
}

TEST_F(Settling, ALongerWarmUpCoversIt) {
  run("a", 3.2, 0.95);
  settles_late("a");
  EXPECT_EQ(warnings(), Lines{});
}

TEST_F(Settling, MoreThanHalfOfTheRunsDecide) {
  for (const char* id : {"a", "b"}) run(id, 30, 0.1);
  settles_late("a", false);
  settles_late("b");
  EXPECT_EQ(warnings(), Lines{}) << "one of two";
  run("c", 30, 0.1);
  settles_late("c", false);
  EXPECT_EQ(warnings(), (Lines{"pair, open, game: in 2 of 3 runs the frame times had not settled after the warm-up of "
                               "0.1 s (MSER-5): try a horizon of 120 s"}));
}

TEST_F(Settling, FewerThanAHundredFramesBehindTheWarmUpAreTooFewForAPercentile) {
  const auto evenly = [&](const std::string& id, int frames_after) {
    run(id);
    std::vector<double> presents{0.5, 0.999999};
    for (int i = 0; i < frames_after; ++i) presents.push_back(1 + i * 0.01);
    frames(id, presents);
  };
  evenly("enough", 100);
  EXPECT_EQ(warnings(), Lines{});
  evenly("few", 50);
  EXPECT_EQ(warnings(), (Lines{"pair, open, game: 50 frames are too few for a 99th percentile or a 1 % low, which are "
                               "then the slowest frame: try a horizon of 19 s"}))
      << "the run with fewest decides";
}

TEST_F(Settling, NoFramesBehindTheWarmUpAskForAHundredTimesAsLong) {
  run("a");
  frames("a", {0.1, 0.2});
  const Lines found = warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(
      found[0].ends_with("0 frames are too few for a 99th percentile or a 1 % low, which are then the slowest "
                         "frame: try a horizon of 9e+02 s"))
      << found[0];
}

TEST_F(Settling, FailedRunsSayNothing) {
  run("a", 10, 1, "'it broke'");
  frames("a", {2, 3});
  metric("a", "solo_throughput_per_s", 0.1);
  EXPECT_EQ(warnings(), Lines{});
}

TEST_F(Settling, ProgramsThatEndFewJobsAloneAskForALongerHorizon) {
  run("a");
  metric("a", "solo_throughput_per_s", 0.4);
  EXPECT_EQ(warnings(), (Lines{"pair, train: alone it ends 4 jobs in the measured time, too few for a rate: try a "
                               "horizon of 26 s"}));
  run("b");
  metric("b", "solo_throughput_per_s", 0.1);
  EXPECT_EQ(warnings(), (Lines{"pair, train: alone it ends 1 job in the measured time, too few for a rate: try a "
                               "horizon of 91 s"}))
      << "the slowest decides";
}

TEST_F(Settling, TenJobsAreEnoughAndGamesAndDevicesHaveOtherRules) {
  run("a", 11);
  metric("a", "solo_throughput_per_s", 1);
  EXPECT_EQ(warnings(), Lines{});
  run("game");
  metric("game", "solo_throughput_per_s", 0.1);
  metric("game", "fps_mean", 0.1);
  EXPECT_EQ(warnings(), Lines{});
  run("gpu", 10, 1, "NULL", "gpu");
  metric("gpu", "solo_throughput_per_s", 0.1);
  EXPECT_EQ(warnings(), Lines{});
}

}  // namespace
}  // namespace corun
