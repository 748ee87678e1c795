#include <algorithm>

#include "sim/workload/capture/steps/levels.h"

namespace corun {

namespace {

constexpr double kLeastAlike = 0.5, kAlike = 0.75;
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
           level.likeness.events >= kLeastAlike;
  });
}

/// Of several stretches each, as few as make them very alike; as it is where none do.
Level in_rounds(const HostLog& log, Level level) {
  constexpr std::size_t kMostNets = 4;
  const Positions& begins = level.first.begins;
  for (std::size_t nets = 2; nets <= kMostNets && level.likeness.events < kVeryAlike; ++nets) {
    Positions rounds;
    for (std::size_t step = 0; step < begins.size(); step += nets) rounds.push_back(begins[step]);
    if (rounds.size() < kFewestSteps) break;
    const Likeness likeness = TypicalStretch(log, rounds).likeness();
    if (likeness.events < kVeryAlike) continue;
    level.first = judge_begins(log, std::move(rounds));
    level.likeness = likeness;
    break;
  }
  return level;
}

/// Where copies to the host are, in these stretches.
Positions read_backs(const HostLog& log, const Positions& begins) {
  Positions at;
  for (std::uint32_t event = begins.front(); event < begins.back(); ++event)
    if (log.is_read_back[log.symbols[event]]) at.push_back(event);
  return at;
}

bool reads_back_once(const HostLog& log, const Positions& begins) {
  std::vector<std::size_t> copies(begins.size(), 0);
  for (const std::uint32_t event : read_backs(log, begins))
    ++copies[static_cast<std::size_t>(std::ranges::upper_bound(begins, event) - begins.begin()) - 1];
  return static_cast<double>(std::ranges::count(copies, 1U)) >= kVeryAlike * static_cast<double>(begins.size() - 1);
}

}  // namespace

std::optional<Level> update_level(const HostLog& log, const std::vector<Level>& levels) {
  for (const Level& level : levels) {
    if (!level.closes_update) continue;
    Level rounds = in_rounds(log, level);
    if (rounds.likeness.events >= kLeastAlike) return rounds;
  }
  return std::nullopt;
}

std::optional<Level> read_back_level(const HostLog& log, const std::vector<Level>& levels) {
  const Chosen chosen = finest(levels, [&](const Level& level) {
    return level.likeness.events >= kVeryAlike && reads_back_once(log, level.first.begins);
  });
  if (chosen == nullptr) return std::nullopt;
  Positions begins;
  for (const std::uint32_t copy : read_backs(log, chosen->first.begins)) {
    std::uint32_t next = copy + 1;
    while (next < log.size() && !log.is_launch(next)) ++next;
    if (next < log.size()) begins.push_back(next);
  }
  Level level = *chosen;
  level.first = judge_begins(log, std::move(begins));
  level.likeness = TypicalStretch(log, level.first.begins).likeness();
  return level;
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
