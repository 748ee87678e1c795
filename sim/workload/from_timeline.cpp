#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "sim/workload/frames.h"
#include "sim/workload/host_sequence.h"
#include "sim/workload/job_split.h"
#include "sim/workload/launches.h"
#include "sim/workload/workload.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::int64_t kTypicalLaunchLatency_ns = 4'000;
// Between two queued kernels of one stream: medians of captures are 1.0 us (V100), 1.2 (A100), 1.3 (H100), 1.6 (H200).
constexpr std::int64_t kTypicalDispatchGap_ns = 1'500;
constexpr std::size_t kEnoughGaps = 100;
constexpr std::int64_t kNoDependency_ns = INT64_MIN / 2;
// The jitter of a bare pass is that of jobs if they made this share of the launches.
constexpr double kJitterIsOfJobs = 0.8;

std::int64_t end_of(const OpRecord& op) { return op.start_ns + op.duration_ns; }

/// When operations could have begun at the earliest by what they depend on, without their own launch; asked for one
/// after the other.
class DependencyEnds {
 public:
  DependencyEnds(const Timeline& timeline, const CrossStreamWaits& waits)
      : ops_(timeline.ops()), waits_(waits), tails_(timeline.queues().size(), kNoDependency_ns) {}

  std::int64_t next() {
    const OpRecord& op = ops_[next_];
    std::int64_t& tail = tails_[op.queue];
    std::int64_t end = tail;
    for (const std::uint32_t awaited : waits_.of(next_)) end = std::max(end, end_of(ops_[awaited]));
    tail = std::max(tail, end_of(op));
    ++next_;
    return end;
  }

 private:
  const std::vector<OpRecord>& ops_;
  const CrossStreamWaits& waits_;
  std::vector<std::int64_t> tails_;  // by queue
  std::uint32_t next_ = 0;
};

/// The latency of a launch into an idle stream that nine in ten launches exceed: what queued launches are given.
std::int64_t least_latency(const Timeline& timeline, const HostSequence& host, const CrossStreamWaits& waits) {
  std::vector<std::int64_t> latencies;
  DependencyEnds ends(timeline, waits);
  for (std::size_t i = 0; i < timeline.ops().size(); ++i) {
    const std::int64_t submitted_ns = host.submitted()[i];
    const bool was_idle = ends.next() <= submitted_ns;
    if (was_idle && timeline.ops()[i].call != OpRecord::kNoIndex)
      latencies.push_back(std::max<std::int64_t>(0, timeline.ops()[i].start_ns - submitted_ns));
  }
  if (latencies.size() < 5) return kTypicalLaunchLatency_ns;
  const auto tenth = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 10);
  std::nth_element(latencies.begin(), tenth, latencies.end());
  return *tenth;
}

bool was_queued(std::int64_t submitted_ns, std::int64_t dependency_end_ns, std::int64_t least_latency_ns) {
  return dependency_end_ns > submitted_ns + least_latency_ns;
}

