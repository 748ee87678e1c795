#include "sim/workload/capture/marked_steps.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "sim/workload/capture/steps/likeness.h"
#include "sim/workload/capture/steps/ranges.h"
#include "sim/workload/capture/steps/whole_steps.h"

namespace corun {

namespace {

constexpr double kHalf = 0.5, kNearlyAll = 0.8;
constexpr const char* kProfilerStep = "ProfilerStep#";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool speaks_of_a_step(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(std::initializer_list<const char*>{"iter", "step", "batch", "request"},
                             [&](const char* word) { return lower.find(word) != std::string::npos; });
}

/// "train step 12" and "train step 13" are both "train step #".
std::string with_number_sign(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (!is_digit(c)) {
      text += c;
    } else if (text.empty() || text.back() != '#') {
      text += '#';
    }
  }
  return text;
}

struct Range {
  std::int64_t begin_ns = 0, end_ns = 0;
};

std::map<std::string, std::vector<Range>> ranges_by_name(const Timeline& timeline) {
  std::map<std::string, std::vector<Range>> ranges;
  for (const MarkRecord& mark : timeline.marks())
    if (timeline.text(mark.name) != kGraphCaptureMark)
      ranges[with_number_sign(timeline.text(mark.name))].push_back({mark.start_ns, mark.start_ns + mark.duration_ns});
  for (auto& [name, its] : ranges) its = outermost(std::move(its));
  return ranges;
}

/// Up to the event `end`, without boundaries that have no launch between them.
MarkedSteps steps_between(const HostLog& log, const std::vector<std::int64_t>& boundaries_ns, std::size_t end,
                          std::string name) {
  MarkedSteps steps{{}, end, std::move(name)};
  for (const std::int64_t boundary_ns : boundaries_ns) {
    const std::uint32_t event = log.first_from(boundary_ns);
    if (!steps.begins.empty() && !log.has_launch(steps.begins.back(), event)) continue;
    if (event < end) steps.begins.push_back(event);
  }
  if (!steps.begins.empty() && !log.has_launch(steps.begins.back(), end)) {
    steps.end = steps.begins.back();
    steps.begins.pop_back();
  }
  return steps;
}

/// Each from a range's begin to the next one's; the last to `end`.
MarkedSteps steps_from(const HostLog& log, const std::string& name, const std::vector<Range>& ranges, std::size_t end) {
  std::vector<std::int64_t> boundaries_ns;
  for (const Range& range : ranges) boundaries_ns.push_back(range.begin_ns);
  return steps_between(log, boundaries_ns, end, name);
}

std::size_t end_of(const HostLog& log, const std::vector<Range>& ranges) {
  return ranges.empty() ? 0 : log.first_from(ranges.back().end_ns);
}

/// Part of the launches that lie inside of the ranges.
double share_of_launches(const HostLog& log, const std::vector<Range>& ranges) {
  std::size_t inside = 0, all = 0, range = 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (!log.is_launch(i)) continue;
    ++all;
    while (range < ranges.size() && ranges[range].end_ns <= log.starts_ns[i]) ++range;
    if (range < ranges.size() && ranges[range].begin_ns <= log.starts_ns[i]) ++inside;
  }
  return all == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(all);
}

bool are_steps(const HostLog& log, const MarkedSteps& steps, double share, bool says_so) {
  if (steps.begins.size() < 2) return false;
  if (says_so && share >= kHalf) return true;
  if (!says_so && share < kNearlyAll) return false;
  const Likeness likeness = TypicalStretch(log, steps.begins).likeness();
  return likeness.events >= kNearlyAll && likeness.symbols >= kNearlyAll;
}

/// One profiler step alone is a step, if it holds most launches.
MarkedSteps only_profiler_step(const HostLog& log, const std::vector<Range>& ranges) {
  if (ranges.size() != 1 || share_of_launches(log, ranges) < kHalf) return {};
  MarkedSteps steps = steps_from(log, kProfilerStep, ranges, end_of(log, ranges));
  steps.length_ns = ranges.front().end_ns - ranges.front().begin_ns;
  return steps;
}

