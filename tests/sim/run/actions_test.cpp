#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/replay.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// Calls what a test wants done at given instants; all gates open until then.
class Scripted : public Policy {
 public:
  using Step = std::function<void(const GpuView&, Actions&)>;

  void at(Time when, Step step) { steps_.emplace(when, std::move(step)); }
  void on_copied(const GpuView& view, ClientId, CopyEvent event) override { copies.emplace_back(view.now, event); }
  void on_left(const GpuView& view, ClientId) override { left = view.now; }

  void decide(const GpuView& view, Actions& actions) override {
    if (!is_begun_)
      for (const ClientView& client : view.clients)
        if (client.is_present) actions.open(client.id);
    while (!steps_.empty() && steps_.begin()->first <= view.now) {
      is_begun_ = true;
      steps_.extract(steps_.begin()).mapped()(view, actions);
    }
    if (!steps_.empty()) actions.wake_at(steps_.begin()->first);
    if (!hold.rule.empty()) actions.hold(ClientId{0}, hold);
  }

  bool buffers_launches() const override { return has_buffer; }

  std::vector<std::pair<Time, CopyEvent>> copies;
  Time left = kNever;
  Hold hold;
  bool has_buffer = false;

 private:
  std::multimap<Time, Step> steps_;
  bool is_begun_ = false;
};

struct Told : testing::Facts {
  void on_hold(const HoldFact& hold) override { holds.push_back(hold); }
  void on_refusal(const RefusalFact& refusal) override { refusals.push_back(refusal); }
  void on_kill(const KillFact& kill) override { kills.push_back(kill); }
  std::vector<HoldFact> holds;
  std::vector<RefusalFact> refusals;
  std::vector<KillFact> kills;
};

/// Kernels of 10 ms back to back, two in flight; a snapshot copies 1 GB.
ClientSpec worker() {
  Workload workload;
  workload.names = {"kernel"};
  WorkOp op;
  op.duration = 10ms;
  workload.ops.push_back(op);
  workload.steps.push_back(HostStep{0ns, StepKind::kSubmit, 0});
  workload.jobs.push_back(Job{0, 1, 0, 1, {}});
  workload.recorded_span = 10ms;
  ClientSpec spec;
  spec.name = "train";
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.pacing.queued_ahead = 1;
  spec.snapshot_bytes = 1'000'000'000;
  return spec;
}

/// A link of 10 GB/s: 1 GB in 100 ms. A new context takes 500 ms.
DeviceSpec device() {
  DeviceSpec spec;
  spec.to_device_bytes_per_s = spec.from_device_bytes_per_s = 10'000'000'000;
  spec.context_create = 500ms;
  return spec;
}

RunResult run(Scripted& policy, Recorder& recorder, Duration horizon = 2s, const ClientSpec& client = worker()) {
  const RunInput input{device(), {client}, &policy, "scripted", horizon, {}, 1};
  return simulate(input, recorder);
}

constexpr ClientId kTrain{0};

TEST(PolicyActions, AKillLosesWhatIsInFlightAndAllSinceTheLastSnapshot) {
  Scripted policy;
  Told told;
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.kill(kTrain); });
  run(policy, told);
  ASSERT_EQ(told.kills.size(), 1u);
  EXPECT_EQ(told.kills[0].time, kRunStart + 95ms);
  EXPECT_EQ(told.kills[0].lost, Duration{95ms});
  EXPECT_EQ(told.kills[0].since, kRunStart);
  EXPECT_EQ(told.kills[0].restored, kRunStart + 95ms + 500ms + 100ms);
  EXPECT_EQ(std::ranges::count_if(told.ops, [](const OpFact& op) { return op.is_lost; }), 2);
  EXPECT_EQ(policy.copies, (std::vector{std::pair{kRunStart + 695ms, CopyEvent::kRestored}}));
}

