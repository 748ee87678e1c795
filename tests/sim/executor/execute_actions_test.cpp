// What a policy asks of hardware besides opening gates: snapshots, kills, settings, and what they leave behind.

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include "sim/executor/host/mps_daemon.h"
#include "tests/sim/executor/execute_fixture.h"

namespace corun::testing {
namespace {

class KeepsKills : public Facts {
 public:
  void on_kill(const KillFact& kill) override { kills.push_back(kill); }
  std::vector<KillFact> kills;
};

/// Opens every gate and carries out steps, each once, in order: at its time, when its client is as it has to be.
class Steps : public Policy {
 public:
  struct Step {
    Duration at;
    std::function<bool(const GpuView&)> may;
    std::function<void(Actions&)> act;
  };
  explicit Steps(std::vector<Step> steps) : steps_(std::move(steps)) {}

  void on_joined(const GpuView&, ClientId client) override { to_open_.push_back(client); }
  void on_completed(const GpuView&, ClientId, const OpView&, Duration) override { heard.emplace_back("completed"); }
  void on_copied(const GpuView&, ClientId client, CopyEvent event) override {
    heard.emplace_back(event == CopyEvent::kSnapshot ? "snapshot" : "restored");
    to_open_.push_back(client);
  }
  void on_resized(const GpuView& view, ClientId client) override {
    heard.push_back("resized to " + std::to_string(view.client(client).requested_bytes));
  }
  void on_adjusted(const GpuView&, const std::string& parameter, const ParameterValue& value) override {
    heard.push_back(parameter + " is " + format_parameter(value));
  }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientId client : std::exchange(to_open_, {})) actions.open(client);
    for (; !steps_.empty() && view.now >= kRunStart + steps_.front().at && steps_.front().may(view);
         steps_.erase(steps_.begin()))
      steps_.front().act(actions);
    if (!steps_.empty()) actions.wake_at(std::max(view.now + 1ms, kRunStart + steps_.front().at));
  }

  std::vector<std::string> heard;

 private:
  std::vector<Step> steps_;
  std::vector<ClientId> to_open_;
};

constexpr ClientId kFirst{0};

bool always(const GpuView&) { return true; }
bool is_idle(const GpuView& view) { return view.client(kFirst).in_flight == 0; }
bool is_at_work(const GpuView& view) { return view.client(kFirst).in_flight > 0 && !view.client(kFirst).is_copying; }

class ExecuteActions : public Execute {
 protected:
  ExecuteActions() {
    std::string name = (std::filesystem::temp_directory_path() / "corun-calls-XXXXXX").string();
    close(mkstemp(name.data()));
    log_ = name;
    setenv("CORUN_FAKE_CUDA_LOG", log_.c_str(), 1);
  }
  ~ExecuteActions() override {
    unsetenv("CORUN_FAKE_CUDA_LOG");
    std::filesystem::remove(log_);
  }

  /// Runs under these steps; facts stay here.
  void take(std::vector<ClientSpec> clients, Duration horizon, std::vector<Steps::Step> steps) {
    Steps policy(std::move(steps));
    input_.clients = std::move(clients);
    input_.policy = &policy;
    input_.policy_name = "steps";
    input_.horizon = horizon;
    result_ = executor::execute(input_, facts_, options_, report_);
    heard_ = policy.heard;
  }

  /// What calls of one kind left behind: the words after it.
  std::vector<std::string> calls(const std::string& kind) const {
    std::vector<std::string> found;
    std::ifstream file(log_);
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(kind + " ")) found.push_back(line.substr(kind.size() + 1));
    return found;
  }

  bool has_note(const std::string& words) const {
    return std::ranges::any_of(report_.notes,
                               [&](const std::string& note) { return note.find(words) != std::string::npos; });
  }
  std::string notes() const { return std::accumulate(report_.notes.begin(), report_.notes.end(), std::string()); }

  std::string log_;
  KeepsKills facts_;
  std::vector<std::string> heard_;
};

/// A client of 1 MiB that never waits for long, and goes on for ever.
ClientSpec with_memory(ClientSpec spec) {
  spec.repeat = 0;
  spec.allocated_bytes = spec.snapshot_bytes = 1 << 20;
  return spec;
}

