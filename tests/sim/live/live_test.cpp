// Live runs with programs of a CUDA driver that is not one (fake_cuda.h): what is held, and what passes. Every run has
// an end of its own; no test waits for anything for ever.
#include <map>
#include <set>

#include "sim/live/client/profile.h"
#include "tests/sim/live/live_fixture.h"
#include "tracer/gate/channel/channel.h"
#include "traces/base/error.h"

namespace corun {
namespace {

/// Stretches of launches of one client with none of another's between.
std::size_t turns(const std::vector<OpFact>& ops) {
  std::vector<OpFact> sorted = ops;
  std::ranges::stable_sort(sorted, {}, &OpFact::launched);
  std::size_t turns = sorted.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) turns += sorted[i].client != sorted[i - 1].client ? 1 : 0;
  return turns;
}

class LiveByEachWay : public Live, public ::testing::WithParamInterface<bool> {
 protected:
  LiveByEachWay() { options_.is_gated_by_cupti = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Ways, LiveByEachWay, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "Cupti" : "Preload"; });

TEST_P(LiveByEachWay, AProgramRunsToItsEndAndEveryLaunchIsHeard) {
  const LiveFacts facts = run({client("a", {"step", "500", "200"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 500u);
  EXPECT_EQ(result_.jobs_finished[0], 500u) << "without a profile, a launch is a job";
  EXPECT_LT(result_.end, kRunStart + 15s) << "a client whose command has ended leaves";
  EXPECT_EQ(report_.unobserved, 0u);
  EXPECT_TRUE(report_.notes.empty());
  EXPECT_EQ(std::set<std::string>(facts.names.begin(), facts.names.end()), std::set<std::string>{"kernel"});
  Duration device_time{};
  Time first = kNever, last = kRunStart;
  for (const OpFact& op : facts.ops) {
    EXPECT_LE(op.submitted, op.launched);
    EXPECT_LE(op.launched, op.begin);
    EXPECT_LE(op.begin, op.end);
    device_time += op.device_time;
    first = std::min(first, op.submitted);
    last = std::max(last, op.end);
  }
  EXPECT_GE(device_time, 500 * 190us);
  EXPECT_LE(device_time, last - first) << "one stream has one kernel at a time";
}

/// One operation of each shape that `live_app unevenly` launches, as a capture would predict them.
std::shared_ptr<const Workload> profile_of_uneven(Duration length, std::uint32_t blocks) {
  auto workload = std::make_shared<Workload>();
  workload->names = {"kernel"};
  WorkOp op;
  op.kind = OpKind::kKernel;
  op.shape.grid_x = blocks, op.shape.grid_y = op.shape.grid_z = 1;
  op.predicted_by_name = op.predicted_by_shape = length;
  workload->left_out.push_back(op);
  op.shape.grid_x = blocks + 1;
  op.predicted_by_shape = 10 * length;
  workload->left_out.push_back(op);
  return workload;
}

TEST_P(LiveByEachWay, LaunchesWhoseTimeIsKnownTogetherShareItAsTheirProfileSays) {
  ClientSpec spec = client("a", {"unevenly", "300", "200", "4"});
  spec.workload = profile_of_uneven(200us, 4);
  const LiveFacts facts = run({spec}, 20s);
  ASSERT_EQ(facts.ops.size(), 300u);
  std::vector<Duration> longs, shorts;
  for (const OpFact& op : facts.ops) (op.number % 10 == 6 ? longs : shorts).push_back(op.device_time);
  const auto middle = [](std::vector<Duration>& times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
  };
  EXPECT_GT(middle(longs), 1500us);
  EXPECT_LT(middle(shorts), 400us);
}

/// A capture of so many jobs of 30 operations, which its host made of so many launches.
std::shared_ptr<const Workload> profile_of_jobs(std::uint32_t jobs, std::uint64_t launches, std::uint64_t graphs) {
  auto workload = std::make_shared<Workload>();
  workload->names = {"kernel"};
  workload->launches = launches;
  workload->graphs = graphs;
  for (std::uint32_t i = 0; i < 30 * jobs; ++i) workload->ops.push_back(WorkOp{});
  for (std::uint32_t i = 0; i < jobs; ++i) workload->jobs.push_back(Job{.first_op = 30 * i, .op_count = 30});
  return workload;
}

TEST_P(LiveByEachWay, AJobHasAsManyLaunchesAsInItsCaptureWhereAGraphIsOne) {
  ClientSpec spec = client("a", {"graphs_only", "300", "200"});
  spec.workload = profile_of_jobs(10, 20, 20);
  run({spec}, 20s);
  EXPECT_EQ(result_.jobs_finished[0], 150u) << "two graphs a job";
  EXPECT_FALSE(result_.has_unknown_rate[0]);
}

TEST_P(LiveByEachWay, JobsOfDifferentNumbersOfLaunchesAreCountedByTheirMean) {
  ClientSpec spec = client("a", {"step", "500", "200"});
  spec.workload = profile_of_jobs(2, 5, 0);
  run({spec}, 20s);
  EXPECT_EQ(result_.jobs_finished[0], 200u) << "two and a half launches a job";
  EXPECT_FALSE(result_.has_unknown_rate[0]);
}

TEST_P(LiveByEachWay, TheRateOfAProgramThatDoesNotComeToTheEndOfAJobIsNotKnown) {
  ClientSpec spec = client("a", {"step", "100", "200"});
  spec.workload = profile_of_jobs(1, 31'232, 0);
  run({spec}, 20s);
  EXPECT_TRUE(result_.has_unknown_rate[0]);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("made 100 launches, fewer than a job of its trace (31232): its rate is not known"),
            std::string::npos)
      << report_.notes[0];
}

TEST_P(LiveByEachWay, WhereNoJobsWereFoundInACaptureTheRateIsNotKnown) {
  ClientSpec spec = client("a", {"step", "100", "200"});
  Workload whole = *profile_of_jobs(1, 20, 0);
  whole.is_taken_whole = true;
  spec.workload = std::make_shared<const Workload>(whole);
  run({spec}, 20s);
  EXPECT_EQ(result_.jobs_finished[0], 5u);
  EXPECT_TRUE(result_.has_unknown_rate[0]);
  EXPECT_NE(report_.notes.back().find("has a trace in which no jobs were found: its rate is not known"),
            std::string::npos);
}

TEST_P(LiveByEachWay, WhatAProgramLaunchesWithoutTheGraphsOfItsJobsIsNoJob) {
  ClientSpec spec = client("a", {});
  spec.command.words = {"sh", "-c", std::string(LIVE_APP) + " step 40 200 && " + LIVE_APP + " graphs_only 100 200"};
  spec.workload = profile_of_jobs(10, 20, 20);
  run({spec}, 20s);
  EXPECT_EQ(result_.jobs_finished[0], 50u) << "of 70 stretches of two launches";
  EXPECT_FALSE(result_.has_unknown_rate[0]);
}

TEST_P(LiveByEachWay, TheRateOfAProgramThatLaunchesGraphsWhereItsCaptureHasNoneIsNotKnown) {
  ClientSpec spec = client("a", {"graphs_only", "300", "200"});
  spec.workload = profile_of_jobs(10, 300, 0);
  run({spec}, 20s);
  EXPECT_TRUE(result_.has_unknown_rate[0]);
  EXPECT_NE(report_.notes.back().find("launches otherwise than in its trace: 30.0 graphs for every 30.0 launches, 0.0 "
                                      "there"),
            std::string::npos)
      << report_.notes.back();
}

TEST_P(LiveByEachWay, FunctionsThatAProgramEnumeratesIntoALargerBufferAreKnown) {
  const LiveFacts facts = run({client("a", {"enumerated", "100", "200"})}, 20s);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
  EXPECT_EQ(facts.ops.size(), 100u);
  EXPECT_EQ(std::set<std::string>(facts.names.begin(), facts.names.end()), std::set<std::string>{"second"});
}

TEST_P(LiveByEachWay, AContextThatIsGivenBackByOneOfManyGoesOn) {
  const LiveFacts facts = run({client("a", {"release", "200", "200"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 200u);
  EXPECT_EQ(report_.unobserved, 0u);
}

TEST_P(LiveByEachWay, AContextGoesOnWhenThatOfAnotherDeviceEnds) {
  const LiveFacts facts = run({client("a", {"release_another", "200", "200"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 200u);
  EXPECT_EQ(report_.unobserved, 0u);
}

TEST_P(LiveByEachWay, WhatFollowsAResetIsObservedAgain) {
  const LiveFacts facts = run({client("a", {"reset", "200", "200"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 200u);
  EXPECT_EQ(report_.unobserved, 0u);
}

TEST_P(LiveByEachWay, CopiesAreLaunchesToo) {
  const LiveFacts facts = run({client("a", {"copy", "20", "100"})}, 20s);
  const auto count = [&](OpKind kind) { return std::ranges::count(facts.ops, kind, &OpFact::kind); };
  EXPECT_EQ(count(OpKind::kCopyHostToDevice), 40);
  EXPECT_EQ(count(OpKind::kKernel), 20);
}

TEST_P(LiveByEachWay, AtTheHorizonProgramsAreAskedToEnd) {
  const LiveFacts facts = run({client("a", {"step", "0", "200"})}, 500ms);
  EXPECT_GT(facts.ops.size(), 100u);
  EXPECT_EQ(result_.end, kRunStart + 500ms);
}

TEST_P(LiveByEachWay, TheLockOfNvshareAlternates) {
  const LiveFacts facts = run({client("a", {"step", "0", "500"}), client("b", {"step", "0", "500"})}, 2s, "nvshare",
                              {{"quantum", "100ms"}});
  EXPECT_GT(facts.of(0).size(), 300u);
  EXPECT_GT(facts.of(1).size(), 300u);
  EXPECT_GE(turns(facts.ops), 5u);
  EXPECT_LE(turns(facts.ops), 24u);
  EXPECT_LT(together(facts), 20ms) << "a closed gate means a device without the client";
}

TEST_P(LiveByEachWay, TokensOfGaiaGpuHoldAClientBack) {
  ClientSpec spec = client("a", {"step", "0", "1000", "20000"});
  spec.requested_share = 0.3;
  const LiveFacts facts = run({spec}, 3s, "gaiagpu");
  EXPECT_GT(facts.ops.size(), 20u);
  EXPECT_LT(facts.ops.size(), 3000u * 45 / 100) << "of 3000 that the device could do";
}

TEST_P(LiveByEachWay, FixedPriorityLeavesTheOtherWhatIsLeft) {
  ClientSpec high = client("high", {"step", "0", "500"}), low = client("low", {"step", "0", "500"});
  high.priority = 2;
  low.priority = 1;
  const LiveFacts facts = run({high, low}, 2s, "xsched_fixed_priority");
  EXPECT_GT(facts.of(0).size(), 4 * facts.of(1).size()) << "the first hardly ever leaves the device idle";
}

TEST_P(LiveByEachWay, AProgramThatNeverSynchronisesIsHeldAtTheBound) {
  options_.most_queued = 2ms;
  const LiveFacts facts = run({client("a", {"never_synchronise", "0", "1000"}), client("b", {"step", "0", "500"})}, 2s,
                              "nvshare", {{"quantum", "200ms"}, {"window_max", "0"}});
  EXPECT_GT(facts.of(1).size(), 300u) << "the other gets its turns";
  std::vector<OpFact> later = facts.of(0);
  std::erase_if(later, [](const OpFact& op) { return op.submitted < kRunStart + 500ms; });
  EXPECT_LE(most_at_once(later), 4u) << "2 ms of work, and one that waits to be below it";
}

TEST_P(LiveByEachWay, WorkThatNobodyWaitsForIsSeenToEnd) {
  const LiveFacts facts = run({client("a", {"few_and_sleep", "0", "500"})}, 500ms, "nvshare");
  EXPECT_EQ(facts.ops.size(), 3u);
}

TEST_P(LiveByEachWay, EightThreadsAreGatedTogether) {
  const LiveFacts facts = run({client("a", {"threads", "2000", "100"}), client("b", {"threads", "2000", "100"})}, 30s,
                              "nvshare", {{"quantum", "50ms"}});
  EXPECT_GE(facts.of(0).size(), 2000u);
  EXPECT_GE(facts.of(1).size(), 2000u);
  EXPECT_LT(result_.end, kRunStart + 25s);
}

TEST_P(LiveByEachWay, StreamsThatWaitForOneAnotherDoNotLock) {
  const LiveFacts facts =
      run({client("a", {"cross_streams", "1000", "100"}), client("b", {"cross_streams", "1000", "100"})}, 30s,
          "nvshare", {{"quantum", "50ms"}});
  EXPECT_EQ(facts.ops.size(), 2000u);
  EXPECT_LT(result_.end, kRunStart + 25s);
}

TEST_P(LiveByEachWay, AStreamThatWaitsForALaterLaunchDoesNotLock) {
  options_.most_in_flight = 32;
  const LiveFacts facts = run({client("a", {"wait_for_later", "60", "100"})}, 30s, "nvshare", {{"window_max", "0"}});
  EXPECT_EQ(facts.ops.size(), 60u);
  EXPECT_GT(report_.let_through, 0u);
}

TEST_P(LiveByEachWay, CapturedLaunchesPassAndAGraphIsOneLaunch) {
  const LiveFacts facts = run({client("a", {"graphs", "0", "100"})}, 30s, "nvshare");
  EXPECT_EQ(report_.captured, 20u);
  EXPECT_EQ(std::ranges::count(facts.names, ""), 5) << "graphs have no name";
  EXPECT_TRUE(report_.notes.empty()) << "the capture was not spoilt: " << report_.notes.front();
}

TEST_P(LiveByEachWay, TwoProgramsOfOneCommandFollowOneAnother) {
  ClientSpec both = client("a", {});
  both.command.words = {"sh", "-c", std::string(LIVE_APP) + " step 50 100 && " + LIVE_APP + " step 70 100"};
  const LiveFacts facts = run({both}, 20s, "nvshare");
  EXPECT_EQ(facts.ops.size(), 120u);
}

/// Captures hold names as people write them, a driver knows those that the compiler wrote; PyTorch's are long.
TEST_P(LiveByEachWay, KernelsAreKnownByTheNamesOfACapture) {
  const std::string type(600, 't');
  const LiveFacts facts =
      run({client("a", {"step", "20", "100", "4", "_Z3addI" + std::to_string(type.size()) + type + "EvT_"})}, 20s);
  ASSERT_EQ(facts.names.size(), 20u);
  EXPECT_EQ(facts.names.front(), "void add<" + type + ">(" + type + ")");
}

TEST_P(LiveByEachWay, WhatCannotBeStartedIsTheUsersTurn) {
  ClientSpec missing = client("a", {});
  missing.command.words = {"/nonexistent/program"};
  try {
    run({missing}, 1s);
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/program"), std::string::npos);
  }
}

TEST_P(LiveByEachWay, WhatIsNotLiveIsRefusedByName) {
  ClientSpec replayed = client("a", {});
  replayed.command.words.clear();
  try {
    run({replayed}, 1s);
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("client 'a' has no `command`"), std::string::npos);
  }
}

}  // namespace
}  // namespace corun
