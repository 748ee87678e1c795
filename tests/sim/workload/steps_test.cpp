#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/sim/workload/program_script.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using testing::ProgramScript;
using testing::steps_in;
using testing::workload_of;

/// A network's pass: its first kernels, equal layers, its last.
std::vector<std::string> pass(int layers, const std::string& kind = "forward") {
  std::vector<std::string> names{"embed_" + kind, "position_" + kind};
  for (int layer = 0; layer < layers; ++layer)
    for (const char* part : {"norm_", "gemm_", "attention_", "gemm_", "add_"}) names.push_back(part + kind);
  names.insert(names.end(), {"norm_last_" + kind, "head_" + kind});
  return names;
}

TEST(Steps, OfAProgramThatPollsLieBetweenItsLongestPauses) {
  ProgramScript script;
  for (int trial = 0; trial < 300; ++trial) script.launch(trial % 3 == 0 ? "trial_gemm" : "trial_conv").pause(trial);
  script.pause(100'000);
  for (int step = 0; step < 50; ++step) script.launch_all(pass(6)).pause(400);
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 50u);
  EXPECT_EQ(workload.jobs[3].op_count, 34u);
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kLikely);
}

TEST(Steps, OfAProgramThatLaunchesGraphsAreItsGraphs) {
  ProgramScript script;
  for (int step = 0; step < 20; ++step) script.graph(pass(3)).pause(100);
  EXPECT_EQ(steps_in(workload_of(script)), 20u);
}

TEST(Steps, AreNotTheLayersInsideOneStep) {
  ProgramScript plain, paused, one_graph;
  plain.launch_all(pass(12)).wait_all();
  for (const std::string& name : pass(12)) paused.pause(name == "norm_forward" ? 60 : 0).launch(name);
  one_graph.launch("input").graph(pass(24)).wait_all();
  const Workload without_end = workload_of(plain);
  EXPECT_EQ(steps_in(without_end), 0u);
  EXPECT_EQ(without_end.finding.how, "its launches recur, but no wait or pause shows where a step ends");
  EXPECT_EQ(steps_in(workload_of(paused)), 0u);
  EXPECT_EQ(steps_in(workload_of(one_graph)), 0u);
  std::vector<std::string> equal_layers;
  for (int layer = 0; layer < 12; ++layer) equal_layers.insert(equal_layers.end(), {"gemm", "add"});
  ProgramScript alone;
  alone.graph(equal_layers).wait_all();
  EXPECT_EQ(steps_in(workload_of(alone)), 0u);
}

TEST(Steps, OfADecoderAreItsTokensThoughKernelsGrowWithThePosition) {
  ProgramScript script;
  for (int text = 0; text < 3; ++text) {
    script.launch_all(pass(4, "prefill")).wait();
    for (int token = 0; token < 40; ++token) {
      for (int layer = 0; layer < 4; ++layer)
        script.launch("gemv").launch("split_kv_" + std::to_string(token / 8) + "_kernel").launch("merge");
      script.launch("sample").wait();
    }
  }
  EXPECT_NEAR(static_cast<double>(steps_in(workload_of(script))), 120, 3);
}

TEST(Steps, OfGradientAccumulationEndWithTheOptimizer) {
  ProgramScript script;
  for (int step = 0; step < 12; ++step) {
    for (int batch = 0; batch < 4; ++batch)
      script.launch_all(pass(2)).launch_all(pass(2, "backward")).wait().pause(300);
    for (int part = 0; part < 3; ++part) script.launch("multi_tensor_apply_kernel<Adam>");
  }
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 12u);
  EXPECT_NE(workload.finding.how.find("update of parameters"), std::string::npos);
}

TEST(Steps, OfTwoNetsThatTrainInTurnsAreRoundsOfBoth) {
  ProgramScript script;
  for (int step = 0; step < 20; ++step)
    for (const int layers : {2, 3}) script.launch_all(pass(layers)).launch("multi_tensor_apply_kernel<Adam>");
  const Workload workload = workload_of(script);
  EXPECT_NEAR(static_cast<double>(steps_in(workload)), 20, 1);
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kLikely) << workload.finding.how;
}

