#include <gtest/gtest.h>

#include "experiments/fit/fit.h"
#include "experiments/fit/fit_text.h"
#include "policies/builtin.h"
#include "tests/experiments/question/serving_text.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using testing::TemporaryFolder;

constexpr char kTraining[] = "studies/serving/grid/wide_training.corun";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A made-up server alone.
std::string engine_text(const std::string& more) {
  const std::string text = testing::served_text("20/s", more);
  return text.substr(0, text.find("  - { name: train"));
}

/// Of this program, next to a filler if there is one, in turns.
FitWords words_of(const std::string& game, const std::string& filler = "", const std::string& most = "") {
  FitWords words;
  words.game = game;
  if (!filler.empty()) words.fillers = {filler};
  words.policies = {"passthrough"};
  words.most = most;
  return words;
}

FitQuestion question(const FitWords& words) { return question_of(words, builtin_policies()); }
FitAnswer answer_to(const FitWords& words) { return fit(question(words), builtin_policies(), 2); }

TEST(ServerFit, ServersAreCountedUntilTheyKeepTheirPromisesNoLonger) {
  const TemporaryFolder folder;
  const FitWords words = words_of(testing::written(folder, "e.yaml", engine_text("slo: { ttft: 200ms, tpot: 30ms }")));
  const FitAnswer answer = answer_to(words);
  ASSERT_EQ(answer.curves.size(), 1U);
  const FitCurve& curve = answer.curves[0];
  EXPECT_GE(curve.sessions, 1);
  EXPECT_LE(curve.sessions, 8) << "each keeps the device busy for a good part of the time";
  EXPECT_LE(curve.surely, curve.sessions);
  for (const FitPoint& point : curve.points)
    EXPECT_EQ(point.holds,
              point.servers.at("chat").ttft.p99_ms->high <= 200 && point.servers.at("chat").tpot.p99_ms->high <= 30)
        << point.sessions;
  EXPECT_TRUE(has(fit_sentence(question(words), answer), "How many servers like chat keep their promises on h200"))
      << fit_sentence(question(words), answer);
}

TEST(ServerFit, SaysThatAServerMissesItsPromisesAlone) {
  const TemporaryFolder folder;
  const FitWords words = words_of(testing::written(folder, "e.yaml", engine_text("slo: { ttft: 1ms }")));
  const FitAnswer answer = answer_to(words);
  EXPECT_FALSE(fits(answer));
  const std::string text = fit_text(question(words), answer);
  EXPECT_TRUE(text.starts_with("chat misses its promises even alone: TTFT ")) << text;
  EXPECT_TRUE(has(text, "nothing fits next to it")) << text;
}

TEST(ServerFit, CopiesOfATrainingAreCountedNextToAServer) {
  const TemporaryFolder folder;
  const std::string text = testing::served_text("20/s", "slo: { ttft: 200ms, tpot: 25ms }");
  const std::string training =
      text.substr(0, text.find("  - name: chat")) + text.substr(text.find("  - { name: train"));
  const FitWords words =
      words_of(testing::written(folder, "t.yaml", training),
               testing::written(folder, "e.yaml", engine_text("slo: { ttft: 200ms, tpot: 25ms }")), "3");
  const FitAnswer answer = answer_to(words);
  ASSERT_EQ(answer.curves.size(), 1U);
  const FitCurve& curve = answer.curves[0];
  EXPECT_EQ(curve.points.front().sessions, 0) << "the server without neighbours";
  EXPECT_FALSE(curve.points.front().copies_kept);
  ASSERT_GE(curve.points.size(), 2U);
  EXPECT_LT(curve.points[1].copies_kept->high, 1);
  EXPECT_GT(curve.points[1].servers.at("chat").tpot.p99_ms->low, curve.points[0].servers.at("chat").tpot.p99_ms->low);
  EXPECT_TRUE(has(fit_sentence(question(words), answer), "How many copies of train fit next to chat"))
      << fit_sentence(question(words), answer);
}

TEST(ServerFit, AServerNextToSessionsOfAGameMustKeepItsPromisesToo) {
  const TemporaryFolder folder;
  FitWords words = words_of("studies/sessions/captures/large.uncapped.corun",
                            testing::written(folder, "e.yaml", engine_text("slo: { ttft: 1ms }")), "1");
  words.fps = "30";
  const FitAnswer answer = answer_to(words);
  ASSERT_EQ(answer.curves.size(), 2U);
  EXPECT_EQ(answer.curves[0].sessions, 1);
  EXPECT_EQ(answer.curves[1].sessions, 0) << "the game holds its rate, and the server not its promise";
}

TEST(ServerFit, ProgramsWithoutFramesNeedAServer) { EXPECT_THROW(answer_to(words_of(kTraining)), Error); }

}  // namespace
}  // namespace corun
