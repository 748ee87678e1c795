#include "experiments/fit/fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiments/fit/fit_text.h"
#include "experiments/question/experiment.h"
#include "policies/builtin.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

const std::string kSessions = "studies/sessions/captures/";  // on an H200, which measured.jsonl there is of, too
const std::string kTraining = "traces/samples/h200/resnet50_train.corun";

FitWords words_of(const std::string& game, const std::string& fps = "60") {
  FitWords words;
  words.game = kSessions + game + ".corun";
  words.fps = fps;
  return words;
}

FitAnswer answer_to(const FitWords& words) {
  return fit(question_of(words, builtin_policies()), builtin_policies(), 2);
}

std::string message_of(const FitWords& words) {
  try {
    answer_to(words);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Fit, SessionsAreThoseThatHeldTheRateOnAnH200) {
  EXPECT_EQ(answer_to(words_of("middle.uncapped")).curves[0].sessions, 5) << "measured: 5 held 60 FPS, 6 had 53.9";
  EXPECT_EQ(answer_to(words_of("large.uncapped")).curves[0].sessions, 1) << "measured: 2 had 54.3 FPS";
  EXPECT_EQ(answer_to(words_of("large.uncapped", "30")).curves[0].sessions, 3) << "measured: 3 held 30 FPS, 4 had 26.1";
}

TEST(Fit, ManySessionsAreFoundBetweenPointsAndFitIntoTheDevicesTime) {
  const FitAnswer answer = answer_to(words_of("small.uncapped"));
  const FitCurve& curve = answer.curves[0];
  EXPECT_GE(curve.sessions, 10) << "measured: 10 held 60 FPS";
  EXPECT_LE(curve.sessions, 17) << "a frame takes 1 ms: 16.7 fill the device";
  EXPECT_LE(curve.surely, curve.sessions);
  EXPECT_GE(curve.perhaps, curve.sessions);
  bool fails_next = false;
  for (const FitPoint& point : curve.points) {
    EXPECT_EQ(point.holds, point.sessions <= curve.sessions) << point.sessions;
    fails_next = fails_next || point.sessions == curve.sessions + 1;
  }
  EXPECT_TRUE(fails_next) << "the border was tried from both sides";
}

TEST(Fit, NoMoreAreTriedThanWanted) {
  FitWords words = words_of("small.uncapped");
  words.most = "4";
  const FitAnswer answer = answer_to(words);
  EXPECT_EQ(answer.curves[0].sessions, 4);
  EXPECT_EQ(answer.curves[0].points.back().sessions, 4);
  EXPECT_TRUE(has(fit_sentence(question_of(words, builtin_policies()), answer), "4 or more sessions"));
}

TEST(Fit, FramesOfAnIdleGpuGiveALowerBound) {
  const FitWords words = words_of("middle");
  const FitAnswer answer = answer_to(words);
  EXPECT_TRUE(answer.is_lower_bound) << "paced at 60 FPS, busy for 29 % of the time";
  EXPECT_LT(answer.curves[0].sessions, 5) << "measured";
  const std::string text = fit_text(question_of(words, builtin_policies()), answer);
  EXPECT_TRUE(has(text, " or more")) << text;
  EXPECT_TRUE(has(text, "capture it uncapped")) << text;
  EXPECT_FALSE(has(text, "  no  ")) << "more may hold it, too\n" << text;
  EXPECT_FALSE(answer_to(words_of("large")).is_lower_bound) << "busy for half of the time";
}

TEST(Fit, AGameThatDoesNotHoldTheRateAloneSaysWhatItHas) {
  const FitWords words = words_of("large.uncapped", "144");
  const FitAnswer answer = answer_to(words);
  EXPECT_FALSE(fits(answer));
  EXPECT_TRUE(has(fit_sentence(question_of(words, builtin_policies()), answer),
                  "does not hold 144 FPS on h200 even alone: it has 1"))
      << fit_sentence(question_of(words, builtin_policies()), answer);
}

TEST(Fit, FramesOfAnIdleGpuDoNotTellThatARateIsOutOfReach) {
  const FitWords words = words_of("small", "400");
  const FitAnswer answer = answer_to(words);
  EXPECT_EQ(fit_sentence(question_of(words, builtin_policies()), answer),
            "Cannot tell whether small holds 400 FPS on h200: its capture left the GPU idle; capture it uncapped.\n");
}

TEST(Fit, AFillerKeepsLessOfItsRateNextToMoreSessions) {
  FitWords words = words_of("middle.uncapped");
  words.fillers = {"traces/samples/cnn_train_small.kineto.json.gz"};
  words.keys = {"cnn_train_small.pacing=sync_each_job", "cnn_train_small.host_gaps=recorded"};
  words.most = "2";
  EXPECT_EQ(question_of(words, builtin_policies()).policies_with_fillers,
            (std::vector<std::string>{"passthrough", "pilotfish"}));
  words.policies = {"passthrough"};
  const FitAnswer answer = answer_to(words);
  ASSERT_EQ(answer.curves.size(), 2U) << "without the filler, and with it";
  const std::vector<FitPoint>& points = answer.curves[1].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_LT(points[0].kept[0]->high, 1);
  EXPECT_LT(points[1].kept[0]->high, points[0].kept[0]->low);
  const std::string sentence = fit_sentence(question_of(words, builtin_policies()), answer);
  EXPECT_TRUE(has(sentence, " With cnn_train_small: 2")) << sentence;
}

TEST(Fit, WhatHangsOnSlowerHostsOfFillersIsARange) {
  FitWords words = words_of("middle.uncapped");
  words.fillers = {kTraining};
  words.rates = {"resnet50_train=30/s"};
  words.most = "2";
  words.policies = {"passthrough", "pilotfish"};
  const FitAnswer answer = answer_to(words);
  EXPECT_TRUE(answer.has_slower_hosts);
  const auto kept = [&](std::size_t curve) { return *answer.curves[curve].points[0].kept[0]; };
  EXPECT_LT(kept(2).low, kept(2).high - 0.001) << "in turns";
  EXPECT_EQ(kept(3).low, kept(3).high) << "nothing was measured of hosts under pilotfish";
  EXPECT_EQ(answer.curves[2].basis, Basis::kCompared);
  const std::string text = fit_text(question_of(words, builtin_policies()), answer, kAnyWidth);
  EXPECT_TRUE(has(text, "0.6 times as quick; counted by the worse end")) << text;
}

TEST(Fit, APolicyThatCannotBeTriedIsNamedWithItsReason) {
  FitWords words = words_of("large.uncapped");
  words.policies = {"passthrough", "djay"};
  const FitAnswer answer = answer_to(words);
  EXPECT_EQ(answer.curves[0].sessions, 1);
  EXPECT_TRUE(has(answer.curves[1].refused, "quality")) << answer.curves[1].refused;
}

TEST(Fit, SettingsOfQualityMakeRoomForMoreSessionsUnderAPolicyThatUsesThem) {
  FitWords words = words_of("large.uncapped");
  words.quality = "default", words.most = "2";
  const FitAnswer answer = answer_to(words);
  ASSERT_EQ(answer.curves.size(), 3U);
  EXPECT_GT(answer.curves[1].sessions, answer.curves[0].sessions) << answer.curves[1].policy;
  EXPECT_LT(answer.curves[1].points.back().quality->high, 1);
}

/// A log of `frames` frames at 60 Hz that take 3 ms of the GPU; every 200th comes `stall_ms` later.
std::string log_with_stalls(const testing::TemporaryFolder& folder, int frames, double stall_ms) {
  std::string log =
      "Application,ProcessID,SwapChainAddress,SyncInterval,CPUStartTime,FrameTime,CPUBusy,CPUWait,GPULatency,GPUTime,"
      "GPUBusy,GPUWait\n";
  double at = 0;
  for (int i = 0; i < frames; ++i) {
    const double frame = 1e3 / 60 + (i % 200 == 199 ? stall_ms : 0);
    log += fmt::format("game.exe,1,0x1,1,{:.4f},{:.4f},{:.4f},0,0.5,3.0,3.0,0\n", at, frame, frame - 1);
    at += frame;
  }
  return testing::write_text(folder, "game.csv", log);
}

TEST(Fit, AGameWhoseHostStallsIsHeldToWhatItHasAlone) {
  testing::TemporaryFolder folder;
  FitWords words;
  words.game = log_with_stalls(folder, 1200, 100);
  words.fps = "60", words.most = "3";
  const FitAnswer answer = answer_to(words);
  const std::string text = fit_text(question_of(words, builtin_policies()), answer);
  ASSERT_TRUE(answer.own_fps) << text;
  EXPECT_LT(*answer.own_fps, 59.4);
  EXPECT_TRUE(fits(answer)) << text;
  EXPECT_TRUE(has(text, "that its host allows")) << text;
  EXPECT_TRUE(has(text, "its host waits, and not for the GPU")) << text;
  EXPECT_FALSE(answer_to(words_of("large.uncapped", "62")).own_fps) << "it holds that rate";
  EXPECT_FALSE(answer_to(words_of("large.uncapped", "128")).own_fps) << "its frames are too long on the GPU";
}

TEST(Fit, FramesInCompanyHaveBandsAndFillersOfPoliciesNeverMeasuredHaveNone) {
  FitWords words = words_of("middle.uncapped");
  words.fillers = {kTraining};
  words.keys = {"resnet50_train.host_gaps=recorded"};
  words.most = "1";
  const FitAnswer answer = answer_to(words);
  ASSERT_EQ(answer.curves.size(), 3U);
  EXPECT_FALSE(answer.curves[0].points[0].fps_band) << "one session alone shares nothing";
  const FitPoint& turns = answer.curves[1].points[0];
  EXPECT_LT(turns.fps_band->low, turns.fps->low);
  EXPECT_LT(turns.kept_band[0]->low, turns.kept[0]->low);
  EXPECT_FALSE(answer.curves[2].points[0].kept_band[0]) << "under pilotfish";
  EXPECT_TRUE(has(fit_text(question_of(words, builtin_policies()), answer), "(no band)"));
}

TEST(Fit, EachStatedLimitMustBeHeld) {
  FitWords words = words_of("large.uncapped");
  words.most = "1";
  EXPECT_TRUE(fits(answer_to(words)));
  words.low = "61";
  EXPECT_FALSE(fits(answer_to(words))) << "no frame comes earlier than paced";
  words.low = "", words.p99 = "16ms";
  EXPECT_FALSE(fits(answer_to(words))) << "nor are frame times shorter than 16.7 ms";
  words.p99 = "", words.fps = "62", words.most = "2", words.missed = "50%";
  EXPECT_EQ(answer_to(words).curves[0].sessions, 1);
}

TEST(Fit, WrongWordsAreRefusedWithWhatWasExpected) {
  FitWords words = words_of("large");
  words.fps = "sixty";
  EXPECT_TRUE(has(message_of(words), "--fps: found `sixty`, expected frames per second")) << message_of(words);
  words.fps = "60", words.most = "0";
  EXPECT_TRUE(has(message_of(words), "--most: found `0`, expected a number from 1 to 1000")) << message_of(words);
  FitWords of_training;
  of_training.game = kTraining;
  EXPECT_TRUE(has(message_of(of_training), "it has no frames, expected a capture of a game"));
  words.most = "", words.missed = "-1%";
  EXPECT_TRUE(has(message_of(words), "--missed: found `-1%`")) << message_of(words);
}

TEST(Fit, TheExperimentHoldsEveryPointAndCanBeRead) {
  FitWords words = words_of("large");
  words.fillers = {kTraining};
  PolicyRegistry policies = builtin_policies();
  const std::string text = fit_experiment(question_of(words, builtin_policies()), {{1, false, 1}, {2, true, 1.08}},
                                          {"pilotfish"}, {.has_limiter = true});
  const Experiment experiment = parse_experiment(text, "fit.yaml", {}, policies);
  ASSERT_EQ(experiment.scenarios.size(), 2U);
  EXPECT_EQ(experiment.scenarios[1].clients.size(), 3U) << "two sessions and the filler";
  EXPECT_NEAR(1 / to_seconds(experiment.scenarios[1].clients[0].pacing->period), 64.8, 0.01);
  EXPECT_EQ(experiment.scenarios[0].clients[0].pacing->mode, Pacing::Mode::kLimited);
}

}  // namespace
}  // namespace corun
