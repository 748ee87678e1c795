#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "sim/workload/capture/frames.h"
#include "sim/workload/capture/host/host_sequence.h"
#include "sim/workload/capture/host/launches.h"
#include "sim/workload/capture/job_split.h"
#include "sim/workload/capture/job_steps.h"
#include "sim/workload/capture/unseen_waits.h"
#include "sim/workload/counters.h"
#include "sim/workload/workload.h"
#include "traces/base/column.h"
#include "traces/base/error.h"
#include "traces/base/ranked_numbers.h"
#include "traces/host_use.h"

namespace corun {

namespace {

constexpr std::int64_t kTypicalLaunchLatency_ns = 4'000;
// Between two queued kernels of one stream: medians of captures are 1.0 us (V100), 1.2 (A100), 1.3 (H100), 1.6 (H200).
constexpr std::int64_t kTypicalDispatchGap_ns = 1'500;
constexpr std::size_t kEnoughGaps = 100;
constexpr std::int64_t kNoDependency_ns = INT64_MIN / 2;
// The jitter of an untraced pass is that of jobs if they made this share of the launches.
constexpr double kJitterIsOfJobs = 0.8;

/// Time from when each operation could have begun by what it depends on, without its own launch, to its start: below
/// zero where they overlap. Of one that depends on nothing, longer than any capture. Frees the starts.
Durations dependency_gaps(CompactCapture& capture, const CrossStreamWaits& waits) {
  const std::size_t count = capture.op_count();
  std::vector<std::int64_t> tails(capture.rest.queues().size(), kNoDependency_ns);
  Durations gaps;
  gaps.reserve(count);
  Durations::Reader durations(capture.durations);
  Kinds::Reader prototypes(capture.prototype_of);
  const auto add = [&](std::int64_t start_ns, std::int64_t awaited_end_ns) {
    std::int64_t& tail = tails[capture.prototypes[prototypes.next()].queue];
    gaps.push_back(start_ns - std::max(tail, awaited_end_ns));
    tail = std::max(tail, start_ns + durations.next());
  };
  if (waits.empty()) {
    Instants::Drain starts(std::move(capture.starts));
    for (std::size_t i = 0; i < count; ++i) add(starts.next(), INT64_MIN);
    return gaps;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    std::int64_t end_ns = INT64_MIN;
    for (const std::uint32_t awaited : waits.of(i)) end_ns = std::max(end_ns, capture.end_of(awaited));
    add(capture.starts[i], end_ns);
  }
  capture.starts = {};
  return gaps;
}

/// The latency of a launch into an idle stream that nine in ten launches exceed: what queued launches are given.
std::int64_t least_latency(const Durations& gaps, const HostSequence& host) {
  RankedNumbers latencies;
  Durations::Reader next_gap(gaps), next_delay(host.delays());
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    const std::int64_t delay = next_delay.next();
    const bool was_idle = next_gap.next() >= delay;
    if (was_idle && host.has_call(i)) latencies.push_back(std::max<std::int64_t>(0, delay));
  }
  return latencies.size() < 5 ? kTypicalLaunchLatency_ns : latencies.ranked(latencies.size() / 10);
}

/// Whether what an operation waited for ended later than its launch took.
bool was_queued(std::int64_t delay_ns, std::int64_t gap_ns, std::int64_t least_latency_ns) {
  return gap_ns < delay_ns - least_latency_ns;
}

/// The gap that an operation which found its stream idle would have had in a queue: the median of those that queued,
/// without kernels that overlap their predecessor by design (programmatic dependent launch).
std::int64_t typical_dispatch_gap(const Durations& gaps, const HostSequence& host, std::int64_t least_latency_ns) {
  RankedNumbers queued;
  Durations::Reader next_gap(gaps), next_delay(host.delays());
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const std::int64_t gap = next_gap.next(), delay = next_delay.next();
    if (gap > 0 && was_queued(delay, gap, least_latency_ns)) queued.push_back(gap);
  }
  return queued.size() < kEnoughGaps ? kTypicalDispatchGap_ns : queued.ranked(queued.size() / 2);
}

