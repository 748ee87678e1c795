// Live runs whose commands start several processes: all of them are the one client.
#include "tests/sim/live/live_fixture.h"

namespace corun {
namespace {

class LiveProcesses : public LiveShell {
 protected:
  static std::size_t count(const LiveFacts& facts, const std::string& kernel, bool is_lost = false) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < facts.ops.size(); ++i)
      found += facts.names[i] == kernel && facts.ops[i].is_lost == is_lost ? 1 : 0;
    return found;
  }
};

TEST_F(LiveProcesses, EveryLaunchOfBothIsHeard) {
  const LiveFacts facts = run({shell("a", "$APP step 300 1000 4 one & sleep 0.1; $APP step 70 100 4 two; wait")}, 20s);
  EXPECT_EQ(count(facts, "one"), 300u);
  EXPECT_EQ(count(facts, "two"), 70u);
  EXPECT_EQ(report_.unobserved, 0u);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
}

TEST_F(LiveProcesses, NoneOfThemRunsWhileAnotherClientHasTheDevice) {
  const LiveFacts facts =
      run({shell("a", "$APP step 0 500 & $APP step 0 500 & wait"), client("b", {"step", "0", "500"})}, 1500ms,
          "nvshare", {{"quantum", "100ms"}});
  EXPECT_GT(facts.of(0).size(), 200u);
  EXPECT_GT(facts.of(1).size(), 200u);
  EXPECT_LT(together(facts), 20ms);
}

TEST_F(LiveProcesses, WhatIsInFlightOfAllIsBounded) {
  options_.most_in_flight = 12;
  options_.every = 4;
  const LiveFacts facts =
      run({shell("a", "for i in 1 2 3; do $APP never_synchronise 100 1000 & done; wait")}, 20s, "nvshare");
  EXPECT_EQ(facts.ops.size(), 300u);
  EXPECT_LT(most_at_once(facts.ops), 2u * 12u) << "each may see the last place free, and has one that waits";
}

/// Its launch was the first in the queue: the other's is heard anew.
TEST_F(LiveProcesses, OneThatIsKilledAtAClosedGateTakesOnlyItsOwnLaunchWithIt) {
  const std::string line =
      "$APP step 0 500 4 killed & killed=$!; sleep 0.2; (sleep 0.4; kill -9 $killed) & exec $APP step 50 500 4 other";
  ClientSpec waiting = shell("a", line);
  waiting.arrival = 200ms;
  const LiveFacts facts =
      run({waiting, client("b", {"never_synchronise", "3000", "500"})}, 20s, "nvshare", {{"quantum", "60s"}});
  EXPECT_EQ(count(facts, "other"), 50u);
  EXPECT_EQ(count(facts, "killed") + count(facts, "killed", true), 0u) << "it never had the device";
  EXPECT_EQ(count(facts, "kernel") + count(facts, "kernel", true), 3000u);
  EXPECT_LT(result_.end, kRunStart + 15s) << "a launch waits for a dead process";
}

TEST_F(LiveProcesses, OneThatIsKilledAtWorkTakesOnlyItsOwnWorkWithIt) {
  const LiveFacts facts =
      run({shell("a",
                 "$APP never_synchronise 0 500 4 killed & killed=$!; (sleep 0.3; kill -9 $killed) & "
                 "exec $APP step 1000 500 4 other")},
          20s);
  EXPECT_GT(count(facts, "killed", true), 0u);
  EXPECT_EQ(count(facts, "other"), 1000u);
  EXPECT_EQ(count(facts, "other", true), 0u);
}

TEST_F(LiveProcesses, OneThatIsKilledAsItTakesANumberHoldsUpTheOthersForATenthOfASecond) {
  const LiveFacts facts =
      run({shell("a", "$APP step 300 1000 & sleep 0.1; $FRAMES torn_launch; wait")}, 20s, "nvshare");
  EXPECT_EQ(facts.ops.size(), 300u);
  EXPECT_LT(result_.end, kRunStart + 5s);
}

TEST_F(LiveProcesses, ProcessesMayComeAndGo) {
  const LiveFacts facts = run(
      {shell("a", "for i in $(seq 20); do for k in 1 2 3 4; do $APP step 5 100 & done; wait; done")}, 60s, "nvshare");
  EXPECT_EQ(facts.ops.size(), 400u);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
}