DeviceSpec with_link() {
  DeviceSpec device;
  device.to_device_bytes_per_s = device.from_device_bytes_per_s = 10'000'000'000;
  return device;
}

TEST_F(ExecuteActions, AKilledClientComesBackWithTheMemoryOfItsSnapshot) {
  tell_driver("slow_context=200");
  input_.device = with_link();
  const ClientSpec victim = with_memory(client("victim", {2ms, 2ms})), other = with_memory(client("other", {1ms}));
  take({victim, other}, 3s,
       {{50ms, always, [](Actions& actions) { actions.close(kFirst); }},
        {50ms, is_idle, [](Actions& actions) { actions.snapshot(kFirst); }},
        {300ms, is_at_work, [](Actions& actions) { actions.kill(kFirst); }}});
  ASSERT_EQ(facts_.kills.size(), 1u);
  const KillFact& kill = facts_.kills[0];
  ASSERT_NE(kill.restored, kNever) << notes();
  EXPECT_GT(kill.restored - kill.time, 200ms) << "a new context takes its time";
  const auto closed = std::ranges::find(facts_.decisions, Action::Kind::kClose,
                                        [](const DecisionFact& decision) { return decision.action.kind; });
  Duration since_snapshot{};
  for (const OpFact& op : facts_.ops)
    if (op.client == kFirst && op.launched >= closed->time && op.launched <= kill.time)
      since_snapshot += op.device_time;
  EXPECT_GT(kill.lost, 0ms);
  EXPECT_NEAR(to_milliseconds(kill.lost), to_milliseconds(since_snapshot), 5.0);

  const auto saved = calls("save"), restored = calls("restore");
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved, restored) << "what was restored is what was saved";

  std::uint64_t lost = 0, after = 0, others_meanwhile = 0, next = 0;
  for (const OpFact& op : facts_.ops) {
    const bool is_victim = op.client == kFirst;
    EXPECT_TRUE(!is_victim || op.number == next++) << "each once";
    lost += op.is_lost ? 1 : 0;
    after += is_victim && op.launched >= kill.restored ? 1 : 0;
    others_meanwhile += !is_victim && op.begin > kill.time && op.end < kill.restored ? 1 : 0;
    EXPECT_FALSE(is_victim && op.launched > kill.time && op.launched < kill.restored) << op.number;
  }
  EXPECT_EQ(lost, 1u) << "its host waits for each operation";
  EXPECT_GT(after, 10u);
  EXPECT_GT(others_meanwhile, 3u) << "scheduling does not wait for the new process";
  EXPECT_TRUE(has_note("'victim' was killed and came back once")) << notes();
}

TEST_F(ExecuteActions, UnderMpsTheServerEndsItsWorkBeforeAClientIsKilled) {
  const executor::MpsDaemon daemon(CORUN_FAKE_MPS);
  options_.mps = &daemon;
  input_.device = with_link();
  take({with_memory(client("victim", {2ms}))}, 2s,
       {{50ms, is_at_work, [](Actions& actions) { actions.kill(kFirst); }}});
  const auto terminated = calls("terminate_client");
  ASSERT_EQ(terminated.size(), 1u);
  EXPECT_TRUE(terminated[0].starts_with(std::to_string(daemon.server()) + " ")) << terminated[0];
  ASSERT_EQ(facts_.kills.size(), 1u);
  ASSERT_NE(facts_.kills[0].restored, kNever);
  EXPECT_GT(facts_.kills[0].restored - facts_.kills[0].time, 100ms) << "it is waited for";
}