/// Builds a workload from a capture. The capture's columns become the workload's: each is freed, or put into the order
/// in which the host submitted, before the next is made.
class Conversion {
 public:
  /// `is_part`: operations of other GPUs were taken out of it.
  Conversion(CompactCapture capture, const WorkloadOptions& options, bool is_part)
      : capture_(std::move(capture)),
        is_part_(is_part),
        waits_(capture_),
        graphs_(graph_places(capture_)),
        launches_(has_untraced_pass() ? launch_instants(capture_) : Instants()),
        host_(capture_),
        split_(split_into_jobs(capture_, host_, options)),
        unseen_waits_(options.host_waits == HostWaits::kEvident ? unseen_waits(capture_, host_, split_)
                                                                : std::vector<std::int64_t>()) {}

  Workload run() {
    workload_.job_kind = split_.sized.empty() ? JobKind::kIteration : JobKind::kRequest;
    workload_.tracer =
        capture_.rest.fidelity().host_gaps_inflated ? Workload::Tracer::kProfiler : Workload::Tracer::kTracer;
    workload_.names = capture_.rest.strings();
    workload_.names.emplace_back("");
    set_order();
    count_launches();
    set_facts();
    add_ops();
    add_awaits();
    add_jobs({host_, split_, host_waits_, unseen_waits_, index_of_}, workload_);
    predict_from_means(workload_);
    return std::move(workload_);
  }

 private:
  bool has_untraced_pass() const {
    return capture_.rest.provenance().untraced_rate && capture_.rest.fidelity().has_calls && !is_part_;
  }
  std::size_t first_event() const { return split_.begins.front(); }

  /// Writes down which operations are submitted in the jobs, in order, and what the host waits for between them.
  void set_order() {
    order_ = Order(host_.take_submissions(first_event(), split_.end, [&](std::size_t event, const HostEvent& wait) {
      host_waits_.push_back({event, wait});
    }));
    is_as_recorded_ = order_.size() == capture_.op_count() && order_.is_that_of_capture();
    if (waits_.empty() && std::ranges::find(host_waits_, StepKind::kWaitOp, kind_of) == host_waits_.end()) return;
    index_of_.assign(capture_.op_count(), OpRecord::kNoIndex);
    for (std::uint32_t index = 0; index < order_.size(); ++index) index_of_[order_[index]] = index;
  }

  /// Operation of the workload that its last job begins with.
  std::size_t first_of_last_job() const {
    const std::size_t begin = split_.begins.back();
    const auto first_wait = std::ranges::lower_bound(host_waits_, begin, {}, &HostWait::event);
    return begin - first_event() - static_cast<std::size_t>(first_wait - host_waits_.begin());
  }

  void count_launches() {
    workload_.is_taken_whole = split_.finding.certainty == StepCertainty::kNone;
    workload_.launches = order_.size();
    if (graphs_.is_first.empty()) return;
    order_.for_each([&](std::uint32_t op) {
      workload_.launches -= graphs_.is_within[op] ? 1 : 0;
      workload_.graphs += graphs_.is_first[op] ? 1 : 0;
    });
    graphs_ = {};
  }

  void add_ops() {
    add_left_out();
    WorkOps::Columns columns;
    add_times(columns);
    columns.duration = in_order(std::move(capture_.durations));
    columns.prototype = in_order(std::move(capture_.prototype_of));
    if (waits_.empty()) order_ = {};
    workload_.ops = WorkOps(prototypes(), std::move(columns));
  }

