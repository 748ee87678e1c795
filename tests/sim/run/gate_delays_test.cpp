// What a policy far from its programs costs: late news, and hosts that go on late.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// Says when it heard what, and lets waiting launches pass one by one, at once or where its turn comes.
class Listener : public Policy {
 public:
  void on_completed(const GpuView& view, ClientId, const OpView& op, Duration) override {
    completed.emplace_back(op.number, view.now);
  }
  void on_frame(const GpuView& view, ClientId, FrameEvent event) override {
    (event == FrameEvent::kEnd ? ends : begins).push_back(view.now);
  }
  void on_left(const GpuView&, ClientId) override { heard_when_left = completed.size(); }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (is_open) actions.open(client.id);
      if (!is_open && !client.waiting.empty() && view.now >= from)
        actions.admit(client.id, static_cast<std::uint32_t>(client.waiting.size()));
    }
    if (view.now < from) actions.wake_at(from);
  }
  std::uint32_t admits_ahead(const GpuView&, const ClientView&) const override { return promised; }

  bool is_open = true;
  Time from = kRunStart;
  std::uint32_t promised = 0;
  std::vector<std::pair<std::uint64_t, Time>> completed;
  std::vector<Time> begins, ends;
  std::size_t heard_when_left = 0;
};

/// Jobs of one operation of 1 ms, each submitted 100 us after the host has gone on; one job in flight at a time.
ClientSpec client(std::uint64_t jobs, bool has_frames = false) {
  Workload workload;
  workload.names = {"kernel"};
  WorkOp op;
  op.kind = has_frames ? OpKind::kRender : OpKind::kKernel;
  op.duration = 1ms;
  workload.ops.push_back(op);
  workload.steps.push_back(HostStep{100us, StepKind::kSubmit, 0});
  workload.jobs.push_back(Job{0, 1, 0, 1, {}});
  workload.job_kind = has_frames ? JobKind::kFrame : JobKind::kIteration;
  workload.recorded_span = 1ms;
  ClientSpec spec;
  spec.name = "it";
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  spec.repeat = jobs;
  return spec;
}

testing::Facts run(Listener& policy, const ClientSpec& spec, const GateDelays& gate) {
  RunInput input{DeviceSpec{}, {spec}, &policy, "listener", 1s, {}, 1};
  input.gate = gate;
  testing::Facts facts;
  simulate(input, facts);
  return facts;
}

TEST(GateDelays, EndsAreHeardSoMuchLaterAndChangeNothingElse) {
  Listener near, far;
  const testing::Facts at_once = run(near, client(5), {}), late = run(far, client(5), {.end_heard = 200us});
  ASSERT_EQ(late.ops.size(), 5u);
  ASSERT_EQ(far.completed.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(late.ops[i].end, at_once.ops[i].end) << "the program waits for the device, not for the policy";
    EXPECT_EQ(near.completed[i].second, at_once.ops[i].end);
    EXPECT_EQ(far.completed[i].second - late.ops[i].end, i < 4 ? Duration{200us} : Duration{0});
  }
  EXPECT_EQ(far.heard_when_left, 5u) << "all that is on its way is told before the client leaves";
}

TEST(GateDelays, EndsOfFramesHaveATimeOfTheirOwnAndBeginsNone) {
  Listener policy;
  const testing::Facts facts = run(policy, client(3, true), {.frame_heard = 30us, .end_heard = 200us});
  ASSERT_EQ(facts.frames.size(), 3u);
  ASSERT_EQ(policy.ends.size(), 3u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(policy.ends[i] - facts.frames[i].gpu_end, Duration{30us});
    EXPECT_EQ(policy.begins[i], facts.frames[i].gpu_begin);
  }
}

TEST(GateDelays, NewsOfAClientKeepsItsOrder) {
  ClientSpec game = client(3, true);
  Listener policy;
  run(policy, game, {.frame_heard = 5ms});  // the next frame begins before the end of the one before has been reported
  ASSERT_EQ(policy.begins.size(), 3u);
  ASSERT_EQ(policy.ends.size(), 3u);
  for (std::size_t i = 0; i + 1 < 3; ++i) EXPECT_LE(policy.ends[i], policy.begins[i + 1]);
}

TEST(GateDelays, WhoStayedAwakeForTheAnswerGoesOnAfterIt) {
  Listener policy;
  policy.is_open = false;
  const testing::Facts facts = run(policy, client(3), {.answer = 8us, .wake = 60us});
  ASSERT_EQ(facts.ops.size(), 3u);
  for (const OpFact& op : facts.ops) {
    EXPECT_EQ(op.launched - op.submitted, Duration{8us});
    EXPECT_EQ(op.begin, op.launched);
  }
}

