#include <gtest/gtest.h>

#include <cmath>

#include "experiments/base/diagnostic.h"
#include "experiments/base/json.h"
#include "experiments/base/terminal.h"
#include "experiments/summary/conclusions.h"
#include "experiments/summary/summary.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

TEST(Printable, TakesTheTeethOutOfControlCharacters) {
  EXPECT_EQ(printable("a\033[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("bell\a del\x7f tab\t."), "bell\\x07 del\\x7f tab .");
  EXPECT_EQ(printable("c1 \xc2\x9b"), "c1 \\xc2\\x9b");
  EXPECT_EQ(printable("caf\u00e9 \u2713"), "caf\u00e9 \u2713");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
}

TEST(Aligned, ColumnsLineUpAndEmptyOnesAreLeftOut) {
  EXPECT_EQ(aligned({{"a", "b", "c"}, {"long", "", "x"}, {"\u00e9", "", "y"}}), "a     c\nlong  x\n\u00e9     y\n");
  EXPECT_EQ(aligned({{"n"}, {"5"}, {"10"}}, {0}), " n\n 5\n10\n");
}

TEST(Aligned, LongTextsAreWrappedInTheirColumnToTheWidth) {
  const std::string text = "forty letters and more, all of which are to be read";
  EXPECT_EQ(aligned({{"name", "meaning"}, {"a", text}, {"b", "short"}}, {}, 40),
            "name  meaning\n"
            "a     forty letters and more, all of\n"
            "      which are to be read\n"
            "b     short\n");
}

const std::vector<std::vector<std::string>> kRates = {{"policy", "client", "rate", "missed", "harvest"},
                                                      {"nvshare", "game", "34.4 fps", "7.4 %", ""},
                                                      {"", "train", "15.7 /s", "", "112.0 %"}};

TEST(Aligned, ColumnsThatDoNotFitStandBelowBehindWhatTellsTheRowsApart) {
  EXPECT_EQ(aligned(kRates, {3}, 33),
            "policy   client  rate      missed\n"
            "nvshare  game    34.4 fps   7.4 %\n"
            "         train   15.7 /s\n"
            "\n"
            "policy   client  harvest\n"
            "nvshare  train   112.0 %\n");
}

TEST(Aligned, RowsBecomeListsWhereNoColumnFitsNextToTheirNames) {
  EXPECT_EQ(aligned(kRates, {3}, 20),
            "policy   nvshare\nclient   game\nrate     34.4 fps\nmissed   7.4 %\n"
            "\n"
            "policy   nvshare\nclient   train\nrate     15.7 /s\nharvest  112.0 %\n");
}

TEST(Wrapped, LinesGoOnIndentedAndWordsStayWhole) {
  EXPECT_EQ(wrapped("busy  a b c d e f g h i j k l\n\nx", 26, 6), "busy  a b c d e f g h i j\n      k l\n\nx");
  EXPECT_EQ(wrapped("see a/path/of/more/than/twenty/letters now", 26, 4),
            "see\n    a/path/of/more/than/twenty/letters\n    now");
}

TEST(Json, NestsAndEscapes) {
  Json json;
  json.object()
      .field("a", 1)
      .key("b")
      .array()
      .value("x\"\n")
      .value(true)
      .end()
      .key("c")
      .object()
      .end()
      .field("d", 0.5)
      .end();
  EXPECT_EQ(json.text(),
            "{\n  \"a\": 1,\n  \"b\": [\n    \"x\\\"\\u000a\",\n    true\n  ],\n  \"c\": {},\n  \"d\": 0.5\n}");
}

TEST(Json, IsUtf8WhateverATraceHolds) {
  Json json;
  json.value("a\xff");
  EXPECT_EQ(json.text(), "\"a\uFFFD\"");
}

TEST(Diagnostic, ShowsTheLineTheCaretsAndWhatToDo) {
  Diagnostics diagnostics;
  diagnostics.add_source("e.yaml", "one\n  - pilotfish: { gaurd: 300us }\n");
  diagnostics.add({"E0203",
                   {"e.yaml", 2, 18, 5},
                   "unknown parameter `gaurd`",
                   "did you mean `guard`?",
                   {"known: guard"},
                   "see the manual"});
  try {
    diagnostics.throw_if_any();
    FAIL();
  } catch (const InvalidInput& invalid) {
    EXPECT_EQ(render(invalid.diagnostics()[0], DiagnosticStyle::kFull, false),
              "error[E0203]: unknown parameter `gaurd`\n"
              "  --> e.yaml:2:18\n"
              "   |\n"
              " 2 |   - pilotfish: { gaurd: 300us }\n"
              "   |                  ^^^^^ did you mean `guard`?\n"
              "   = note: known: guard\n"
              "   = help: see the manual\n");
    EXPECT_EQ(render(invalid.diagnostics()[0], DiagnosticStyle::kShort, false),
              "e.yaml:2:18: error[E0203]: unknown parameter `gaurd` (did you mean `guard`?)\n");
  }
}

TEST(ShortNumber, ThreeDigitsAndOneDecimalBelowAThousand) {
  EXPECT_EQ(short_number(60), "60.0");
  EXPECT_EQ(short_number(6.914), "6.91");
  EXPECT_EQ(short_number(0.8442), "0.844");
  EXPECT_EQ(short_number(484.36), "484.4");
  EXPECT_EQ(short_number(1240.4), "1240");
}

TEST(Conclusions, TheBestHarvestAmongThoseThatKeepTheGameWhole) {
  const double none = std::nan("");
  const auto pair = [&](const char* policy, double harvest, double fps, double rate) {
    return PolicyMeans{policy, harvest, {{"game", fps, fps, 60, none}, {"train", none, rate, 30, none}}};
  };
  const auto sentences =
      conclusions({pair("greedy", 0.9, 38, 12), pair("kind", 0.7, 59.9, 10), pair("shy", 0.2, 60, 3)});
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_EQ(sentences[0], "kind keeps game at 59.9 fps (alone 60.0) and harvests 70 % of the time it leaves idle.");
  EXPECT_EQ(sentences[1], "greedy runs train 1.20 times faster than that, but shows game at 38.0 fps (alone 60.0).");
}

TEST(Conclusions, WithoutRatesAloneNothingIsSaidOfAGameWithOtherWork) {
  const double none = std::nan("");
  EXPECT_TRUE(
      conclusions({PolicyMeans{"live", none, {{"game", 60, 60, none, none}, {"train", none, 8, none, none}}}}).empty());
}

TEST(Conclusions, GamesAloneAreComparedByTheSlowest) {
  const auto two = [](const char* policy, double fps, double quality) {
    return PolicyMeans{policy, std::nan(""), {{"a", fps, fps, 30, quality}, {"b", fps + 1, fps + 1, 30, quality}}};
  };
  EXPECT_EQ(
      conclusions({two("open", 18, 1), two("tuned", 29, 0.84)})[0],
      "tuned keeps the slowest of 2 games at 29.0 fps at quality 0.84; open lets it fall to 18.0 fps at quality 1.00.");
}

TEST(Conclusions, APolicyThatTurnedAwayAllClientsOfAKindIsNotCompared) {
  const double none = std::nan("");
  const PolicyMeans both{"open", 0.8, {{"game", 60, 60, 60, none}, {"train", none, 12, 30, none}}};
  const PolicyMeans no_game{"strict", none, {{"train", none, 30, 30, none}}};
  const auto sentences = conclusions({no_game, both});
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0], "open keeps game at 60.0 fps (alone 60.0) and harvests 80 % of the time it leaves idle.");
  EXPECT_TRUE(conclusions({PolicyMeans{"closed", none, {}}}).empty());
}

