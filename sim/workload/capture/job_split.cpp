#include "sim/workload/capture/job_split.h"

#include "sim/workload/capture/host/host_log_of.h"
#include "sim/workload/capture/marked_steps.h"
#include "sim/workload/capture/steps/find_steps.h"
#include "sim/workload/capture/steps/whole_steps.h"
#include "traces/base/error.h"

namespace corun {

namespace {

[[noreturn]] void refuse(const CompactCapture& capture, const std::string& text) {
  throw Error(ErrorKind::kInput, SourceLocation{capture.rest.provenance().source_file}, text);
}

std::string operations(std::size_t count) { return fmt::format("{} operation{}", count, count == 1 ? "" : "s"); }

std::string left_out(const HostSequence& host, std::size_t begin, std::size_t end) {
  const std::size_t ops = host.submissions(begin, end);
  if (ops == 0) return "nothing";
  return fmt::format("{} in {:.3g} s", operations(ops),
                     static_cast<double>(host.start_of(end - 1) - host.start_of(begin)) * 1e-9);
}

JobSplit whole(const HostSequence& host) { return {{0}, host.size(), {}}; }

JobSplit split_at(const Positions& begins, std::size_t end, StepCertainty certainty, std::string how) {
  JobSplit split{{begins.begin(), begins.end()}, end, {}};
  split.finding.certainty = certainty;
  split.finding.how = std::move(how);
  return split;
}

JobSplit equal_jobs(const CompactCapture& capture, const HostSequence& host, std::uint32_t iterations) {
  const std::size_t ops = capture.op_count();
  if (iterations > ops)
    refuse(capture, fmt::format("iterations: {} but the capture has {}", iterations, operations(ops)));
  Positions begins{0};
  std::size_t submitted = 0, next = ops / iterations;
  for (std::size_t i = 0; i < host.size() && begins.size() < iterations; ++i) {
    if (!host.is_submission(i) || submitted++ != next) continue;
    begins.push_back(static_cast<std::uint32_t>(i));
    next = ops * begins.size() / iterations;
  }
  return split_at(begins, host.size(), StepCertainty::kCertain, "stated: equal parts");
}

/// Jobs of so many operations; an incomplete last one is left out.
JobSplit jobs_of_launches(const CompactCapture& capture, const HostSequence& host, std::uint32_t launches) {
  Positions begins;
  std::size_t submitted = 0, end = host.size();
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (!host.is_submission(i) || submitted++ % launches != 0) continue;
    begins.push_back(static_cast<std::uint32_t>(i));
  }
  if (submitted < launches)
    refuse(capture, fmt::format("step: {{ launches: {} }} but the capture has {}", launches, operations(submitted)));
  if (submitted % launches != 0) {
    end = begins.back();
    begins.pop_back();
  }
  return split_at(begins, end, StepCertainty::kCertain, "stated: operations of a step");
}

JobSplit jobs_of_ranges(const CompactCapture& capture, const HostLog& log, const std::string& name) {
  const MarkedSteps steps = steps_of_ranges(capture.rest, log, name);
  if (steps.begins.empty())
    refuse(capture, fmt::format("step: {{ range: {} }} but no range of this name has launches; {}", name,
                                capture.rest.marks().empty() ? "the capture has no ranges"
                                                             : "`simcli info` lists those that recur"));
  return split_at(steps.begins, steps.end, StepCertainty::kCertain, fmt::format("stated: ranges `{}`", name));
}

JobSplit jobs_of_kernel(const CompactCapture& capture, const HostSequence& host, const std::string& name) {
  std::vector<bool> begins_step;
  for (const OpRecord& op : capture.prototypes)
    begins_step.push_back(capture.rest.text(op.name).find(name) != std::string_view::npos);
  Positions begins;
  for (std::size_t i = 0; i < host.size(); ++i)
    if (host.is_submission(i) && begins_step[capture.prototype_of[host[i].target]])
      begins.push_back(static_cast<std::uint32_t>(i));
  if (begins.size() < 2)
    refuse(capture, fmt::format("step: {{ kernel: {} }} but {} operation of the capture has this name", name,
                                begins.empty() ? "no" : "only one"));
  const std::size_t end = begins.back();  // what the last one begins may be incomplete
  begins.pop_back();
  return split_at(begins, end, StepCertainty::kCertain, fmt::format("stated: operations named `{}`", name));
}

JobSplit jobs_of_sized_ranges(const CompactCapture& capture, const HostLog& log) {
  SizedSteps steps = find_sized_steps(capture.rest, log);
  if (steps.begins.empty())
    throw Error(ErrorKind::kInput, SourceLocation{capture.rest.provenance().source_file},
                fmt::format("a server needs the steps of its engine, and no range of the capture states a step's size; "
                            "{}",
                            capture.rest.marks().empty() ? "it has no ranges" : "`simcli info` lists those that recur"),
                "mark each step of the engine with a range such as `prefill tokens=512 context=0` or `decode batch=8 "
                "context=1024` (docs/serving.md)");
  JobSplit split = split_at(steps.begins, steps.end, StepCertainty::kCertain, "ranges with the sizes of steps");
  split.sized = std::move(steps.jobs);
  return split;
}

JobSplit stated_jobs(const CompactCapture& capture, const HostSequence& host, const StepChoice& step) {
  switch (step.by) {
    case StepChoice::By::kRange:
      return jobs_of_ranges(capture, host_log_of(capture, host), step.name);
    case StepChoice::By::kKernel:
      return jobs_of_kernel(capture, host, step.name);
    case StepChoice::By::kLaunches:
      return jobs_of_launches(capture, host, step.launches);
    case StepChoice::By::kSized:
      return jobs_of_sized_ranges(capture, host_log_of(capture, host));
    case StepChoice::By::kWhole:
    case StepChoice::By::kFound:
      break;
  }
  return split_at({0}, host.size(), StepCertainty::kCertain, "stated: the whole capture");
}

/// A program that captures graphs in its steps still warms up.
void doubt_if_preparing(const Timeline& timeline, const HostLog& log, FoundSteps& steps) {
  const std::size_t preparing = steps_with_graph_capture(timeline, log, steps.begins, steps.end);
  if (2 * preparing < steps.begins.size() || preparing == 0) return;
  steps.certainty = StepCertainty::kUnsure;
  steps.how +=
      fmt::format("; {} of {} capture a graph: the program may still be warming up", preparing, steps.begins.size());
}

FoundSteps steps_of_marks(const HostLog& log, MarkedSteps marked) {
  if (marked.begins.size() == 1)
    return {std::move(marked.begins), marked.end, StepCertainty::kCertain, fmt::format("one range `{}`", marked.name)};
  std::string how = fmt::format("ranges `{}`", marked.name);
  const std::size_t all = marked.begins.size();
  drop_slow_starts(log, marked.begins);
  if (const std::size_t dropped = all - marked.begins.size(); dropped > 0)
    how += fmt::format("; without {} slow one{} at the start", dropped, dropped == 1 ? "" : "s");
  return {std::move(marked.begins), marked.end, StepCertainty::kCertain, std::move(how)};
}

JobSplit found_jobs(const CompactCapture& capture, const HostSequence& host) {
  const HostLog log = host_log_of(capture, host);
  MarkedSteps marked = find_marked_steps(capture.rest, log);
  const std::int64_t length_ns = marked.length_ns;
  FoundSteps steps = marked.begins.empty() ? find_steps(log) : steps_of_marks(log, std::move(marked));
  if (steps.begins.empty()) {
    JobSplit none = whole(host);
    none.finding.how = steps.how;
    return none;
  }
  doubt_if_preparing(capture.rest, log, steps);
  JobSplit split = split_at(steps.begins, steps.end, steps.certainty, steps.how);
  split.length_ns = length_ns;
  return split;
}

JobSplit split(const CompactCapture& capture, const HostSequence& host, const WorkloadOptions& options) {
  if (options.iterations > 0) return equal_jobs(capture, host, options.iterations);
  if (options.step.by != StepChoice::By::kFound) return stated_jobs(capture, host, options.step);
  if (!capture.rest.fidelity().has_times)
    return split_at({0}, host.size(), StepCertainty::kLikely, "a list of kernels without times is one iteration");
  return found_jobs(capture, host);
}

}  // namespace

JobSplit split_into_jobs(const CompactCapture& capture, const HostSequence& host, const WorkloadOptions& options) {
  JobSplit jobs = split(capture, host, options);
  jobs.finding.left_out_before = left_out(host, 0, jobs.begins.front());
  jobs.finding.left_out_after = left_out(host, jobs.end, host.size());
  return jobs;
}

}  // namespace corun
