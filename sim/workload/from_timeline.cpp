#include <algorithm>
#include <limits>
#include <span>

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

/// When each operation could have begun at the earliest by what it depends on, without its own launch.
std::vector<std::int64_t> dependency_ends(const Timeline& timeline, const CrossStreamWaits& waits) {
  std::vector<std::int64_t> ends(timeline.ops().size());
  std::vector<std::int64_t> tails(timeline.queues().size(), kNoDependency_ns);
  for (std::uint32_t i = 0; i < ends.size(); ++i) {
    const OpRecord& op = timeline.ops()[i];
    ends[i] = tails[op.queue];
    for (const std::uint32_t awaited : waits.of(i)) ends[i] = std::max(ends[i], end_of(timeline.ops()[awaited]));
    tails[op.queue] = std::max(tails[op.queue], end_of(op));
  }
  return ends;
}

/// The latency of a launch into an idle stream that nine in ten launches exceed: what queued launches are given.
std::int64_t least_latency(const Timeline& timeline, const std::vector<HostEvent>& host,
                           const std::vector<std::int64_t>& dependency_end) {
  std::vector<std::int64_t> latencies;
  for (const HostEvent& event : host) {
    if (event.kind != StepKind::kSubmit || timeline.ops()[event.target].call == OpRecord::kNoIndex) continue;
    if (dependency_end[event.target] <= event.start_ns)
      latencies.push_back(std::max<std::int64_t>(0, timeline.ops()[event.target].start_ns - event.start_ns));
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
std::int64_t typical_dispatch_gap(const Timeline& timeline, const std::vector<HostEvent>& host,
                                  const std::vector<std::int64_t>& dependency_end, std::int64_t least_latency_ns) {
  std::vector<std::int64_t> gaps;
  for (const HostEvent& event : host) {
    if (event.kind != StepKind::kSubmit) continue;
    const std::int64_t gap = timeline.ops()[event.target].start_ns - dependency_end[event.target];
    if (gap > 0 && was_queued(event.start_ns, dependency_end[event.target], least_latency_ns)) gaps.push_back(gap);
  }
  if (gaps.size() < kEnoughGaps) return kTypicalDispatchGap_ns;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

/// Builds a workload from a capture's operations, one host event at a time.
class Conversion {
 public:
  Conversion(const Timeline& timeline, const WorkloadOptions& options)
      : timeline_(timeline),
        host_(host_sequence(timeline)),
        waits_(timeline),
        dependency_end_(dependency_ends(timeline, waits_)),
        least_latency_ns_(least_latency(timeline, host_, dependency_end_)),
        typical_gap_ns_(typical_dispatch_gap(timeline, host_, dependency_end_, least_latency_ns_)),
        work_index_(timeline.ops().size(), OpRecord::kNoIndex),
        split_(split_into_jobs(timeline, host_, options.iterations)) {}

  Workload run() {
    workload_.job_kind = JobKind::kIteration;
    for (std::uint32_t i = 0; i < timeline_.strings().size(); ++i) workload_.names.push_back(timeline_.strings()[i]);
    workload_.names.emplace_back("");
    workload_.steps.reserve(split_.end - split_.begins.front());
    workload_.ops.reserve(timeline_.ops().size());
    std::size_t next_job = 0;
    for (std::size_t i = split_.begins.front(); i < split_.end; ++i) {
      if (next_job < split_.begins.size() && i == split_.begins[next_job]) {
        begin_job(host_[i]);
        ++next_job;
      }
      add_step(host_[i]);
    }
    settle_edges();
    add_left_out();
    predict_from_means(workload_);
    set_facts();
    return std::move(workload_);
  }

 private:
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
      add_op(event);
    } else if (event.kind == StepKind::kWaitOp) {
      step.target = work_index_[event.target];
      if (step.target == OpRecord::kNoIndex) return;  // it waited for work that is left out
    }
    workload_.steps.push_back(step);
  }

  void add_op(const HostEvent& event) {
    const OpRecord& op = timeline_.ops()[event.target];
    WorkOp work = work_of(op);
    set_latency(work, op, event.start_ns, dependency_end_[event.target]);
    work.awaits_begin = static_cast<std::uint32_t>(workload_.awaits.size());
    for (const std::uint32_t awaited : waits_.of(event.target)) {
      const std::uint32_t index = work_index_[awaited];
      if (index != OpRecord::kNoIndex) workload_.awaits.push_back(index);
    }
    work.awaits_count = static_cast<std::uint32_t>(workload_.awaits.size()) - work.awaits_begin;
    work_index_[event.target] = static_cast<std::uint32_t>(workload_.ops.size());
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
    for (std::size_t i = 0; i < work_index_.size(); ++i)
      if (work_index_[i] == OpRecord::kNoIndex) workload_.left_out.push_back(work_of(timeline_.ops()[i]));
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
    for (std::size_t i = 0; i < work_index_.size(); ++i) {
      if (work_index_[i] == OpRecord::kNoIndex) continue;
      first = std::min(first, timeline_.ops()[i].start_ns);
      last = std::max(last, end_of(timeline_.ops()[i]));
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
    const std::span kept(std::ranges::lower_bound(all, host_[split_.begins.front()].start_ns),
                         std::ranges::upper_bound(all, host_[split_.end - 1].start_ns));
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
    workload_.untraced_jobs_per_s = kept_per_s * static_cast<double>(workload_.jobs.size()) / launches;
    const double share = launches / static_cast<double>(all.size());
    if (share >= kJitterIsOfJobs) {
      workload_.untraced_jitter = rate.jitter_ppm * 1e-6;
    } else {
      workload_.notes.push_back(fmt::format(
          "its jobs make {:.0f} % of its launches, too few to take their host_jitter from its bare pass", 100 * share));
    }
  }

  const Timeline& timeline_;
  const std::vector<HostEvent> host_;
  const CrossStreamWaits waits_;
  const std::vector<std::int64_t> dependency_end_;
  const std::int64_t least_latency_ns_;
  const std::int64_t typical_gap_ns_;
  std::vector<std::uint32_t> work_index_;  // of each operation of the timeline
  const JobSplit split_;
  std::int64_t free_since_ns_ = 0;
  Workload workload_;
};

bool is_frames_alone(const Timeline& timeline) {
  return std::ranges::all_of(timeline.ops(), [](const OpRecord& op) { return op.kind == OpKind::kRender; }) &&
         (timeline.ops().empty() || !timeline.frames().empty());
}

}  // namespace

Workload workload_from_timeline(const Timeline& timeline, const WorkloadOptions& options) {
  const std::string& file = timeline.provenance().source_file;
  if (timeline.fidelity().co_run && !options.allow_co_run)
    throw Error(ErrorKind::kUnsupported, SourceLocation{file},
                "other contexts used the GPU during this capture, so its durations contain time away",
                "capture the program alone, or state allow_co_run: true");
  if (is_frames_alone(timeline)) return workload_from_frames(timeline, options);
  Workload workload = Conversion(timeline, options).run();
  workload.check();
  return workload;
}

}  // namespace corun
