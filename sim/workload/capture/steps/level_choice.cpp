#include <algorithm>

#include "sim/workload/capture/steps/levels.h"

namespace corun {

namespace {

constexpr std::size_t kFewestSteps = 3, kFewRounds = 8;
constexpr double kHalf = 0.5, kAlike = 0.75;
constexpr double kNearlyAsAlike = 0.15, kNearlyAsComplete = 0.1;

using Chosen = const Level*;

/// Of the levels that pass, the one with most steps; of those with about as many, the one with stretches most alike.
template <class Passes>
Chosen finest(const std::vector<Level>& levels, Passes passes) {
  constexpr double kAboutAsMany = 0.94;
  std::vector<Chosen> passing;
  std::size_t most = 0;
  for (const Level& level : levels) {
    if (level.steps() < kFewestSteps || !passes(level)) continue;
    passing.push_back(&level);
    most = std::max(most, level.steps());
  }
  Chosen finest = nullptr;
  for (const Chosen level : passing) {
    if (static_cast<double>(level->steps()) < kAboutAsMany * static_cast<double>(most)) continue;
    if (finest == nullptr || level->alike() > finest->alike()) finest = level;
  }
  return finest;
}

template <class Figure>
double largest(const std::vector<Level>& levels, Figure figure) {
  double largest = 0;
  for (const Level& level : levels)
    if (level.steps() >= kFewestSteps) largest = std::max(largest, figure(level));
  return largest;
}

/// Less alike, but the host waits once in each and pauses longest between them: kernels that depend on the data.
Chosen loosely_closed_level(const std::vector<Level>& levels) {
  return finest(levels, [](const Level& level) {
    return level.is_closed_by_waits() && level.waits_once() && level.is_closed_by_pauses() &&
           level.likeness.events >= kHalf;
  });
}

}  // namespace

const Level* update_level(const std::vector<Level>& levels) {
  for (const Level& level : levels)
    if (level.closes_update && level.likeness.events >= kHalf) return &level;
  return nullptr;
}

const Level* closed_level(const std::vector<Level>& levels) {
  const auto closed_events = [](const Level& level) { return level.is_closed_by_waits() ? level.likeness.events : 0; };
  const double least = std::max(kAlike, largest(levels, closed_events) - kNearlyAsAlike);
  const Chosen inner =
      finest(levels, [&](const Level& level) { return level.is_closed_by_waits() && level.likeness.events >= least; });
  if (inner == nullptr) return loosely_closed_level(levels);
  const Chosen outer = finest(levels, [&](const Level& level) {
    const bool has_few = level.steps() * kFewRounds > inner->steps();
    return level.waits_in_each() && level.likeness.events >= least && (has_few || !inner->waits_once()) &&
           level.likeness.symbols > inner->likeness.symbols + kNearlyAsComplete;
  });
  return outer != nullptr ? outer : inner;
}

const Level* complete_level(const std::vector<Level>& levels) {
  const double symbols = largest(levels, [](const Level& level) { return level.likeness.symbols; });
  const double events = largest(levels, [](const Level& level) { return level.likeness.events; });
  const double least = std::max(kAlike, events - kNearlyAsAlike);
  const Chosen outer = finest(levels, [&](const Level& level) {
    return level.likeness.symbols >= symbols - kNearlyAsComplete && level.likeness.events >= least;
  });
  const Chosen inner =
      finest(levels, [&](const Level& level) { return level.is_parted_clearly() && level.likeness.events >= least; });
  if (inner == nullptr || outer == nullptr) return inner == nullptr ? outer : inner;
  const bool is_part = inner->steps() >= 2 * outer->steps();
  const bool shows_more = !outer->is_closed_by_pauses() && 2 * inner->steps() >= outer->steps();
  return is_part || shows_more ? inner : outer;
}

}  // namespace corun
