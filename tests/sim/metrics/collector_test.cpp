#include "sim/metrics/collector.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>

namespace corun {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Workload> work(JobKind kind, std::size_t jobs) {
  auto workload = std::make_shared<Workload>();
  workload->job_kind = kind;
  workload->jobs.resize(jobs);
  return workload;
}

/// A game and a training job over [1 s, 11 s), facts handed in by hand.
class CollectorTest : public ::testing::Test {
 protected:
  CollectorTest() {
    input_.horizon = 11s;
    input_.warmup = 1s;
    input_.clients.resize(2);
    input_.clients[0].name = "game";
    input_.clients[0].role = Role::kInteractive;
    input_.clients[0].workload = work(JobKind::kFrame, 1);
    input_.clients[1].name = "train";
    input_.clients[1].workload = work(JobKind::kIteration, 4);
    result_.end = Time(11s);
    result_.device_time = {4s, 3s};
    result_.jobs_finished = {0, 0};
    result_.usage = {7s, 1s, 0s};
  }

  static void frame(Collector& collector, Duration present, bool missed = false, double quality = 1,
                    std::uint32_t level = 0) {
    FrameFact fact{};
    fact.quality_level = level;
    fact.start = fact.submit = fact.gpu_begin = Time(present - 5ms);
    fact.gpu_end = fact.present = Time(present);
    fact.quality = quality;
    fact.missed = missed;
    collector.on_frame(fact);
  }
  static void job(Collector& collector, Duration arrival, Duration end) {
    collector.on_job({ClientId{1}, 0, Time(arrival), Time(arrival), Time(end)});
  }

  std::map<std::string, double> metrics(const Collector& collector, const std::vector<SoloBaseline>& solo = {}) const {
    std::map<std::string, double> values;
    for (const Metric& metric : collector.metrics(result_, solo))
      values[metric.client + "." + metric.name] = metric.value;
    return values;
  }

  RunInput input_;
  RunResult result_;
};

TEST_F(CollectorTest, FrameTimesAreFromPresentToPresentAndTheSlowestHundredthIsTheLow) {
  Collector collector(input_);
  Duration at = 1s;
  for (int i = 0; i < 400; ++i)
    frame(collector, at += i % 100 == 99 ? 40ms : 20ms, i % 100 == 99, i % 2 == 0 ? 1.0 : 0.5);
  result_.end = Time(at);
  const auto values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("game.fps_mean"), 399 / 8.06);
  EXPECT_DOUBLE_EQ(values.at("game.frame_time_p50_ms"), 20);
  EXPECT_DOUBLE_EQ(values.at("game.frame_time_p99_ms"), 40);
  EXPECT_DOUBLE_EQ(values.at("game.fps_1low"), 25);
  EXPECT_DOUBLE_EQ(values.at("game.missed_frame_ratio"), 0.01);
  EXPECT_DOUBLE_EQ(values.at("game.quality_mean"), 0.75);
  EXPECT_DOUBLE_EQ(values.at("game.render_time_p99_ms"), 5);
}

TEST_F(CollectorTest, EnergyIsThatOfTheJobsAndAPartOfWhatTheIdleDeviceTakes) {
  input_.device.power_limit_w = 700;
  input_.device.idle_power_w = 70;
  input_.device.full_clock_mhz = 2000;
  result_.energy_j = {400, 900};
  result_.usage.clocked = 9s;
  input_.clients[1].context.power.watts = 300;
  Collector collector(input_);
  for (int i = 0; i < 10; ++i) job(collector, 1s, 2s + i * 100ms);
  auto values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("train.energy_per_job_j"), (900 + 700 * 3.0 / 7) / 10);
  EXPECT_FALSE(values.contains("device.power_w")) << "what the game draws is not known";
  input_.clients[0].context.power.watts = 100;
  values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("device.power_w"), 70 + 1300.0 / 10);
  EXPECT_DOUBLE_EQ(values.at("device.sm_clock_mhz"), 1800);
}

TEST_F(CollectorTest, ARateThatIsNotKnownIsLeftOutAndNotZero) {
  Collector collector(input_);
  for (int i = 0; i < 5; ++i) job(collector, Duration{0}, (2 + i) * 1s);
  const std::vector<SoloBaseline> solo = {{60, 0.5}, {2, 0.9}};
  EXPECT_TRUE(metrics(collector, solo).contains("train.throughput_per_s"));
  result_.has_unknown_rate = {false, true};
  const auto values = metrics(collector, {{60, 0.5}, collector.baseline(result_, 1)});
  for (const char* name :
       {"throughput_per_s", "solo_throughput_per_s", "slowdown", "progress_ratio", "job_time_p50_ms"})
    EXPECT_FALSE(values.contains(std::string("train.") + name)) << name;
  EXPECT_TRUE(values.contains("train.gpu_busy_ratio")) << "its device time is known";
  EXPECT_TRUE(values.contains("game.throughput_per_s"));
}