TEST(PolicyActions, ASnapshotTakesItsBytesOverTheLinkAndBoundsWhatALaterKillLoses) {
  Scripted policy;
  Told told;
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.close(kTrain); });
  policy.at(kRunStart + 200ms, [](const GpuView&, Actions& actions) { actions.snapshot(kTrain); });
  policy.at(kRunStart + 400ms, [](const GpuView& view, Actions& actions) {
    EXPECT_EQ(view.client(kTrain).last_snapshot, kRunStart + 300ms);
    actions.open(kTrain);
  });
  policy.at(kRunStart + 440ms, [](const GpuView&, Actions& actions) { actions.kill(kTrain); });
  run(policy, told);
  ASSERT_EQ(policy.copies.size(), 2u);
  EXPECT_EQ(policy.copies[0], std::pair(kRunStart + 300ms, CopyEvent::kSnapshot));
  ASSERT_EQ(told.kills.size(), 1u);
  EXPECT_EQ(told.kills[0].lost, Duration{40ms});
  EXPECT_EQ(told.kills[0].since, kRunStart + 200ms) << "when the snapshot began";
}

TEST(PolicyActions, ASecondKillLosesWhatWasDoneSinceTheFirst) {
  Scripted policy;
  Told told;
  for (const Duration at : {95ms, 1000ms})
    policy.at(kRunStart + at, [](const GpuView&, Actions& actions) { actions.kill(kTrain); });
  policy.at(kRunStart + 700ms, [](const GpuView&, Actions& actions) { actions.open(kTrain); });
  run(policy, told);
  ASSERT_EQ(told.kills.size(), 2u);
  EXPECT_EQ(told.kills[1].since, kRunStart + 95ms);
  EXPECT_EQ(told.kills[1].lost, Duration{300ms}) << "from 700 ms on";
}

TEST(PolicyActions, ARestoredClientGoesOnBehindWhatItLost) {
  Scripted policy;
  Told told;
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.kill(kTrain); });
  policy.at(kRunStart + 1s, [](const GpuView&, Actions& actions) { actions.open(kTrain); });
  run(policy, told);
  ASSERT_GT(told.ops.size(), 12u);
  for (std::size_t i = 0; i < told.ops.size(); ++i) EXPECT_EQ(told.ops[i].number, i);
  EXPECT_EQ(told.ops.back().end, kRunStart + 2s - 10ms);
}

TEST(PolicyActions, ARefusedClientEndsItsWorkInFlightAndLeaves) {
  Scripted policy;
  Told told;
  policy.hold = {"memory_cap", 2e9, 1e9, "bytes"};
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.refuse(kTrain); });
  const RunResult result = run(policy, told);
  ASSERT_EQ(told.refusals.size(), 1u);
  EXPECT_EQ(told.refusals[0].time, kRunStart + 95ms);
  EXPECT_EQ(told.refusals[0].reason.rule, "memory_cap");
  EXPECT_EQ(told.refusals[0].reason.needed, 2e9);
  EXPECT_EQ(policy.left, kRunStart + 110ms);
  EXPECT_EQ(result.end, kRunStart + 110ms);
}

TEST(PolicyActions, AClientThatLeavesBeforeItIsRestoredIsNotHeardOfAgain) {
  ClientSpec brief = worker();
  brief.repeat = 10;
  Scripted policy;
  Told told;
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.kill(kTrain); });
  run(policy, told, 2s, brief);
  EXPECT_EQ(policy.left, kRunStart + 95ms) << "what was lost was its last work";
  EXPECT_TRUE(policy.copies.empty());
  ASSERT_EQ(told.kills.size(), 1u);
  EXPECT_EQ(told.kills[0].restored, kNever);
}

TEST(PolicyActions, ASnapshotEndsWithItsClient) {
  ClientSpec brief = worker();
  Workload workload = *brief.workload;
  workload.steps.push_back(HostStep{50ms, StepKind::kWaitAll, 0});
  workload.jobs[0].step_count = 2;
  brief.workload = std::make_shared<Workload>(std::move(workload));
  brief.repeat = 1;
  Scripted policy;
  Told told;
  policy.at(kRunStart + 20ms, [](const GpuView&, Actions& actions) {
    actions.close(kTrain);
    actions.snapshot(kTrain);
  });
  const RunResult result = run(policy, told, 2s, brief);
  EXPECT_EQ(policy.left, kRunStart + 50ms);
  EXPECT_EQ(result.end, kRunStart + 50ms) << "nothing is copied any more";
  EXPECT_TRUE(policy.copies.empty());
}

