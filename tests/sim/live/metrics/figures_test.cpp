// Totals of facts, and how they are handed from the scheduler's thread to another one.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sim/live/metrics/live_metrics.h"
#include "sim/live/metrics/running_totals.h"
#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using live::FiguresBoard;
using live::Histogram;
using live::RecentTimes;
using live::RunFigures;
using live::RunningTotals;

Time at(Duration since_begin) { return kRunStart + since_begin; }

TEST(LiveHistogram, CountsUpToAndWithABoundAndKeepsTheSum) {
  const std::vector<Duration> bounds{1ms, 2ms};
  Histogram histogram(bounds);
  for (const Duration value : {Duration{0}, Duration{1ms}, Duration{1ms + 1ns}, Duration{2ms}, Duration{3ms}})
    histogram.add(value);
  EXPECT_EQ(std::vector(histogram.counts().begin(), histogram.counts().end()), (std::vector<std::uint64_t>{2, 2, 1}));
  EXPECT_EQ(histogram.total(), 5u);
  EXPECT_EQ(histogram.sum(), 7ms + 1ns);
}

TEST(LiveHistogram, BoundsAscendInEqualSteps) {
  for (const auto bounds : {live::frame_time_bounds(), live::wait_bounds()})
    for (std::size_t i = 1; i < bounds.size(); ++i) {
      EXPECT_GT(bounds[i], bounds[i - 1] * 11 / 10);
      EXPECT_LE(bounds[i], bounds[i - 1] * 5 / 2);
    }
  EXPECT_EQ(live::frame_time_bounds().front(), 1ms);
  EXPECT_EQ(live::frame_time_bounds().back(), 1s);
  EXPECT_EQ(live::wait_bounds().front(), 1us);
  EXPECT_EQ(live::wait_bounds().back(), 100s);
}

TEST(LiveHistogram, QuantilesAreOfTheNewestByNearestRank) {
  RecentTimes times;
  for (int i = 0; i < 500; ++i) times.add(1h);
  for (int i = 1; i <= 1024; ++i) times.add(Duration{i});
  EXPECT_EQ(times.quantile(0.5), Duration{512});
  EXPECT_EQ(times.quantile(0.99), Duration{1014});
  EXPECT_EQ(times.quantile(0), Duration{1});
  EXPECT_EQ(times.quantile(1), Duration{1024});
}

class RunningTotalsTest : public ::testing::Test {
 protected:
  static RunInput pair() {
    RunInput input;
    input.policy_name = "nvshare";
    input.device.name = "h200";
    input.horizon = 10s;
    input.clients.resize(2);
    input.clients[0].name = "game";
    input.clients[0].role = Role::kInteractive;
    input.clients[1].name = "train";
    return input;
  }
  const live::ClientFigures& game() const { return totals_.figures().clients[0]; }
  const live::ClientFigures& train() const { return totals_.figures().clients[1]; }

  testing::Facts facts_;
  RunningTotals totals_{facts_, pair(), 3};
};

TEST_F(RunningTotalsTest, TellTheRunAndItsClients) {
  const RunFigures& figures = totals_.figures();
  EXPECT_EQ(figures.policy, "nvshare");
  EXPECT_EQ(figures.device, "h200");
  EXPECT_EQ(figures.number, 3u);
  EXPECT_EQ(figures.horizon, 10s);
  EXPECT_EQ(game().name, "game");
  EXPECT_TRUE(game().has_frames);
  EXPECT_FALSE(train().has_frames);
}

TEST_F(RunningTotalsTest, WaitsAreOfLaunchesThatWereNotLost) {
  OpFact op;
  op.client = ClientId{1};
  op.submitted = at(1ms);
  op.launched = at(3ms);
  op.begin = at(7ms);
  totals_.on_op(op);
  op.is_lost = true;
  totals_.on_op(op);
  EXPECT_EQ(train().gate_wait.sum(), 2ms);
  EXPECT_EQ(train().wait.sum(), 6ms);
  EXPECT_EQ(train().wait.total(), 1u);
  EXPECT_EQ(facts_.ops.size(), 2u) << "facts are handed on";
}