TEST_F(CollectorTest, StepTimesAreBetweenTheEndsOfJobsAndOfClosedReplayAlone) {
  Collector collector(input_);
  for (const Duration end : {2s, 3s, 4s, 7s, 8s}) job(collector, end - 100ms, end);
  const auto values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("train.job_interval_p50_ms"), 1000);
  EXPECT_DOUBLE_EQ(values.at("train.job_interval_p99_ms"), 3000);
  EXPECT_DOUBLE_EQ(values.at("train.job_time_p99_ms"), 100) << "what lies between jobs is in no job time";
  EXPECT_FALSE(values.contains("game.job_interval_p99_ms")) << "frames have frame times";
  input_.clients[1].replay = Replay::kOpen;
  EXPECT_FALSE(metrics(collector).contains("train.job_interval_p99_ms"));
}

TEST_F(CollectorTest, TheLongestFrameTimeIsTold) {
  Collector collector(input_);
  for (const Duration at : {2s, 3s, 7s, 8s}) frame(collector, at);
  EXPECT_DOUBLE_EQ(metrics(collector).at("game.frame_time_max_ms"), 4000);
}

TEST_F(CollectorTest, QualityIsToldAsMeanLeastAndNines) {
  Collector collector(input_);
  for (const auto& [at, quality] : {std::pair<Duration, double>{2s, 0.98}, {3s, 1.0}, {4s, 0.99}})
    frame(collector, at, false, quality);
  const auto values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("game.quality_min"), 0.98);
  EXPECT_NEAR(values.at("game.quality_nines"), 2, 1e-9);
}

TEST_F(CollectorTest, PerfectQualityHasSixNinesAndNoneHasNone) {
  Collector perfect(input_), none(input_);
  frame(perfect, 2s);
  frame(none, 2s, false, 0);
  EXPECT_DOUBLE_EQ(metrics(perfect).at("game.quality_nines"), 6);
  EXPECT_DOUBLE_EQ(metrics(none).at("game.quality_nines"), 0);
}

TEST_F(CollectorTest, ChangesOfLevelAreCountedPerSecondOfTheWholeWindow) {
  Collector collector(input_);
  for (const auto& [at, level] : {std::pair<Duration, std::uint32_t>{2s, 0}, {3s, 2}, {4s, 2}, {5s, 0}, {6s, 0}})
    frame(collector, at, false, 1, level);
  EXPECT_DOUBLE_EQ(metrics(collector).at("game.quality_changes_per_s"), 0.2);
}

TEST_F(CollectorTest, TheRateOfAClientThatStaysForATimeIsThatOfItsStay) {
  input_.clients[1].arrival = 2s;
  input_.clients[1].stay = 4s;
  Collector collector(input_);
  for (const Duration end : {3s, 4s, 5s, 6s}) job(collector, end - 1s, end);
  EXPECT_DOUBLE_EQ(metrics(collector).at("train.throughput_per_s"), 1);
}

TEST_F(CollectorTest, TheRateOfAClientThatMeantToStayBeyondTheEndIsThatUntilTheEnd) {
  input_.clients[1].arrival = 8s;
  input_.clients[1].stay = 4s;
  Collector collector(input_);
  for (const Duration end : {8500ms, 9000ms}) job(collector, end - 500ms, end);
  // One stretch of half a second between the ends, and the two seconds after them.
  EXPECT_DOUBLE_EQ(metrics(collector).at("train.throughput_per_s"), 1 / 2.5);
}

/// Three players, of whom the game is the first; the training job stays.
class PlayersTest : public CollectorTest {
 protected:
  PlayersTest() {
    for (const char* name : {"second", "third"}) {
      input_.clients.push_back(input_.clients[0]);
      input_.clients.back().name = name;
      result_.device_time.push_back(1s);
      result_.jobs_finished.push_back(0);
    }
  }

  static void show(Collector& collector, std::uint32_t client, Duration period, Duration until = 11s) {
    FrameFact fact{};
    fact.client = ClientId{client};
    for (Duration at = 1s; at < until; at += period) {
      fact.start = fact.submit = fact.gpu_begin = fact.gpu_end = fact.present = Time(at);
      collector.on_frame(fact);
    }
  }
  static void refuse(Collector& collector, std::uint32_t client, Duration when) {
    collector.on_refusal({ClientId{client}, Time(when), {}});
  }
};

