// A run in which events follow one another without the queue (Engine::goes_on) against the same run event by event.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "policies/builtin.h"
#include "sim/run/simulation.h"
#include "tests/support/small_scenario.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// All facts of a run in order, a line each, with every time to the nanosecond.
class Story : public Recorder {
 public:
  void on_op(const OpFact& op) override {
    tell("op {} of client {}: submitted {}, launched {}, from {} to {}, {} ns, lost {}", op.number, op.client.value,
         to_ns(op.submitted), to_ns(op.launched), to_ns(op.begin), to_ns(op.end), to_ns(op.device_time), op.is_lost);
  }
  void on_job(const JobFact& job) override {
    tell("job {} of client {}: {}, {}, {}", job.number, job.client.value, to_ns(job.arrival), to_ns(job.begin),
         to_ns(job.end));
  }
  void on_frame(const FrameFact& frame) override {
    tell("frame {} of client {}: {}, {}, on the GPU {} to {}, shown {}, level {}", frame.number, frame.client.value,
         to_ns(frame.start), to_ns(frame.submit), to_ns(frame.gpu_begin), to_ns(frame.gpu_end), to_ns(frame.present),
         frame.quality_level);
  }
  void on_decision(const DecisionFact& decision) override {
    tell("{} for client {} at {}: {} {}", to_string(decision.action.kind), decision.action.client.value,
         to_ns(decision.time), decision.action.count, to_ns(decision.action.duration));
  }
  void on_hold(const HoldFact& hold) override {
    tell("client {} is held {} to {} for {}: {} of {}", hold.client.value, to_ns(hold.begin), to_ns(hold.end),
         hold.hold.rule, hold.hold.needed, hold.hold.available);
  }
  void on_refusal(const RefusalFact& refusal) override { tell("refusal at {}", to_ns(refusal.time)); }
  void on_kill(const KillFact& kill) override {
    tell("kill at {}, restored {}", to_ns(kill.time), to_ns(kill.restored));
  }

  template <class... Words>
  void tell(fmt::format_string<Words...> format, Words&&... words) {
    lines.push_back(fmt::format(format, std::forward<Words>(words)...));
  }
  std::vector<std::string> lines;
};

std::vector<std::string> story_of(const RunInput& asked, const PolicyDescriptor& descriptor, bool step_by_step) {
  const std::unique_ptr<Policy> policy = descriptor.create(descriptor.defaults());
  RunInput input = asked;
  input.policy = policy.get();
  input.policy_name = descriptor.name;
  input.tells_exact_durations = descriptor.needs.oracle;
  Story story;
  Engine engine;
  if (step_by_step) engine.go_step_by_step();
  try {
    Simulation simulation(input, engine, story);
    simulation.schedule();
    engine.run(kRunStart + input.horizon / 2);
    story.tell("{} events before the middle, at {}", engine.events_fired(), to_ns(engine.now()));
    engine.run(kRunStart + input.horizon);
    const RunResult result = simulation.finish();
    story.tell("{} events until {}; busy {}, switching {}, paging {}", result.events, to_ns(result.end),
               to_ns(result.usage.busy), to_ns(result.usage.switching), to_ns(result.usage.paging));
    for (const Duration time : result.device_time) story.tell("{} ns of device time", to_ns(time));
  } catch (const Error& error) {
    story.lines.push_back(error.what());
  }
  return story.lines;
}

/// Mostly whole microseconds, so that much happens at one instant.
Duration drawn(int most_us) {
  const Duration whole = *rc::gen::inRange(0, most_us + 1) * 1us;
  return *rc::gen::weightedElement<int>({{4, 0}, {1, 1}}) == 0 ? whole : whole + *rc::gen::inRange(0, 1000) * 1ns;
}

OpKind drawn_kind() {
  return *rc::gen::weightedElement<OpKind>(
      {{12, OpKind::kKernel}, {1, OpKind::kMemset}, {1, OpKind::kCopyHostToDevice}, {1, OpKind::kCopyDeviceToHost}});
}

WorkOp drawn_op(std::uint32_t streams) {
  WorkOp op;
  op.kind = drawn_kind();
  op.stream = StreamId{*rc::gen::inRange(0U, streams)};
  op.duration = op.predicted_by_name = op.predicted_by_shape = drawn(20);
  op.dispatch_gap = drawn(3);
  op.launch_latency = drawn(6);
  if (is_copy(op.kind)) op.bytes = *rc::gen::inRange<std::uint64_t>(0, 200'000);
  if (op.kind == OpKind::kKernel)
    op.shape = {
        .grid_x = *rc::gen::inRange(1U, 400U), .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1};
  return op;
}

HostStep drawn_wait(std::uint32_t streams, std::uint32_t submitted) {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return {drawn(5), StepKind::kWaitAll, 0};
    case 1:
      return {drawn(5), StepKind::kWaitStream, *rc::gen::inRange(0U, streams)};
    default:
      return {drawn(5), StepKind::kWaitOp, *rc::gen::inRange(0U, submitted)};
  }
}