TEST_F(RunningTotalsTest, FrameTimesAreFromPresentToPresent) {
  for (const Duration present : {16ms, 32ms, 66ms}) {
    FrameFact frame;
    frame.client = ClientId{0};
    frame.present = at(present);
    frame.missed = present == 66ms;
    totals_.on_frame(frame);
  }
  EXPECT_EQ(game().frames, 3u);
  EXPECT_EQ(game().missed_frames, 1u);
  EXPECT_EQ(game().frame_time.sum(), 50ms);
  EXPECT_EQ(game().recent_frame_times.quantile(0.99), 34ms);
  EXPECT_EQ(facts_.frames.size(), 3u);
}

TEST_F(RunningTotalsTest, HoldsAreSummedByRule) {
  for (const auto& [rule, length] : {std::pair{"lock", 5ms}, {"window", 1ms}, {"lock", 7ms}})
    totals_.on_hold(HoldFact{ClientId{1}, at(10ms), at(10ms + length), Hold{rule, 1.0, 0.0, "blocks"}});
  EXPECT_EQ(train().held.at("lock"), 12ms);
  EXPECT_EQ(train().held.at("window"), 1ms);
  EXPECT_TRUE(game().held.empty());
}

TEST_F(RunningTotalsTest, JobsActionsKillsAndDecisionsAreCounted) {
  totals_.on_job(JobFact{ClientId{1}, 0, at(1ms), at(2ms), at(9ms)});
  totals_.on_decision(DecisionFact{at(1ms), Action{Action::Kind::kKill, ClientId{1}}});
  totals_.on_kill(KillFact{ClientId{1}, at(1ms), 4ms, at(2ms)});
  totals_.on_refusal(RefusalFact{ClientId{0}, at(1ms), {}});
  totals_.decided(3us);
  totals_.decided(4us);
  EXPECT_EQ(train().jobs, 1u);
  EXPECT_EQ(train().job_time.sum(), 8ms);
  EXPECT_EQ(train().actions[static_cast<std::size_t>(Action::Kind::kKill)], 1u);
  EXPECT_EQ(train().lost, 4ms);
  EXPECT_EQ(game().refused, 1u);
  EXPECT_EQ(totals_.figures().decisions, 2u);
  EXPECT_EQ(totals_.figures().decision_time, 7us);
}

RunFigures numbered(std::uint64_t number, Duration elapsed = {}) {
  RunFigures figures;
  figures.number = number;
  figures.elapsed = elapsed;
  return figures;
}

TEST(FiguresBoardTest, WithoutARunThereAreNoFiguresAndNothingIsAwaited) {
  FiguresBoard board;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(board.ask(10s).figures, nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_FALSE(board.is_asked());
}

TEST(FiguresBoardTest, TheSchedulerIsAskedAndItsNextFiguresAreTheAnswer) {
  FiguresBoard board;
  const std::uint64_t number = board.begin_run();
  board.post(numbered(number, 1s));
  std::atomic<bool> is_over = false;
  std::thread scheduler([&] {
    for (Duration elapsed = 2s; !is_over; elapsed += 1s)
      if (board.is_asked()) board.post(numbered(number, elapsed));
  });
  for (const Duration expected : {2s, 3s, 4s}) EXPECT_GE(board.ask(10s).figures->elapsed, expected);
  is_over = true;
  scheduler.join();
  EXPECT_FALSE(board.is_asked()) << "one answer is enough";
}

TEST(FiguresBoardTest, AfterItsPatienceThereIsTheNewestAndHowOldItIs) {
  FiguresBoard board;
  board.post(numbered(board.begin_run(), 1s));
  const FiguresBoard::Posted posted = board.ask(50ms);
  EXPECT_EQ(posted.figures->elapsed, 1s);
  EXPECT_GE(posted.age, 50ms);
  EXPECT_FALSE(posted.is_over());
  EXPECT_TRUE(board.is_asked()) << "the scheduler answers when it can";
}

TEST(FiguresBoardTest, FiguresStayAfterTheirRun) {
  FiguresBoard board;
  {
    const live::ToldRun told(board);
    board.post_last(numbered(told.number(), 5s));
    EXPECT_FALSE(board.ask(1ms).is_over());
  }
  EXPECT_TRUE(board.ask(10s).is_over());
  EXPECT_EQ(board.ask(10s).runs_finished, 1u);
  const live::ToldRun second(board);
  EXPECT_EQ(second.number(), 2u);
  EXPECT_TRUE(board.ask(1ms).is_over()) << "those of the first run are the newest";
}

}  // namespace
}  // namespace corun