TEST_F(PlayersTest, ThoseWithinThreePerCentOfThirtyFramesPerSecondAreServed) {
  Collector collector(input_);
  show(collector, 0, 34'300us);  // 29.15 a second
  show(collector, 2, 34'500us);  // 28.99
  show(collector, 3, 16'667us);
  const auto values = metrics(collector);
  EXPECT_EQ(values.at("device.players_served"), 2);
  EXPECT_EQ(values.at("device.players_refused"), 0);
  EXPECT_DOUBLE_EQ(values.at("device.fps_min"), values.at("second.fps_mean"));
  EXPECT_NEAR(values.at("device.fps_min"), 1e3 / 34.5, 0.01);
}

TEST_F(PlayersTest, OneTurnedAwayAtTheDoorIsNotStarved) {
  Collector collector(input_);
  show(collector, 0, 33ms);
  show(collector, 2, 33ms);
  refuse(collector, 3, 0s);
  const auto values = metrics(collector);
  EXPECT_EQ(values.at("device.players_served"), 2);
  EXPECT_EQ(values.at("device.players_refused"), 1);
  EXPECT_NEAR(values.at("device.fps_min"), 1e3 / 33, 0.1);
  EXPECT_EQ(values.at("third.refused"), 1);
  EXPECT_FALSE(values.contains("third.fps_mean"));
  EXPECT_FALSE(values.contains("third.frame_time_max_ms"));
}

TEST_F(PlayersTest, OneTurnedAwayLaterIsJudgedByTheTimeBefore) {
  Collector collector(input_);
  show(collector, 0, 20ms, 6s);
  refuse(collector, 0, 6s);
  const auto values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("game.fps_mean"), 50);
  EXPECT_DOUBLE_EQ(values.at("game.frame_time_max_ms"), 20);
  EXPECT_EQ(values.at("device.players_served"), 0);
  EXPECT_EQ(values.at("device.players_refused"), 1);
}

TEST_F(PlayersTest, ThatAllAreTurnedAwayAtOnceIsTold) {
  Collector collector(input_);
  for (const std::uint32_t client : {0u, 2u, 3u}) refuse(collector, client, 0s);
  result_.end = Time(0s);
  const auto values = metrics(collector);
  EXPECT_EQ(values.at("device.players_refused"), 3);
  EXPECT_EQ(values.at("game.refused"), 1);
  EXPECT_FALSE(values.contains("device.fps_min"));
}

TEST_F(CollectorTest, WithoutPlayersNothingIsSaidOfThem) {
  input_.clients[0].role = Role::kBestEffort;
  const Collector collector(input_);
  EXPECT_FALSE(metrics(collector).contains("device.players_served"));
}

TEST_F(CollectorTest, WhatEndsBeforeTheWarmupDoesNotCount) {
  Collector collector(input_);
  frame(collector, 500ms);
  job(collector, 0s, 999ms);
  EXPECT_DOUBLE_EQ(metrics(collector).at("game.fps_mean"), 0);
  EXPECT_DOUBLE_EQ(metrics(collector).at("train.throughput_per_s"), 0);
  job(collector, 0s, 1s);
  EXPECT_DOUBLE_EQ(metrics(collector).at("train.throughput_per_s"), 0.1);
}

TEST_F(CollectorTest, ThroughputIsTheRateBetweenTheFirstEndAndTheLast) {
  Collector collector(input_);
  for (Duration at = 1300ms; at < 11s; at += 500ms) job(collector, at - 500ms, at);
  const auto values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("train.throughput_per_s"), 2);
  EXPECT_DOUBLE_EQ(values.at("train.job_time_p99_ms"), 500);
}

TEST_F(CollectorTest, AGameThatIsLockedOutForHalfTheRunDoesNotLookQuick) {
  Collector collector(input_);
  for (Duration at = 1s; at < 6s; at += 20ms) frame(collector, at);
  const auto values = metrics(collector);
  EXPECT_DOUBLE_EQ(values.at("game.fps_mean"), 24.9);
  EXPECT_NEAR(values.at("game.fps_1low"), 2 / 5.04, 0.01);
}

TEST_F(CollectorTest, AGameThatShowsNothingHasOneFrameTimeAsLongAsTheRun) {
  const Collector collector(input_);
  EXPECT_DOUBLE_EQ(metrics(collector).at("game.frame_time_p99_ms"), 10'000);
  EXPECT_DOUBLE_EQ(metrics(collector).at("game.fps_mean"), 0);
}

TEST_F(CollectorTest, AClientThatHasDoneAllItCameForIsNotCalledSlowForTheRest) {
  input_.clients[1].repeat = 2;
  input_.clients[1].arrival = 2s;
  result_.jobs_finished[1] = 8;
  Collector collector(input_);
  for (int i = 0; i < 8; ++i) job(collector, 2s + i * 100ms, 2100ms + i * 100ms);
  EXPECT_DOUBLE_EQ(metrics(collector).at("train.throughput_per_s"), 10);
  result_.jobs_finished[1] = 7;
  EXPECT_LT(metrics(collector).at("train.throughput_per_s"), 1);
}

TEST_F(CollectorTest, HarvestIsMeasuredAgainstWhatTheGameLeavesIdleWhenAlone) {
  Collector collector(input_);
  const auto values = metrics(collector, {{60, 0.5}, {10, 0.9}});
  EXPECT_DOUBLE_EQ(values.at("device.harvest_ratio"), 0.3 / 0.5);
  EXPECT_DOUBLE_EQ(values.at("device.gpu_busy_ratio"), 0.7);
  EXPECT_DOUBLE_EQ(values.at("device.switch_ratio"), 0.1);
  EXPECT_DOUBLE_EQ(values.at("train.gpu_busy_ratio"), 0.3);
  EXPECT_FALSE(metrics(collector).contains("device.harvest_ratio"));
}

TEST_F(CollectorTest, WhatKillsThrewAwayIsNotHarvested) {
  Collector collector(input_);
  collector.on_kill({ClientId{1}, Time(500ms), 1s, Time(600ms)});  // before the warm-up has ended
  collector.on_kill({ClientId{1}, Time(5s), 2s, Time(6s)});
  const auto values = metrics(collector, {{60, 0.5}, {10, 0.9}});
  EXPECT_DOUBLE_EQ(values.at("device.harvest_ratio"), 0.1 / 0.5);
  EXPECT_DOUBLE_EQ(values.at("train.gpu_busy_ratio"), 0.3) << "the device was busy with it all the same";
  EXPECT_DOUBLE_EQ(values.at("train.lost_ratio"), 0.2);
  EXPECT_DOUBLE_EQ(values.at("train.kills"), 1);
}

TEST_F(CollectorTest, JobsThatAKillThrewAwayAreNoThroughput) {
  Collector collector(input_);
  for (int i = 1; i <= 10; ++i) job(collector, Duration(i * 1s) - 500ms, i * 1s);
  EXPECT_DOUBLE_EQ(metrics(collector, {{60, 0.5}, {2, 0.9}}).at("train.progress_ratio"), 0.5);
  // The snapshot began when the third job ended, which is kept; the seventh ended with the kill.
  collector.on_kill({ClientId{1}, Time(7s), 2s, Time(7s), Time(3s)});
  EXPECT_DOUBLE_EQ(metrics(collector, {{60, 0.5}, {2, 0.9}}).at("train.progress_ratio"), 0.3);
}

TEST_F(CollectorTest, WhatIsShownAtTheHorizonOrLaterDoesNotCount) {
  const auto shown_until = [&](Duration last) {
    Collector collector(input_);
    for (Duration at = 1s; at <= last; at += 100ms) frame(collector, at, at >= 11s);
    return metrics(collector);
  };
  const auto within = shown_until(10'900ms), beyond = shown_until(13s);
  EXPECT_EQ(within, beyond);
  EXPECT_DOUBLE_EQ(beyond.at("game.fps_mean"), 10);
  EXPECT_DOUBLE_EQ(beyond.at("game.missed_frame_ratio"), 0);
}

TEST_F(CollectorTest, SlowdownIsAgainstTheSoloRate) {
  Collector collector(input_);
  for (Duration at = 1s; at < 11s; at += 500ms) job(collector, at, at);
  EXPECT_DOUBLE_EQ(metrics(collector, {{60, 0.5}, {10, 0.9}}).at("train.slowdown"), 5);
}

TEST_F(CollectorTest, AProgramSlowerThanOneJobASecondHasASlowdownToo) {
  Collector collector(input_);
  for (const Duration at : {1s, 5s, 9s}) job(collector, at, at);
  EXPECT_DOUBLE_EQ(metrics(collector, {{60, 0.5}, {0.5, 0.9}}).at("train.slowdown"), 2);
}

TEST_F(CollectorTest, ProgressCountsThePausesInWhichAClientGotNothing) {
  Collector collector(input_);
  for (Duration at = 1s; at < 6s; at += 500ms) job(collector, at, at);
  EXPECT_DOUBLE_EQ(metrics(collector, {{60, 0.5}, {10, 0.9}}).at("train.progress_ratio"), 0.1);
}

TEST_F(CollectorTest, WaitingIsSubmissionToBeginOnTheDevice) {
  Collector collector(input_);
  for (int i = 1; i <= 200; ++i) {
    OpFact op{};
    op.client = ClientId{1};
    op.submitted = Time(2s);
    op.begin = Time(2s + i * 1ms);
    op.end = Time(3s);
    collector.on_op(op);
  }
  EXPECT_DOUBLE_EQ(metrics(collector).at("train.wait_p99_ms"), 198);
}

}  // namespace
}  // namespace corun
