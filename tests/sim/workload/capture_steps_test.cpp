#include <gtest/gtest.h>

#include "sim/workload/workload.h"
#include "tests/sim/workload/program_script.h"

namespace corun {
namespace {

using testing::ProgramScript;

constexpr std::int64_t us = 1'000;

/// A capture written record by record: of two streams, one thread.
class TwoStreams {
 public:
  std::uint32_t call(std::int64_t at_us, std::uint32_t stream, CallKind kind = CallKind::kLaunch,
                     std::uint32_t awaited = OpRecord::kNoIndex, std::int64_t duration_us = 1) {
    return builder_.add(CallRecord{.start_ns = at_us * us,
                                   .duration_ns = duration_us * us,
                                   .kind = kind,
                                   .thread = thread_,
                                   .queue = queues_[stream],
                                   .awaited = awaited});
  }
  std::uint32_t op(std::int64_t at_us, std::uint32_t stream, std::uint32_t call, std::int64_t duration_us = 1) {
    return builder_.add(
        OpRecord{.start_ns = at_us * us, .duration_ns = duration_us * us, .queue = queues_[stream], .call = call});
  }
  void launch(std::int64_t at_us, std::uint32_t stream, std::int64_t begin_us, std::int64_t duration_us) {
    op(begin_us, stream, call(at_us, stream), duration_us);
  }
  Workload workload(const WorkloadOptions& options = {}) {
    builder_.fidelity().has_calls = true;
    return workload_from_timeline(std::move(builder_).seal(), options);
  }

