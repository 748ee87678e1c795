#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sim/solo/solo.h"
#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::Facts;
using testing::run_open;

/// One job of `ops` kernels: the host works `gap` before each launch.
Workload chain(std::size_t ops, Duration duration, Duration gap = 0ns, OpKind kind = OpKind::kKernel,
               Duration dispatch_gap = 0ns) {
  Workload workload;
  workload.names = {"op"};
  workload.job_kind = kind == OpKind::kRender ? JobKind::kFrame : JobKind::kIteration;
  Job job;
  for (std::uint32_t i = 0; i < ops; ++i) {
    WorkOp op;
    op.kind = kind;
    op.duration = op.predicted_by_name = op.predicted_by_shape = duration;
    op.dispatch_gap = i > 0 ? dispatch_gap : 0ns;
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{gap, StepKind::kSubmit, i});
  }
  job.op_count = job.step_count = static_cast<std::uint32_t>(ops);
  workload.jobs.push_back(job);
  workload.recorded_span = duration * static_cast<std::int64_t>(ops);
  workload.check();
  return workload;
}

ClientSpec client(std::string name, Workload workload) {
  ClientSpec spec;
  spec.name = std::move(name);
  spec.workload = std::make_shared<Workload>(std::move(workload));
  return spec;
}

DeviceSpec device() {
  DeviceSpec spec;
  spec.time_slice = 2ms;
  spec.switch_cost = 100us;
  return spec;
}

TEST(Simulate, AHostThatWaitsAfterEveryJobLeavesItsBubble) {
  ClientSpec spec = client("a", chain(1, 1ms, 250us));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  const Facts facts = run_open(device(), {spec}, 10ms);
  ASSERT_GE(facts.jobs.size(), 2u);
  EXPECT_EQ(facts.jobs[1].end - facts.jobs[0].end, Duration{1250us});
}

TEST(Simulate, AHostThatNeverWaitsKeepsTheDeviceBusy) {
  const Facts facts = run_open(device(), {client("a", chain(1, 1ms, 250us))}, 10ms);
  ASSERT_GE(facts.jobs.size(), 2u);
  EXPECT_EQ(facts.jobs[1].end - facts.jobs[0].end, Duration{1ms});
}

TEST(Simulate, AHostThatWaitsWithinAJobLaunchesNothingMeanwhile) {
  for (const StepKind wait : {StepKind::kWaitAll, StepKind::kWaitStream, StepKind::kWaitOp}) {
    Workload workload = chain(2, 1ms);
    workload.steps = {workload.steps[0], HostStep{0ns, wait, 0}, workload.steps[1]};
    workload.jobs[0].step_count = 3;
    const Facts facts = run_open(device(), {client("a", workload)}, 10ms);
    ASSERT_GE(facts.ops.size(), 2u) << static_cast<int>(wait);
    EXPECT_EQ(facts.ops[1].submitted, facts.ops[0].end) << static_cast<int>(wait);
  }
}

TEST(Simulate, AFullLaunchQueueHoldsTheHostBack) {
  DeviceSpec spec = device();
  spec.launch_queue_depth = 4;
  const Facts facts = run_open(spec, {client("a", chain(1, 1ms))}, 10ms);
  // The fifth launch is asked for only when the first has ended.
  ASSERT_GE(facts.ops.size(), 5u);
  EXPECT_EQ(facts.ops[4].submitted, facts.ops[0].end);
}

TEST(Simulate, TwoAlwaysBusyClientsShareQOverTwoQPlusS) {
  RunResult result;
  run_open(device(), {client("a", chain(1, 500us)), client("b", chain(1, 500us))}, 4200ms, 1, &result);
  EXPECT_EQ(result.device_time[0], Duration{2s});
  EXPECT_EQ(result.device_time[1] + result.device_time[0] + result.usage.switching, Duration{4200ms});
}