TEST(Steps, OfAHostThatPollsForWhatItReadsEndWithTheCopy) {
  ProgramScript script;
  std::mt19937 host(1);
  for (int token = 0; token < 96; ++token) {
    if (token % 16 == 0) script.launch_all({"clear", "clear", "broadcast"});
    script.graph(pass(3)).pause(static_cast<std::int64_t>(200 + host() % 200)).copy_to_host();
    script.pause(static_cast<std::int64_t>(host() % 200));
  }
  const Workload workload = workload_of(script);
  EXPECT_NEAR(static_cast<double>(steps_in(workload)), 96, 1) << workload.finding.how;
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kLikely) << workload.finding.how;
}

TEST(Steps, AreNotTheFewPartsOfOneThoughTheHostWaitsForEach) {
  ProgramScript script;
  std::mt19937 tile(1);
  for (int step = 0; step < 12; ++step) {
    script.launch("first");
    for (int part = 0; part < 4; ++part)
      script.launch("gemm_" + std::to_string(32 << tile() % 3))
          .launch_all({"norm", "exp", "sum", "divide", "add"})
          .wait();
    script.launch_all({"gather", "last"});
  }
  EXPECT_NEAR(static_cast<double>(steps_in(workload_of(script))), 12, 1);
}

TEST(Steps, OfAProgramWhoseKernelsDependOnTheDataAreUnsure) {
  ProgramScript script;
  const std::vector<std::string> kinds{"small", "wide", "tall"};
  for (int step = 0; step < 20; ++step) {
    const std::string& kind = kinds[step * step % 11 % 3];
    for (int layer = 0; layer < 4; ++layer) script.launch("norm").launch("gemm_" + kind).launch("add");
    script.launch("sum").wait().pause(500);
  }
  const Workload workload = workload_of(script);
  EXPECT_NEAR(static_cast<double>(steps_in(workload)), 20, 1);
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kUnsure);
}

TEST(Steps, OfTwoStreamsWithLoopsOfTheirOwnAreThoseOfTheBusierOne) {
  ProgramScript script;
  std::mt19937 turns(1);
  const auto play = [&](std::uint32_t stream, const std::string& kernel, int at, int length) {
    script.launch(at % length == 0 ? kernel + "_first" : kernel, stream);
    if (at % length == length - 1) script.wait(stream);
  };
  for (int conv = 0, product = 0; product < 900;)
    if (turns() % 3 == 0)
      play(1, "conv", conv++, 5);
    else
      play(2, "product", product++, 9);
  const Workload workload = workload_of(script);
  EXPECT_NEAR(static_cast<double>(steps_in(workload)), 100, 1);
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kUnsure);
  EXPECT_NE(workload.finding.how.find("2 streams have loops of their own, of 100 and "), std::string::npos)
      << workload.finding.how;
}

TEST(Steps, AreRangesThatHoldMostLaunchesButNotThoseOfLayers) {
  ProgramScript marked, layers;
  for (int step = 0; step < 6; ++step) {
    marked.begin_range("step").launch("first");
    layers.launch("first");
    for (int layer = 0; layer < 8; ++layer) {
      marked.begin_range("layer_forward").launch("gemm").launch("add").end_range();
      layers.begin_range("layer_forward").launch("gemm").launch("add").end_range();
    }
    marked.launch("last").end_range();
    layers.launch("last").wait_all();
  }
  const Workload by_range = workload_of(marked);
  EXPECT_EQ(steps_in(by_range), 6u);
  EXPECT_EQ(by_range.finding.certainty, StepCertainty::kCertain);
  EXPECT_EQ(steps_in(workload_of(layers)), 6u);
}