 private:
  TimelineBuilder builder_;
  const std::uint32_t thread_ = builder_.thread(ThreadRecord{1, 1});
  const std::uint32_t queues_[2] = {builder_.queue(QueueRecord{0, 1, 7, 1, 0}),
                                    builder_.queue(QueueRecord{0, 1, 8, 1, 0})};
};

WorkloadOptions in_jobs(std::uint32_t count) {
  WorkloadOptions options;
  options.iterations = count;
  return options;
}

TEST(CapturedWaits, AreForTheStreamThatTheHostNamed) {
  TwoStreams capture;
  capture.launch(0, 0, 5, 100);
  capture.launch(10, 1, 15, 20);
  capture.call(20, 1, CallKind::kSynchronizeStream, OpRecord::kNoIndex, 17);
  capture.launch(40, 0, 110, 1);
  const Workload workload = capture.workload();
  ASSERT_EQ(workload.steps.size(), 4u);
  EXPECT_EQ(workload.steps[2].kind, StepKind::kWaitStream);
  EXPECT_EQ(workload.steps[2].target, 1u);
  EXPECT_EQ(workload.steps[3].gap, Duration{5 * us}) << "since the end of the second stream's kernel, at 35";
}

TEST(CapturedWaits, EndWhenTheCallReturnedThoughTheWorkWentOn) {
  TwoStreams capture;
  capture.launch(0, 0, 5, 100);
  capture.call(20, 0, CallKind::kSynchronizeDevice);  // returned at 21, as one that failed does
  capture.launch(40, 0, 106, 1);
  EXPECT_EQ(capture.workload().steps[2].gap, Duration{19 * us});
}

TEST(CapturedWaits, OnNothingTakeNoTime) {
  TwoStreams capture;
  capture.launch(0, 0, 5, 1);
  capture.call(20, 0, CallKind::kSynchronizeDevice);
  capture.launch(40, 0, 45, 1);
  EXPECT_EQ(capture.workload().steps[2].gap, Duration{20 * us}) << "since the call, all of it the host's own";
}

TEST(CapturedWaits, AnEventThatIsNotKnownIsNotWaitedFor) {
  TwoStreams capture;
  capture.launch(0, 0, 5, 10);
  capture.call(20, 0, CallKind::kSynchronizeEvent);
  capture.launch(40, 0, 45, 1);
  EXPECT_EQ(capture.workload().steps.size(), 2u);
}

TEST(CapturedWaits, ABlockingCopyIsWaitedForItself) {
  TwoStreams capture;
  capture.launch(0, 0, 5, 100);
  capture.op(25, 1, capture.call(20, 1, CallKind::kBlockingCopy), 10);
  capture.launch(50, 0, 106, 1);
  const Workload workload = capture.workload();
  ASSERT_EQ(workload.steps.size(), 4u);
  EXPECT_EQ(workload.steps[2].kind, StepKind::kWaitOp);
  EXPECT_EQ(workload.steps[2].target, 1u);
}

TEST(CrossStreamWaits, MayBeForAnOperationWhoseLaunchWasNotRecorded) {
  TwoStreams capture;
  const std::uint32_t before = capture.op(0, 0, OpRecord::kNoIndex, 100);
  capture.call(10, 1, CallKind::kStreamWaitEvent, before);
  capture.launch(20, 1, 100, 5);
  const Workload workload = capture.workload();
  ASSERT_EQ(workload.awaits.size(), 1u);
  EXPECT_EQ(workload.awaits[0], 0u);
  EXPECT_EQ(workload.ops[1].awaits_count, 1u);
  EXPECT_EQ(workload.ops[0].awaits_count, 0u);
}

TEST(CrossStreamWaits, HoldFromTheirCallOn) {
  TwoStreams capture;
  const std::uint32_t first = capture.op(5, 0, capture.call(0, 0), 100);
  capture.launch(10, 1, 15, 5);
  capture.call(20, 1, CallKind::kStreamWaitEvent, first);
  capture.launch(20, 1, 105, 5);
  const Workload workload = capture.workload();
  EXPECT_EQ(workload.ops[1].awaits_count, 0u);
  EXPECT_EQ(workload.ops[2].awaits_count, 1u);
  EXPECT_EQ(workload.ops[2].dispatch_gap, Duration{0}) << "it began when the awaited one ended";
}

TEST(CapturedJobs, TheGapBeforeTheFirstIsThatInTheMiddleOfTheOthers) {
  TwoStreams capture;
  std::int64_t at_us = 500;
  for (const std::int64_t gap_us : {0, 90, 80, 10, 20, 70, 60, 30, 40, 50}) {
    at_us += gap_us;
    capture.launch(at_us, 0, at_us + 3, 1);
  }
  const Workload workload = capture.workload(in_jobs(10));
  ASSERT_EQ(workload.jobs.size(), 10u);
  EXPECT_EQ(workload.steps[0].gap, Duration{50 * us});
  EXPECT_EQ(workload.steps[1].gap, Duration{90 * us});
  EXPECT_EQ(workload.recorded_step, Duration{50 * us}) << "450 us for nine";
  EXPECT_EQ(workload.recorded_span, Duration{451 * us});
}

TEST(CapturedJobs, KnowWhereTheirOperationsAndStepsAre) {
  ProgramScript script;
  for (int job = 0; job < 3; ++job) script.launch("a").launch("b").wait_all();
  const Workload workload = testing::workload_of(script);
  ASSERT_EQ(workload.jobs.size(), 3u);
  for (std::uint32_t j = 0; j < 3; ++j) {
    EXPECT_EQ(workload.jobs[j].first_op, 2 * j);
    EXPECT_EQ(workload.jobs[j].op_count, 2u);
    EXPECT_EQ(workload.jobs[j].first_step, 3 * j);
    EXPECT_EQ(workload.jobs[j].step_count, 3u);
  }
  EXPECT_EQ(workload.jobs[1].recorded_start - workload.jobs[0].recorded_start, Duration{40 * us});
  EXPECT_FALSE(workload.has_no_wait);
}

TEST(CapturedJobs, WithoutWaitsAreSaidToHaveNone) {
  TwoStreams capture;
  capture.launch(0, 0, 5, 1);
  capture.launch(10, 0, 15, 1);
  EXPECT_TRUE(capture.workload().has_no_wait);
}

TEST(CapturedLaunches, TheLatencyOfQueuedOnesIsThatWhichNineInTenOthersExceed) {
  TwoStreams capture;
  std::int64_t at_us = 0;
  for (const std::int64_t latency_us : {11, 12, 13, 14, 15, 16, 17, 18, 19, 20}) {
    capture.launch(at_us, 0, at_us + latency_us, 1);
    at_us += 100;
  }
  capture.launch(at_us, 0, at_us + 10, 500);
  capture.launch(at_us + 20, 0, at_us + 512, 1);
  const Workload workload = capture.workload();
  EXPECT_EQ(workload.ops[0].launch_latency, Duration{11 * us});
  EXPECT_EQ(workload.ops[11].launch_latency, Duration{11 * us}) << "rank 1 of 11";
  EXPECT_EQ(workload.ops[11].dispatch_gap, Duration{2 * us});
}

TEST(CapturedLaunches, FewerThanFiveIntoAnIdleStreamSayNothingOfTheLatency) {
  for (const int idle : {4, 5}) {
    TwoStreams capture;
    std::int64_t at_us = 0;
    for (int i = 0; i < idle; ++i, at_us += 1'000) capture.launch(at_us, 0, at_us + 9, i + 1 == idle ? 1'500 : 1);
    capture.launch(at_us, 0, at_us + 600, 1);
    const Workload workload = capture.workload();
    EXPECT_EQ(workload.ops[static_cast<std::size_t>(idle)].launch_latency, Duration{(idle < 5 ? 4 : 9) * us});
  }
}

}  // namespace
}  // namespace corun
