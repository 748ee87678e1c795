#include "sim/workload/capture/steps/find_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "sim/workload/capture/steps/equal_rounds.h"
#include "sim/workload/capture/steps/exact_steps.h"
#include "sim/workload/capture/steps/levels.h"

namespace corun {

namespace {

constexpr std::size_t kEnoughSteps = 5;
constexpr double kQuiteAlike = 0.85, kComplete = 0.9;

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
  const std::size_t all = steps.begins.size(), slow = drop_slow_starts(log, steps.begins);
  if (all < slow + 2) return none("its first rounds took longer than most");
  return {std::move(steps.begins), steps.end, certainty, std::move(how)};
}

constexpr const char* kNoEnd = "its launches recur, but no wait or pause shows where a step ends";

/// `closed`: what closes its stretches; "" = nothing does.
FoundSteps from_level(const HostLog& log, const Level& level, std::string_view closed) {
  const bool is_closed = !closed.empty();
  WholeSteps steps = whole_steps(log, level.first.begins);
  if (steps.begins.size() < kFewestSteps) return none("its launches recur, but not in three whole steps");
  const bool shows_end = is_closed || level.is_closed_by_pauses();
  const bool is_all_seen = is_closed || is_loop(log, steps);
  const bool may_be = is_all_seen ? shows_end || level.is_exact() : level.is_parted_clearly();
  if (!may_be) return none(kNoEnd);
  const bool is_alike = level.likeness.events >= kVeryAlike && steps.begins.size() >= kEnoughSteps;
  const StepCertainty certainty =
      is_alike && shows_end && is_all_seen ? StepCertainty::kLikely : StepCertainty::kUnsure;
  if (!is_closed)
    closed = level.is_closed_by_pauses() ? "with the host's longest pauses between them"
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
  constexpr double kManyMore = 1.02, kAtEnds = 2, kAboutAsLong = 0.8;
  if (!closed.waits_once()) return false;
  const bool is_complete = closed.likeness.symbols >= kComplete;
  if (closed.steps() >= (is_complete ? 2 : kFewRounds) * rounds.size()) return true;
  const bool is_same = mean_size(closed.first.begins) >= kAboutAsLong * mean_size(rounds);
  return is_same && closed.likeness.events >= kQuiteAlike &&
         static_cast<double>(closed.steps()) > kManyMore * static_cast<double>(rounds.size()) + kAtEnds;
}

FoundSteps choose(const HostLog& log) {
  const std::vector<Level> levels = levels_of(log);
  if (const std::optional<Level> update = update_level(log, levels))
    if (FoundSteps steps = from_level(log, *update, "each with an update of parameters at its end");
        !steps.begins.empty())
      return steps;
  WholeSteps exact = exact_steps(log);
  const Level* closed = closed_level(levels);
  if (exact.begins.size() >= 2 && (closed == nullptr || !is_better(*closed, exact.begins)))
    return found(log, std::move(exact), StepCertainty::kLikely,
                 "its launches repeat exactly, with a wait in each round");
  if (closed != nullptr) return from_level(log, *closed, "each with a wait");
  const std::optional<Level> read_back = read_back_level(log, levels);
  const Level* complete = complete_level(levels);
  if (read_back && (complete == nullptr || read_back->steps() > complete->steps()))
    return from_level(log, *read_back, "each with its only copy to the host");
  if (complete != nullptr) return from_level(log, *complete, "");
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
  part.is_update = log.is_update, part.is_read_back = log.is_read_back, part.is_of_graph = log.is_of_graph;
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

enum class Streams : std::uint8_t { kAll, kOne };

/// Steps that may as well be several in a row are unsure. Of one stream, the number of a round's operations is no
/// `step: { launches: N }`, which counts those of all.
FoundSteps doubted_if_equal_rounds(const HostLog& log, FoundSteps steps, Streams streams) {
  const EqualRounds rounds = equal_rounds(log, steps.begins, steps.end);
  if (rounds.count == 0) return steps;
  steps.certainty = StepCertainty::kUnsure;
  steps.how += fmt::format("; each holds {} equal rounds of {} operation{}{}: ", rounds.count, rounds.operations,
                           rounds.operations == 1 ? "" : "s", rounds.reads_back ? " besides copies to the host" : "");
  steps.how += rounds.reads_back || streams == Streams::kOne
                   ? "a step may be one or several of them"
                   : fmt::format("if a step is one of them, `step: {{ launches: {} }}`; if several, a multiple of it",
                                 rounds.operations);
  return steps;
}

/// Of programs whose streams have loops of their own: the steps of the stream with most launches in them.
FoundSteps choose_by_stream(const HostLog& log) {
  FoundSteps best;
  std::size_t most = 0;
  std::vector<std::size_t> loops;  // steps of each
  const std::vector<std::uint32_t> streams = main_streams(log);
  if (streams.size() < 2) return best;
  for (const std::uint32_t stream : streams) {
    const auto [part, events] = log_of_stream(log, stream);
    FoundSteps steps = choose(part);
    if (steps.certainty < StepCertainty::kLikely) continue;
    loops.push_back(steps.begins.size());
    steps = doubted_if_equal_rounds(part, std::move(steps), Streams::kOne);
    const std::size_t size = steps.end - steps.begins.front();
    if (size <= most) continue;
    most = size;
    for (std::uint32_t& begin : steps.begins) begin = events[begin];
    steps.end = steps.end < events.size() ? events[steps.end] : log.size();
    best = std::move(steps);
  }
  if (loops.size() > 1) {
    best.certainty = StepCertainty::kUnsure;
    best.how = fmt::format("{} streams have loops of their own, of {} steps; of the one with most launches: {}",
                           loops.size(), fmt::join(loops, " and "), best.how);
  }
  return best;
}

}  // namespace

FoundSteps find_steps(const HostLog& log) {
  FoundSteps steps = choose(log);
  if (steps.certainty < StepCertainty::kLikely)
    if (FoundSteps of_stream = choose_by_stream(log); !of_stream.begins.empty()) return of_stream;
  return doubted_if_equal_rounds(log, std::move(steps), Streams::kAll);
}

}  // namespace corun