TEST(Simulate, AVsyncedGameShowsLateFramesAtTheNextTick) {
  ClientSpec spec = client("game", chain(1, 20ms, 0ns, OpKind::kRender));
  spec.pacing = Pacing{Pacing::Mode::kVsync, 16ms, Pacing::kByMode};
  const Facts facts = run_open(device(), {spec}, 200ms);
  ASSERT_GE(facts.frames.size(), 2u);
  EXPECT_EQ(facts.frames[1].present - facts.frames[0].present, Duration{32ms});
  EXPECT_TRUE(facts.frames[0].missed);
}

TEST(Simulate, AFrameInTimeIsNotMissed) {
  ClientSpec spec = client("game", chain(1, 5ms, 0ns, OpKind::kRender));
  spec.pacing = Pacing{Pacing::Mode::kVsync, 16ms, Pacing::kByMode};
  const Facts facts = run_open(device(), {spec}, 200ms);
  ASSERT_GE(facts.frames.size(), 2u);
  EXPECT_EQ(facts.frames[1].present - facts.frames[0].present, Duration{16ms});
  EXPECT_FALSE(facts.frames[0].missed);
}

TEST(Simulate, AGameWithoutAPeriodMissesNoFrame) {
  const Facts facts = run_open(device(), {client("game", chain(1, 20ms, 1ms, OpKind::kRender))}, 200ms);
  ASSERT_GE(facts.frames.size(), 2u);
  for (const FrameFact& frame : facts.frames) EXPECT_FALSE(frame.missed) << frame.number;
}

TEST(Simulate, AQualityLevelScalesTheFramesGpuTime) {
  ClientSpec spec = client("game", chain(1, 10ms, 0ns, OpKind::kRender));
  spec.quality_menu = {{"high", 1.0, 1.0}, {"low", 0.5, 0.7}};
  spec.quality_level = 1;
  const Facts facts = run_open(device(), {spec}, 100ms);
  EXPECT_EQ(facts.frames[0].gpu_busy, Duration{5ms});
  EXPECT_EQ(facts.frames[0].quality, 0.7);
}

TEST(Simulate, WhoStaysForAWhileBeginsNoJobAfterItAndLeaves) {
  ClientSpec spec = client("a", chain(1, 3ms));
  spec.arrival = 10ms;
  spec.stay = 10ms;
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  RunResult result;
  const Facts facts = run_open(device(), {spec}, 1s, 1, &result);
  ASSERT_EQ(facts.jobs.size(), 4u) << "at 10, 13, 16 and 19 ms";
  EXPECT_EQ(result.end, kRunStart + 22ms);
}

TEST(Simulate, OpenReplayReleasesJobsAtRecordedTimesAndQueuesLateOnes) {
  Workload workload = chain(1, 3ms);
  workload.jobs.push_back(Job{1, 1, 1, 1, time_from_ns(1'000'000)});
  workload.ops.push_back(workload.ops[0]);
  workload.steps.push_back(HostStep{0ns, StepKind::kSubmit, 1});
  ClientSpec spec = client("a", std::move(workload));
  spec.replay = Replay::kOpen;
  spec.repeat = 1;
  const Facts facts = run_open(device(), {spec}, 100ms);
  ASSERT_EQ(facts.jobs.size(), 2u);
  EXPECT_EQ(facts.jobs[1].arrival, time_from_ns(1'000'000));
  EXPECT_EQ(facts.jobs[1].end, time_from_ns(6'000'000));
}

TEST(Simulate, TheSameInputGivesTheSameFactsAndAnotherSeedOthers) {
  ClientSpec spec = client("a", chain(3, 1ms, 200us));
  spec.host_jitter = spec.duration_jitter = 0.1;
  spec.random_phase = true;
  const auto ends = [&](std::uint64_t seed) {
    std::vector<Time> times;
    for (const OpFact& op : run_open(device(), {spec, client("b", chain(2, 700us))}, 100ms, seed).ops)
      times.push_back(op.end);
    return times;
  };
  EXPECT_EQ(ends(1), ends(1));
  EXPECT_NE(ends(1), ends(2));
}