/// Steps that end with PyTorch's marks of an optimizer; several in a row, unlike each other, are parts of one.
MarkedSteps steps_of_optimizer(const HostLog& log, const std::map<std::string, std::vector<Range>>& ranges) {
  std::vector<std::int64_t> ends_ns;
  for (const auto& [name, its] : ranges)
    if (name.starts_with("Optimizer.step#"))
      for (const Range& range : its) ends_ns.push_back(range.end_ns);
  std::ranges::sort(ends_ns);
  MarkedSteps steps = steps_between(log, ends_ns, log.size(), "Optimizer.step");
  if (TypicalStretch(log, steps.begins).likeness().events < kHalf) return {};
  WholeSteps whole = whole_steps(log, steps.begins);
  return {std::move(whole.begins), whole.end, std::move(steps.name)};
}

}  // namespace

MarkedSteps find_marked_steps(const Timeline& timeline, const HostLog& log) {
  const auto ranges = ranges_by_name(timeline);
  const auto profiled = ranges.find(kProfilerStep);
  const std::vector<Range> of_profiler = profiled == ranges.end() ? std::vector<Range>{} : profiled->second;
  if (MarkedSteps steps = steps_from(log, kProfilerStep, of_profiler, log.size()); steps.begins.size() >= 2)
    return steps;
  if (MarkedSteps steps = steps_of_optimizer(log, ranges); steps.begins.size() >= 2) return steps;
  MarkedSteps best;
  std::pair<bool, double> merit;
  for (const auto& [name, its] : ranges) {
    if (its.size() < 2 || name.starts_with("Optimizer.")) continue;
    const std::pair<bool, double> its_merit{speaks_of_a_step(name), share_of_launches(log, its)};
    if (!best.begins.empty() && its_merit <= merit) continue;
    MarkedSteps steps = steps_from(log, name, its, log.size());
    if (!are_steps(log, steps, its_merit.second, its_merit.first)) continue;
    best = std::move(steps);
    merit = its_merit;
  }
  return best.begins.empty() ? only_profiler_step(log, of_profiler) : best;
}

std::size_t steps_with_graph_capture(const Timeline& timeline, const HostLog& log, const Positions& begins,
                                     std::size_t end) {
  std::vector<bool> has_one(begins.size(), false);
  for (const MarkRecord& mark : timeline.marks()) {
    if (timeline.text(mark.name) != kGraphCaptureMark) continue;
    const std::uint32_t event = log.first_from(mark.start_ns);
    const auto behind = std::ranges::upper_bound(begins, event);
    if (event <= end && behind != begins.begin()) has_one[static_cast<std::size_t>(behind - begins.begin()) - 1] = true;
  }
  return static_cast<std::size_t>(std::ranges::count(has_one, true));
}

std::vector<std::pair<std::string, std::uint64_t>> recurring_ranges(const Timeline& timeline, std::size_t most) {
  std::vector<std::pair<std::string, std::uint64_t>> recurring;
  for (const auto& [name, its] : ranges_by_name(timeline))
    if (its.size() >= 2) recurring.emplace_back(name, its.size());
  std::ranges::stable_sort(recurring, std::greater<>(), [](const auto& range) { return range.second; });
  if (recurring.size() > most) recurring.resize(most);
  return recurring;
}

MarkedSteps steps_of_ranges(const Timeline& timeline, const HostLog& log, std::string_view name) {
  std::vector<Range> ranges;
  for (const MarkRecord& mark : timeline.marks()) {
    const std::string_view text = timeline.text(mark.name);
    if (text == name || with_number_sign(text) == name)
      ranges.push_back({mark.start_ns, mark.start_ns + mark.duration_ns});
  }
  ranges = outermost(std::move(ranges));
  return steps_from(log, std::string(name), ranges, end_of(log, ranges));
}

}  // namespace corun