  /// Splits the time before each operation's begin into its launch's latency and the device's own gap, so that
  /// replaying the recorded launches alone gives back the recorded begins, and a queue of them is dispatched as queues
  /// are.
  void add_times(WorkOps::Columns& columns) {
    Durations gaps = dependency_gaps(capture_, waits_);
    const std::int64_t least = least_latency(gaps, host_);
    const std::int64_t typical_gap = typical_dispatch_gap(gaps, host_, least);
    Durations delays = host_.take_delays();
    columns.launch_latency.reserve(order_.size());
    columns.dispatch_gap.reserve(order_.size());
    const auto split = [&](std::int64_t gap, std::int64_t delay) {
      const bool queued = was_queued(delay, gap, least);
      columns.launch_latency.push_back(queued ? least : std::max<std::int64_t>(0, delay));
      columns.dispatch_gap.push_back(std::max<std::int64_t>(0, queued ? gap : std::min(gap, typical_gap)));
    };
    if (!is_as_recorded_)
      return order_.for_each_and_free([&](std::uint32_t op) { split(gaps[op], delays[op]); }, gaps, delays);
    Durations::Drain gap(std::move(gaps)), delay(std::move(delays));
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::int64_t gap_ns = gap.next();
      split(gap_ns, delay.next());
    }
  }

  /// A column of the capture's operations as one of the workload's.
  template <class List>
  List in_order(List column) const {
    return is_as_recorded_ ? std::move(column) : order_.pick(std::move(column));
  }

  void add_left_out() {
    if (order_.size() == capture_.op_count()) return;
    std::vector<bool> is_kept(capture_.op_count());
    order_.for_each([&](std::uint32_t op) { is_kept[op] = true; });
    WorkOps::Columns columns;
    for (std::uint32_t op = 0; op < is_kept.size(); ++op) {
      if (is_kept[op]) continue;
      columns.prototype.push_back(capture_.prototype_of[op]);
      columns.duration.push_back(capture_.durations[op]);
      columns.dispatch_gap.push_back(0);
      columns.launch_latency.push_back(0);
    }
    workload_.left_out = WorkOps(prototypes(), std::move(columns));
  }

  std::vector<WorkOp> prototypes() const {
    std::vector<WorkOp> prototypes;
    for (const OpRecord& op : capture_.prototypes) prototypes.push_back(work_of(op));
    return prototypes;
  }

  WorkOp work_of(const OpRecord& op) const {
    WorkOp work;
    work.kind = op.kind;
    work.name = op.name.is_none() ? static_cast<std::uint32_t>(workload_.names.size() - 1) : op.name.value;
    work.stream = StreamId{op.queue};
    work.bytes = op.bytes;
    if (op.shape != OpRecord::kNoIndex) work.shape = capture_.rest.shapes()[op.shape];
    return work;
  }

  /// No operation waits for one that was submitted later or is left out.
  void add_awaits() {
    for (std::uint32_t index = 0; index < order_.size(); ++index) {
      const auto begin = static_cast<std::uint32_t>(workload_.awaits.size());
      for (const std::uint32_t awaited : waits_.of(order_[index]))
        if (index_of_[awaited] < index) workload_.awaits.push_back(index_of_[awaited]);
      const auto count = static_cast<std::uint32_t>(workload_.awaits.size()) - begin;
      if (count > 0) workload_.ops.await(index, begin, count);
    }
  }

  void set_facts() {
    workload_.recorded_span = recorded_span();
    const auto others = static_cast<std::int64_t>(split_.begins.size()) - 1;
    const auto begin_ns = [&](std::size_t op) { return capture_.starts[order_[op]]; };
    workload_.recorded_step =
        Duration{others == 0 ? split_.length_ns : (begin_ns(first_of_last_job()) - begin_ns(0)) / others};
    workload_.has_no_wait = host_waits_.empty() && capture_.rest.fidelity().has_calls;
    workload_.unseen_waits =
        static_cast<std::uint32_t>(unseen_waits_.size() - std::ranges::count(unseen_waits_, kNoWait));
    set_finding();
    if (has_untraced_pass()) use_untraced_pass();
    if (is_part_)
      workload_.notes.push_back(
          "its capture has other GPUs, too: what its host waited for there is replayed as recorded time, and the rate "
          "of an untraced pass, which counted all of them, is not used");
    if (capture_.rest.fidelity().host_gaps_inflated)
      workload_.notes.push_back("host gaps were recorded under a profiler, which inflates them; state solo_rate");
    if (capture_.rest.fidelity().integer_microseconds)
      workload_.notes.push_back("durations were recorded in whole microseconds");
  }

  /// Operations of a capture are in the order of their starts.
  Duration recorded_span() const {
    std::int64_t last_ns = 0;
    if (order_.behind() - order_.first() == order_.size()) {
      Instants::Reader start(capture_.starts);
      Durations::Reader duration(capture_.durations);
      for (std::uint32_t op = 0; op < order_.behind(); ++op) {
        const std::int64_t end_ns = start.next() + duration.next();
        if (op >= order_.first()) last_ns = std::max(last_ns, end_ns);
      }
    } else {
      order_.for_each([&](std::uint32_t op) { last_ns = std::max(last_ns, capture_.end_of(op)); });
    }
    return Duration{last_ns - (order_.size() == 0 ? INT64_MAX : capture_.starts[order_.first()])};
  }

  void set_finding() {
    workload_.finding = split_.finding;
    const StepFinding& finding = split_.finding;
    if (finding.certainty != StepCertainty::kLikely && finding.certainty != StepCertainty::kUnsure) return;
    workload_.notes.push_back(fmt::format("taken as {} jobs ({}): {}; left out: {} before, {} after",
                                          split_.begins.size(), to_string(finding.certainty), finding.how,
                                          finding.left_out_before, finding.left_out_after));
  }

  /// Takes rate and jitter of the jobs from the untraced pass. It counted the capture's last launches, those of kept
  /// jobs and others: the factor by which it made all of them faster is taken to hold for the jobs.
  void use_untraced_pass() {
    const UntracedRate& rate = *capture_.rest.provenance().untraced_rate;
    const std::size_t all = launches_.size();
    const std::size_t first_kept = first_from(launches_, host_.start_of(split_.begins.front()));
    const std::size_t end_kept = first_from(launches_, host_.start_of(split_.end - 1) + 1);
    if (first_kept == end_kept) return;
    double kept_per_s = rate.launches_per_s();
    if (end_kept - first_kept < all) {
      const std::size_t counted = std::min<std::size_t>(all, rate.launches + 1);
      const double counted_per_s = launches_per_s(launches_, all - counted, all);
      // Tracing makes no program faster: a slower start-up outweighed the rest.
      if (counted_per_s > rate.launches_per_s()) {
        workload_.notes.push_back(
            "its untraced pass was slower than the capture, because of its start-up, and does not tell the rate of the "
            "jobs: host gaps are as captured; state solo_rate");
        return;
      }
      if (counted_per_s <= 0) return;
      kept_per_s *= launches_per_s(launches_, first_kept, end_kept) / counted_per_s;
    }
    const auto launches = static_cast<double>(end_kept - first_kept);
    workload_.untraced_jobs_per_s = kept_per_s * static_cast<double>(split_.begins.size()) / launches;
    const double share = launches / static_cast<double>(all);
    if (share >= kJitterIsOfJobs) {
      workload_.untraced_jitter = rate.jitter_ppm * 1e-6;
    } else {
      workload_.notes.push_back(fmt::format(
          "its jobs make {:.0f} % of its launches, too few to take their host_jitter from its untraced pass",
          100 * share));
    }
  }

  static StepKind kind_of(const HostWait& wait) { return wait.wait.kind; }

  CompactCapture capture_;
  const bool is_part_;
  const CrossStreamWaits waits_;
  GraphPlaces graphs_;
  const Instants launches_;  // where there was an untraced pass
  HostSequence host_;
  const JobSplit split_;
  const std::vector<std::int64_t> unseen_waits_;  // by job
  Order order_;                                   // by operation of the workload: its number in the capture
  bool is_as_recorded_ = false;                   // order_ is that of the capture, and whole
  Column<std::uint32_t> index_of_;                // the other way, where hosts wait for single operations
  std::vector<HostWait> host_waits_;
  Workload workload_;
};