TEST(Simulate, AClientMayBeginWithAnyOfItsJobsAndThenGoesOnInOrder) {
  Workload workload = chain(1, 1ms);
  for (std::uint32_t i = 1; i < 8; ++i) {
    WorkOp op = workload.ops[0];
    op.duration = op.predicted_by_name = op.predicted_by_shape = (i + 1) * 1ms;
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{0ns, StepKind::kSubmit, i});
    workload.jobs.push_back(Job{i, 1, i, 1});
  }
  const auto lengths = [&](std::uint64_t seed, const char* name) {
    ClientSpec spec = client(name, workload);
    spec.random_first_job = true;
    std::vector<Duration> found;
    for (const OpFact& op : run_open(device(), {spec}, 72ms, seed).ops) found.push_back(op.end - op.begin);
    return found;
  };
  std::set<Duration> firsts;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Duration> its = lengths(seed, "a");
    firsts.insert(its.front());
    for (std::size_t i = 1; i < its.size(); ++i) EXPECT_EQ(its[i], its[i - 1] == 8ms ? 1ms : its[i - 1] + 1ms);
  }
  EXPECT_GE(firsts.size(), 5u) << "seeds draw it";
  EXPECT_EQ(lengths(3, "a"), lengths(3, "a"));
  EXPECT_NE(lengths(3, "a").front(), lengths(3, "b").front()) << "so does the name";
}

TEST(Simulate, AddingAClientShiftsNobodyElsesRandomNumbers) {
  ClientSpec spec = client("a", chain(1, 1ms));
  spec.duration_jitter = 0.3;
  ClientSpec idle = client("idle", chain(1, 1ms));
  idle.arrival = 1s;
  const Facts alone = run_open(device(), {spec}, 50ms), beside = run_open(device(), {idle, spec}, 50ms);
  ASSERT_EQ(alone.ops.size(), beside.ops.size());
  EXPECT_EQ(alone.ops.back().end, beside.ops.back().end);
}

TEST(Simulate, AClientWithPassesToRepeatLeavesWhenItHasFinished) {
  ClientSpec spec = client("a", chain(2, 1ms));
  spec.repeat = 3;
  RunResult result;
  const Facts facts = run_open(device(), {spec}, 1s, 1, &result);
  EXPECT_EQ(facts.ops.size(), 6u);
  EXPECT_EQ(result.end, time_from_ns(6'000'000));
}

TEST(Simulate, AStreamWaitsForTheEventOfAnotherStream) {
  Workload workload = chain(2, 2ms);
  workload.awaits = {0};
  workload.ops.change(1, [](WorkOp& op) { op.stream = StreamId{1}, op.awaits_count = 1; });
  ClientSpec spec = client("a", std::move(workload));
  spec.repeat = 1;
  const Facts facts = run_open(device(), {spec}, 1s);
  EXPECT_EQ(facts.ops[1].begin, facts.ops[0].end);
}

/// Notes when frame events are heard.
class FrameWatcher : public OpenGates {
 public:
  Hears hears() const override { return Hears{false, false, false, true}; }
  void on_frame(const GpuView& view, ClientId, FrameEvent event) override { heard.emplace_back(event, view.now); }
  std::vector<std::pair<FrameEvent, Time>> heard;
};

TEST(Simulate, AFramesBeginAndEndAreHeardWhenTheyHappen) {
  // On an idle device the frame begins as it is submitted; with a slice in progress it begins after slice and switch.
  ClientSpec game = client("game", chain(1, 3ms, 1ms, OpKind::kRender));
  game.repeat = 1;
  for (const bool beside_another : {false, true}) {
    std::vector<ClientSpec> clients{game};
    if (beside_another) clients.push_back(client("busy", chain(1, 500us)));
    FrameWatcher policy;
    RunInput input{device(), clients, &policy, "watcher", 20ms, Duration{0}, 1};
    Facts facts;
    simulate(input, facts);
    const Time begin = kRunStart + (beside_another ? Duration{2100us} : Duration{1ms});
    ASSERT_EQ(policy.heard.size(), 2u);
    EXPECT_EQ(policy.heard[0], std::make_pair(FrameEvent::kBegin, begin));
    EXPECT_EQ(policy.heard[1], std::make_pair(FrameEvent::kEnd, begin + Duration{3ms}));
  }
}