TEST(PolicyActions, MemoryThatTakesMoreThanAnHourToCopyIsRefused) {
  ClientSpec huge = worker();
  huge.snapshot_bytes = 100'000'000'000'000;
  Scripted policy;
  Told told;
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.kill(kTrain); });
  EXPECT_THROW(run(policy, told, 2s, huge), Error);
}

TEST(PolicyActions, AClientRefusedInTheInstantOfItsLastLaunchSubmitsNothingMore) {
  Scripted policy;
  Told told;
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.close(kTrain); });
  for (const Duration when : {200ms, 205ms})
    policy.at(kRunStart + when, [](const GpuView& view, Actions& actions) {
      if (!view.client(kTrain).waiting.empty()) actions.admit(kTrain);
      actions.refuse(kTrain);
    });
  run(policy, told);
  EXPECT_EQ(policy.left, kRunStart + 210ms);
  EXPECT_EQ(told.refusals.size(), 1u) << "asking twice refuses once";
  EXPECT_EQ(told.ops.back().launched, kRunStart + 200ms);
}

/// When the five kernels of 10 ms were submitted whose host works 1 ms before each, waits for all after the third, and
/// finds its gate closed from 0.5 ms to 50 ms.
std::vector<Duration> submissions_at_a_closed_gate(bool has_buffer, std::uint32_t launch_queue_depth) {
  ClientSpec client = worker();
  Workload workload = *client.workload;
  workload.ops = {};
  workload.steps = {};
  for (std::uint32_t i = 0; i < 5; ++i) {
    WorkOp op;
    op.duration = 10ms;
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{1ms, StepKind::kSubmit, i});
    if (i == 2) workload.steps.push_back(HostStep{0ns, StepKind::kWaitAll, 0});
  }
  workload.jobs[0].op_count = 5;
  workload.jobs[0].step_count = 6;
  client.workload = std::make_shared<Workload>(std::move(workload));
  client.repeat = 1;
  Scripted policy;
  Told told;
  policy.has_buffer = has_buffer;
  policy.at(kRunStart + 500us, [](const GpuView&, Actions& actions) { actions.close(kTrain); });
  policy.at(kRunStart + 50ms, [](const GpuView&, Actions& actions) { actions.open(kTrain); });
  DeviceSpec limited = device();
  limited.launch_queue_depth = launch_queue_depth;
  const RunInput input{limited, {client}, &policy, "scripted", 2s, {}, 1};
  simulate(input, told);
  std::vector<Duration> submitted;
  for (const OpFact& op : told.ops) submitted.push_back(op.submitted - kRunStart);
  return submitted;
}

TEST(PolicyActions, AHostGoesOnToItsNextWaitWhereItsGateBuffersLaunches) {
  EXPECT_EQ(submissions_at_a_closed_gate(true, 1024), (std::vector<Duration>{1ms, 2ms, 3ms, 81ms, 82ms}));
  EXPECT_EQ(submissions_at_a_closed_gate(false, 1024), (std::vector<Duration>{1ms, 51ms, 52ms, 81ms, 82ms}));
}

TEST(PolicyActions, ABufferHoldsAsMuchAsTheLaunchQueue) {
  EXPECT_EQ(submissions_at_a_closed_gate(true, 2), (std::vector<Duration>{1ms, 2ms, 60ms, 81ms, 82ms}));
}

TEST(PolicyActions, AHoldTellsTheNumbersOfTheOperationThatBeginsToWait) {
  Scripted policy;
  Told told;
  policy.hold = {"window", 3, 1, "ns"};
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.close(kTrain); });
  policy.at(kRunStart + 100ms, [&](const GpuView&, Actions&) { policy.hold = {"window", 5, 2, "ns"}; });
  run(policy, told, 300ms);
  ASSERT_EQ(told.holds.size(), 1u);
  EXPECT_EQ(told.holds[0].begin, kRunStart + 100ms);
  EXPECT_EQ(told.holds[0].hold.needed, 5);
  EXPECT_EQ(told.holds[0].hold.available, 2);
}

