#include "sim/workload/workload.h"

#include <gtest/gtest.h>

#include "sim/workload/capture/frames.h"
#include "sim/workload/capture/host/launches.h"
#include "traces/base/error.h"

namespace corun {
namespace {

constexpr std::int64_t us = 1000;

/// A capture of one stream: launches at given host times, operations at given begins.
struct Row {
  std::int64_t launch_us, begin_us, duration_us;
};

Timeline capture(const std::vector<Row>& rows,
                 const std::vector<std::pair<std::int64_t, std::int64_t>>& device_syncs = {},
                 const std::vector<std::pair<const char*, std::int64_t>>& marks = {}) {
  TimelineBuilder builder;
  const std::uint32_t queue = builder.queue(QueueRecord{0, 1, 7, 1, 0});
  const std::uint32_t thread = builder.thread(ThreadRecord{1, 1});
  for (const Row& row : rows) {
    CallRecord call;
    call.start_ns = row.launch_us * us;
    call.duration_ns = us;
    call.thread = thread;
    call.queue = queue;
    OpRecord op;
    op.start_ns = row.begin_us * us;
    op.duration_ns = row.duration_us * us;
    op.name = builder.intern("kernel");
    op.queue = queue;
    op.call = builder.add(call);
    builder.add(op);
  }
  for (const auto& [start, duration] : device_syncs) {
    CallRecord call;
    call.start_ns = start * us;
    call.duration_ns = duration * us;
    call.kind = CallKind::kSynchronizeDevice;
    call.thread = thread;
    builder.add(call);
  }
  for (const auto& [name, start] : marks) builder.add(MarkRecord{start * us, us, builder.intern(name), thread});
  builder.fidelity().has_calls = true;
  return std::move(builder).seal();
}

TEST(WorkOps, WhatOperationsHaveInCommonIsKeptOnceAndEachIsWhatWasPutIn) {
  WorkOp plain{.name = 1, .stream = StreamId{2}, .bytes = 3, .duration = Duration{4}};
  WorkOp larger = plain, waiting = plain;
  larger.shape.grid_x = 7;
  larger.launch_latency = Duration{5};
  waiting.awaits_begin = 1, waiting.awaits_count = 2;
  waiting.dispatch_gap = Duration{6};
  const std::vector<WorkOp> all{plain, larger, waiting, larger};
  WorkOps ops;
  for (const WorkOp& op : all) ops.push_back(op);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(ops[i] == all[i]) << i;
  EXPECT_EQ(ops.prototypes().size(), 2u);
  EXPECT_EQ(ops.prototype_of(0), ops.prototype_of(2));
}

TEST(WorkOps, AChangeOfOneOperationLeavesTheOthersAsTheyAre) {
  WorkOps ops{WorkOp{.name = 1}, WorkOp{.name = 1}, WorkOp{.name = 2}};
  ops.change(1, [](WorkOp& op) { op.name = 2; });
  EXPECT_EQ(ops[0].name, 1u);
  EXPECT_TRUE(ops[1] == ops[2]);
  ops.change([](WorkOp& op) { op.name = 2; });
  EXPECT_EQ(ops.prototypes().size(), 1u) << "no prototype is without an operation";
}

TEST(WorkloadFromTimeline, ALaunchIntoAnIdleStreamKeepsItsLatency) {
  const Workload workload = workload_from_timeline(capture({{0, 5, 10}, {100, 107, 10}}), {});
  EXPECT_EQ(workload.ops[1].launch_latency, Duration{7 * us});
  EXPECT_EQ(workload.steps[1].gap, Duration{100 * us});
}

TEST(WorkloadFromTimeline, AQueuedKernelKeepsItsDistanceToTheOneBeforeAsTheDevicesOwnGap) {
  const Workload workload = workload_from_timeline(capture({{0, 5, 100}, {10, 107, 10}}), {});
  EXPECT_EQ(workload.ops[1].dispatch_gap, Duration{2 * us});
  EXPECT_LT(workload.ops[1].launch_latency, Duration{90 * us});
}

TEST(WorkloadFromTimeline, AfterAWaitTheHostsGapCountsFromTheEndOfWhatItAwaited) {
  // The host calls at 10, the kernel ends at 105, the wait returns at 112, the next launch is at 120.
  const Workload workload = workload_from_timeline(capture({{0, 5, 100}, {120, 125, 10}}, {{10, 102}}), {});
  ASSERT_EQ(workload.steps.size(), 3u);
  EXPECT_EQ(workload.steps[1].kind, StepKind::kWaitAll);
  EXPECT_EQ(workload.steps[2].gap, Duration{15 * us});
}

TEST(WorkloadFromTimeline, IterationsSplitTheOperationsEqually) {
  WorkloadOptions options;
  options.iterations = 2;
  const Workload workload =
      workload_from_timeline(capture({{0, 5, 1}, {10, 15, 1}, {20, 25, 1}, {30, 35, 1}}), options);
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].op_count, 2u);
  EXPECT_EQ(workload.jobs[1].op_count, 2u);
}