TEST(FitToSoloRate, FindsTheHostGapsThatGiveTheStatedRate) {
  // 1 ms of host per 0.1 ms kernel, waiting each time: 1/(1.1 ms) as recorded, 1/(0.6 ms) with gaps halved.
  ClientSpec spec = client("a", chain(1, 100us, 1ms));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  const SoloFit fit = fit_to_solo_rate(spec, device(), 1 / 0.6e-3);
  EXPECT_NEAR(fit.host_gap_scale, 0.5, 0.001);
  EXPECT_TRUE(fit.within_reach);
  EXPECT_NEAR(fit_to_solo_rate(spec, device(), 1 / 3.1e-3).host_gap_scale, 3.0, 0.005)
      << "a host may be slower than it was";
}

TEST(FitToSoloRate, CountsWholePassesOverJobsThatDiffer) {
  // 100 jobs, the second half with three times the host time: 2.1 ms a job on average, and as recorded so.
  Workload workload = chain(1, 100us, 1ms);
  workload.steps.push_back(workload.steps.front());
  workload.steps.set_gap(1, 3ms);
  const Job first = workload.jobs.front();
  workload.jobs.assign(100, first);
  for (std::size_t i = 50; i < 100; ++i) workload.jobs[i].first_step = 1;
  ClientSpec spec = client("a", workload);
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  EXPECT_NEAR(fit_to_solo_rate(spec, device(), 1 / 2.1e-3).host_gap_scale, 1, 0.001);
  EXPECT_NEAR(fit_to_solo_rate(spec, device(), 1 / 1.1e-3).host_gap_scale, 0.5, 0.001);
}

TEST(FitToSoloRate, SaysWhenTheRateIsOutOfReach) {
  ClientSpec spec = client("a", chain(1, 1ms, 1us));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  const SoloFit fit = fit_to_solo_rate(spec, device(), 2000);
  EXPECT_FALSE(fit.within_reach);
  EXPECT_NEAR(fit.reached_per_s, 998, 1);
}

/// A program as a tracer recorded it, that waits for its device after each of its jobs.
ClientSpec traced(Workload workload, Workload::Tracer tracer = Workload::Tracer::kTracer) {
  workload.tracer = tracer;
  ClientSpec spec = client("a", std::move(workload));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  return spec;
}

/// Ten kernels of 100 us, launched at once after 0.1 ms of host: 1.1 ms as recorded.
Workload ten_after_a_tenth() {
  Workload workload = chain(10, 100us);
  workload.steps.set_gap(0, 100us);
  return workload;
}

TEST(FitToSoloRate, LeavesTheHostOfATracedProgramThatIsBoundByItsDeviceNearlyAsRecorded) {
  // That the untraced one takes 1.08 ms is mostly the device's part.
  const SoloFit fit = fit_to_solo_rate(traced(ten_after_a_tenth()), device(), 1 / 1.08e-3);
  EXPECT_TRUE(fit.within_reach);
  EXPECT_GT(fit.host_gap_scale, 0.8);
  EXPECT_LT(fit.device_time_scale, 0.997);
  EXPECT_GT(fit.device_time_scale, 0.98);
}

TEST(FitToSoloRate, TakesWhatAProfilerMadeSlowForTheHosts) {
  const SoloFit fit = fit_to_solo_rate(traced(ten_after_a_tenth(), Workload::Tracer::kProfiler), device(), 1 / 1.03e-3);
  EXPECT_TRUE(fit.within_reach);
  EXPECT_LT(fit.host_gap_scale, 0.35);
  EXPECT_GT(fit.device_time_scale, 0.99);
}

