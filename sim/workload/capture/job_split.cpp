#include "sim/workload/capture/job_split.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "sim/workload/capture/repetition.h"
#include "traces/base/error.h"

namespace corun {

namespace {

std::vector<std::int64_t> inner(std::vector<std::int64_t> instants) {
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  return instants;
}

bool speaks_of_a_step(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"iter", "step", "batch", "request", "forward"})
    if (lower.find(word) != std::string::npos) return true;
  return false;
}

// "train step 12" and "train step 13" are one name.
std::string without_number(std::string_view name) {
  std::string stem(name);
  while (!stem.empty() && (std::isdigit(static_cast<unsigned char>(stem.back())) != 0 || stem.back() == ' '))
    stem.pop_back();
  return stem;
}

/// Instants at which new jobs begin on the host by the capture's marks, after the first; ascending.
std::vector<std::int64_t> marked_boundaries(const Timeline& timeline) {
  std::vector<std::int64_t> steps, optimizer_ends;
  std::map<std::string, std::pair<std::int64_t, std::vector<std::int64_t>>> repeated;  // covered time, starts
  for (const MarkRecord& mark : timeline.marks()) {
    const std::string_view name = timeline.text(mark.name);
    if (name.starts_with("ProfilerStep#")) steps.push_back(mark.start_ns);
    if (name.starts_with("Optimizer.step#")) optimizer_ends.push_back(mark.start_ns + mark.duration_ns);
    if (!speaks_of_a_step(name)) continue;
    auto& [covered, starts] = repeated[without_number(name)];
    covered += mark.duration_ns;
    starts.push_back(mark.start_ns);
  }
  if (steps.size() >= 2) {
    steps = inner(std::move(steps));
    steps.erase(steps.begin());
    return steps;
  }
  if (optimizer_ends.size() >= 2) {
    optimizer_ends = inner(std::move(optimizer_ends));
    optimizer_ends.pop_back();
    return optimizer_ends;
  }
  const std::pair<std::int64_t, std::vector<std::int64_t>>* best = nullptr;
  for (const auto& [name, marks] : repeated)
    if (marks.second.size() >= 2 && (best == nullptr || marks.first > best->first)) best = &marks;
  if (best == nullptr) return {};
  std::vector<std::int64_t> starts = inner(best->second);
  starts.erase(starts.begin());
  return starts;
}

std::vector<std::size_t> marked_begins(const Timeline& timeline, const HostSequence& host) {
  std::vector<std::size_t> begins{0};
  std::size_t i = 0;
  for (const std::int64_t boundary : marked_boundaries(timeline)) {
    bool has_work = false;
    for (; i < host.size() && host.start_of(i) < boundary; ++i) has_work |= host.is_submission(i);
    if (has_work && i < host.size()) begins.push_back(i);
  }
  if (begins.size() > 1 && host.submissions(begins.back(), host.size()) == 0) begins.pop_back();
  return begins;
}

std::vector<std::size_t> equal_begins(const CompactCapture& capture, const HostSequence& host,
                                      std::uint32_t iterations) {
  const std::size_t ops = capture.op_count();
  if (iterations > ops)
    throw Error(ErrorKind::kInput, fmt::format("{}: iterations: {} but the capture has {} operations",
                                               capture.rest.provenance().source_file, iterations, ops));
  std::vector<std::size_t> begins{0};
  std::size_t submitted = 0, next = ops / iterations;
  for (std::size_t i = 0; i < host.size() && begins.size() < iterations; ++i) {
    if (!host.is_submission(i) || submitted++ != next) continue;
    begins.push_back(i);
    next = ops * begins.size() / iterations;
  }
  return begins;
}

/// Waits are part of it: equal layers do not show where a step ends, the wait for it does.
std::vector<std::uint32_t> symbols(const CompactCapture& capture, const HostSequence& host) {
  constexpr std::uint32_t kKinds = 16;
  std::vector<std::uint32_t> sequence;
  sequence.reserve(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    const HostEvent event = host[i];
    if (event.kind == StepKind::kSubmit) {
      const OpRecord& op = capture.prototype(event.target);
      const std::uint32_t name = op.name.is_none() ? 1 : op.name.value + 2;
      sequence.push_back(name * kKinds + static_cast<std::uint32_t>(op.kind));
    } else {
      sequence.push_back(static_cast<std::uint32_t>(event.kind));
    }
  }
  return sequence;
}

