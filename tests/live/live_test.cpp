// Live runs with programs of a CUDA driver that is not one (fake_cuda.h): what is held, what passes, and what happens
// when somebody dies. Every run has an end of its own; no test waits for anything for ever.
#include "sim/live/live.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "sim/executor/busy_time.h"
#include "tests/shapes/run_policy.h"
#include "tests/support/replay.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// What a run leaves behind, names copied.
class LiveFacts : public testing::Facts {
 public:
  void on_op(const OpFact& op) override {
    names.emplace_back(op.name);
    Facts::on_op(op);
  }
  std::vector<OpFact> of(std::uint32_t client) const {
    std::vector<OpFact> found;
    std::ranges::copy_if(ops, std::back_inserter(found), [&](const OpFact& op) { return op.client.value == client; });
    return found;
  }
  std::vector<std::string> names;
};

class Live : public ::testing::Test {
 protected:
  static ClientSpec client(const std::string& name, std::vector<std::string> words) {
    ClientSpec spec;
    spec.name = name;
    spec.workload = std::make_shared<const Workload>();
    words.insert(words.begin(), LIVE_APP);
    spec.command.words = std::move(words);
    return spec;
  }

  LiveFacts run(std::vector<ClientSpec> clients, Duration horizon, std::string_view policy = "passthrough",
                const testing::Settings& settings = {}) {
    const auto rule = testing::make_policy(policy, settings);
    input_ = RunInput{};
    input_.device.sm_count = 132;
    input_.device.max_threads_per_sm = 2048;
    input_.device.max_blocks_per_sm = 32;
    input_.clients = std::move(clients);
    input_.policy = rule.get();
    input_.policy_name = policy;
    input_.horizon = horizon;
    LiveFacts facts;
    result_ = live::run_live(input_, facts, options_, report_);
    return facts;
  }

  live::LiveOptions options_{.gate_library = CORUN_GATE_LIBRARY, .frame_library = ""};
  live::LiveReport report_;
  RunInput input_;
  RunResult result_;
};

/// Stretches of launches of one client with none of another's between.
std::size_t turns(const std::vector<OpFact>& ops) {
  std::vector<OpFact> sorted = ops;
  std::ranges::stable_sort(sorted, {}, &OpFact::launched);
  std::size_t turns = sorted.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) turns += sorted[i].client != sorted[i - 1].client ? 1 : 0;
  return turns;
}

/// Largest number of operations that had been launched and not ended.
std::size_t most_at_once(const std::vector<OpFact>& ops) {
  std::multimap<Time, int> changes;  // ends before launches of the same instant
  for (const OpFact& op : ops) changes.emplace(op.end, -1);
  for (const OpFact& op : ops) changes.emplace(op.launched, 1);
  std::ptrdiff_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return static_cast<std::size_t>(most);
}

/// Device time in which operations of two clients ran at once.
Duration together(const LiveFacts& facts) {
  executor::BusyTime each[2], any;
  for (const OpFact& op : facts.ops) {
    each[op.client.value].add(op.begin, op.end);
    any.add(op.begin, op.end);
  }
  return each[0].total() + each[1].total() - any.total();
}

