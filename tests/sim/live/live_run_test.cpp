// A live run as a whole: what it refuses, how it waits, how it ends, what it leaves and says.
#include <time.h>

#include <atomic>
#include <functional>

#include "sim/live/live_capture.h"
#include "sim/live/live_notes.h"
#include "tests/sim/live/live_fixture.h"
#include "traces/base/error.h"

namespace corun {
namespace {

/// Does one thing to its client, as soon as that is there.
class Once : public Policy {
 public:
  using What = std::function<void(Actions&, ClientId)>;
  explicit Once(What what) : what_(std::move(what)) {}
  void decide(const GpuView& view, Actions& actions) override {
    if (view.clients[0].is_present) what_(actions, view.clients[0].id);
  }

 private:
  const What what_;
};

class LiveRuns : public LiveShell {
 protected:
  /// What the run says that ends with an error.
  std::string error_of(const RunInput& input, ErrorKind kind = ErrorKind::kUnsupported) {
    try {
      LiveFacts facts;
      live::run_live(input, facts, options_, report_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    return "none";
  }
  /// Of a policy that does this to a client with a menu.
  std::string error_of(const Once::What& what) {
    Once policy(what);
    RunInput input = input_of({shell("a", "sleep 5")}, policy);
    input.clients[0].quality_menu = {{"high", 1.0, 1.0}, {"low", 0.5, 0.8}};
    return error_of(input);
  }
  static RunInput input_of(std::vector<ClientSpec> clients, Policy& policy, Duration horizon = 2s) {
    RunInput input;
    input.clients = std::move(clients);
    input.policy = &policy;
    input.policy_name = "once";
    input.horizon = horizon;
    return input;
  }
};

TEST_F(LiveRuns, APolicyThatWantsMoreThanToHoldLaunchesBackAndToKillEndsIt) {
  const auto refused = [](const std::string& what) {
    return "policy 'once' wants to " + what + ": a live run holds launches back and kills, no more";
  };
  EXPECT_EQ(error_of([](Actions& actions, ClientId id) { actions.shadow(id, 1); }), refused("render shadow frames"));
  EXPECT_EQ(error_of([](Actions& actions, ClientId id) { actions.prefetch(id); }), refused("prefetch"));
  EXPECT_EQ(error_of([](Actions& actions, ClientId id) { actions.set_slice(id, 1ms); }),
            refused("control the device (`set_slice`)"));
}

/// Hears of those that leave.
class Farewell : public Policy {
 public:
  void on_left(const GpuView& view, ClientId client) override { left.push_back(view.client(client).name); }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.open(client.id);
  }
  std::vector<std::string> left;
};

TEST_F(LiveRuns, APolicyHearsOfAClientThatEnds) {
  Farewell policy;
  LiveFacts facts;
  live::run_live(input_of({shell("short", "exec $APP step 20 100"), shell("long", "exec sleep 60")}, policy, 1s), facts,
                 options_, report_);
  EXPECT_EQ(policy.left, std::vector<std::string>{"short"});
}

TEST_F(LiveRuns, OraclesAndResizesAreNotLive) {
  Once nothing([](Actions&, ClientId) {});
  RunInput oracle = input_of({shell("a", "sleep 5")}, nothing);
  oracle.tells_exact_durations = true;
  EXPECT_EQ(error_of(oracle), "policy 'once' needs an oracle: a live run has none");
  RunInput resized = input_of({shell("a", "sleep 5")}, nothing);
  resized.clients[0].resizes = {Resize{1s, 0.5, 0}};
  EXPECT_EQ(error_of(resized), "client 'a' is resized: a live run does not");
}

std::chrono::nanoseconds time_on_processor() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

TEST_F(LiveRuns, TheSchedulerSleepsUntilAClientComesAndWhileNoneLaunches) {
  ClientSpec sleeper = shell("a", "exec sleep 60"), late = shell("b", "exec sleep 60");
  late.arrival = 60s;
  const auto begin = time_on_processor();
  run({sleeper, late}, 1s);
  EXPECT_LT(time_on_processor() - begin, 400ms);
  EXPECT_EQ(result_.end, kRunStart + 1s);
}

TEST_F(LiveRuns, AClientComesWhenItArrives) {
  ClientSpec first = shell("a", "exec sleep 60"), late = shell("b", "exec $APP step 50 100");
  late.arrival = 300ms;
  const LiveFacts facts = run({first, late}, 1500ms);
  ASSERT_EQ(facts.of(1).size(), 50u);
  EXPECT_GE(facts.of(1).front().submitted, kRunStart + 300ms);
}

/// What stands at its gate then passes, and ends as it is asked.
TEST_F(LiveRuns, AtTheHorizonAllGatesOpenInSilence) {
  ClientSpec waiting = shell("b", "exec $APP step 0 500 2>$OUT");
  waiting.arrival = 100ms;
  run({client("a", {"never_synchronise", "0", "500"}), waiting}, 700ms, "nvshare", {{"quantum", "60s"}});
  EXPECT_EQ(output("b").substr(0, 9), "launched ") << "not first that the scheduler is gone";
}

TEST_F(LiveRuns, MayBeInterrupted) {
  std::atomic<bool> stop{false};
  options_.stop = &stop;
  std::thread user([&] {
    std::this_thread::sleep_for(400ms);
    stop = true;
  });
  run({client("a", {"step", "0", "500"})}, 60s);
  user.join();
  EXPECT_GE(result_.end, kRunStart + 300ms);
  EXPECT_LT(result_.end, kRunStart + 20s);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_EQ(report_.notes[0].substr(0, 20), "interrupted after 0.");
  EXPECT_NE(report_.notes[0].find(" of 60.0 s"), std::string::npos) << report_.notes[0];
}

TEST_F(LiveRuns, AProgramThatDoesNotEndHasTimeUnlessTheUserHasNone) {
  const std::string stubborn = "trap '' TERM; echo began >$OUT; while :; do sleep 0.05; done";
  std::atomic<bool> hurry{true};
  for (const bool is_hurried : {false, true}) {
    std::atomic<bool> stop{false};
    options_.stop = &stop;
    options_.end_patience = is_hurried ? Duration{60s} : Duration{500ms};
    options_.hurry = is_hurried ? &hurry : nullptr;
    executor::WallClock clock;
    std::thread user([&] {
      await_output("a", 1, "began\n", 20s);
      clock = executor::WallClock();
      stop = true;
    });
    run({shell("a", stubborn)}, 60s);
    user.join();
    const Duration took = clock.elapsed();
    EXPECT_TRUE(is_hurried ? took < 20s : took >= 500ms) << took.count();
    remove_output("a");
  }
}

TEST_F(LiveRuns, CountsDeviceTimeFromTheEndOfTheWarmUp) {
  const auto rule = testing::make_policy("passthrough", {});
  RunInput input = input_of({client("a", {"step", "300", "1000"}), shell("b", "sleep 1.5")}, *rule, 20s);
  input.warmup = 1200ms;
  LiveFacts facts;
  const RunResult result = live::run_live(input, facts, options_, report_);
  ASSERT_EQ(facts.ops.size(), 300u);
  if (facts.ops.back().end > kRunStart + 1100ms) GTEST_SKIP() << "the machine is too busy";
  EXPECT_EQ(result.device_time[0], 0ns);
  EXPECT_EQ(result.usage.busy, 0ns);
  EXPECT_EQ(result.events, 300u);
  EXPECT_EQ(report_.launches, 300u);
  ASSERT_FALSE(report_.notes.empty());
  EXPECT_NE(report_.notes[0].find("client 'a' ended after 0."), std::string::npos) << report_.notes[0];
}

TEST(LiveNotes, OneThatLeavesWithoutAnErrorAfterTheWarmUpIsNotTold) {
  const auto note = [](const char* ending, Duration at, Duration warmup) {
    return live::note_of_leaving("a", ending, kRunStart + at, warmup);
  };
  EXPECT_EQ(note("", 2s, 1s), "");
  EXPECT_EQ(note("", 1s, 1s), "");
  EXPECT_EQ(note("exit code 3", 1500ms, 1s), "client 'a' ended with exit code 3 after 1.500 s");
  EXPECT_EQ(note("", 999ms, 1s), "client 'a' ended after 0.999 s, within the warm-up: nothing of it is measured");
  EXPECT_EQ(note("signal 9", 10ms, 1s),
            "client 'a' ended with signal 9 after 0.010 s, within the warm-up: nothing of it is measured");
}

OpFact some_launch(std::uint32_t client, bool is_lost = false) {
  OpFact op;
  op.client = ClientId{client};
  op.stream = StreamId{7};
  op.kind = OpKind::kMemset;
  op.submitted = kRunStart + 10us;
  op.launched = kRunStart + 30us;
  op.begin = kRunStart + 40us;
  op.end = kRunStart + 90us;
  op.is_lost = is_lost;
  return op;
}

std::vector<ClientSpec> two_clients() {
  std::vector<ClientSpec> clients(2);
  clients[0].name = "one";
  clients[1].name = "two";
  return clients;
}

TEST(LiveCaptures, HoldEachLaunchAsACallAndAnOperation) {
  const std::vector<ClientSpec> clients = two_clients();
  testing::Facts facts;
  live::LiveCapture capture(facts, clients);
  capture.on_op(some_launch(1));
  capture.on_op(some_launch(0, true));
  OpFact named = some_launch(0);
  named.name = "kernel";
  named.kind = OpKind::kKernel;
  capture.on_op(named);
  EXPECT_EQ(facts.ops.size(), 3u) << "all facts are handed on";
  const Timeline timeline = std::move(capture).seal("nvshare");
  ASSERT_EQ(timeline.ops().size(), 2u) << "what was lost is not there";
  ASSERT_EQ(timeline.calls().size(), 2u);
  for (const OpRecord& op : timeline.ops()) {
    const CallRecord& call = timeline.calls()[op.call];
    EXPECT_EQ(op.start_ns - call.start_ns, 30'000);
    EXPECT_EQ(op.duration_ns, 50'000);
    EXPECT_EQ(call.duration_ns, 20'000);
    const std::uint64_t client = op.kind == OpKind::kMemset ? 2 : 1;
    EXPECT_EQ(timeline.text(op.name), client == 1 ? "kernel" : to_string(OpKind::kMemset));
    EXPECT_EQ(timeline.queues()[op.queue].process, client);
    EXPECT_EQ(timeline.queues()[op.queue].stream, 7u);
    EXPECT_EQ(timeline.threads()[call.thread].process, client);
    EXPECT_EQ(call.queue, op.queue);
  }
  EXPECT_EQ(timeline.provenance().programs.at(1), "one");
  EXPECT_EQ(timeline.provenance().programs.at(2), "two");
  EXPECT_EQ(timeline.provenance().source_format, "live");
  EXPECT_TRUE(timeline.fidelity().has_calls);
  EXPECT_FALSE(timeline.fidelity().has_frames);
  EXPECT_NE(timeline.provenance().notes.back().find("2 programs at once under policy 'nvshare'"), std::string::npos);
}

TEST(LiveCaptures, HoldFramesWithTheTimeSinceTheOneBeforeOfTheSameClient) {
  const std::vector<ClientSpec> clients = two_clients();
  testing::Facts facts;
  live::LiveCapture capture(facts, clients);
  const auto show = [&](std::uint32_t client, Duration present) {
    FrameFact frame;
    frame.client = ClientId{client};
    frame.present = kRunStart + present;
    frame.submit = frame.present - 5ms;
    frame.gpu_begin = frame.present - 4ms;
    frame.gpu_end = frame.present - 1ms;
    frame.gpu_busy = 2ms;
    capture.on_frame(frame);
  };
  show(0, 10ms);
  show(1, 12ms);
  show(0, 27ms);
  show(1, 42ms);
  EXPECT_EQ(facts.frames.size(), 4u);
  const Timeline timeline = std::move(capture).seal("none");
  ASSERT_EQ(timeline.frames().size(), 4u);
  EXPECT_TRUE(timeline.fidelity().has_frames);
  std::vector<std::int64_t> intervals;
  for (const FrameRecord& frame : timeline.frames()) {
    intervals.push_back(frame.interval_ns);
    EXPECT_EQ(frame.present_ns - frame.submit_ns, 5'000'000);
    EXPECT_EQ(frame.gpu_span_ns(), 3'000'000);
    EXPECT_EQ(frame.present_ns - frame.gpu_end_ns, 1'000'000);
    EXPECT_EQ(frame.gpu_busy_ns, 2'000'000);
  }
  EXPECT_EQ(intervals, (std::vector<std::int64_t>{-1, -1, 17'000'000, 30'000'000}));
  EXPECT_EQ(timeline.swapchains().size(), 2u);
}

}  // namespace
}  // namespace corun