/// Position inside the period of the launch that begins a job: of those before which the host waited for all its work,
/// or of all if it never did, the one before which it paused longest, in all, since the launch before. The first period
/// does not count: what came before it is not of the loop.
std::size_t phase_of_jobs(const HostSequence& host, const Repetition& repetition) {
  const std::size_t period = repetition.period;
  const std::size_t whole = (repetition.end - repetition.begin) / period * period;
  std::vector<std::pair<bool, std::int64_t>> pauses(period);  // whether it waited, and how long it took
  std::int64_t last_ns = 0;
  bool has_waited = false;
  for (std::size_t i = 0; i < whole; ++i) {
    if (!host.is_submission(repetition.begin + i)) {
      has_waited |= host[repetition.begin + i].kind == StepKind::kWaitAll;
      continue;
    }
    const std::int64_t start_ns = host.start_of(repetition.begin + i);
    auto& [waited, took] = pauses[i % period];
    if (i >= period) {
      waited |= has_waited;
      took += start_ns - last_ns;
    }
    last_ns = start_ns;
    has_waited = false;
  }
  return static_cast<std::size_t>(std::max_element(pauses.begin(), pauses.end()) - pauses.begin());
}

/// How many jobs at the beginning are still start-up: libraries being loaded, memory being reserved.
std::size_t count_slow_starts(const HostSequence& host, const std::vector<std::size_t>& begins) {
  std::vector<std::int64_t> lengths;
  for (std::size_t j = 1; j < begins.size(); ++j)
    lengths.push_back(host.start_of(begins[j]) - host.start_of(begins[j - 1]));
  std::vector<std::int64_t> sorted = lengths;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const std::int64_t usual = *middle;
  const auto first_usual = std::ranges::find_if(lengths, [&](std::int64_t length) { return length <= 2 * usual; });
  return static_cast<std::size_t>(first_usual - lengths.begin());
}

std::string left_out(const HostSequence& host, std::size_t begin, std::size_t end) {
  const std::size_t ops = host.submissions(begin, end);
  if (ops == 0) return "nothing";
  return fmt::format("{} operation{} in {:.3g} s", ops, ops == 1 ? "" : "s",
                     static_cast<double>(host.start_of(end - 1) - host.start_of(begin)) * 1e-9);
}

std::string repetition_note(const HostSequence& host, const JobSplit& split) {
  const std::size_t first = split.begins.front();
  const std::size_t ops = host.submissions(first, split.begins[1]);
  return fmt::format("its launches repeat, so it is taken as {} jobs of {} operation{}; left out: {} before, {} after",
                     split.begins.size(), ops, ops == 1 ? "" : "s", left_out(host, 0, first),
                     left_out(host, split.end, host.size()));
}

/// Jobs of a host that repeats itself; without begins where it does not.
JobSplit repeated_jobs(const CompactCapture& capture, const HostSequence& host) {
  JobSplit split;
  const std::optional<Repetition> repetition = find_repetition(symbols(capture, host));
  if (!repetition) return split;
  const std::size_t launches = host.submissions(repetition->begin, repetition->begin + repetition->period);
  if (launches == 0 || launches == repetition->period) return split;
  split.end = repetition->begin + phase_of_jobs(host, *repetition);
  for (; split.end + repetition->period <= repetition->end; split.end += repetition->period)
    split.begins.push_back(split.end);
  const auto slow = static_cast<std::ptrdiff_t>(count_slow_starts(host, split.begins));
  split.begins.erase(split.begins.begin(), split.begins.begin() + slow);
  split.note = repetition_note(host, split);
  return split;
}

}  // namespace

JobSplit split_into_jobs(const CompactCapture& capture, const HostSequence& host, std::uint32_t iterations) {
  if (iterations > 0) return {equal_begins(capture, host, iterations), host.size(), {}};
  const std::vector<std::size_t> marked = marked_begins(capture.rest, host);
  if (marked.size() > 1) return {marked, host.size(), {}};
  const JobSplit repeated = repeated_jobs(capture, host);
  return repeated.begins.empty() ? JobSplit{{0}, host.size(), {}} : repeated;
}

}  // namespace corun
