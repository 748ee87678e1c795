#include "sim/workload/capture/steps/find_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sim/workload/capture/steps/anchors.h"
#include "sim/workload/capture/steps/first_launch.h"
#include "sim/workload/capture/steps/likeness.h"
#include "sim/workload/capture/steps/repetition.h"
#include "sim/workload/capture/steps/whole_steps.h"

namespace corun {

namespace {

constexpr std::size_t kFewestSteps = 3, kEnoughSteps = 5;
constexpr double kWorthALook = 0.4, kHalf = 0.5, kAlike = 0.75, kQuiteAlike = 0.85, kVeryAlike = 0.95;
constexpr double kNearlyAsAlike = 0.15, kNearlyAsComplete = 0.1;
constexpr double kExactly = 0.98, kClearly = 8;
constexpr double kMostly = 0.8, kOnce = 0.9;
constexpr double kMostWaitsElsewhere = 0.2;
constexpr std::size_t kFewRounds = 8;

/// One way to divide the log.
struct Level {
  FirstLaunch first;
  Likeness likeness;
  bool closes_update = false;

  double alike() const { return likeness.events + likeness.symbols; }
  std::size_t steps() const { return first.begins.size(); }
  bool is_closed_by_waits() const { return first.waited >= kMostly && first.specificity >= kMostWaitsElsewhere; }
  bool waits_once() const { return first.specificity >= kOnce; }
  bool is_closed_by_pauses() const { return first.long_pauses >= 0.7; }
  bool is_parted_clearly() const { return is_closed_by_pauses() && first.pause_ratio >= kClearly; }
  bool is_exact() const { return likeness.events >= kExactly && likeness.symbols >= kExactly; }
};

/// Position inside the period of the launch that begins a step: of those before which the host waited for all its work,
/// or of all if it never did, the one before which it paused longest, in all, since the launch before. The first period
/// does not count: what came before it is not of the loop.
std::size_t phase_of_steps(const HostLog& log, const Repetition& repetition) {
  const std::size_t period = repetition.period;
  const std::size_t whole = (repetition.end - repetition.begin) / period * period;
  std::vector<std::pair<bool, std::int64_t>> pauses(period);  // whether it waited, and how long it took
  std::int64_t last_ns = 0;
  bool has_waited = false;
  for (std::size_t i = 0; i < whole; ++i) {
    const std::size_t event = repetition.begin + i;
    if (!log.is_launch(event)) {
      has_waited |= log.whats[event] == HostLog::What::kWaitAll;
      continue;
    }
    auto& [waited, took] = pauses[i % period];
    if (i >= period) {
      waited |= has_waited;
      took += log.starts_ns[event] - last_ns;
    }
    last_ns = log.starts_ns[event];
    has_waited = false;
  }
  return static_cast<std::size_t>(std::ranges::max_element(pauses) - pauses.begin());
}

/// Steps of a host that repeats itself exactly; none where its rounds have no wait.
WholeSteps exact_steps(const HostLog& log) {
  WholeSteps steps;
  const std::optional<Repetition> repetition = find_repetition(log.names);
  if (!repetition) return steps;
  std::size_t launches = 0;
  for (std::size_t i = 0; i < repetition->period; ++i) launches += log.is_launch(repetition->begin + i) ? 1 : 0;
  if (launches == 0 || launches == repetition->period) return steps;
  steps.end = repetition->begin + phase_of_steps(log, *repetition);
  for (; steps.end + repetition->period <= repetition->end; steps.end += repetition->period)
    steps.begins.push_back(static_cast<std::uint32_t>(steps.end));
  return steps;
}

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

using Chosen = const Level*;

Chosen update_level(const std::vector<Level>& levels) {
  for (const Level& level : levels)
    if (level.closes_update && level.likeness.events >= kHalf) return &level;
  return nullptr;
}

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

bool waits_in_each(const Level& level) { return level.first.waited >= kMostly; }

/// Less alike, but the host waits once in each and pauses longest between them: kernels that depend on the data.
Chosen loosely_closed_level(const std::vector<Level>& levels) {
  return finest(levels, [](const Level& level) {
    return level.is_closed_by_waits() && level.waits_once() && level.is_closed_by_pauses() &&
           level.likeness.events >= kHalf;
  });
}

Chosen closed_level(const std::vector<Level>& levels) {
  const auto closed_events = [](const Level& level) { return level.is_closed_by_waits() ? level.likeness.events : 0; };
  const double least = std::max(kAlike, largest(levels, closed_events) - kNearlyAsAlike);
  const Chosen inner =
      finest(levels, [&](const Level& level) { return level.is_closed_by_waits() && level.likeness.events >= least; });
  if (inner == nullptr) return loosely_closed_level(levels);
  const Chosen outer = finest(levels, [&](const Level& level) {
    const bool has_few = level.steps() * kFewRounds > inner->steps();
    return waits_in_each(level) && level.likeness.events >= least && (has_few || !inner->waits_once()) &&
           level.likeness.symbols > inner->likeness.symbols + kNearlyAsComplete;
  });
  return outer != nullptr ? outer : inner;
}

/// Of a host that waits in ways which are not recorded: it polls, or is called back. The stretches explain everything
/// that recurs; or they are parts of such, parted by pauses that leave no doubt.
Chosen complete_level(const std::vector<Level>& levels) {
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

std::int64_t pause_before(const HostLog& log, std::size_t event) {
  std::size_t before = event - 1;
  while (before > 0 && !log.is_launch(before)) --before;
  return log.starts_ns[event] - log.starts_ns[before];
}

std::int64_t usual_pause(const HostLog& log, const Positions& begins) {
  std::vector<std::int64_t> pauses;
  for (std::size_t step = 1; step < begins.size(); ++step) pauses.push_back(pause_before(log, begins[step]));
  const auto middle = pauses.begin() + static_cast<std::ptrdiff_t>(pauses.size() / 2);
  std::ranges::nth_element(pauses, middle);
  return *middle;
}

/// Whether the first stretch begins a loop, or the last one ends it: what comes before, or behind, is a part of a
/// stretch, since the recording began or ended there, or is parted from it by a wait or a pause. Layers inside one step
/// have neither: there, the step's own beginning and end lie before and behind.
bool is_loop(const HostLog& log, const WholeSteps& steps) {
  constexpr std::int64_t kTimesLonger = 3;
  TypicalStretch typical(log, steps.begins);
  const std::int64_t usual = usual_pause(log, steps.begins);
  const auto is_parted = [&](std::size_t event) {
    while (event < log.size() && !log.is_launch(event)) ++event;
    return event == 0 || event >= log.size() || !log.is_launch(event - 1) ||
           pause_before(log, event) > kTimesLonger * usual;
  };
  const std::size_t begin = steps.begins.front(), step = typical.size();
  return is_parted(begin) || typical.has_all_of(begin > 2 * step ? begin - 2 * step : 0, begin) ||
         is_parted(steps.end) || typical.has_all_of(steps.end, std::min(log.size(), steps.end + 2 * step));
}

FoundSteps none(std::string why) { return {{}, 0, StepCertainty::kNone, std::move(why)}; }

FoundSteps found(const HostLog& log, WholeSteps steps, StepCertainty certainty, std::string how) {
  const auto slow = static_cast<std::ptrdiff_t>(count_slow_starts(log, steps.begins));
  steps.begins.erase(steps.begins.begin(), steps.begins.begin() + slow);
  return {std::move(steps.begins), steps.end, certainty, std::move(how)};
}

constexpr const char* kNoEnd = "its launches recur, but no wait or pause shows where a step ends";

FoundSteps from_level(const HostLog& log, const Level& level, bool is_closed) {
  WholeSteps steps = whole_steps(log, level.first.begins);
  if (steps.begins.size() < kFewestSteps) return none("its launches recur, but not in three whole steps");
  const bool shows_end = is_closed || level.is_closed_by_pauses();
  const bool is_all_seen = is_closed || is_loop(log, steps);
  const bool may_be = is_all_seen ? shows_end || level.is_exact() : level.is_parted_clearly();
  if (!may_be) return none(kNoEnd);
  const bool is_alike = level.likeness.events >= kVeryAlike && steps.begins.size() >= kEnoughSteps;
  const StepCertainty certainty =
      is_alike && shows_end && is_all_seen ? StepCertainty::kLikely : StepCertainty::kUnsure;
  const char* closed = level.closes_update           ? "each with an update of parameters at its end"
                       : is_closed                   ? "each with a wait"
                       : level.is_closed_by_pauses() ? "with the host's longest pauses between them"
                                                     : "without a wait or pause between them";
  return found(log, std::move(steps), certainty,
               fmt::format("stretches alike in {:.3g} % of what they launch, {}", 100 * level.likeness.events, closed));
}

double mean_size(const Positions& begins) {
  return static_cast<double>(begins.back() - begins.front()) / static_cast<double>(begins.size() - 1);
}

/// Whether stretches that are alike are to be preferred to exact rounds: they are parts of rounds, each with the only
/// wait in it, or the same rounds and more of them.
bool is_better(const Level& closed, const Positions& rounds) {
  constexpr double kManyMore = 1.15, kAtEnds = 2, kAboutAsLong = 0.8;
  if (!closed.waits_once()) return false;
  const bool is_complete = closed.likeness.symbols >= 1 - kNearlyAsComplete;
  if (closed.steps() >= (is_complete ? 2 : kFewRounds) * rounds.size()) return true;
  const bool is_same = mean_size(closed.first.begins) >= kAboutAsLong * mean_size(rounds);
  return is_same && closed.likeness.events >= kQuiteAlike &&
         static_cast<double>(closed.steps()) > kManyMore * static_cast<double>(rounds.size()) + kAtEnds;
}

FoundSteps choose(const HostLog& log) {
  const std::vector<Level> levels = levels_of(log);
  if (getenv("STEPS_DEBUG"))
    for (const Level& l : levels)
      fmt::print(stderr,
                 "level steps {} upd {} events {:.3f} symbols {:.3f} waited {:.2f} spec {:.2f} pauses {:.2f} ratio "
                 "{:.1f} from {}\n",
                 l.steps(), l.closes_update, l.likeness.events, l.likeness.symbols, l.first.waited, l.first.specificity,
                 l.first.long_pauses, l.first.pause_ratio, l.first.begins.front());
  if (const Chosen update = update_level(levels)) return from_level(log, *update, true);
  WholeSteps exact = exact_steps(log);
  const Chosen closed = closed_level(levels);
  if (exact.begins.size() >= 2 && (closed == nullptr || !is_better(*closed, exact.begins)))
    return found(log, std::move(exact), StepCertainty::kLikely,
                 "its launches repeat exactly, with a wait in each round");
  if (closed != nullptr) return from_level(log, *closed, true);
  if (const Chosen complete = complete_level(levels)) return from_level(log, *complete, false);
  return none(levels.empty() ? "its launches do not recur" : "its launches recur, but not in stretches that are alike");
}

/// Streams with at least a tenth of the launches.
std::vector<std::uint32_t> main_streams(const HostLog& log) {
  std::map<std::uint32_t, std::size_t> launches;
  for (std::size_t i = 0; i < log.size(); ++i)
    if (log.is_launch(i)) ++launches[log.streams[i]];
  std::vector<std::uint32_t> streams;
  for (const auto& [stream, count] : launches)
    if (10 * count >= log.size()) streams.push_back(stream);
  return streams;
}

/// What one stream is told, and the events' indices in the log of all.
std::pair<HostLog, Positions> log_of_stream(const HostLog& log, std::uint32_t stream) {
  HostLog part;
  Positions events;
  part.symbol_count = log.symbol_count, part.name_count = log.name_count, part.variant_count = log.variant_count;
  part.is_update = log.is_update;
  for (std::uint32_t i = 0; i < log.size(); ++i) {
    if (log.streams[i] != stream && log.streams[i] != HostLog::kAllStreams) continue;
    events.push_back(i);
    part.symbols.push_back(log.symbols[i]);
    part.names.push_back(log.names[i]);
    part.variants.push_back(log.variants[i]);
    part.starts_ns.push_back(log.starts_ns[i]);
    part.whats.push_back(log.whats[i]);
    part.streams.push_back(stream);
  }
  return {std::move(part), std::move(events)};
}

/// Of programs whose streams have loops of their own: the steps of the stream with most launches in them.
FoundSteps choose_by_stream(const HostLog& log) {
  FoundSteps best;
  std::size_t most = 0, loops = 0;
  const std::vector<std::uint32_t> streams = main_streams(log);
  if (streams.size() < 2) return best;
  for (const std::uint32_t stream : streams) {
    const auto [part, events] = log_of_stream(log, stream);
    FoundSteps steps = choose(part);
    if (steps.certainty < StepCertainty::kLikely) continue;
    ++loops;
    const std::size_t size = steps.end - steps.begins.front();
    if (size <= most) continue;
    most = size;
    for (std::uint32_t& begin : steps.begins) begin = events[begin];
    steps.end = steps.end < events.size() ? events[steps.end] : log.size();
    best = std::move(steps);
  }
  if (loops > 1) {
    best.certainty = StepCertainty::kUnsure;
    best.how = fmt::format("{} streams have loops of their own; of the one with most launches: {}", loops, best.how);
  }
  return best;
}

}  // namespace

FoundSteps find_steps(const HostLog& log) {
  FoundSteps steps = choose(log);
  if (steps.certainty >= StepCertainty::kLikely) return steps;
  FoundSteps of_stream = choose_by_stream(log);
  return of_stream.begins.empty() ? steps : of_stream;
}

}  // namespace corun
