#include "sim/workload/capture/job_steps.h"

#include <algorithm>

#include "sim/workload/capture/unseen_waits.h"

namespace corun {

namespace {

class JobSteps {
 public:
  JobSteps(const HostSide& host, Workload& workload) : host_(host), workload_(workload) {}

  void add() {
    const JobSplit& split = host_.split;
    workload_.steps.reserve(split.end - first_event());
    std::size_t next_job = 0, next_wait = 0;
    for (std::size_t i = first_event(); i < split.end; ++i) {
      const bool is_wait = next_wait < host_.waits.size() && host_.waits[next_wait].event == i;
      const std::int64_t start_ns = host_.sequence.start_of(i);
      const HostEvent event = is_wait ? host_.waits[next_wait++].wait : HostEvent{start_ns, start_ns};
      if (next_job < split.begins.size() && i == split.begins[next_job]) begin_job(next_job++, event);
      add_step(event);
    }
    if (!split.sized.empty()) end_range(split.sized.size() - 1);
    close_job();
    if (split.sized.empty()) settle_edges();  // ranges say what belongs to a step
    add_sizes();
  }

 private:
  std::size_t first_event() const { return host_.split.begins.front(); }

  void begin_job(std::size_t number, const HostEvent& first) {
    if (number < host_.unseen_waits.size()) add_unseen_wait(host_.unseen_waits[number]);
    if (!host_.split.sized.empty()) settle_range_edges(number);
    if (!workload_.jobs.empty()) close_job();
    Job job;
    job.first_step = static_cast<std::uint32_t>(workload_.steps.size());
    job.first_op = submitted_;
    job.recorded_start = time_from_ns(first.start_ns);
    workload_.jobs.push_back(job);
  }

  void close_job() {
    Job& job = workload_.jobs.back();
    job.step_count = static_cast<std::uint32_t>(workload_.steps.size()) - job.first_step;
    job.op_count = submitted_ - job.first_op;
  }

  /// Ends the job before with it.
  void add_unseen_wait(std::int64_t until_ns) {
    if (until_ns == kNoWait) return;
    add_step({free_since_ns_, std::max(free_since_ns_, until_ns), StepKind::kWaitAll, 0});
  }

  /// What a range of a step holds before its first call and behind its last is host time of the step.
  void settle_range_edges(std::size_t job) {
    if (job > 0) end_range(job - 1);
    free_since_ns_ = std::max(free_since_ns_, host_.split.sized[job].begin_ns);
  }

  void end_range(std::size_t job) {
    const SizedStep& range = host_.split.sized[job];
    if (!range.size) return;
    const std::int64_t end_ns = std::max(free_since_ns_, range.end_ns);
    add_step({end_ns, end_ns, StepKind::kWaitAll, 0});
  }

  void add_step(const HostEvent& event) {
    HostStep step;
    step.gap = Duration{std::max<std::int64_t>(0, event.start_ns - free_since_ns_)};
    step.kind = event.kind;
    step.target = event.target;
    free_since_ns_ = std::max(free_since_ns_, event.release_ns);
    if (event.kind == StepKind::kSubmit) step.target = submitted_++;
    if (event.kind == StepKind::kWaitOp) {
      step.target = host_.index_of[event.target];
      if (step.target == OpRecord::kNoIndex) return;  // it waited for work that is left out
    }
    workload_.steps.push_back(step);
  }

  std::uint32_t trailing_waits(const Job& job) const {
    std::uint32_t waits = 0;
    while (waits < job.step_count &&
           workload_.steps[job.first_step + job.step_count - 1 - waits].kind != StepKind::kSubmit)
      ++waits;
    return waits;
  }

  /// The first and last job of a capture carry its edges: the wait that ended the capture is not part of a step, and
  /// the host gap before the first call is not known. Both are taken from their neighbours.
  void settle_edges() {
    std::vector<Job>& jobs = workload_.jobs;
    if (jobs.size() < 2) return settle_marked_job();
    while (trailing_waits(jobs.back()) > trailing_waits(jobs[jobs.size() - 2])) {
      workload_.steps.pop_back();
      --jobs.back().step_count;
    }
    std::vector<Duration> gaps;
    for (std::size_t j = 1; j < jobs.size(); ++j) gaps.push_back(workload_.steps[jobs[j].first_step].gap);
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
    workload_.steps.set_gap(jobs.front().first_step, gaps[gaps.size() / 2]);
  }

  /// What a range of a single job holds before its first call and behind its last is host time.
  void settle_marked_job() {
    const std::int64_t called_ns = free_since_ns_ - host_.sequence.start_of(first_event());
    const std::int64_t rest_ns = host_.split.length_ns - called_ns;
    if (rest_ns > 0) workload_.steps.set_gap(0, Duration{rest_ns});
  }

  void add_sizes() {
    for (const SizedStep& step : host_.split.sized) workload_.step_sizes.push_back(step.size);
    if (!workload_.step_sizes.empty()) separate_jobs(workload_);
  }

  const HostSide& host_;
  Workload& workload_;
  std::uint32_t submitted_ = 0;
  std::int64_t free_since_ns_ = 0;
};

}  // namespace

void add_jobs(const HostSide& host, Workload& workload) { JobSteps(host, workload).add(); }

}  // namespace corun
