#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiments/advise/advice.h"
#include "experiments/advise/advice_text.h"
#include "experiments/advise/asked.h"
#include "experiments/advise/asked/asked_experiment.h"
#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "policies/builtin.h"
#include "tests/experiments/question/serving_text.h"

namespace corun {
namespace {

using testing::TemporaryFolder;

constexpr char kBands[] =
    "figure,mechanism,bound,programs,count,low,high,least,most\n"
    "kept,turns with servers,requests,2,18,0.98,1.05,0.98,1.05\nkept,any with servers,programs,2,25,0.9,1.3,0.9,1.3\n"
    "ttft,turns with servers,requests,2,18,0.5,2.0,0.5,2.0\ntpot,turns with servers,requests,2,18,0.9,1.1,0.9,1.1\n";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

PromisedFigure figure(Spread p99_ms, std::optional<Spread> band_ms, double most_ms = 500) {
  return {.name = "TTFT", .p99_ms = p99_ms, .band_ms = band_ms, .most_ms = most_ms};
}

TEST(Promise, IsKeptOrBrokenWhereItsWholeBandIsAndElseInDoubt) {
  EXPECT_EQ(figure({300, 300}, Spread{200, 500}).state(), PromiseState::kKept);
  EXPECT_EQ(figure({300, 300}, Spread{200, 501}).state(), PromiseState::kInDoubt);
  EXPECT_EQ(figure({600, 600}, Spread{499, 900}).state(), PromiseState::kInDoubt);
  EXPECT_EQ(figure({600, 600}, Spread{501, 900}).state(), PromiseState::kBroken);
}

TEST(Promise, WithoutABandIsCloseWithinAQuarter) {
  EXPECT_EQ(figure({370, 370}, {}).state(), PromiseState::kKept);
  EXPECT_EQ(figure({380, 380}, {}).state(), PromiseState::kClose);
  EXPECT_EQ(figure({620, 620}, {}).state(), PromiseState::kClose);
  EXPECT_EQ(figure({630, 630}, {}).state(), PromiseState::kBroken);
  EXPECT_EQ(figure({300, 700}, {}).state(), PromiseState::kInDoubt) << "the ends of a host that is not known";
  EXPECT_EQ(figure({9e9, 9e9}, {}, 0).state(), PromiseState::kKept) << "nothing is promised";
}

std::string served(const TemporaryFolder& folder, const std::string& rate, const std::string& more) {
  return testing::written(folder, "chat.yaml", testing::served_text(rate, more));
}

AdviceQuestion question(const std::string& experiment, const std::vector<std::string>& policies = {}) {
  AdviceWords words;
  words.traces = {experiment};
  words.modes = {"time_sliced"};
  words.policies = policies;
  return question_of(words, builtin_policies());
}

Advice advice_on(const AdviceQuestion& question) { return advise(question, builtin_policies(), Bands(kBands), 2); }

TEST(AskedExperiment, StandsForAllOfItsClientsWithPathsThatBeginWhereItDoes) {
  const TemporaryFolder folder;
  const std::string path = testing::written(
      folder, "e.yaml",
      "name: e\ndevice: h100\nhorizon: 1s\ndefaults: { host_jitter: 5% }\npolicies: [exclusive]\nclients:\n"
      "  - { name: chat, trace: a.corun, server: { requests: { file: r.csv }, max_batch: 8, kv_tokens: 100, "
      "step_times: s.csv } }\n  - { name: train, trace: /b.corun, solo_rate: 5/s }\n");
  const AskedPrograms asked = programs_of({path, "train.corun"}, builtin_policies());
  EXPECT_EQ(asked.gpu, "h100");
  ASSERT_EQ(asked.programs.size(), 3U);
  EXPECT_TRUE(asked.programs[0].is_server());
  EXPECT_EQ(asked.programs[0].trace, (folder / "a.corun"));
  EXPECT_EQ(asked.programs[0].keys.at("host_jitter"), "5%");
  EXPECT_TRUE(has(asked.programs[0].keys.at("server"), "file: " + (folder / "r.csv")));
  EXPECT_TRUE(has(asked.programs[0].keys.at("server"), "step_times: " + (folder / "s.csv")));
  EXPECT_EQ(asked.programs[1].trace, "/b.corun");
  EXPECT_EQ(asked.programs[2].name, "train_2") << "names are unlike";
  EXPECT_EQ(gpu_of("l4", asked), "l4");
}

TEST(AskedExperiment, IsRefusedWhereItsServerIsWrongWithThePlace) {
  const TemporaryFolder folder;
  const std::string path = served(folder, "20/s", "max_batches: 3");
  try {
    question(path);
    FAIL();
  } catch (const InvalidInput& refused) {
    EXPECT_EQ(refused.where().file, path);
    EXPECT_GT(refused.where().line, 1);
    EXPECT_TRUE(has(refused.what(), "max_batches")) << refused.what();
  }
}

TEST(ServerAdvice, SharesWhereTheServerKeepsItsPromisesByFar) {
  const TemporaryFolder folder;
  const AdviceQuestion asked = question(served(folder, "20/s", "slo: { ttft: 2s, tpot: 200ms }"));
  const Advice advice = advice_on(asked);
  EXPECT_EQ(advice.verdict, Verdict::kShare) << verdict_text(asked, advice);
  const ServerShare& chat = *advice.ways[0].programs[0].server;
  EXPECT_LT(chat.ttft.p99_ms->high, 1500);
  EXPECT_FALSE(chat.ttft.band_ms) << "nothing measured a made-up engine";
  EXPECT_NEAR(chat.good->low, 1, 0.01);
  EXPECT_GE(chat.answered, kFewestRequests);
  const std::string text = advice_text(asked, advice);
  EXPECT_TRUE(has(text, "(no band) of 2000 ms")) << text;
  EXPECT_TRUE(has(text, "chat TTFT ms") || has(text, "TTFT ms")) << text;
  EXPECT_LT(advice.alone.at("chat").ttft.p99_ms->high, chat.ttft.p99_ms->low) << "a neighbour costs time";
}

TEST(ServerAdvice, IsCloseWhereNothingWasMeasuredAndThePromiseIsNear) {
  const TemporaryFolder folder;
  const Advice first = advice_on(question(served(folder, "20/s", "slo: { ttft: 2s }")));
  const double ttft = first.ways[0].programs[0].server->ttft.p99_ms->high;
  const AdviceQuestion asked = question(served(folder, "20/s", fmt::format("slo: {{ ttft: {:.0f}us }}", 1.1e3 * ttft)));
  const Advice advice = advice_on(asked);
  EXPECT_EQ(advice.verdict, Verdict::kClose);
  EXPECT_TRUE(has(verdict_text(asked, advice), "chat's p99 TTFT is ")) << verdict_text(asked, advice);
}

TEST(ServerAdvice, SaysThatAServerMissesItsPromisesAlone) {
  const TemporaryFolder folder;
  const AdviceQuestion asked = question(served(folder, "20/s", "slo: { ttft: 1ms, tpot: 200ms }"));
  const Advice advice = advice_on(asked);
  EXPECT_EQ(advice.verdict, Verdict::kNoWay);
  const std::string text = verdict_text(asked, advice);
  EXPECT_TRUE(has(text, "Do not share: chat misses its promises even alone: TTFT ")) << text;
  EXPECT_FALSE(has(text, "TPOT of")) << "only what is missed";
}

TEST(ServerAdvice, OfAServerWithoutPromisesHasItsFiguresAlone) {
  const TemporaryFolder folder;
  const AdviceQuestion asked = question(served(folder, "20/s", "pads: false"));
  const Advice advice = advice_on(asked);
  EXPECT_EQ(advice.verdict, Verdict::kShare);
  EXPECT_TRUE(advice.ways[0].programs[0].server->ttft.p99_ms);
  EXPECT_FALSE(has(verdict_text(asked, advice), " of 0 ms"));
}

/// A server in turns with a training, measured classes: its TTFT is predicted as 300 ms, its TPOT as 20 ms.
TriedWay in_turns(double ttft_ms, double tpot_ms) {
  SimulatedRuns runs;
  for (const auto& [metric, value] :
       {std::pair{"ttft_p99_ms", 300.0}, {"tpot_p99_ms", 20.0}, {"throughput_per_s", 9.0}})
    runs.clients["chat"].add(metric, value);
  runs.clients["train"].add("throughput_per_s", 5);
  for (auto& [name, means] : runs.clients) {
    means.add("solo_throughput_per_s", 10);
    means.end_run();
    runs.classes[name] = {"turns with servers", 2, "", 20};
  }
  const auto duration = [](double ms) { return Duration(static_cast<std::int64_t>(1e6 * ms)); };
  runs.servers["chat"] = {.ttft = duration(ttft_ms), .tpot = duration(tpot_ms)};
  AdviceQuestion question;
  question.programs = {{"chat", "a.corun", {{"server", "{}"}}}, {"train", "b.corun"}};
  return tried_way(question, {"time_sliced", "in turns", {}, ""}, {runs}, Bands(kBands));
}

TEST(ServerAdvice, KeepsAPromiseWithItsWholeBandAndNamesThoseThatABandLeavesInDoubt) {
  const TriedWay kept = in_turns(600, 22);
  EXPECT_TRUE(kept.broken.empty());
  EXPECT_EQ(kept.goal.low, 0.5) << "the server keeps its promises, and so the training counts alone";
  const TriedWay doubtful = in_turns(450, 22);
  EXPECT_TRUE(doubtful.may_keep);
  EXPECT_FALSE(doubtful.is_close);
  ASSERT_EQ(doubtful.broken.size(), 1U) << "not the TPOT";
  EXPECT_EQ(doubtful.broken[0], "chat's p99 TTFT is 300.0 (150.0 to 600.0) ms, promised 450");
  EXPECT_FALSE(in_turns(140, 22).may_keep) << "no part of the band keeps it";
  EXPECT_EQ(in_turns(450, 19).broken.size(), 2U);
}

TEST(ServerAdvice, CannotTellWhereABandHoldsAPromise) {
  AdviceQuestion question;
  question.programs = {{"chat", "a.corun", {{"server", "{}"}}}, {"train", "b.corun"}};
  Advice advice;
  advice.ways = {in_turns(450, 22)};
  advice.best = 0;
  advice.verdict = Verdict::kCannotTell;
  EXPECT_EQ(
      verdict_text(question, advice),
      "Cannot tell whether they may share. In turns: chat's p99 TTFT is 300.0 (150.0 to 600.0) ms, promised 450; a "
      "measurement of this way at this load would tell.\n");
}

TEST(ServerAdvice, SearchesTheLargestLoadOfEachWay) {
  const TemporaryFolder folder;
  AdviceQuestion asked = question(served(folder, "20/s", "slo: { ttft: 400ms, tpot: 100ms }"), {"gpreempt"});
  asked.has_largest_load = true;
  const Advice advice = advice_on(asked);
  ASSERT_EQ(advice.ways.size(), 2U);
  for (const TriedWay& way : advice.ways) {
    ASSERT_TRUE(way.loads) << way.way.label << way.impossible;
    EXPECT_GT(way.loads->largest.low, 1) << way.way.label;
  }
  EXPECT_GT(advice.ways[1].loads->largest.low, advice.ways[0].loads->largest.low) << "a server that goes first";
  EXPECT_TRUE(has(verdict_text(asked, advice), "Largest load that keeps the promises")) << verdict_text(asked, advice);
}

TEST(ServerAdvice, OfALargestLoadNeedsOneServer) {
  AdviceWords words;
  words.traces = {"a.corun", "b.corun"};
  EXPECT_NO_THROW(question_of(words, builtin_policies()));
  words.has_largest_load = true;
  EXPECT_THROW(question_of(words, builtin_policies()), Error);
}

TEST(ServerAdvice, RefusesAPolicyThatIsNotThere) {
  AdviceWords words;
  words.traces = {"a.corun", "b.corun"};
  words.policies = {"magic"};
  EXPECT_THROW(question_of(words, builtin_policies()), Error);
}

}  // namespace
}  // namespace corun