TEST_F(ExecuteActions, ThePolicyHearsOfSnapshotsAndKillsAsInSimulation) {
  input_.device = with_link();
  ClientSpec victim = with_memory(client("victim", {2ms, 2ms}, false));
  victim.pacing.mode = Pacing::Mode::kSyncEachJob;
  const auto steps = [] {
    return std::vector<Steps::Step>{{20ms, always, [](Actions& actions) { actions.close(kFirst); }},
                                    {20ms, is_idle, [](Actions& actions) { actions.snapshot(kFirst); }},
                                    {80ms, is_at_work, [](Actions& actions) { actions.kill(kFirst); }}};
  };
  const auto without_completions = [](std::vector<std::string> heard) {
    std::erase(heard, "completed");
    return heard;
  };
  take({victim}, 2s, steps());
  Steps simulated(steps());
  input_.policy = &simulated;
  KeepsKills facts;
  simulate(input_, facts);
  EXPECT_EQ(without_completions(heard_), without_completions(simulated.heard));
  ASSERT_EQ(facts_.decisions.size(), facts.decisions.size());
  for (std::size_t i = 0; i < facts.decisions.size(); ++i)
    EXPECT_EQ(facts_.decisions[i].action.kind, facts.decisions[i].action.kind) << i;
  const auto lost = [](const Facts& of) { return std::ranges::count(of.ops, true, &OpFact::is_lost); };
  EXPECT_GE(lost(facts_), 1);
  EXPECT_LE(lost(facts_), 2) << "no more than a job has";
  EXPECT_EQ(facts_.kills.size(), facts.kills.size());
}

TEST_F(ExecuteActions, ASnapshotOfTheFirstInstantIsHeardToo) {
  input_.device = with_link();
  take({with_memory(client("a", {2ms}))}, 500ms,
       {{0ms, always, [](Actions& actions) { actions.close(kFirst); }},
        {0ms, is_idle, [](Actions& actions) { actions.snapshot(kFirst); }}});
  EXPECT_EQ(std::ranges::count(heard_, "snapshot"), 1);
  EXPECT_GT(facts_.ops.size(), 10u);
}

TEST_F(ExecuteActions, WhatIsAskedAfterASnapshotOfTheFirstInstantIsDoneToo) {
  const executor::MpsDaemon daemon(CORUN_FAKE_MPS);
  options_.mps = &daemon;
  input_.device = with_link();
  const auto shorten_patience = [&](Actions& actions) {
    options_.start_patience = 5s;
    actions.close(kFirst);
  };
  take({with_memory(client("a", {2ms}))}, 500ms,
       {{0ms, always, shorten_patience},
        {0ms, is_idle, [](Actions& actions) { actions.snapshot(kFirst); }},
        {0ms, always, [](Actions& actions) { actions.set_sm_cap(kFirst, 0.5); }}});
  EXPECT_EQ(std::ranges::count(heard_, "snapshot"), 1);
  EXPECT_EQ(calls("context"), (std::vector<std::string>{"50"}));
  EXPECT_GT(facts_.ops.size(), 10u);
}

TEST_F(ExecuteActions, WithoutASnapshotTheMemoryIsCopiedAllTheSame) {
  input_.device = with_link();
  take({with_memory(client("victim", {2ms}))}, 1s,
       {{50ms, is_at_work, [](Actions& actions) { actions.kill(kFirst); }}});
  ASSERT_EQ(facts_.kills.size(), 1u);
  EXPECT_NE(facts_.kills[0].restored, kNever);
  EXPECT_EQ(calls("restore").size(), 1u);
}

TEST_F(ExecuteActions, AClientMayLeaveWhileItIsKilled) {
  ClientSpec victim = client("victim", {2ms});
  victim.repeat = 20;
  take({victim}, 60s, {{5ms, is_at_work, [](Actions& actions) {
                          actions.kill(kFirst);
                          actions.refuse(kFirst);
                        }}});
  EXPECT_LT(result_.end, kRunStart + 30s);
  ASSERT_EQ(facts_.kills.size(), 1u);
  EXPECT_EQ(facts_.kills[0].restored, kNever);
}

TEST_F(ExecuteActions, NobodyWaitsForTheNewProcessOfAClientThatHasLeft) {
  ClientSpec victim = client("victim", {2ms}), other = client("other", {2ms});
  victim.repeat = 20;
  other.repeat = 200;
  const auto kill_and_refuse = [&](Actions& actions) {
    options_.start_patience = 50ms;
    actions.kill(kFirst);
    actions.refuse(kFirst);
  };
  take({victim, other}, 60s, {{5ms, is_at_work, kill_and_refuse}});
  EXPECT_GE(std::ranges::count(facts_.ops, ClientId{1}, &OpFact::client), 200);
}