TEST(WorkloadFromTimeline, ProfilerStepsBeginJobs) {
  const Workload workload = workload_from_timeline(
      capture({{1, 5, 1}, {11, 15, 1}, {12, 16, 1}}, {}, {{"ProfilerStep#4", 0}, {"ProfilerStep#5", 10}}), {});
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].op_count, 1u);
  EXPECT_EQ(workload.jobs[1].op_count, 2u);
}

TEST(WorkloadFromTimeline, TheWaitThatEndedTheCaptureIsNotPartOfAStep) {
  WorkloadOptions options;
  options.iterations = 2;
  const Workload workload = workload_from_timeline(capture({{0, 5, 1}, {10, 15, 1}}, {{12, 10}}), options);
  EXPECT_EQ(workload.jobs[1].step_count, 1u);
}

TEST(WorkloadFromTimeline, AnOperationAwaitsWhatItsStreamWasToldToWaitForSinceTheOneBefore) {
  TimelineBuilder builder;
  const std::uint32_t thread = builder.thread(ThreadRecord{1, 1});
  const std::uint32_t first = builder.queue(QueueRecord{0, 1, 7, 1, 0});
  const std::uint32_t second = builder.queue(QueueRecord{0, 1, 8, 1, 0});
  const auto launch = [&](std::uint32_t queue, std::int64_t at_us) {
    const std::uint32_t call =
        builder.add(CallRecord{.start_ns = at_us * us, .duration_ns = us, .thread = thread, .queue = queue});
    return builder.add(OpRecord{.start_ns = (at_us + 5) * us, .duration_ns = us, .queue = queue, .call = call});
  };
  const auto wait_for = [&](std::uint32_t awaited, std::int64_t at_us) {
    builder.add(CallRecord{.start_ns = at_us * us,
                           .duration_ns = us,
                           .kind = CallKind::kStreamWaitEvent,
                           .thread = thread,
                           .queue = second,
                           .awaited = awaited});
  };
  const std::uint32_t a = launch(first, 0), b = launch(first, 10);
  wait_for(b, 20);
  wait_for(a, 22);
  launch(second, 30);
  launch(second, 40);
  wait_for(a, 50);
  launch(second, 60);
  builder.fidelity().has_calls = true;
  const Workload workload = workload_from_timeline(std::move(builder).seal(), {});
  std::vector<std::vector<std::uint32_t>> awaited;
  for (const WorkOp& op : workload.ops) {
    const auto begin = workload.awaits.begin() + op.awaits_begin;
    awaited.emplace_back(begin, begin + op.awaits_count);
  }
  EXPECT_EQ(awaited, (std::vector<std::vector<std::uint32_t>>{{}, {}, {1, 0}, {}, {0}}));
}

TEST(WorkloadFromTimeline, PredictionsAreMeansOverTheName) {
  const Workload workload = workload_from_timeline(capture({{0, 5, 10}, {100, 105, 30}}), {});
  EXPECT_EQ(workload.ops[0].predicted_by_name, Duration{20 * us});
}

