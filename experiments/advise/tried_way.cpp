#include "experiments/advise/tried_way.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "experiments/advise/figures/server_text.h"

namespace corun {

namespace {

ProgramShare share_of(const std::string& program, const SimulatedBounds& simulated, const Bands& bands) {
  ProgramShare share;
  std::optional<Spread> kept;
  for (const SimulatedRuns& runs : simulated) {
    const ClientMeans& means = runs.clients.at(program);
    widen(kept, means.kept());
    widen(share.fps, means.of("fps_mean"));
    const char* tail = means.of("frame_time_p99_ms") ? "frame_time_p99_ms" : "job_interval_p99_ms";
    widen(share.p99_ms, means.of(tail));
    widen(share.p99_band, runs.band(bands, program, tail), 1);
    const double alone = means.of("solo_throughput_per_s").value_or(0);
    if (alone > 0) widen(share.kept_band, runs.band(bands, program, "throughput_per_s"), 1 / alone);
  }
  share.kept = kept.value_or(Spread{});
  if (simulated.front().servers.contains(program)) share.server = server_share(program, simulated, bands);
  if (share.kept_band) share.kept_band->high = std::min(share.kept_band->high, 1.0);
  return share;
}

/// Of kept rates, one for each program.
double goal_of(AdviceGoal goal, const std::vector<double>& kept) {
  return goal == AdviceGoal::kFairest ? *std::ranges::min_element(kept)
                                      : std::accumulate(kept.begin(), kept.end(), 0.0);
}

/// What keeps its promises needs no more: a server counts where all programs are such.
bool counts(const ProgramShare& program) { return !program.server || !program.server->has_promises(); }

Spread goal_of(AdviceGoal goal, const std::vector<ProgramShare>& programs) {
  const bool counts_all = std::ranges::none_of(programs, counts);
  std::vector<double> low, high;
  for (const ProgramShare& program : programs) {
    if (!counts_all && !counts(program)) continue;
    low.push_back(program.kept.low);
    high.push_back(program.kept.high);
  }
  return {goal_of(goal, low), goal_of(goal, high)};
}

template <class Promises, class Breaks, class Phrase>
void add_broken(const Promises& promises, const std::string& program, Breaks breaks, Phrase phrase,
                std::vector<std::string>& broken) {
  const auto promise = promises.find(program);
  if (promise != promises.end() && breaks(promise->second)) broken.push_back(phrase(promise->second));
}

void add_broken(const std::string& program, const ServerShare& server, bool at_worse_ends,
                std::vector<std::string>& broken) {
  const PromiseState most = at_worse_ends ? PromiseState::kKept : PromiseState::kInDoubt;
  for (const PromisedFigure* figure : {&server.ttft, &server.tpot})
    if (figure->state() > most) broken.push_back(promise_text(program, *figure));
  if (server.rejected > 0 && server.has_promises())
    broken.push_back(fmt::format("{} rejects {:.3g} requests", program, server.rejected));
}

/// At the worse ends of what is not known, or else at the better ones.
std::vector<std::string> broken_promises(const AdviceQuestion& question, const std::vector<ProgramShare>& programs,
                                         bool at_worse_ends) {
  const auto least = [&](const Spread& spread) { return at_worse_ends ? spread.low : spread.high; };
  const auto most = [&](const Spread& spread) { return at_worse_ends ? spread.high : spread.low; };
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const ProgramShare& its = programs[i];
    const std::string& name = question.programs[i].name;
    add_broken(
        question.least_kept, name, [&](double asked) { return least(its.kept) < asked; },
        [&](double asked) { return fmt::format("{} keeps {}, not {:.2f}", name, spread_text(its.kept, 2), asked); },
        broken);
    add_broken(
        question.most_p99_ms, name, [&](double asked) { return its.p99_ms && most(*its.p99_ms) > asked; },
        [&](double asked) {
          return fmt::format("{}'s p99 is {} ms, not {:.3g}", name, milliseconds_text(*its.p99_ms), asked);
        },
        broken);
    add_broken(
        question.least_fps, name, [&](double asked) { return !its.fps || least(*its.fps) < asked * kHeldPart; },
        [&](double asked) {
          return its.fps ? fmt::format("{} has {} FPS, not {:.1f}", name, spread_text(its.fps, 1), asked)
                         : fmt::format("{} has no frames", name);
        },
        broken);
    if (its.server) add_broken(name, *its.server, at_worse_ends, broken);
  }
  return broken;
}

/// Nothing else than promises of servers, and of these none that a range leaves open.
bool is_close(const std::vector<ProgramShare>& programs, std::size_t broken) {
  std::size_t close = 0;
  for (const ProgramShare& program : programs) {
    if (!program.server) continue;
    for (const PromisedFigure* figure : {&program.server->ttft, &program.server->tpot})
      close += figure->state() == PromiseState::kClose ? 1 : 0;
  }
  return broken > 0 && close == broken;
}

}  // namespace

std::tuple<bool, bool, bool, double> TriedWay::rank() const { return {broken.empty(), may_keep, is_compared, score()}; }

double TriedWay::score() const { return goal.low * (way.mode == "mps" ? 1 + kAlike : 1); }

double TriedWay::work() const {
  double sum = 0;
  for (const ProgramShare& program : programs) sum += program.kept.middle();
  return sum;
}

TriedWay tried_way(const AdviceQuestion& question, const SharingWay& way, const SimulatedBounds& simulated,
                   const Bands& bands) {
  TriedWay tried{.way = way, .basis = simulated.front().basis()};
  for (const AskedProgram& program : question.programs)
    tried.programs.push_back(share_of(program.name, simulated, bands));
  tried.is_compared =
      std::ranges::any_of(tried.programs, [](const ProgramShare& share) { return share.kept_band.has_value(); });
  tried.broken = broken_promises(question, tried.programs, true);
  tried.may_keep = broken_promises(question, tried.programs, false).empty();
  tried.is_close = is_close(tried.programs, tried.broken.size());
  tried.goal = goal_of(question.goal, tried.programs);
  return tried;
}

std::optional<std::size_t> best_of(const std::vector<TriedWay>& ways, const std::string& but) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!ways[i].impossible.empty() || ways[i].way.mode == but) continue;
    if (!best || ways[i].rank() > ways[*best].rank()) best = i;
  }
  return best;
}

}  // namespace corun