TEST(GateDelays, WhoHasWaitedLongIsWokenFirst) {
  Listener policy;
  policy.is_open = false;
  policy.from = kRunStart + 10ms;
  const testing::Facts facts = run(policy, client(2), {.answer = 8us, .wake = 60us});
  ASSERT_EQ(facts.ops.size(), 2u);
  EXPECT_EQ(facts.ops[0].begin, kRunStart + 10ms + 60us);
  EXPECT_EQ(facts.ops[1].submitted, facts.ops[0].end + 100us)
      << "its host worked on only when it was awake, and then waited";
}

TEST(GateDelays, WhatWasPromisedAndWhatPassesAnOpenGateAsksNobody) {
  Listener promises, opens;
  promises.is_open = false;
  promises.promised = 4;
  const GateDelays gate{.answer = 8us, .wake = 60us};
  for (const OpFact& op : run(promises, client(3), gate).ops) EXPECT_EQ(op.launched, op.submitted);
  testing::Facts facts = run(opens, client(3), gate);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(facts.ops[i].launched, facts.ops[i].submitted);
}

/// Admits everything, and promises to admit what its first client launches.
class PromisesTheFirst : public Listener {
 public:
  PromisesTheFirst() { is_open = false; }
  std::uint32_t admits_ahead(const GpuView&, const ClientView& client) const override {
    return client.id.value == 0 ? 4 : 0;
  }
};

TEST(GateDelays, APromiseIsItsClientsOwn) {
  ClientSpec promised = client(1), asked = client(1);
  promised.name = "promised";
  PromisesTheFirst policy;
  RunInput input{DeviceSpec{}, {promised, asked}, &policy, "promises", 1s, {}, 1};  // both submit at the same instant
  input.gate = {.answer = 8us};
  testing::Facts facts;
  simulate(input, facts);
  ASSERT_EQ(facts.ops.size(), 2u);
  for (const OpFact& op : facts.ops)
    EXPECT_EQ(op.launched - op.submitted, op.client.value == 0 ? Duration{0} : Duration{8us});
}

/// Promises what its first decision made it know.
class Late : public Listener {
 public:
  Late() { is_open = false; }
  void decide(const GpuView& view, Actions& actions) override {
    promises.resize(view.clients.size(), 1);
    Listener::decide(view, actions);
  }
  std::uint32_t admits_ahead(const GpuView&, const ClientView& client) const override {
    return promises.at(client.id.value);
  }
  std::vector<std::uint32_t> promises;
};

TEST(GateDelays, NobodyIsAskedForAPromiseBeforeItsFirstDecision) {
  Late policy;
  ClientSpec spec = client(1);
  spec.host_gap_scale = 0;  // it submits at the instant at which it joins
  const testing::Facts facts = run(policy, spec, {.answer = 8us});
  ASSERT_EQ(facts.ops.size(), 1u);
  EXPECT_EQ(facts.ops[0].launched - facts.ops[0].submitted, Duration{8us});
}

/// Kills what it has admitted at once.
class Killer : public Listener {
 public:
  Killer() { is_open = false; }
  void decide(const GpuView& view, Actions& actions) override {
    const ClientView& client = view.clients[0];
    if (client.is_copying || !client.is_present) return;
    if (client.in_flight > 0 && view.now >= kill_at) return actions.kill(client.id);
    if (!client.waiting.empty()) {
      actions.admit(client.id, 1);
      if (kill_at == kNever) kill_at = view.now + 20us;
    }
    if (kill_at > view.now) actions.wake_at(kill_at);
  }
  Time kill_at = kNever;
};

TEST(GateDelays, WhatIsKilledBeforeItsHostGoesOnWasLaunchedNoLaterThanItEnded) {
  Killer policy;
  const testing::Facts facts = run(policy, client(2), {.answer = 100us});
  ASSERT_EQ(facts.ops.size(), 2u);
  EXPECT_TRUE(facts.ops[0].is_lost);
  EXPECT_EQ(facts.ops[0].end - facts.ops[0].submitted, Duration{20us});
  EXPECT_EQ(facts.ops[0].launched, facts.ops[0].end);
}

TEST(GateDelays, NewsThatCaughtUpDoesNotProlongTheRun) {
  Listener policy;
  const ClientSpec spec = client(3);
  RunInput input{DeviceSpec{}, {spec}, &policy, "listener", 1s, {}, 1};
  testing::Facts facts;
  const Time end = simulate(input, facts).end;
  input.gate = {.end_heard = 200us};
  EXPECT_EQ(simulate(input, facts).end, end);
}

TEST(GateDelays, RenderingIsHeldByNobody) {
  Listener policy;
  policy.is_open = false;
  for (const OpFact& op : run(policy, client(3, true), {.answer = 8us}).ops) EXPECT_EQ(op.launched, op.submitted);
}

}  // namespace
}  // namespace corun