TEST(WorkloadFromTimeline, MoreIterationsThanOperationsIsAnErrorThatSaysBoth) {
  WorkloadOptions options;
  options.iterations = 3;
  try {
    workload_from_timeline(capture({{0, 5, 1}}), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_NE(error.message().find("iterations: 3"), std::string::npos) << error.what();
  }
}

TEST(WorkloadFromTimeline, ACaptureMadeBesideOthersIsRefusedUnlessAllowed) {
  TimelineBuilder builder;
  builder.queue(QueueRecord{});
  builder.add(OpRecord{});
  builder.fidelity().co_run = true;
  const Timeline timeline = std::move(builder).seal();
  EXPECT_THROW(workload_from_timeline(timeline, {}), Error);
  WorkloadOptions options;
  options.allow_co_run = true;
  EXPECT_EQ(workload_from_timeline(timeline, options).ops.size(), 1u);
}

// Three launches of kernels (one of two kernels, one by a graph), a copy, and a kernel whose launch was cut off.
Timeline capture_with_untraced_pass() {
  TimelineBuilder builder;
  builder.queue(QueueRecord{});
  builder.thread(ThreadRecord{});
  const auto add_call = [&](std::int64_t start_us, CallKind kind) {
    return builder.add(CallRecord{.start_ns = start_us * us, .duration_ns = us, .kind = kind});
  };
  const auto add_op = [&](std::int64_t start_us, OpKind kind, std::uint32_t call) {
    builder.add(OpRecord{.start_ns = start_us * us, .duration_ns = us, .kind = kind, .call = call});
  };
  add_op(1, OpKind::kKernel, OpRecord::kNoIndex);
  const std::uint32_t twice = add_call(10, CallKind::kLaunch);
  add_op(20, OpKind::kKernel, twice);
  add_op(21, OpKind::kKernel, twice);
  add_op(31, OpKind::kKernel, add_call(30, CallKind::kLaunch));
  add_op(41, OpKind::kCopyDeviceToHost, add_call(40, CallKind::kLaunch));
  add_op(51, OpKind::kMemset, add_call(50, CallKind::kGraphLaunch));
  add_call(60, CallKind::kSynchronizeDevice);
  builder.fidelity().has_calls = true;
  builder.provenance().untraced_rate = {.launches = 2'000, .duration_ns = 1'000'000'000, .jitter_ppm = 30'000};
  return std::move(builder).seal();
}

TEST(WorkloadFromTimeline, LaunchesAreTheCallsThatAUntracedPassCounts) {
  EXPECT_EQ(launch_instants(compact(capture_with_untraced_pass())).size(), 4u);
}

TEST(WorkloadFromTimeline, AUntracedPassTellsTheRateOfTheJobs) {
  WorkloadOptions options;
  options.iterations = 2;
  const Workload workload = workload_from_timeline(capture_with_untraced_pass(), options);
  EXPECT_DOUBLE_EQ(workload.untraced_jobs_per_s, 1'000) << "2,000 launches a second, 2 for each job";
  EXPECT_DOUBLE_EQ(workload.untraced_jitter, 0.03);
  EXPECT_EQ(workload_from_timeline(capture({{0, 5, 1}}), {}).untraced_jobs_per_s, 0);
}

TEST(WorkloadFromTimeline, OneJobIsTheWholeCaptureUnlessThatIsStated) {
  const Timeline timeline = capture({{0, 5, 1}});
  WorkloadOptions stated;
  stated.iterations = 1;
  EXPECT_TRUE(workload_from_timeline(timeline, {}).is_taken_whole);
  EXPECT_FALSE(workload_from_timeline(timeline, stated).is_taken_whole);
}

// Two jobs, each of a graph of three kernels and a kernel beside it.
TEST(WorkloadFromTimeline, AGraphIsOneOfTheLaunchesOfJobsHoweverManyOperationsItHas) {
  TimelineBuilder builder;
  builder.queue(QueueRecord{});
  builder.thread(ThreadRecord{});
  const auto add_op = [&](std::int64_t start_us, std::uint32_t call) {
    builder.add(OpRecord{.start_ns = start_us * us, .duration_ns = us, .call = call});
  };
  for (const std::int64_t job_us : {0, 100}) {
    const std::uint32_t graph =
        builder.add(CallRecord{.start_ns = job_us * us, .duration_ns = us, .kind = CallKind::kGraphLaunch});
    for (const std::int64_t at_us : {10, 20, 30}) add_op(job_us + at_us, graph);
    add_op(job_us + 50, builder.add(CallRecord{.start_ns = (job_us + 40) * us, .duration_ns = us}));
  }
  builder.fidelity().has_calls = true;
  WorkloadOptions options;
  options.iterations = 2;
  const Workload workload = workload_from_timeline(std::move(builder).seal(), options);
  EXPECT_EQ(workload.ops.size(), 8u);
  EXPECT_EQ(workload.launches, 4u);
  EXPECT_EQ(workload.graphs, 2u);
}

Timeline frames(std::size_t count, std::int64_t interval_us, std::int64_t gpu_us, bool per_frame = true) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{builder.intern("game"), 1, "0x1"});
  for (std::size_t i = 0; i < count; ++i) {
    FrameRecord frame;
    frame.present_ns = static_cast<std::int64_t>(i) * interval_us * us;
    frame.interval_ns = interval_us * us;
    frame.gpu_busy_ns = gpu_us < 0 ? -1 : gpu_us * us;
    builder.add(frame);
  }
  builder.fidelity().has_frames = true;
  builder.fidelity().per_frame = per_frame;
  return std::move(builder).seal();
}

TEST(WorkloadFromFrames, IntervalsOnARefreshRateWithGpuTimeToSpareWerePaced) {
  EXPECT_EQ(workload_from_timeline(frames(50, 16'667, 6'000), {}).present_period, Duration{16'666'667});
  EXPECT_EQ(workload_from_timeline(frames(50, 16'667, 16'500), {}).present_period, Duration{0});
  EXPECT_EQ(workload_from_timeline(frames(50, 7'300, 6'000), {}).present_period, Duration{0});
}

/// Frames of a game that sleeps until the next one is due, from one `interval_us` to the next.
Timeline limited_frames(std::int64_t interval_us, std::int64_t gpu_us, std::int64_t submit_before_present_us) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{builder.intern("game"), 1, "0x1"});
  for (std::int64_t i = 0; i < 200; ++i) {
    FrameRecord frame;
    frame.present_ns = (i + 1) * interval_us * us;
    frame.interval_ns = interval_us * us;
    frame.cpu_busy_ns = (interval_us - 10) * us;
    frame.gpu_busy_ns = gpu_us * us;
    if (submit_before_present_us >= 0) frame.submit_ns = frame.present_ns - submit_before_present_us * us;
    builder.add(frame);
  }
  builder.fidelity().has_frames = true;
  builder.fidelity().per_frame = true;
  return std::move(builder).seal();
}