bool is_frames_alone(const CompactCapture& capture) {
  return std::ranges::all_of(capture.prototypes, [](const OpRecord& op) { return op.kind == OpKind::kRender; }) &&
         (capture.prototypes.empty() || !capture.rest.frames().empty());
}

/// Numbers of the GPUs that its operations ran on.
std::set<std::uint32_t> gpus_in(const CompactCapture& capture) {
  std::set<std::uint32_t> gpus;
  for (std::size_t i = 0; i < capture.prototypes.size(); ++i)
    gpus.insert(capture.rest.queues()[capture.prototypes[i].queue].device);
  return gpus;
}

/// "0 (NVIDIA A100, 1993 operations), 1 (2017 operations)"
std::string listed(const std::vector<GpuUse>& gpus) {
  std::vector<std::string> texts;
  for (const GpuUse& use : gpus)
    texts.push_back(fmt::format("{} ({}{}{} operations)", use.gpu, use.name, use.name.empty() ? "" : ", ", use.ops));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The GPU whose operations are replayed.
std::uint32_t choose_gpu(const CompactCapture& capture, const WorkloadOptions& options) {
  const std::set<std::uint32_t> gpus = gpus_in(capture);
  const bool is_stated = options.gpu != WorkloadOptions::kOnlyGpu;
  const SourceLocation where{capture.rest.provenance().source_file};
  if (!is_stated && gpus.size() > 1)
    throw Error(ErrorKind::kUnsupported, where,
                fmt::format("the capture has operations on {} GPUs, {}, and a client has one", gpus.size(),
                            listed(gpus_of(capture))),
                fmt::format("choose one of them: `gpu: {}`", *gpus.begin()));
  if (is_stated && !gpus.empty() && !gpus.contains(options.gpu))
    throw Error(ErrorKind::kInput, where, fmt::format("the capture has no operations on GPU {}", options.gpu),
                fmt::format("it has on {}", listed(gpus_of(capture))));
  return is_stated ? options.gpu : gpus.empty() ? 0 : *gpus.begin();
}

/// "left out of its capture: 2 x row without a time"; empty where nothing was.
std::string note_of_skipped(const Provenance& from) {
  constexpr std::size_t kMostReasons = 3;
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : from.skipped) reasons.push_back(fmt::format("{} x {}", count, reason));
  const std::size_t more = reasons.size() > kMostReasons ? reasons.size() - kMostReasons : 0;
  if (more > 0) reasons.resize(kMostReasons);
  if (more > 0) reasons.push_back(fmt::format("{} other reason{}", more, more == 1 ? "" : "s"));
  return reasons.empty() ? "" : fmt::format("left out of its capture: {}", fmt::join(reasons, ", "));
}

}  // namespace