TEST_F(Live, AProgramRunsToItsEndAndEveryLaunchIsHeard) {
  const LiveFacts facts = run({client("a", {"step", "500", "200"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 500u);
  EXPECT_EQ(result_.jobs_finished[0], 500u) << "without a profile, a launch is a job";
  EXPECT_LT(result_.end, kRunStart + 15s) << "a client whose command has ended leaves";
  EXPECT_EQ(report_.unobserved, 0u);
  EXPECT_TRUE(report_.notes.empty());
  EXPECT_EQ(std::set<std::string>(facts.names.begin(), facts.names.end()), std::set<std::string>{"kernel"});
  Duration device_time{};
  for (const OpFact& op : facts.ops) {
    EXPECT_LE(op.submitted, op.launched);
    EXPECT_LE(op.launched, op.begin);
    EXPECT_LE(op.begin, op.end);
    device_time += op.device_time;
  }
  EXPECT_GE(device_time, 500 * 190us);
  EXPECT_LE(device_time, 500 * 400us);
}

TEST_F(Live, CopiesAreLaunchesToo) {
  const LiveFacts facts = run({client("a", {"copy", "20", "100"})}, 20s);
  const auto count = [&](OpKind kind) { return std::ranges::count(facts.ops, kind, &OpFact::kind); };
  EXPECT_EQ(count(OpKind::kCopyHostToDevice), 40);
  EXPECT_EQ(count(OpKind::kKernel), 20);
}

TEST_F(Live, AtTheHorizonProgramsAreAskedToEnd) {
  const LiveFacts facts = run({client("a", {"step", "0", "200"})}, 500ms);
  EXPECT_GT(facts.ops.size(), 100u);
  EXPECT_EQ(result_.end, kRunStart + 500ms);
}

TEST_F(Live, TheLockOfNvshareAlternates) {
  const LiveFacts facts = run({client("a", {"step", "0", "500"}), client("b", {"step", "0", "500"})}, 2s, "nvshare",
                              {{"quantum", "100ms"}});
  EXPECT_GT(facts.of(0).size(), 300u);
  EXPECT_GT(facts.of(1).size(), 300u);
  EXPECT_GE(turns(facts.ops), 5u);
  EXPECT_LE(turns(facts.ops), 24u);
  EXPECT_LT(together(facts), 20ms) << "a closed gate means a device without the client";
}

TEST_F(Live, TokensOfGaiaGpuHoldAClientBack) {
  ClientSpec spec = client("a", {"step", "0", "1000", "20000"});
  spec.requested_share = 0.3;
  const LiveFacts free = run({spec}, 3s);
  const LiveFacts capped = run({spec}, 3s, "gaiagpu");
  EXPECT_GT(capped.ops.size(), 20u);
  EXPECT_LT(capped.ops.size(), 6 * free.ops.size() / 10);
}

TEST_F(Live, FixedPriorityLeavesTheOtherWhatIsLeft) {
  ClientSpec high = client("high", {"step", "0", "500"}), low = client("low", {"step", "0", "500"});
  high.priority = 2;
  low.priority = 1;
  const LiveFacts facts = run({high, low}, 2s, "xsched_fixed_priority");
  EXPECT_GT(facts.of(0).size(), 4 * facts.of(1).size()) << "the first hardly ever leaves the device idle";
}

TEST_F(Live, AProgramThatNeverSynchronisesIsHeldAtTheBound) {
  const LiveFacts facts = run({client("a", {"never_synchronise", "0", "1000"}), client("b", {"step", "0", "500"})}, 2s,
                              "nvshare", {{"quantum", "200ms"}, {"window_max", "0"}});
  EXPECT_GT(facts.of(1).size(), 300u) << "the other gets its turns";
  EXPECT_LE(most_at_once(facts.of(0)), 33u) << "the bound, and one that waits to be below it";
}

TEST_F(Live, WorkThatNobodyWaitsForIsSeenToEnd) {
  const LiveFacts facts = run({client("a", {"few_and_sleep", "0", "500"})}, 500ms, "nvshare");
  EXPECT_EQ(facts.ops.size(), 3u);
}

TEST_F(Live, EightThreadsAreGatedTogether) {
  const LiveFacts facts = run({client("a", {"threads", "2000", "100"}), client("b", {"threads", "2000", "100"})}, 30s,
                              "nvshare", {{"quantum", "50ms"}});
  EXPECT_GE(facts.of(0).size(), 2000u);
  EXPECT_GE(facts.of(1).size(), 2000u);
  EXPECT_LT(result_.end, kRunStart + 25s);
}

TEST_F(Live, StreamsThatWaitForOneAnotherDoNotLock) {
  const LiveFacts facts =
      run({client("a", {"cross_streams", "1000", "100"}), client("b", {"cross_streams", "1000", "100"})}, 30s,
          "nvshare", {{"quantum", "50ms"}});
  EXPECT_EQ(facts.ops.size(), 2000u);
  EXPECT_LT(result_.end, kRunStart + 25s);
}

TEST_F(Live, AStreamThatWaitsForALaterLaunchDoesNotLock) {
  const LiveFacts facts = run({client("a", {"wait_for_later", "60", "100"})}, 30s, "nvshare", {{"window_max", "0"}});
  EXPECT_EQ(facts.ops.size(), 60u);
  EXPECT_GT(report_.let_through, 0u);
}

TEST_F(Live, CapturedLaunchesPassAndAGraphIsOneLaunch) {
  const LiveFacts facts = run({client("a", {"graphs", "0", "100"})}, 30s, "nvshare");
  EXPECT_EQ(report_.captured, 20u);
  EXPECT_EQ(std::ranges::count(facts.names, ""), 5) << "graphs have no name";
  EXPECT_TRUE(report_.notes.empty()) << "the capture was not spoilt: " << report_.notes.front();
}

TEST_F(Live, AClientThatIsKilledGivesItsLockBack) {
  ClientSpec killed = client("a", {});
  killed.command.words = {"timeout", "-s", "KILL", "0.7", LIVE_APP, "never_synchronise", "0", "500"};
  const LiveFacts facts = run({killed, client("b", {"step", "0", "500"})}, 3s, "nvshare", {{"quantum", "60s"}});
  ASSERT_FALSE(facts.of(1).empty()) << "the other waits for a lock whose holder is dead";
  EXPECT_LT(facts.of(1).front().launched, kRunStart + 1500ms);
  ASSERT_EQ(report_.notes.size(), 1u);
}

TEST_F(Live, TwoProgramsOfOneCommandFollowOneAnother) {
  ClientSpec both = client("a", {});
  both.command.words = {"sh", "-c", std::string(LIVE_APP) + " step 50 100 && " + LIVE_APP + " step 70 100"};
  const LiveFacts facts = run({both}, 20s, "nvshare");
  EXPECT_EQ(facts.ops.size(), 120u);
}

TEST_F(Live, ASecondProcessOfAClientRunsWithoutAGate) {
  ClientSpec both = client("a", {});
  both.command.words = {"sh", "-c",
                        std::string(LIVE_APP) + " step 300 1000 & sleep 0.1; " + LIVE_APP + " step 70 100; wait"};
  const LiveFacts facts = run({both}, 20s);
  EXPECT_EQ(facts.ops.size(), 300u);
  ASSERT_EQ(report_.notes.size(), 1u);
}

TEST_F(Live, WhatCannotBeStartedIsTheUsersTurn) {
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

TEST_F(Live, WhatIsNotLiveIsRefusedByName) {
  ClientSpec replayed = client("a", {});
  replayed.command.words.clear();
  EXPECT_THROW(run({replayed}, 1s), Error);
}

#ifdef LIVE_GAME
class LiveGame : public Live {
 protected:
  LiveGame() { options_.frame_library = CORUN_FRAME_LIBRARY; }

  static ClientSpec game() {
    ClientSpec spec = client("game", {});
    spec.command.words = {LIVE_GAME};
    spec.role = Role::kInteractive;
    spec.pacing = {Pacing::Mode::kVsync, 16ms};
    Workload frames;
    frames.job_kind = JobKind::kFrame;
    spec.workload = std::make_shared<const Workload>(frames);
    return spec;
  }

  /// A filler with a profile: what a solo capture of it would tell.
  static ClientSpec filler() {
    ClientSpec spec = client("filler", {"never_synchronise", "0", "500"});
    Workload profile;
    profile.names = {"kernel"};
    testing::append_job(profile, {500us}, 0us, 0us, false);
    spec.workload = std::make_shared<const Workload>(profile);
    return spec;
  }
};

TEST_F(LiveGame, FramesAreHeard) {
  const LiveFacts facts = run({game()}, 2s);
  ASSERT_GT(facts.frames.size(), 5u);
  EXPECT_TRUE(report_.notes.empty());
  for (const FrameFact& frame : facts.frames) {
    EXPECT_LT(frame.submit, frame.gpu_end);
    EXPECT_LE(frame.gpu_end, frame.present);
    EXPECT_GT(frame.gpu_busy, 0ms);
  }
}

/// How much of the filler falls into frames depends on how fast a processor renders them: not asked here.
TEST_F(LiveGame, PilotFishHearsFramesAndLetsAFillerRunBesideThem) {
  const LiveFacts facts = run({game(), filler()}, 2s, "pilotfish", {{"budget", "absolute"}, {"launch_retry", "1ms"}});
  EXPECT_FALSE(facts.frames.empty());
  EXPECT_FALSE(facts.of(1).empty());
}
#endif

/// What a program wrote while its scheduler died under it.
std::string output_without_scheduler(const std::filesystem::path& folder) {
  const std::string output = (folder / "output").string();
  const pid_t scheduler = fork();
  if (scheduler == 0) {
    // A gate that never opens: the quantum of another client that never ends.
    const auto rule = testing::make_policy("nvshare", {{"quantum", "3600s"}});
    RunInput input;
    for (const char* name : {"a", "b"}) {
      ClientSpec spec;
      spec.name = name;
      spec.workload = std::make_shared<const Workload>();
      spec.arrival = name[0] == 'a' ? 0ms : 300ms;
      const std::string work = name[0] == 'a' ? "never_synchronise 3000 500" : "step 100 100";
      spec.command.words = {"sh", "-c", "exec " LIVE_APP " " + work + " 2>" + output + "." + name};
      input.clients.push_back(spec);
    }
    input.policy = rule.get();
    input.policy_name = "nvshare";
    input.horizon = 60s;
    testing::Facts facts;
    live::LiveReport report;
    live::run_live(input, facts, {.gate_library = CORUN_GATE_LIBRARY, .frame_library = ""}, report);
    _exit(0);
  }
  std::this_thread::sleep_for(800ms);
  kill(scheduler, SIGKILL);
  waitpid(scheduler, nullptr, 0);
  std::this_thread::sleep_for(600ms);
  std::ifstream file(output + ".b");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Live, WithoutASchedulerProgramsRunOnAndSayItOnce) {
  std::string folder = (std::filesystem::temp_directory_path() / "corun-live-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(output_without_scheduler(folder),
            "corun: the scheduler is gone, this program runs on without a gate\nlaunched 100\n");
  std::this_thread::sleep_for(2s);  // the other ends, too
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace corun