/// Frames whose hosts take 3 and 17 ms in turns.
Timeline uncapped_frames(std::int64_t gpu_us) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{builder.intern("game"), 1, "0x1"});
  std::int64_t at_ns = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    FrameRecord frame;
    frame.interval_ns = frame.cpu_busy_ns = (i % 2 == 0 ? 3'000 : 17'000) * us;
    frame.present_ns = at_ns += frame.interval_ns;
    frame.gpu_busy_ns = gpu_us * us;
    builder.add(frame);
  }
  builder.fidelity().has_frames = true;
  builder.fidelity().per_frame = true;
  return std::move(builder).seal();
}

Duration host_work(const Workload& workload, std::size_t frame) {
  return workload.steps[workload.jobs[frame].first_step].gap;
}

TEST(WorkloadFromFrames, SleepOfALimiterIsNoWork) {
  const Workload known = workload_from_timeline(limited_frames(16'000, 9'000, 700), {});
  EXPECT_EQ(known.limiter_period, Duration{16'000 * us});
  EXPECT_EQ(host_work(known, 0), Duration{700 * us}) << "from its first submission to its present";
  const Workload unknown = workload_from_timeline(limited_frames(16'667, 9'000, -1), {});
  EXPECT_EQ(unknown.limiter_period, Duration{16'666'667}) << "that of a display, if it is near one";
  EXPECT_EQ(host_work(unknown, 0), Duration{0});
}

TEST(WorkloadFromFrames, AHostThatKeepsItsGpuBusyHalfOfTheTimeIsBelieved) {
  const Workload workload = workload_from_timeline(uncapped_frames(8'000), {});
  EXPECT_EQ(workload.limiter_period, Duration{0});
  EXPECT_EQ(host_work(workload, 1), Duration{17'000 * us});
}

TEST(WorkloadFromFrames, WaitsForAGpuThatIsAlwaysBusyAreNoWork) {
  const Workload workload = workload_from_timeline(uncapped_frames(9'800), {});
  EXPECT_EQ(host_work(workload, 4), Duration{3'000 * us});
  EXPECT_EQ(host_work(workload, 5), Duration{3'000 * us}) << "its driver let it go on when the GPU had caught up";
}

TEST(WorkloadFromFrames, VisitsAreOperationsOfOneFrameAndShareItsGpuTime) {
  WorkloadOptions options;
  options.visits_per_frame = 2;
  const Workload workload = workload_from_timeline(frames(3, 16'667, 6'000), options);
  EXPECT_EQ(workload.jobs[0].op_count, 4u) << "pieces of 2 ms, and the second visit";
  EXPECT_EQ(workload.ops[3].duration, kLaterVisit);
  EXPECT_EQ(workload.device_time(workload.jobs[0]), Duration{6'000 * us});
}

TEST(WorkloadFromFrames, FramesWithTheirVisitsAsOperationsAreStillFrames) {
  TimelineBuilder builder;
  builder.swapchain(SwapchainRecord{});
  builder.queue(QueueRecord{});
  builder.add(OpRecord{.duration_ns = 4'000, .kind = OpKind::kRender});
  builder.add(FrameRecord{.present_ns = 5'000, .gpu_busy_ns = 4'000, .visits = 1});
  builder.fidelity().has_frames = true;
  const Workload workload = workload_from_timeline(std::move(builder).seal(), {});
  EXPECT_EQ(workload.job_kind, JobKind::kFrame);
  EXPECT_EQ(workload.ops.size(), 1u);
}

TEST(WorkloadFromFrames, FramesWithoutGpuTimeNeedAStatedRatio) {
  EXPECT_THROW(workload_from_timeline(frames(3, 16'000, -1), {}), Error);
  WorkloadOptions options;
  options.gpu_busy_ratio = 0.5;
  const Workload workload = workload_from_timeline(frames(3, 16'000, -1), options);
  EXPECT_EQ(workload.device_time(workload.jobs[0]), Duration{8'000 * us});
}

TEST(WorkloadFromFrames, ASampledLogIsRefused) {
  EXPECT_THROW(workload_from_timeline(frames(3, 16'000, 5'000, false), {}), Error);
}

}  // namespace
}  // namespace corun