Workload workload_from_capture(CompactCapture capture, const WorkloadOptions& options) {
  const std::string file = capture.rest.provenance().source_file;
  if (capture.rest.fidelity().co_run && !options.allow_co_run)
    throw Error(ErrorKind::kUnsupported, SourceLocation{file},
                "other contexts used the GPU during this capture, so its durations contain time away",
                "capture the program alone, or state allow_co_run: true");
  const std::string skipped = note_of_skipped(capture.rest.provenance());
  const std::uint32_t gpu = choose_gpu(capture, options);
  const bool has_others = gpus_in(capture).size() > 1;
  if (has_others) keep_gpu(capture, gpu);
  const CapturedDevice captured_on = device_of(capture.rest.provenance(), gpu);
  const GpuMemory memory = memory_of(capture.rest.provenance(), gpu);
  const PowerMean power = power_of(capture.rest.provenance(), gpu);
  const double load = power.watts > 0 && !is_frames_alone(capture) ? load_of(capture) : 0.0;
  const double collective_share = collective_share_of(capture);
  const MeanUse use = mean_use(capture);
  const std::optional<HostUse> host = busiest_thread(capture.rest.provenance());
  Workload workload = is_frames_alone(capture) ? workload_from_frames(capture.rest, options)
                                               : Conversion(std::move(capture), options, has_others).run();
  if (host && lacked_cores(*host))
    workload.notes.push_back(
        fmt::format("warning: while it was captured, {}: other programs held its host up, and its "
                    "gaps are longer than on a free one",
                    to_text(*host)));
  if (!skipped.empty()) workload.notes.insert(workload.notes.begin(), skipped);
  workload.captured_on = captured_on;
  workload.memory = memory;
  workload.power = power;
  workload.recorded_load = load;
  workload.use = use;
  workload.collective_share = collective_share;
  workload.check();
  return workload;
}

}  // namespace corun