TEST(Summary, AGameThatIsTurnedAwayIsCalledRefusedAndNotTheSlowest) {
  const Experiment experiment = testing::read_text(
      "name: x\nhorizon: 1s\ndevice: h200\npolicies: [passthrough]\n"
      "clients: [{ name: a, synthetic: { game: rdr2 } }, { name: b, synthetic: { game: rdr2 } }]\n");
  Summary summary(experiment);
  RunOutcome outcome;
  for (const char* client : {"a", "b"}) outcome.metrics.push_back({client, "gpu_busy_ratio", 0, "ratio"});
  outcome.metrics.push_back({"device", "gpu_busy_ratio", 0, "ratio"});
  outcome.metrics.push_back({"a", "fps_mean", 58, "fps"});
  outcome.metrics.push_back({"a", "throughput_per_s", 58, "1/s"});
  outcome.metrics.push_back({"b", "throughput_per_s", 0, "1/s"});
  outcome.metrics.push_back({"b", "refused", 1, "count"});
  summary.add(RunSpec{}, outcome);
  const Scenario& scenario = experiment.scenarios[0];
  EXPECT_NE(summary.table(scenario).find("refused"), std::string::npos) << summary.table(scenario);
  EXPECT_EQ(summary.sentences(scenario), std::vector<std::string>{"passthrough keeps a at 58.0 fps."});
}

}  // namespace
}  // namespace corun