TEST(FitToSoloRate, TakesLittleOffTheDeviceWhereTheHostDecides) {
  // A kernel of 0.1 ms after 1 ms of host: its rate shows the host alone.
  const SoloFit fit = fit_to_solo_rate(traced(chain(1, 100us, 1ms)), device(), 1 / 0.6e-3);
  EXPECT_NEAR(fit.host_gap_scale, 0.5, 0.01);
  EXPECT_NEAR(fit.device_time_scale, 0.996, 0.001) << "0.4 us of an operation";
}

TEST(FitToSoloRate, ShortensTheLatencyOfALaunchThatOnlyATracerMakesLong) {
  // Ten kernels of 100 us, seen 200 us after the launch of the first: 1.2 ms as recorded, 1.02 untraced.
  Workload workload = chain(10, 100us, 0ns);
  workload.ops.change(0, [](WorkOp& op) { op.launch_latency = 200us; });
  const SoloFit fit = fit_to_solo_rate(traced(std::move(workload)), device(), 1 / 1.02e-3);
  EXPECT_TRUE(fit.within_reach);
  EXPECT_LT(fit.launch_latency_scale, 0.25);
  EXPECT_GT(fit.device_time_scale, 0.975);
}

TEST(FitToSoloRate, NeverMakesTheDeviceSlowerThanItWasUnderTheTracer) {
  // 1 ms of device and 1 us of host: that the untraced one takes 1.02 ms is its host's doing, unlikely as that is.
  Workload workload = chain(10, 100us);
  workload.steps.set_gap(0, 1us);
  const SoloFit fit = fit_to_solo_rate(traced(std::move(workload)), device(), 1 / 1.02e-3);
  EXPECT_TRUE(fit.within_reach);
  EXPECT_NEAR(fit.device_time_scale, 1, 1e-9);
  EXPECT_NEAR(fit.host_gap_scale, 20, 0.5);
}

TEST(FitToSoloRate, LeavesTheDevicesTimesAsRecordedWhereARateLiesBetweenWhatABeatLetsThrough) {
  // Frames of 1.18 ms as recorded, shown every 1.1 ms or every second time: 909/s or 455/s.
  ClientSpec spec = traced(chain(10, 100us, 0ns, OpKind::kKernel, 20us));
  spec.pacing = {Pacing::Mode::kVsync, 1100us, 0};
  const SoloFit fit = fit_to_solo_rate(spec, device(), 700);
  EXPECT_EQ(fit.device_time_scale, 1);
  EXPECT_EQ(fit.launch_latency_scale, 1);
  EXPECT_FALSE(fit.within_reach);
  EXPECT_NEAR(fit.reached_per_s, 1 / 2.2e-3, 1);
}

TEST(FitToSoloRate, LeavesAProgramBoundByItsDeviceSomeHostTime) {
  // 1 ms of device and 0.1 ms of host: 909/s as recorded, 1000/s at most; stating 1001/s must not take its host away.
  ClientSpec spec = client("a", chain(1, 1ms, 100us));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  const SoloFit fit = fit_to_solo_rate(spec, device(), 1001);
  EXPECT_TRUE(fit.within_reach);
  EXPECT_GT(fit.host_gap_scale, 0.01);
}

TEST(FitToSoloRate, LeavesTheDevicesTimesAsRecordedUnderMps) {
  const SoloFit fit{.host_gap_scale = 0.8, .launch_latency_scale = 0.5, .device_time_scale = 0.97};
  DeviceSpec shared = device();
  shared.sharing = Sharing::kConcurrent;
  ClientSpec in_turns = client("a", chain(1, 1ms, 100us)), beside = in_turns;
  fit.apply_to(in_turns, device());
  fit.apply_to(beside, shared);
  EXPECT_EQ(std::tie(in_turns.host_gap_scale, in_turns.launch_latency_scale, in_turns.device_time_scale),
            std::make_tuple(0.8, 0.5, 0.97));
  EXPECT_EQ(std::tie(beside.host_gap_scale, beside.launch_latency_scale, beside.device_time_scale),
            std::make_tuple(0.8, 0.5, 1.0));
}

}  // namespace
}  // namespace corun
