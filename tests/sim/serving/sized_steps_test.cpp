#include "sim/workload/capture/steps/sized_steps.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/workload/client_spec.h"
#include "sim/workload/workload.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// A capture of an engine: ranges in which the host works, launches kernels and waits for them.
class Recording {
 public:
  /// 20 us of host work, a launch of `kernel_us`, a wait for it and 30 us of host work, in a range of that name.
  Recording& step(const std::string& range, std::int64_t kernel_us) {
    const std::int64_t begin_us = now_us_;
    now_us_ += 20;
    launch(kernel_us);
    builder_.add(CallRecord{.start_ns = (now_us_ + 2) * 1'000,
                            .duration_ns = kernel_us * 1'000,
                            .kind = CallKind::kSynchronizeDevice,
                            .thread = thread_});
    now_us_ += 7 + kernel_us + 30;
    builder_.add(MarkRecord{
        .start_ns = begin_us * 1'000, .duration_ns = (now_us_ - begin_us) * 1'000, .name = builder_.intern(range)});
    return *this;
  }
  Recording& idle_range(const std::string& range) {
    builder_.add(MarkRecord{.start_ns = now_us_ * 1'000, .duration_ns = 50'000, .name = builder_.intern(range)});
    now_us_ += 60;
    return *this;
  }
  /// What is no step: a launch among 500 us of other work.
  Recording& setup() {
    now_us_ += 200;
    launch(50);
    now_us_ += 300;
    return *this;
  }
  Workload workload() {
    builder_.fidelity().has_calls = true;
    WorkloadOptions options;
    options.step.by = StepChoice::By::kSized;
    return workload_from_timeline(std::move(builder_).seal(), options);
  }

 private:
  void launch(std::int64_t kernel_us) {
    const std::uint32_t call =
        builder_.add(CallRecord{.start_ns = now_us_ * 1'000, .duration_ns = 1'000, .thread = thread_, .queue = queue_});
    builder_.add(OpRecord{.start_ns = (now_us_ + 5) * 1'000,
                          .duration_ns = kernel_us * 1'000,
                          .name = builder_.intern("kernel"),
                          .queue = queue_,
                          .call = call});
  }

  TimelineBuilder builder_;
  const std::uint32_t queue_ = builder_.queue(QueueRecord{});
  const std::uint32_t thread_ = builder_.thread(ThreadRecord{});
  std::int64_t now_us_ = 1'000;
};

TEST(SizedSteps, EachRangeWithASizeIsAJobOfThatSize) {
  const Workload workload =
      Recording().step("prefill tokens=64 context=0", 400).step("decode batch=2 context=64", 100).workload();
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.step_sizes[0], (StepSize{StepSize::Kind::kPrefill, 64, 0}));
  EXPECT_EQ(workload.step_sizes[1], (StepSize{StepSize::Kind::kDecode, 2, 64}));
  EXPECT_EQ(workload.device_time(workload.jobs[0]), Duration{400us});
  EXPECT_EQ(workload.job_kind, JobKind::kRequest);
}

TEST(SizedSteps, WhatLiesBetweenRangesIsNoStep) {
  const Workload workload =
      Recording().setup().step("decode batch=1", 100).setup().step("decode batch=2", 100).workload();
  ASSERT_EQ(workload.jobs.size(), 3u) << "the setup before the first range is left out";
  EXPECT_TRUE(workload.step_sizes[0] && !workload.step_sizes[1] && workload.step_sizes[2]);
}

TEST(SizedSteps, AllHostWorkOfARangeBelongsToItsStepAndNoneOfTheSetup) {
  const Workload workload =
      Recording().setup().step("decode batch=1", 100).setup().step("decode batch=2", 100).workload();
  for (const std::size_t number : {0u, 2u}) {
    const Job& job = workload.jobs[number];
    Duration host{};
    for (std::uint32_t i = 0; i < job.step_count; ++i) host += workload.steps[job.first_step + i].gap;
    EXPECT_GE(host, Duration{50us}) << "20 us before the launch and 30 us behind the wait";
    EXPECT_LE(host, Duration{60us});
  }
}

TEST(SizedSteps, ARangeThatLaunchesNothingIsNoStep) {
  const Workload workload =
      Recording().step("decode batch=1", 100).idle_range("decode batch=4").step("decode batch=2", 100).workload();
  ASSERT_EQ(workload.step_sizes.size(), 2u);
  EXPECT_EQ(workload.step_sizes[1], (StepSize{StepSize::Kind::kDecode, 2, 0}));
}

TEST(SizedSteps, AStepThatTakesMuchLongerThanOthersOfItsSizeIsNoExampleOfIt) {
  Recording recording;
  for (const int kernel_us : {400, 100, 102, 101}) recording.step("decode batch=1", kernel_us);
  const Workload workload = recording.workload();
  ASSERT_EQ(workload.step_sizes.size(), 4u);
  EXPECT_FALSE(workload.step_sizes[0]) << "the first loads its graph";
  for (const std::size_t usual : {1u, 2u, 3u}) EXPECT_TRUE(workload.step_sizes[usual]) << usual;
}

TEST(SizedSteps, ACaptureWithoutSuchRangesIsRefusedWithWhatToDo) {
  try {
    Recording().step("step", 100).workload();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("no range of the capture states a step's size"), std::string::npos);
    EXPECT_NE(error.help().find("decode batch=8"), std::string::npos);
  }
}

}  // namespace
}  // namespace corun