TEST_F(LiveProcesses, ThoseThatReplaceThemselvesAreGatedLikeTheOthers) {
  const LiveFacts facts =
      run({shell("a", "$APP step 200 1000 4 other & exec sh -c 'exec $APP start_anew 50 100'")}, 20s);
  EXPECT_EQ(count(facts, "other"), 200u);
  EXPECT_GE(count(facts, "kernel"), 50u);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
}

TEST_F(LiveProcesses, OneThatBecomesAProgramWithoutCudaIsNotWaitedForByTheOthers) {
  const LiveFacts facts =
      run({shell("a", "$APP start_another 0 20000 4 before & sleep 0.2; $APP step 20000 0 4 other; kill $!")}, 15s);
  EXPECT_EQ(count(facts, "before", true), 5u);
  EXPECT_EQ(count(facts, "other"), 20000u);
}

TEST_F(LiveProcesses, OneThatReplacesItselfAgainAndAgainTakesNoOthersSlot) {
  const LiveFacts facts = run({shell("a", "exec $APP chain 100 100")}, 20s);
  EXPECT_EQ(facts.ops.size(), 100u);
  EXPECT_TRUE(report_.notes.empty()) << report_.notes.front();
}

TEST_F(LiveProcesses, AChildThatIsForkedBeforeCudaIsUsedIsGatedToo) {
  EXPECT_EQ(run({shell("a", "$APP forked 100 200 & wait")}, 20s).ops.size(), 200u);
}

TEST_F(LiveProcesses, AChildThatIsForkedLaterIsNoneOfItsParentsLaunches) {
  const LiveFacts facts = run({client("a", {"fork_with_cuda", "100", "200"})}, 20s);
  EXPECT_EQ(facts.ops.size(), 100u);
  EXPECT_EQ(report_.unobserved, 0u);
  EXPECT_LT(result_.end, kRunStart + 10s);
}

TEST_F(LiveProcesses, MoreThanThereIsRoomForRunOnWithoutAGateAndTheRunSaysSo) {
  const LiveFacts facts =
      run({shell("a", "for i in $(seq 40); do $APP few_and_sleep 0 100 2>/dev/null & done; wait")}, 4s);
  EXPECT_EQ(facts.ops.size(), 32u * 3u);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("8 of its processes ran without a gate"), std::string::npos) << report_.notes[0];
}

/// As a launcher does.
TEST_F(LiveProcesses, AClientLeavesWhenTheLastOfThemHasEnded) {
  const LiveFacts facts = run({shell("a", "$APP step 500 1000 &")}, 20s);
  EXPECT_EQ(facts.ops.size(), 500u);
  EXPECT_LT(result_.end, kRunStart + 10s) << "all clients have left";
}

TEST_F(LiveProcesses, WhatACommandLeavesBehindIsAskedToEndAtTheHorizon) {
  run({shell("a", "$APP never_synchronise 0 500 2>$OUT &")}, 700ms);
  EXPECT_NE(output("a").find("launched"), std::string::npos);
}

/// A launcher that draws, and its game: the game's frames count while it plays.
TEST_F(LiveProcesses, FramesAreThoseOfTheNewestThatShowsAny) {
  ClientSpec launcher = shell("a", "$FRAMES 50 5 & sleep 0.5; timeout -s KILL 1 $FRAMES 10 2; wait");
  launcher.role = Role::kInteractive;
  Workload frames;
  frames.job_kind = JobKind::kFrame;
  launcher.workload = std::make_shared<const Workload>(frames);
  const LiveFacts facts = run({launcher}, 2500ms);
  const auto between = [&](Duration from, Duration to) {
    return std::ranges::count_if(facts.frames, [&](const FrameFact& frame) {
      return frame.start >= kRunStart + from && frame.start < kRunStart + to;
    });
  };
  EXPECT_NEAR(between(700ms, 1400ms), 70, 10);
  EXPECT_NEAR(between(1800ms, 2400ms), 12, 3) << "the game is dead, the launcher is not";
}