/// The gap that an operation which found its stream idle would have had in a queue: the median of those that queued,
/// without kernels that overlap their predecessor by design (programmatic dependent launch).
std::int64_t typical_dispatch_gap(const Timeline& timeline, const HostSequence& host, const CrossStreamWaits& waits,
                                  std::int64_t least_latency_ns) {
  std::vector<std::int64_t> gaps;
  DependencyEnds ends(timeline, waits);
  for (std::size_t i = 0; i < timeline.ops().size(); ++i) {
    const std::int64_t end_ns = ends.next();
    const std::int64_t gap = timeline.ops()[i].start_ns - end_ns;
    if (gap > 0 && was_queued(host.submitted()[i], end_ns, least_latency_ns)) gaps.push_back(gap);
  }
  if (gaps.size() < kEnoughGaps) return kTypicalDispatchGap_ns;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

/// Builds a workload from a capture: its operations as they ran, then one host event at a time. The capture's rows are
/// dropped as soon as what is needed of them is known: they take more memory than all that is made of them.
class Conversion {
 public:
  Conversion(Timeline timeline, const WorkloadOptions& options)
      : timeline_(std::move(timeline)),
        host_(timeline_),
        waits_(timeline_),
        split_(split_into_jobs(timeline_, host_, options.iterations)) {}

  Workload run() {
    workload_.job_kind = JobKind::kIteration;
    workload_.names = timeline_.strings();
    workload_.names.emplace_back("");
    set_facts();
    timeline_.forget_calls();
    take_ops();
    timeline_.forget_ops();
    add_jobs();
    settle_edges();
    add_left_out();
    predict_from_means(workload_);
    return std::move(workload_);
  }

 private:
  void take_ops() {
    least_latency_ns_ = least_latency(timeline_, host_, waits_);
    typical_gap_ns_ = typical_dispatch_gap(timeline_, host_, waits_, least_latency_ns_);
    recorded_.reserve(timeline_.ops().size());
    DependencyEnds ends(timeline_, waits_);
    for (std::size_t i = 0; i < timeline_.ops().size(); ++i) {
      const OpRecord& op = timeline_.ops()[i];
      WorkOp work = work_of(op);
      set_latency(work, op, host_.submitted()[i], ends.next());
      recorded_.push_back(work);
    }
  }

  void add_jobs() {
    work_index_.assign(recorded_.size(), OpRecord::kNoIndex);
    workload_.steps.reserve(split_.end - split_.begins.front());
    workload_.ops.reserve(host_.submissions(split_.begins.front(), split_.end));
    std::size_t next_job = 0;
    for (std::size_t i = split_.begins.front(); i < split_.end; ++i) {
      if (next_job < split_.begins.size() && i == split_.begins[next_job]) {
        begin_job(host_[i]);
        ++next_job;
      }
      add_step(host_[i]);
    }
  }

  void begin_job(const HostEvent& first) {
    if (!workload_.jobs.empty()) close_job();
    Job job;
    job.first_step = static_cast<std::uint32_t>(workload_.steps.size());
    job.first_op = static_cast<std::uint32_t>(workload_.ops.size());
    job.recorded_start = time_from_ns(first.start_ns);
    workload_.jobs.push_back(job);
  }

  void close_job() {
    Job& job = workload_.jobs.back();
    job.step_count = static_cast<std::uint32_t>(workload_.steps.size()) - job.first_step;
    job.op_count = static_cast<std::uint32_t>(workload_.ops.size()) - job.first_op;
  }

  void add_step(const HostEvent& event) {
    HostStep step;
    step.gap = Duration{std::max<std::int64_t>(0, event.start_ns - free_since_ns_)};
    step.kind = event.kind;
    step.target = event.target;
    free_since_ns_ = std::max(free_since_ns_, event.release_ns);
    if (event.kind == StepKind::kSubmit) {
      step.target = static_cast<std::uint32_t>(workload_.ops.size());
      add_op(event.target);
    } else if (event.kind == StepKind::kWaitOp) {
      step.target = work_index_[event.target];
      if (step.target == OpRecord::kNoIndex) return;  // it waited for work that is left out
    }
    workload_.steps.push_back(step);
  }

  void add_op(std::uint32_t recorded) {
    WorkOp work = recorded_[recorded];
    work.awaits_begin = static_cast<std::uint32_t>(workload_.awaits.size());
    for (const std::uint32_t awaited : waits_.of(recorded)) {
      const std::uint32_t index = work_index_[awaited];
      if (index != OpRecord::kNoIndex) workload_.awaits.push_back(index);
    }
    work.awaits_count = static_cast<std::uint32_t>(workload_.awaits.size()) - work.awaits_begin;
    work_index_[recorded] = static_cast<std::uint32_t>(workload_.ops.size());
    workload_.ops.push_back(work);
  }

  WorkOp work_of(const OpRecord& op) const {
    WorkOp work;
    work.kind = op.kind;
    work.name = op.name.is_none() ? static_cast<std::uint32_t>(workload_.names.size() - 1) : op.name.value;
    work.stream = StreamId{op.queue};
    work.duration = Duration{op.duration_ns};
    work.bytes = op.bytes;
    if (op.shape != OpRecord::kNoIndex) work.shape = timeline_.shapes()[op.shape];
    return work;
  }

  void add_left_out() {
    for (std::size_t i = 0; i < work_index_.size(); ++i) {
      if (work_index_[i] != OpRecord::kNoIndex) continue;
      WorkOp work = recorded_[i];
      work.dispatch_gap = work.launch_latency = Duration{};
      workload_.left_out.push_back(work);
    }
  }

  /// Splits the time before an operation's begin into its launch's latency and the device's own gap, so that replaying
  /// the recorded launches alone gives back the recorded begins, and a queue of them is dispatched as queues are.
  void set_latency(WorkOp& work, const OpRecord& op, std::int64_t submitted_ns, std::int64_t dependency_end_ns) const {
    const bool queued = was_queued(submitted_ns, dependency_end_ns, least_latency_ns_);
    std::int64_t gap = std::numeric_limits<std::int64_t>::max();
    if (dependency_end_ns != kNoDependency_ns) gap = op.start_ns - dependency_end_ns;
    if (!queued) gap = std::min(gap, typical_gap_ns_);
    work.launch_latency = Duration{queued ? least_latency_ns_ : std::max<std::int64_t>(0, op.start_ns - submitted_ns)};
    work.dispatch_gap = Duration{std::max<std::int64_t>(0, gap)};
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
    close_job();
    std::vector<Job>& jobs = workload_.jobs;
    if (jobs.size() < 2) return;
    while (trailing_waits(jobs.back()) > trailing_waits(jobs[jobs.size() - 2])) {
      workload_.steps.pop_back();
      --jobs.back().step_count;
    }
    std::vector<Duration> gaps;
    for (std::size_t j = 1; j < jobs.size(); ++j) gaps.push_back(workload_.steps[jobs[j].first_step].gap);
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
    workload_.steps[jobs.front().first_step].gap = gaps[gaps.size() / 2];
  }

  void set_facts() {
    std::int64_t first = INT64_MAX, last = 0;
    for (std::size_t i = split_.begins.front(); i < split_.end; ++i) {
      if (!host_.is_submission(i)) continue;
      const OpRecord& op = timeline_.ops()[host_[i].target];
      first = std::min(first, op.start_ns);
      last = std::max(last, end_of(op));
    }
    workload_.recorded_span = Duration{last - first};
    if (!split_.note.empty()) workload_.notes.push_back(split_.note);
    if (timeline_.provenance().untraced_rate && timeline_.fidelity().has_calls) use_bare_pass();
    if (timeline_.fidelity().host_gaps_inflated)
      workload_.notes.push_back("host gaps were recorded under a profiler, which inflates them; state solo_rate");
    if (timeline_.fidelity().integer_microseconds)
      workload_.notes.push_back("durations were recorded in whole microseconds");
  }

  /// Takes rate and jitter of the jobs from the bare pass. It counted the capture's last launches, those of kept jobs
  /// and others: the factor by which it made all of them faster is taken to hold for the jobs.
  void use_bare_pass() {
    const UntracedRate& rate = *timeline_.provenance().untraced_rate;
    const std::vector<std::int64_t> all = launch_instants(timeline_);
    const std::span kept(std::ranges::lower_bound(all, host_.start_of(split_.begins.front())),
                         std::ranges::upper_bound(all, host_.start_of(split_.end - 1)));
    if (kept.empty()) return;
    double kept_per_s = rate.launches_per_s();
    if (kept.size() < all.size()) {
      const std::span counted = std::span(all).last(std::min<std::size_t>(all.size(), rate.launches + 1));
      const double counted_per_s = launches_per_s(counted);
      // Tracing makes no program faster: a slower start-up outweighed the rest.
      if (counted_per_s > rate.launches_per_s()) {
        workload_.notes.push_back(
            "its bare pass was slower than the capture, because of its start-up, and does not tell the rate of the "
            "jobs: host gaps are as captured; state solo_rate");
        return;
      }
      if (counted_per_s <= 0) return;
      kept_per_s *= launches_per_s(kept) / counted_per_s;
    }
    const auto launches = static_cast<double>(kept.size());
    workload_.untraced_jobs_per_s = kept_per_s * static_cast<double>(split_.begins.size()) / launches;
    const double share = launches / static_cast<double>(all.size());
    if (share >= kJitterIsOfJobs) {
      workload_.untraced_jitter = rate.jitter_ppm * 1e-6;
    } else {
      workload_.notes.push_back(fmt::format(
          "its jobs make {:.0f} % of its launches, too few to take their host_jitter from its bare pass", 100 * share));
    }
  }

  Timeline timeline_;
  const HostSequence host_;
  const CrossStreamWaits waits_;
  const JobSplit split_;
  std::int64_t least_latency_ns_ = 0, typical_gap_ns_ = 0;
  WorkOps recorded_;                       // all operations, as they ran
  std::vector<std::uint32_t> work_index_;  // of each of them in the workload
  std::int64_t free_since_ns_ = 0;
  Workload workload_;
};

bool is_frames_alone(const Timeline& timeline) {
  return std::ranges::all_of(timeline.ops(), [](const OpRecord& op) { return op.kind == OpKind::kRender; }) &&
         (timeline.ops().empty() || !timeline.frames().empty());
}

}  // namespace

Workload workload_from_timeline(Timeline timeline, const WorkloadOptions& options) {
  const std::string& file = timeline.provenance().source_file;
  if (timeline.fidelity().co_run && !options.allow_co_run)
    throw Error(ErrorKind::kUnsupported, SourceLocation{file},
                "other contexts used the GPU during this capture, so its durations contain time away",
                "capture the program alone, or state allow_co_run: true");
  if (is_frames_alone(timeline)) return workload_from_frames(timeline, options);
  Workload workload = Conversion(std::move(timeline), options).run();
  workload.check();
  return workload;
}

}  // namespace corun