TEST_F(ExecuteActions, ANewProcessThatDoesNotComeUpEndsTheRun) {
  options_.worker = std::string(CORUN_WORKER);
  options_.start_patience = 20s;
  ClientSpec victim = client("victim", {2ms});
  victim.repeat = 0;
  try {
    take({victim}, 60s, {{50ms, is_at_work, [&](Actions& actions) {
                            options_.worker = "/bin/true";
                            actions.kill(kFirst);
                          }}});
    FAIL() << "it went well";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    EXPECT_NE(std::string(error.what()).find("'victim': its process died"), std::string::npos) << error.what();
  }
}

TEST_F(ExecuteActions, PilotfishKillsAFillerThatIsInTheWay) {
  input_.device = with_link();
  options_.renders = false;
  ClientSpec filler = with_memory(client("filler", {40ms}, false));
  ClientSpec player = game(client("player", {2ms}));
  player.repeat = 0;
  player.arrival = 30ms;
  const auto rule = make_policy("pilotfish", {{"guarantee", "hard"}, {"preempt", "leftover"}});
  input_.clients = {player, filler};
  input_.policy = rule.get();
  input_.policy_name = "pilotfish";
  input_.horizon = 2s;
  executor::execute(input_, facts_, options_, report_);
  EXPECT_FALSE(facts_.kills.empty());
  EXPECT_GT(facts_.frames.size(), 20u);
}

TEST_F(ExecuteActions, APriorityTakesAnotherStreamAndKeepsTheOrder) {
  ClientSpec spec = client("a", {3ms, 3ms, 3ms, 3ms}, false);
  spec.host_gap_scale = 50;  // 5 ms before a job, 1 ms between launches: the device is always behind
  spec.repeat = 20;
  std::vector<Steps::Step> steps;
  for (std::int32_t i = 1; i <= 30; ++i)
    steps.push_back({i * 4ms, always, [i](Actions& actions) { actions.set_priority(kFirst, i % 6); }});
  take({spec}, 30s, std::move(steps));
  auto streams = calls("stream");
  std::ranges::sort(streams);
  EXPECT_GE(streams.size(), 3u) << "a level that nothing was launched at has none";
  EXPECT_EQ(std::ranges::adjacent_find(streams), streams.end()) << "one each";
  ASSERT_EQ(facts_.ops.size(), 80u);
  for (std::size_t i = 1; i < facts_.ops.size(); ++i)
    EXPECT_LE(facts_.ops[i - 1].end, facts_.ops[i].begin + 2 * report_.clock_error) << i;
  EXPECT_TRUE(has_note("between clients, which take turns, they mean nothing")) << notes();
}

TEST_F(ExecuteActions, PrioritiesThatTheDeviceLacksAreSaid) {
  tell_driver("few_priorities");
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 20;
  take({spec}, 30s, {{5ms, always, [](Actions& actions) { actions.set_priority(kFirst, 3); }}});
  EXPECT_EQ(facts_.ops.size(), 20u);
  EXPECT_TRUE(has_note("priorities from 0 to 3 were asked for; this device has 0 to 0")) << notes();
}

