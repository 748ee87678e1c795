#include "sim/workload/capture/steps/levels.h"

#include <utility>

#include "sim/workload/capture/steps/anchors.h"

namespace corun {

namespace {

constexpr double kWorthALook = 0.4, kHalf = 0.5, kMostly = 0.8;

/// Of candidates with about as many recurrences, the one whose stretches are most alike.
std::vector<Anchors> most_alike(const HostLog& log) {
  std::vector<Anchors> kept;
  double best = 0;
  for (Anchors& anchors : find_anchors(log)) {
    const Likeness likeness = TypicalStretch(log, anchors.at).likeness();
    if (likeness.events < kWorthALook) continue;
    const double merit = likeness.events + likeness.symbols;
    const bool is_new = kept.empty() || kept.back().group != anchors.group;
    if (!is_new && merit <= best) continue;
    if (!is_new) kept.pop_back();
    kept.push_back(std::move(anchors));
    best = merit;
  }
  return kept;
}

/// Without what is unlike a step at both ends: start-up, and what follows the loop.
Positions without_ends(const HostLog& log, const Positions& begins) {
  TypicalStretch typical(log, begins);
  std::size_t first = 0, last = begins.size() - 1;
  const auto is_unlike = [&](std::size_t step) { return typical.difference(begins[step], begins[step + 1]) > kHalf; };
  while (first < last && is_unlike(first)) ++first;
  while (last > first && is_unlike(last - 1)) --last;
  return {begins.begin() + static_cast<std::ptrdiff_t>(first), begins.begin() + static_cast<std::ptrdiff_t>(last + 1)};
}

/// What lies behind the last step is less than half of the steps, and what lies before no more than three times them:
/// a loop inside a program that does something else is none.
bool is_most_of(const HostLog& log, const Positions& begins) {
  const std::size_t steps = begins.back() - begins.front();
  const std::size_t one = steps / (begins.size() - 1);
  return begins.front() <= 3 * steps && log.size() - begins.back() <= one + steps / 2;
}

}  // namespace

std::vector<Level> levels_of(const HostLog& log) {
  std::vector<Level> levels;
  for (const Anchors& anchors : most_alike(log)) {
    Level level;
    level.first =
        anchors.are_begins ? judge_begins(log, anchors.at) : find_first_launch(log, anchors.at, anchors.closes_update);
    level.closes_update = anchors.closes_update;
    if (level.steps() < 2) continue;
    const Positions kept = without_ends(log, level.first.begins);
    if (kept.size() < 2 || !is_most_of(log, kept)) continue;
    level.first = judge_begins(log, kept);
    if (level.first.apart < kMostly) continue;
    level.likeness = TypicalStretch(log, kept).likeness();
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace corun