TEST(Steps, AreOneWhereTheProfilerRecordedOneStepOfSeveralLayers) {
  ProgramScript script, batches;
  script.launch_all(pass(2)).begin_range("ProfilerStep#6").launch_all(pass(12)).end_range().launch_all({"next", "one"});
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 1u);
  EXPECT_EQ(workload.jobs.front().op_count, pass(12).size());
  EXPECT_EQ(workload.recorded_step, Duration{static_cast<std::int64_t>(pass(12).size()) * 10'000}) << "its range";
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kCertain);
  batches.begin_range("ProfilerStep#1");
  for (int batch = 0; batch < 5; ++batch) batches.begin_range("batch").launch_all(pass(3)).end_range();
  batches.end_range();
  EXPECT_EQ(steps_in(workload_of(batches)), 5u) << "what recurs inside a profiler's only step is a step";
}

TEST(Steps, DoNotBeginWithSlowOnesOfLoadingAndTuning) {
  ProgramScript script, even;
  for (int step = 0; step < 12; ++step) {
    for (ProgramScript* each : {&script, &even}) each->begin_range("step").launch_all(pass(2));
    script.pause(step < 2 ? 100'000 : 50);
    for (ProgramScript* each : {&script, &even}) each->end_range();
  }
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 10u);
  EXPECT_NE(workload.finding.how.find("without 2 slow ones at the start"), std::string::npos) << workload.finding.how;
  EXPECT_EQ(steps_in(workload_of(even)), 12u);
}

TEST(Steps, ThatCaptureGraphsAreUnsure) {
  ProgramScript script;
  for (int size = 0; size < 8; ++size)
    script.begin_range(std::string(kGraphCaptureMark)).pause(1).end_range().launch_all({"dummy", "attend"}).wait_all();
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 8u);
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kUnsure) << workload.finding.how;
}

TEST(Steps, ARangeThatLaunchesNothingAtTheEndDoesNoHarm) {
  ProgramScript script;
  for (int step = 0; step < 3; ++step) script.begin_range("mine").launch("a").launch("b").end_range();
  script.begin_range("mine").wait().end_range().launch("after");
  const Workload workload = workload_of(script, {.by = StepChoice::By::kRange, .name = "mine"});
  EXPECT_EQ(workload.jobs.size(), 3U);
  EXPECT_EQ(workload.launches, 6U);
}

TEST(Steps, WorkBeforeTheFirstRangeIsOfNoStep) {
  ProgramScript script;
  script.launch_all({"load", "load", "warm"});
  for (int step = 0; step < 4; ++step)
    script.begin_range("iteration " + std::to_string(step)).launch("a").launch("b").end_range();
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 4u);
  EXPECT_EQ(workload.left_out.size(), 3u);
}

/// Steps of `rounds` times `round`, each with a wait; one launch more in every eleventh if `now_and_then`.
ProgramScript rounds_of(const std::vector<std::string>& round, int rounds, bool now_and_then = false) {
  ProgramScript script;
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < rounds; ++i) script.launch_all(round);
    if (now_and_then && step % 11 == 5) script.launch("log");
    script.wait_all();
  }
  return script;
}

void expect_doubt(ProgramScript script, const std::string& text) {
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 60u);
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kUnsure);
  EXPECT_NE(workload.finding.how.find(text), std::string::npos) << workload.finding.how;
}

void expect_no_doubt(ProgramScript script) {
  const Workload workload = workload_of(script);
  EXPECT_EQ(steps_in(workload), 60u);
  EXPECT_EQ(workload.finding.certainty, StepCertainty::kLikely) << workload.finding.how;
}

TEST(Steps, OfEqualRoundsAreUnsureSinceEachMayBeOne) {
  expect_doubt(rounds_of({"load", "gemm", "add"}, 4),
               "each holds 4 equal rounds of 3 operations: if a step is one of them, `step: { launches: 3 }`");
  expect_doubt(rounds_of({"load", "gemm", "add"}, 4, true), "4 equal rounds of 3 operations");
  expect_doubt(rounds_of({"iterate"}, 100), "100 equal rounds of 1 operation:");
  ProgramScript script = rounds_of({"load", "gemm", "add"}, 4);
  EXPECT_EQ(steps_in(workload_of(script, {StepChoice::By::kLaunches, "", 3})), 240u) << "what the doubt says to state";
}