TEST(PolicyActions, AHoldLastsFromTheFirstWaitingOperationUntilTheGateOpens) {
  Scripted policy;
  Told told;
  policy.hold = {"window", 3, 1, "ns"};
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.close(kTrain); });
  policy.at(kRunStart + 200ms, [](const GpuView&, Actions& actions) { actions.open(kTrain); });
  run(policy, told, 300ms);
  ASSERT_EQ(told.holds.size(), 1u);
  EXPECT_EQ(told.holds[0].begin, kRunStart + 100ms);
  EXPECT_EQ(told.holds[0].end, kRunStart + 200ms);
  EXPECT_EQ(told.holds[0].hold.rule, "window");
}

TEST(PolicyActions, AHoldThatOutlastsTheRunEndsWithIt) {
  Scripted policy;
  Told told;
  policy.hold = {"window", 3, 1, "ns"};
  policy.at(kRunStart + 95ms, [](const GpuView&, Actions& actions) { actions.close(kTrain); });
  policy.at(kRunStart + 290ms, [](const GpuView&, Actions&) {});
  run(policy, told, 300ms);
  ASSERT_EQ(told.holds.size(), 1u);
  EXPECT_EQ(told.holds[0].begin, kRunStart + 100ms);
}

/// What the run's error says of an action at 50 ms.
std::string complaint(Scripted::Step step) {
  Scripted policy;
  Told told;
  policy.at(kRunStart + 50ms, std::move(step));
  try {
    run(policy, told, 300ms);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPolicy);
    return error.message();
  }
  return "";
}

TEST(PolicyActions, WhatCannotBeDoneIsRefusedWithPolicyTimeAndReason) {
  EXPECT_EQ(complaint([](const GpuView&, Actions& actions) { actions.snapshot(kTrain); }),
            "policy 'scripted' at t=0.050000000 s: snapshot(client 0) but the gate of client 'train' is open");
  EXPECT_EQ(complaint([](const GpuView&, Actions& actions) {
              actions.close(kTrain);
              actions.snapshot(kTrain);
            }),
            "policy 'scripted' at t=0.050000000 s: snapshot(client 0) but client 'train' has 2 operations in flight");
  EXPECT_EQ(complaint([](const GpuView&, Actions& actions) {
              actions.kill(kTrain);
              actions.open(kTrain);
            }),
            "policy 'scripted' at t=0.050000000 s: open(client 0) but the memory of client 'train' is being copied");
  EXPECT_EQ(
      complaint([](const GpuView&, Actions& actions) { actions.set_sm_share(kTrain, 1.5); }),
      "policy 'scripted' at t=0.050000000 s: set_sm_share(client 0, 1.5) but shares are in [0, 1] and sum to 1 at "
      "most");
}

TEST(PolicyActions, NoMoreIsAdmittedThanWaits) {
  EXPECT_EQ(complaint([](const GpuView&, Actions& actions) {
              actions.close(kTrain);
              actions.admit(kTrain, 1);
            }),
            "policy 'scripted' at t=0.050000000 s: admit(client 0, 1) but client 'train' has 0 waiting operations");
}

TEST(PolicyActions, AWakeUpForThePresentIsRefusedAndOneANanosecondLaterIsNot) {
  EXPECT_EQ(complaint([](const GpuView& view, Actions& actions) { actions.wake_at(view.now); }),
            "policy 'scripted' at t=0.050000000 s: wake_at(0.050000000 s) is not in the future");
  EXPECT_EQ(complaint([](const GpuView& view, Actions& actions) { actions.wake_at(view.now + 1ns); }), "");
}

TEST(PolicyActions, WhatTwoClientsReserveTogetherIsNoMoreThanTheDevice) {
  Scripted policy;
  Told told;
  policy.at(kRunStart + 50ms, [](const GpuView&, Actions& actions) {
    actions.set_sm_share(kTrain, 0.6);
    actions.set_sm_share(ClientId{1}, 0.6);
  });
  ClientSpec other = worker();
  other.name = "other";
  const RunInput input{device(), {worker(), other}, &policy, "scripted", 300ms, {}, 1};
  EXPECT_THROW(simulate(input, told), Error);
}

}  // namespace
}  // namespace corun