TEST_F(ExecuteActions, UnderMpsACapHoldsFromTheFirstLaunchOn) {
  const executor::MpsDaemon daemon(CORUN_FAKE_MPS);
  options_.mps = &daemon;
  input_.device.sharing = Sharing::kConcurrent;
  ClientSpec spec = client("a", {4ms});
  spec.repeat = 20;
  take({spec}, 30s, {{0ms, always, [](Actions& actions) { actions.set_sm_cap(kFirst, 0.5); }}});
  ASSERT_EQ(facts_.ops.size(), 20u);
  for (const OpFact& op : facts_.ops) EXPECT_GT(op.device_time, 7'500us) << op.number;
  EXPECT_LT(facts_.ops[0].begin, kRunStart + 50ms) << "the clock did not wait for the new context";
  EXPECT_TRUE(has_note("'a' has 50 SMs at most")) << notes();
  EXPECT_FALSE(has_note("take turns")) << notes();
}

TEST_F(ExecuteActions, ACapMayChangeWhileTheClientRuns) {
  const executor::MpsDaemon daemon(CORUN_FAKE_MPS);
  options_.mps = &daemon;
  input_.device.sharing = Sharing::kConcurrent;
  ClientSpec spec = with_memory(client("a", {2ms, 2ms}, false));
  spec.context.sm_cap = 0.5;
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  spec.repeat = 100;
  take({spec}, 60s,
       {{300ms, always, [](Actions& actions) { actions.set_sm_cap(kFirst, 0.25); }},
        {900ms, always, [](Actions& actions) { actions.set_sm_cap(kFirst, 1.0); }}});
  ASSERT_EQ(facts_.ops.size(), 200u);
  EXPECT_GT(facts_.ops.front().device_time, 3'700us);
  EXPECT_LT(facts_.ops.back().device_time, 3'000us);
  EXPECT_TRUE(std::ranges::any_of(facts_.ops, [](const OpFact& op) { return op.device_time > 7'500us; }));
  EXPECT_EQ(calls("context"), (std::vector<std::string>{"50", "26"})) << "25 SMs are rounded up by this driver";
  for (std::size_t i = 0; i < facts_.ops.size(); ++i) EXPECT_EQ(facts_.ops[i].number, i);
  const auto held = calls("hold");
  EXPECT_EQ(std::ranges::count(held, std::to_string(1 << 20)), 4) << "memory is taken anew in each context";
}

TEST_F(ExecuteActions, ACapNeedsMps) {
  ClientSpec spec = client("a", {1ms});
  spec.context.sm_cap = 0.5;
  const std::string text = failure({spec}, ErrorKind::kUnsupported);
  EXPECT_NE(text.find("client 'a': a cap of SMs"), std::string::npos) << text;
  EXPECT_NE(text.find("MPS"), std::string::npos) << text;
}

TEST_F(ExecuteActions, AnOracleIsRefusedBeforeAnythingRuns) {
  const auto rule = make_policy("passthrough", {});
  RunInput input;
  input.clients = {client("a", {1ms})};
  input.policy = rule.get();
  input.policy_name = "seer";
  input.horizon = 1s;
  input.tells_exact_durations = true;
  Facts facts;
  try {
    executor::execute(input, facts, options_, report_);
    FAIL() << "it went well";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_STREQ(error.what(), "policy 'seer' needs an oracle: hardware has none");
  }
  EXPECT_TRUE(facts.ops.empty());
}

TEST_F(ExecuteActions, SettingsThatNoDriverOffersAreRefusedWithTheReason) {
  ClientSpec spec = client("a", {1ms});
  const auto refusal = [&](const std::function<void(Actions&)>& act) -> std::string {
    try {
      take({spec}, 10s, {{0ms, always, act}});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      return error.what();
    }
    return "it went well";
  };
  EXPECT_NE(refusal([](Actions& actions) { actions.set_slice(kFirst, 1ms); }).find("time slice"), std::string::npos);
  EXPECT_NE(refusal([](Actions& actions) { actions.set_sm_share(kFirst, 0.5); }).find("green contexts"),
            std::string::npos);
  EXPECT_NE(refusal([](Actions& actions) { actions.set_instance(kFirst, 0.5); }).find("device's mode"),
            std::string::npos);
}

TEST_F(ExecuteActions, PrefetchingIsIgnoredAndSaid) {
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 20;
  take({spec}, 10s, {{5ms, always, [](Actions& actions) { actions.prefetch(kFirst); }}});
  EXPECT_EQ(facts_.ops.size(), 20u);
  EXPECT_TRUE(has_note("prefetching was asked for once and ignored")) << notes();
}

TEST_F(ExecuteActions, AResizeIsHeardAndChangesWhatIsHeld) {
  ClientSpec spec = with_memory(client("a", {1ms}));
  spec.snapshot_bytes = 0;
  spec.allocated_bytes = 5'000'000;
  spec.repeat = 100;
  spec.resizes = {{20ms, 0.5, 7'000'000}, {40ms, 0.5, 3'000'000}};
  take({spec}, 30s, {});
  EXPECT_EQ(facts_.ops.size(), 100u);
  EXPECT_TRUE(std::ranges::count(heard_, "resized to 7000000") == 1 &&
              std::ranges::count(heard_, "resized to 3000000") == 1);
  auto held = calls("hold");
  std::erase_if(held, [](const std::string& bytes) { return !bytes.ends_with("000000"); });
  EXPECT_EQ(held, (std::vector<std::string>{"5000000", "7000000", "3000000"}));
  EXPECT_TRUE(has_note("freed and taken anew 2 times")) << notes();
}

TEST_F(ExecuteActions, AdjustmentsAreHeardInOrderAndThoseAfterTheRunNever) {
  ClientSpec spec = client("a", {1ms});
  spec.repeat = 100;
  input_.adjustments = {{20ms, "x", true}, {40ms, "x", false}, {60s, "x", true}};
  take({spec}, 30s, {});
  std::erase(heard_, "completed");
  EXPECT_EQ(heard_, (std::vector<std::string>{"x is true", "x is false"}));
}

TEST_F(ExecuteActions, ASharedDeviceWithoutMpsIsSaid) {
  input_.device.sharing = Sharing::kConcurrent;
  take({client("a", {1ms})}, 100ms, {});
  EXPECT_TRUE(has_note("no MPS daemon was asked for")) << notes();
}

TEST_F(ExecuteActions, ADaemonThatIsFoundBesideATimeSlicedDeviceIsSaid) {
  const executor::MpsDaemon daemon(CORUN_FAKE_MPS);
  const std::string variable = daemon.environment()[0];
  setenv("CUDA_MPS_PIPE_DIRECTORY", variable.substr(variable.find('=') + 1).c_str(), 1);
  take({client("a", {1ms})}, 100ms, {});
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  EXPECT_TRUE(has_note("here they share the device at once, under MPS")) << notes();
}

TEST_F(ExecuteActions, TrafficIsDrawnAndKernelsTakeTheirTimeAllTheSame) {
  options_.traffic = 0.25;
  ClientSpec spec = client("a", {3ms});
  spec.repeat = 20;
  take({spec}, 30s, {});
  ASSERT_EQ(facts_.ops.size(), 20u);
  for (const OpFact& op : facts_.ops) EXPECT_NEAR(to_milliseconds(op.device_time), 3.0, 0.3);
  EXPECT_TRUE(has_note("surrogates draw 25 to 25 % of the memory's bandwidth")) << notes();
  EXPECT_EQ(std::ranges::count(calls("hold"), std::to_string(256 << 20)), 1);
}

TEST_F(ExecuteActions, WithoutTrafficNoMemoryIsTakenForIt) {
  take({client("a", {1ms})}, 100ms, {});
  EXPECT_EQ(std::ranges::count(calls("hold"), std::to_string(256 << 20)), 0);
}

TEST_F(ExecuteActions, TrafficNeedsAKnownBandwidth) {
  options_.traffic = 0.25;
  tell_driver("no_bandwidth");
  EXPECT_NE(failure({client("a", {1ms})}, ErrorKind::kUnsupported).find("bandwidth"), std::string::npos);
}

TEST_F(ExecuteActions, EachProcessHasAProcessorOfItsOwnWhereThereAreEnough) {
  options_.processors.clear();
  take({client("a", {1ms})}, 100ms, {});
  cpu_set_t usable;
  sched_getaffinity(0, sizeof(usable), &usable);
  const int others = CPU_COUNT(&usable) - (CPU_ISSET(0, &usable) ? 1 : 0);
  EXPECT_TRUE(has_note(others >= 2 ? "pinned to processors" : "not pinned")) << notes();
}

TEST_F(ExecuteActions, TooFewProcessorsAreSaid) {
  cpu_set_t before, one;
  sched_getaffinity(0, sizeof(before), &before);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
  options_.processors.clear();
  take({client("a", {1ms})}, 100ms, {});
  sched_setaffinity(0, sizeof(before), &before);
  EXPECT_TRUE(has_note("not pinned")) << notes();
}

}  // namespace
}  // namespace corun::testing