/// A program of a few jobs that submits to a few streams, which wait for one another, and waits now and then.
Workload drawn_program() {
  Workload made;
  made.names = {"op"};
  const auto streams = *rc::gen::inRange(1U, 4U);
  for (int jobs = *rc::gen::inRange(1, 4); jobs > 0; --jobs) {
    Job job{.first_step = static_cast<std::uint32_t>(made.steps.size()),
            .first_op = static_cast<std::uint32_t>(made.ops.size()),
            .recorded_start = kRunStart + static_cast<std::int64_t>(made.jobs.size()) * 100us};
    for (int ops = *rc::gen::inRange(1, 12); ops > 0; --ops) {
      const auto index = static_cast<std::uint32_t>(made.ops.size());
      WorkOp op = drawn_op(streams);
      if (index > 0 && *rc::gen::inRange(0, 6) == 0) {
        op.awaits_begin = static_cast<std::uint32_t>(made.awaits.size());
        op.awaits_count = 1;
        made.awaits.push_back(*rc::gen::inRange(0U, index));
      }
      made.ops.push_back(op);
      made.steps.push_back({drawn(8), StepKind::kSubmit, index});
      if (*rc::gen::inRange(0, 6) == 0) made.steps.push_back(drawn_wait(streams, index + 1));
    }
    job.step_count = static_cast<std::uint32_t>(made.steps.size()) - job.first_step;
    job.op_count = static_cast<std::uint32_t>(made.ops.size()) - job.first_op;
    made.jobs.push_back(job);
  }
  made.recorded_span = static_cast<std::int64_t>(made.jobs.size()) * 100us;
  made.check();
  return made;
}

ClientSpec drawn_client(int number) {
  if (*rc::gen::inRange(0, 4) == 0) {
    ClientSpec game = testing::small_game(*rc::gen::inRange<std::uint64_t>(1, 100));
    game.name = fmt::format("client{}", number);
    game.pacing.queued_ahead = *rc::gen::element(Pacing::kByMode, 1U, 2U);
    return game;
  }
  ClientSpec spec = testing::small_client(fmt::format("client{}", number), drawn_program());
  spec.arrival = drawn(300);
  spec.replay = *rc::gen::element(Replay::kClosed, Replay::kClosed, Replay::kOpen);
  spec.repeat = *rc::gen::inRange<std::uint64_t>(0, 30);
  spec.pacing.mode = *rc::gen::element(Pacing::Mode::kUncapped, Pacing::Mode::kSyncEachJob);
  if (*rc::gen::inRange(0, 3) == 0) spec.host_jitter = spec.duration_jitter = 0.1;
  if (*rc::gen::inRange(0, 3) == 0) spec.stay = 2ms;
  if (*rc::gen::inRange(0, 2) == 0) spec.context.working_set_bytes = 0;
  return spec;
}

DeviceSpec drawn_device() {
  DeviceSpec spec =
      testing::small_device(*rc::gen::element(Sharing::kTimeSliced, Sharing::kConcurrent, Sharing::kExclusive));
  spec.graphics =
      *rc::gen::element(GraphicsScheduling::kToCompletion, GraphicsScheduling::kSliced, GraphicsScheduling::kFirst);
  spec.lone_slice = *rc::gen::element(LoneSlice::kRolls, LoneSlice::kUsedUp, LoneSlice::kRollsWhileQueued);
  spec.turn_order = *rc::gen::element(TurnOrder::kAsWoken, TurnOrder::kFixed);
  spec.time_slice = *rc::gen::element<Duration>(20us, 100us, 2ms);
  spec.switch_cost = *rc::gen::element<Duration>(0us, 5us, 50us);
  spec.launch_queue_depth = *rc::gen::element(1U, 3U, 1024U);
  if (*rc::gen::inRange(0, 2) == 0) {
    spec.memory_bytes = 4'000'000'000;
    spec.handover_bandwidth_bytes_per_s = spec.thrash_bandwidth_bytes_per_s = 10'000'000'000;
  }
  return spec;
}

/// All that share a device.
std::vector<PolicyDescriptor> sharing_policies() {
  std::vector<PolicyDescriptor> policies = builtin_policies().all();
  std::erase_if(policies, [](const PolicyDescriptor& policy) { return !policy.create; });
  return policies;
}

RC_GTEST_PROP(StepByStep, ARunIsTheSameToTheNanosecondWithAllEventsInTheQueue, ()) {
  RunInput input;
  input.device = drawn_device();
  for (int clients = *rc::gen::inRange(1, 5); clients > 0; --clients) input.clients.push_back(drawn_client(clients));
  input.horizon = *rc::gen::element<Duration>(500us, 5ms, 30ms);
  input.warmup = input.horizon / 10;
  input.seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  if (*rc::gen::inRange(0, 3) == 0) input.gate = {drawn(50), drawn(50), drawn(5), drawn(60)};
  const PolicyDescriptor policy = *rc::gen::elementOf(sharing_policies());
  const std::vector<std::string> expected = story_of(input, policy, true), told = story_of(input, policy, false);
  const auto [wrong, right] = std::ranges::mismatch(told, expected);
  if (wrong != told.end() || right != expected.end())
    RC_FAIL(fmt::format("under {}: '{}' in place of '{}'", policy.name, wrong == told.end() ? "nothing" : *wrong,
                        right == expected.end() ? "nothing" : *right));
}

}  // namespace
}  // namespace corun