/// Closes the gate after so many launches and, once one stands there, hangs for longer than programs wait for it.
class Hanger : public Policy {
 public:
  explicit Hanger(std::uint64_t after) : after_(after) {}
  void on_submitted(const GpuView&, ClientId, const OpView&) override { ++submitted_; }
  void decide(const GpuView& view, Actions& actions) override {
    const ClientView& client = view.clients[0];
    const bool is_to_hang = submitted_ >= after_ && !has_hung_;
    if (is_to_hang && client.waiting.empty()) return actions.close(client.id);
    if (is_to_hang) std::this_thread::sleep_for(1500ms);
    has_hung_ = has_hung_ || is_to_hang;
    if (client.is_present) actions.open(client.id);
  }

 private:
  const std::uint64_t after_;
  std::uint64_t submitted_ = 0;
  bool has_hung_ = false;
};

TEST_F(LiveProcesses, OneThatGaveUpAtTheGateOfASchedulerThatHungIsNotWaitedForByTheOthers) {
  Hanger policy(100);
  RunInput input;
  input.clients = {shell("a", "$APP step 0 500 4 gave_up & sleep 2.5; $APP step 20000 0 4 other; kill $!")};
  input.policy = &policy;
  input.policy_name = "hanger";
  input.horizon = 20s;
  LiveFacts facts;
  const RunResult result = live::run_live(input, facts, options_, report_);
  EXPECT_GT(report_.unobserved, 0u) << "no launch gave up";
  EXPECT_EQ(count(facts, "other"), 20000u);
  EXPECT_LT(result.end, kRunStart + 15s);
}

TEST_F(LiveProcesses, ACallThatReturnsAfterAnotherThreadGaveUpIsNotWaitedForByTheOthers) {
  options_.is_gated_by_cupti = true;
  Hanger policy(2);
  RunInput input;
  input.clients = {
      shell("a", "$APP copy_behind_a_kernel 0 2000000 4 gave_up & sleep 2.5; $APP step 20000 0 4 other; kill $!")};
  input.policy = &policy;
  input.policy_name = "hanger";
  input.horizon = 12s;
  LiveFacts facts;
  live::run_live(input, facts, options_, report_);
  EXPECT_GT(report_.unobserved, 0u) << "no launch gave up";
  EXPECT_EQ(count(facts, "other"), 20000u);
}

/// Lets no launch pass while a frame is being rendered.
class Polite : public Policy {
 public:
  void decide(const GpuView& view, Actions& actions) override {
    const auto renders = [](const ClientView& each) { return each.frame.begin != kNever && each.frame.end == kNever; };
    const bool is_busy = std::ranges::any_of(view.clients, renders);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (is_busy) {
        actions.close(client.id);
      } else {
        actions.open(client.id);
      }
    }
  }
};

/// Whose command goes on.
TEST_F(LiveProcesses, AFrameEndsWithTheProcessThatRendersIt) {
  Polite policy;
  RunInput input;
  input.clients = {shell("game", "timeout -s KILL 0.5 $FRAMES 1000 800; sleep 60"),
                   client("b", {"step", "200", "100"})};
  input.clients[0].role = Role::kInteractive;
  input.clients[1].arrival = 300ms;
  Workload frames;
  frames.job_kind = JobKind::kFrame;
  input.clients[0].workload = std::make_shared<const Workload>(frames);
  input.policy = &policy;
  input.policy_name = "polite";
  input.horizon = 2500ms;
  LiveFacts facts;
  live::run_live(input, facts, options_, report_);
  ASSERT_EQ(facts.of(1).size(), 200u) << "they wait for a frame whose process is dead";
  EXPECT_GT(facts.of(1).front().launched, kRunStart + 450ms);
}

/// As in a sandbox, where its number means nothing outside.
TEST_F(LiveProcesses, OneInAPidNamespaceOfItsOwnIsGated) {
  const std::string within = "unshare -rpf sh -c 'for i in $(seq 40); do true & done; wait; $APP step 0 500; true'";
  if (std::system("unshare -rpf true 2>/dev/null") != 0) GTEST_SKIP() << "no namespaces here";
  const LiveFacts facts =
      run({shell("a", within), client("b", {"step", "0", "500"})}, 1500ms, "nvshare", {{"quantum", "100ms"}});
  EXPECT_GT(facts.of(0).size(), 200u);
  EXPECT_GT(facts.of(1).size(), 200u);
  EXPECT_LT(together(facts), 20ms);
}

}  // namespace
}  // namespace corun
