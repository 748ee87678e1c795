#include <gtest/gtest.h>

#include "sim/workload/workload.h"

namespace corun {
namespace {

constexpr std::int64_t us = 1000;

/// A program of one thread and stream, whose device runs each launch 2 us after it or behind the one before.
class Program {
 public:
  void launch(std::int64_t duration_us) {
    CallRecord call{now_us_ * us, us};
    call.thread = thread_;
    call.queue = queue_;
    OpRecord op;
    op.start_ns = std::max(now_us_ + 2, busy_until_us_) * us;
    op.duration_ns = duration_us * us;
    op.name = builder_.intern("kernel");
    op.queue = queue_;
    op.call = builder_.add(call);
    builder_.add(op);
    busy_until_us_ = op.start_ns / us + duration_us;
    now_us_ += 1;
  }
  void work(std::int64_t host_us) { now_us_ += host_us; }
  void poll() { now_us_ = std::max(now_us_, busy_until_us_); }
  void synchronize() {
    CallRecord call{now_us_ * us, std::max<std::int64_t>(1, busy_until_us_ - now_us_) * us};
    call.kind = CallKind::kSynchronizeDevice;
    call.thread = thread_;
    builder_.add(call);
    poll();
  }
  Workload replayed(std::uint32_t launches_a_step, HostWaits waits = HostWaits::kEvident) {
    builder_.fidelity().has_calls = true;
    WorkloadOptions options;
    options.step = {.by = StepChoice::By::kLaunches, .name = {}, .launches = launches_a_step};
    options.host_waits = waits;
    return workload_from_timeline(std::move(builder_).seal(), options);
  }

 private:
  TimelineBuilder builder_;
  const std::uint32_t queue_ = builder_.queue(QueueRecord{0, 1, 7, 1, 0});
  const std::uint32_t thread_ = builder_.thread(ThreadRecord{1, 1});
  std::int64_t now_us_ = 100, busy_until_us_ = 0;
};

/// Steps whose host polls until the device is done and works for 50 us more. `then(step)` is called before it polls.
template <class Then>
void poll_for_steps(Program& program, std::initializer_list<std::int64_t> kernels_us, Then then) {
  for (int step = 0; step < 20; ++step) {
    for (const std::int64_t duration_us : kernels_us) program.launch(duration_us);
    then(step);
    program.poll();
    program.work(50);
  }
}
void poll_for_steps(Program& program, std::initializer_list<std::int64_t> kernels_us) {
  poll_for_steps(program, kernels_us, [](int) {});
}

/// Numbers of the jobs that end with a wait for all work.
std::vector<std::size_t> waiting_jobs(const Workload& workload) {
  std::vector<std::size_t> found;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const Job& job = workload.jobs[j];
    if (workload.steps[job.first_step + job.step_count - 1].kind == StepKind::kWaitAll) found.push_back(j);
  }
  return found;
}

TEST(UnseenWaits, AHostThatPollsBeforeEachStepWaitsThere) {
  Program program;
  poll_for_steps(program, {200, 100});
  const Workload workload = program.replayed(2);
  EXPECT_EQ(workload.unseen_waits, 19U);
  ASSERT_EQ(waiting_jobs(workload).size(), 19U);
  EXPECT_EQ(waiting_jobs(workload).back(), 18U);
  const HostStep after = workload.steps[workload.jobs[5].first_step];
  EXPECT_EQ(to_ns(after.gap), 50 * us) << "its own time from the end of the device's work to the next step";
}

TEST(UnseenWaits, AHostThatRunsAheadAndPollsNowAndThenWaitsOnlyThen) {
  Program program;
  for (int round = 0; round < 12; ++round) {
    for (int step = 0; step < 4; ++step) {
      program.launch(300);
      program.work(10);
    }
    program.poll();
    program.work(50);
  }
  const Workload workload = program.replayed(1);
  EXPECT_EQ(workload.unseen_waits, 11U);
  for (const std::size_t job : waiting_jobs(workload)) EXPECT_EQ(job % 4, 3U);
}

TEST(UnseenWaits, AHostThatFindsItsDeviceIdleInEverySecondStepIsNotTakenToWait) {
  Program program;
  for (int round = 0; round < 20; ++round)
    for (const std::int64_t host_us : {400, 100}) {
      program.launch(200);
      program.work(host_us);
    }
  EXPECT_EQ(program.replayed(1).unseen_waits, 0U);
}

TEST(UnseenWaits, AHostThatIsSlowerThanItsDeviceThroughoutIsNotTakenToWait) {
  Program program;
  for (int launch = 0; launch < 60; ++launch) {
    program.launch(5);
    program.work(20);
  }
  EXPECT_EQ(program.replayed(3).unseen_waits, 0U);
}

TEST(UnseenWaits, StepsThatEndLongBeforeTheHostComesBackShowNoWait) {
  Program program;
  for (int step = 0; step < 20; ++step) {
    program.launch(30);
    program.launch(30);
    program.work(500);
  }
  EXPECT_EQ(program.replayed(2).unseen_waits, 0U);
}

TEST(UnseenWaits, RecordedWaitsAreBelieved) {
  Program program;
  poll_for_steps(program, {200}, [&](int step) {
    if (step % 10 == 9) program.synchronize();
  });
  const Workload workload = program.replayed(1);
  EXPECT_EQ(workload.unseen_waits, 0U);
  EXPECT_EQ(waiting_jobs(workload), (std::vector<std::size_t>{9}));
}

TEST(UnseenWaits, AClientMaySayThatItsHostNeverWaits) {
  Program program;
  poll_for_steps(program, {200});
  EXPECT_TRUE(waiting_jobs(program.replayed(1, HostWaits::kRecorded)).empty());
}

}  // namespace
}  // namespace corun