TEST(Steps, OfEqualRoundsAreUnsureThoughTheirResultIsReadBack) {
  ProgramScript script;
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 4; ++i) script.launch_all({"load", "gemm", "add"});
    script.copy_to_host().wait();
  }
  expect_doubt(std::move(script), "4 equal rounds of 3 operations besides copies to the host: a step may be one");
}

TEST(Steps, OfEqualRoundsOfPairsAreNotHalfAPair) {
  ProgramScript script;
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 4; ++i) script.launch_wide("sweep", 64).launch_wide("sweep", 32);
    script.wait_all();
  }
  expect_doubt(std::move(script), "4 equal rounds of 2 operations");
}

TEST(Steps, WithMoreThanEqualLayersAreNoRounds) {
  expect_no_doubt(rounds_of(pass(6), 1));
  ProgramScript uploads;
  for (int step = 0; step < 60; ++step) uploads.launch("upload").launch_all({"gemm", "add", "gemm", "add"}).wait_all();
  expect_no_doubt(std::move(uploads));
}

TEST(Steps, OfLayersOfTheirOwnSizesAreNoRounds) {
  ProgramScript script;
  for (int step = 0; step < 60; ++step) {
    for (const std::uint32_t blocks : {64, 64, 16}) script.launch_wide("gemm", blocks).launch("add");
    script.wait_all();
  }
  expect_no_doubt(std::move(script));
}

TEST(Steps, OfDifferentLaunchesInAnyOrderAreNoRounds) {
  ProgramScript script;
  std::mt19937 order(1);
  std::vector<std::string> names{"gemm", "add", "norm", "exp"};
  for (int step = 0; step < 60; ++step) {
    std::ranges::shuffle(names, order);
    script.launch_all(names).wait_all();
  }
  expect_no_doubt(std::move(script));
}

TEST(Steps, OfOneGraphOfEqualLayersAreNoRounds) {
  ProgramScript once, twice;
  for (int step = 0; step < 60; ++step) {
    once.graph({"gemm", "add", "gemm", "add"}).wait_all();
    twice.graph({"gemm", "add", "gemm", "add"}).graph({"gemm", "add", "gemm", "add"}).wait_all();
  }
  expect_no_doubt(std::move(once));
  expect_doubt(std::move(twice), "2 equal rounds of 4 operations");
}

ProgramScript loop() {
  ProgramScript script;
  for (int step = 0; step < 5; ++step)
    script.begin_range("outer").launch("a").begin_range("inner").launch("b").launch("b").end_range().end_range();
  return script;
}

std::size_t stated(StepChoice::By by, const std::string& name = "", std::uint32_t launches = 0) {
  ProgramScript script = loop();
  return steps_in(workload_of(script, {by, name, launches}));
}

TEST(Steps, AreWhatTheOwnerSays) {
  EXPECT_EQ(stated(StepChoice::By::kWhole), 1u);
  EXPECT_EQ(stated(StepChoice::By::kRange, "inner"), 5u);
  EXPECT_EQ(stated(StepChoice::By::kLaunches, "", 3), 5u);
  EXPECT_EQ(stated(StepChoice::By::kLaunches, "", 4), 3u) << "the last is incomplete";
  EXPECT_EQ(stated(StepChoice::By::kKernel, "a"), 4u) << "where the last one ends is not known";
}

TEST(Steps, OfAKernelThatIsLaunchedTwiceAreOne) {
  ProgramScript script;
  script.launch_all({"a", "b", "b", "a", "b", "b"});
  const Workload workload = workload_of(script, {.by = StepChoice::By::kKernel, .name = "a"});
  EXPECT_EQ(steps_in(workload), 1u);
  EXPECT_EQ(workload.launches, 3u);
}

TEST(Steps, AreRefusedWhereTheCaptureDoesNotHaveWhatTheOwnerSays) {
  EXPECT_THROW(stated(StepChoice::By::kRange, "other"), Error);
  EXPECT_THROW(stated(StepChoice::By::kKernel, "other"), Error);
  EXPECT_THROW(stated(StepChoice::By::kLaunches, "", 16), Error);
}

}  // namespace
}  // namespace corun
