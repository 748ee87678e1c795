#include "sim/workload/job_split.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

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

}  // namespace

std::vector<std::int64_t> job_boundaries(const Timeline& timeline) {
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

}  // namespace corun
