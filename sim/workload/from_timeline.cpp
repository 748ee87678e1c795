#include <algorithm>
#include <limits>

#include "sim/workload/frames.h"
#include "sim/workload/host_sequence.h"
#include "sim/workload/job_split.h"
#include "sim/workload/workload.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::int64_t kTypicalLaunchLatency_ns = 4'000;
// Between two queued kernels of one stream: medians of captures are 1.0 us (V100), 1.2 (A100), 1.3 (H100), 1.6 (H200).
constexpr std::int64_t kTypicalDispatchGap_ns = 1'500;
constexpr std::size_t kEnoughGaps = 100;
constexpr std::int64_t kNoDependency_ns = INT64_MIN / 2;

std::int64_t end_of(const OpRecord& op) { return op.start_ns + op.duration_ns; }

/// When each operation could have begun at the earliest by what it depends on, without its own launch.
std::vector<std::int64_t> dependency_ends(const Timeline& timeline,
                                          const std::vector<std::vector<std::uint32_t>>& waits) {
  std::vector<std::int64_t> ends(timeline.ops().size());
  std::vector<std::int64_t> tails(timeline.queues().size(), kNoDependency_ns);
  for (std::uint32_t i = 0; i < ends.size(); ++i) {
    const OpRecord& op = timeline.ops()[i];
    ends[i] = tails[op.queue];
    for (const std::uint32_t awaited : waits[i]) ends[i] = std::max(ends[i], end_of(timeline.ops()[awaited]));
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
        waits_(cross_stream_waits(timeline)),
        dependency_end_(dependency_ends(timeline, waits_)),
        least_latency_ns_(least_latency(timeline, host_, dependency_end_)),
        typical_gap_ns_(typical_dispatch_gap(timeline, host_, dependency_end_, least_latency_ns_)),
        work_index_(timeline.ops().size(), OpRecord::kNoIndex) {
    begins_ = job_begins(options);
  }

  Workload run() {
    workload_.job_kind = JobKind::kIteration;
    for (std::uint32_t i = 0; i < timeline_.strings().size(); ++i) workload_.names.push_back(timeline_.strings()[i]);
    workload_.names.emplace_back("");
    std::size_t next_job = 0;
    for (std::size_t i = 0; i < host_.size(); ++i) {
      if (next_job < begins_.size() && i == begins_[next_job]) {
        begin_job(host_[i]);
        ++next_job;
      }
      add_step(host_[i]);
    }
    settle_edges();
    predict_from_means(workload_);
    set_span();
    return std::move(workload_);
  }

 private:
  /// Index into the host sequence of each job's first event.
  std::vector<std::size_t> job_begins(const WorkloadOptions& options) const {
    std::vector<std::size_t> begins{0};
    if (options.iterations > 0) {
      const std::size_t ops = timeline_.ops().size();
      if (options.iterations > ops)
        throw Error(ErrorKind::kInput, fmt::format("{}: iterations: {} but the capture has {} operations",
                                                   timeline_.provenance().source_file, options.iterations, ops));
      std::size_t submitted = 0, job = 1;
      for (std::size_t i = 0; i < host_.size(); ++i) {
        if (host_[i].kind != StepKind::kSubmit) continue;
        if (job < options.iterations && submitted++ == ops * job / options.iterations) {
          begins.push_back(i);
          ++job;
        }
      }
      return begins;
    }
    std::size_t i = 0;
    for (const std::int64_t boundary : job_boundaries(timeline_)) {
      bool has_work = false;
      for (; i < host_.size() && host_[i].start_ns < boundary; ++i) has_work |= host_[i].kind == StepKind::kSubmit;
      if (has_work && i < host_.size()) begins.push_back(i);
    }
    const auto last = host_.begin() + static_cast<std::ptrdiff_t>(begins.back());
    const bool ends_in_work =
        std::any_of(last, host_.end(), [](const HostEvent& e) { return e.kind == StepKind::kSubmit; });
    if (!ends_in_work && begins.size() > 1) begins.pop_back();
    return begins;
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
      add_op(event);
    } else if (event.kind == StepKind::kWaitOp) {
      step.target = work_index_[event.target];
    }
    workload_.steps.push_back(step);
  }

  void add_op(const HostEvent& event) {
    const OpRecord& op = timeline_.ops()[event.target];
    WorkOp work;
    work.kind = op.kind;
    work.name = op.name.is_none() ? static_cast<std::uint32_t>(workload_.names.size() - 1) : op.name.value;
    work.stream = StreamId{op.queue};
    work.duration = Duration{op.duration_ns};
    work.bytes = op.bytes;
    if (op.shape != OpRecord::kNoIndex) work.shape = timeline_.shapes()[op.shape];
    set_latency(work, op, event.start_ns, dependency_end_[event.target]);
    work.awaits_begin = static_cast<std::uint32_t>(workload_.awaits.size());
    for (const std::uint32_t awaited : waits_[event.target]) {
      const std::uint32_t index = work_index_[awaited];
      if (index != OpRecord::kNoIndex) workload_.awaits.push_back(index);
    }
    work.awaits_count = static_cast<std::uint32_t>(workload_.awaits.size()) - work.awaits_begin;
    work_index_[event.target] = static_cast<std::uint32_t>(workload_.ops.size());
    workload_.ops.push_back(work);
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

  void set_span() {
    std::int64_t last = 0;
    for (const OpRecord& op : timeline_.ops()) last = std::max(last, end_of(op));
    workload_.recorded_span = Duration{last - timeline_.ops().front().start_ns};
    if (timeline_.fidelity().host_gaps_inflated)
      workload_.notes.push_back("host gaps were recorded under a profiler, which inflates them; state solo_rate");
    if (timeline_.fidelity().integer_microseconds)
      workload_.notes.push_back("durations were recorded in whole microseconds");
  }

  const Timeline& timeline_;
  const std::vector<HostEvent> host_;
  const std::vector<std::vector<std::uint32_t>> waits_;
  const std::vector<std::int64_t> dependency_end_;
  const std::int64_t least_latency_ns_;
  const std::int64_t typical_gap_ns_;
  std::vector<std::uint32_t> work_index_;  // of each operation of the timeline
  std::vector<std::size_t> begins_;
  std::int64_t free_since_ns_ = 0;
  Workload workload_;
};

}  // namespace

Workload workload_from_timeline(const Timeline& timeline, const WorkloadOptions& options) {
  const std::string& file = timeline.provenance().source_file;
  if (timeline.fidelity().co_run && !options.allow_co_run)
    throw Error(ErrorKind::kUnsupported, SourceLocation{file},
                "other contexts used the GPU during this capture, so its durations contain time away",
                "capture the program alone, or state allow_co_run: true");
  if (timeline.ops().empty()) return workload_from_frames(timeline, options);
  Workload workload = Conversion(timeline, options).run();
  workload.check();
  return workload;
}

}  // namespace corun
