#include "experiments/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "experiments/base/diagnostic.h"

namespace corun {

namespace {

constexpr double kNearlyAll = 0.99;   ///< of a promised frame rate: a display's 60 Hz may be 59.9
constexpr double kDeviceBound = 0.9;  ///< of the time alone that the device works for it

ProgramShare share_of(const std::string& program, const SimulatedScenario& simulated) {
  ProgramShare share;
  std::optional<Spread> kept_spread;
  for (const auto& programs : simulated.bounds) {
    const ClientMeans& means = programs.at(program);
    widen(kept_spread, means.kept());
    widen(share.fps, means.of("fps_mean"));
    const auto frames = means.of("frame_time_p99_ms");
    widen(share.p99_ms, frames ? frames : means.of("job_time_p99_ms"));
  }
  share.kept = kept_spread.value_or(Spread{});
  return share;
}

/// Turns with a game are a mechanism of their own; nothing measured MPS next to one.
std::string mechanism_of(const SharingWay& way, const std::vector<ProgramShare>& programs) {
  if (std::ranges::none_of(programs, [](const ProgramShare& share) { return share.fps.has_value(); }))
    return way.mechanism;
  return way.mechanism == "turns" ? "games" : way.mechanism + " with games";
}

void add_band(ProgramShare& share, const std::optional<Band>& band) {
  if (!band) return;
  share.kept_least = std::min(1.0, share.kept.low * band->low);
  share.kept_most = std::min(1.0, share.kept.high * band->high);
}

/// Of kept rates, one for each program.
double goal_of(AdviceGoal goal, const std::vector<double>& kept) {
  return goal == AdviceGoal::kFairest ? *std::ranges::min_element(kept)
                                      : std::accumulate(kept.begin(), kept.end(), 0.0);
}

void set_goal(AdviceGoal goal, TriedWay& way) {
  std::vector<double> low, high, surely;
  for (const ProgramShare& program : way.programs) {
    low.push_back(program.kept.low);
    high.push_back(program.kept.high);
    surely.push_back(program.kept_most > 0 ? program.kept_least : program.kept.low);
  }
  way.goal = {goal_of(goal, low), goal_of(goal, high)};
  way.surely = goal_of(goal, surely);
}

template <class Promises, class Breaks, class Phrase>
void add_broken(const Promises& promises, const std::string& program, Breaks breaks, Phrase phrase,
                std::vector<std::string>& broken) {
  const auto promise = promises.find(program);
  if (promise != promises.end() && breaks(promise->second)) broken.push_back(phrase(promise->second));
}

std::vector<std::string> broken_promises(const AdviceQuestion& question, const std::vector<ProgramShare>& programs) {
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const ProgramShare& its = programs[i];
    const std::string& name = question.programs[i].name;
    add_broken(
        question.least_kept, name, [&](double least) { return its.kept.low < least; },
        [&](double least) { return fmt::format("{} keeps {:.2f}, not {:.2f}", name, its.kept.low, least); }, broken);
    add_broken(
        question.most_p99_ms, name, [&](double most) { return its.p99_ms && its.p99_ms->high > most; },
        [&](double most) { return fmt::format("{}'s p99 is {:.3g} ms, not {:.3g}", name, its.p99_ms->high, most); },
        broken);
    add_broken(
        question.least_fps, name, [&](double least) { return !its.fps || its.fps->low < least * kNearlyAll; },
        [&](double least) {
          return its.fps ? fmt::format("{} has {:.1f} FPS, not {:.1f}", name, its.fps->low, least)
                         : fmt::format("{} has no frames", name);
        },
        broken);
  }
  return broken;
}

/// The best way that was tried: those that keep all promises before others, those whose mechanism was compared with
/// hardware before others. `but` leaves a mode out.
std::optional<std::size_t> best_of(const std::vector<TriedWay>& ways, const std::string& but = {}) {
  std::optional<std::size_t> best;
  const auto rank = [&](std::size_t i) {
    return std::tuple(ways[i].broken.empty(), ways[i].is_compared, ways[i].surely);
  };
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!ways[i].impossible.empty() || ways[i].way.mode == but) continue;
    if (!best || rank(i) > rank(*best)) best = i;
  }
  return best;
}

Verdict verdict_of(const Advice& advice) {
  if (!advice.best || !advice.ways[*advice.best].broken.empty()) return Verdict::kNoWay;
  const TriedWay& best = advice.ways[*advice.best];
  if (!advice.unknown_rates.empty() && advice.second) {
    const TriedWay& other = advice.ways[*advice.second];
    if (other.broken.empty() && other.goal.high > best.goal.low * (1 + kAlike)) return Verdict::kCannotTell;
  }
  return best.work() > 1 ? Verdict::kShare : Verdict::kApart;
}

/// Whether the device works most of the time for each program alone, as turns show: they do not lengthen its work.
std::vector<std::string> bounds_of(const AdviceQuestion& question, const std::vector<SharingWay>& ways,
                                   const std::vector<SimulatedScenario>& simulated) {
  std::vector<std::string> bounds(question.programs.size(), "any");
  for (std::size_t w = 0; w < simulated.size(); ++w) {
    if (ways[w].mode != "time_sliced") continue;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const ClientMeans& means = simulated[w].bounds.front().at(question.programs[i].name);
      const double share = means.kept(), busy = means.of("gpu_busy_ratio").value_or(0);
      bounds[i] = share > 0 && busy / share >= kDeviceBound ? "device" : "host";
    }
  }
  return bounds;
}

/// Those about programs, each once: what is not known of a mechanism its bands say, or their absence. How a frame rate
/// hangs on draws is told of the first way alone.
std::vector<std::string> warnings_of(const AdviceQuestion& question, const std::vector<std::string>& all) {
  std::vector<std::string> kept, beginnings;
  for (const std::string& warning : all) {
    const std::string beginning = warning.substr(0, warning.find(". From draws"));
    const bool is_of_program = std::ranges::any_of(
        question.programs, [&](const AskedProgram& program) { return warning.starts_with(program.name + ":"); });
    if (!is_of_program || std::ranges::find(beginnings, beginning) != beginnings.end()) continue;
    beginnings.push_back(beginning);
    kept.push_back(warning);
  }
  return kept;
}

}  // namespace

double TriedWay::work() const {
  double sum = 0;
  for (const ProgramShare& program : programs) sum += program.kept.middle();
  return sum;
}

Advice advise(const AdviceQuestion& question, const PolicyRegistry& policies, const Bands& bands, unsigned jobs) {
  std::vector<SharingWay> common, instances;
  for (SharingWay& way : sharing_ways(question)) (way.mode == "mig" ? instances : common).push_back(std::move(way));
  SimulatedMeans means("the experiment that `--write FILE` writes", policies, jobs);
  std::vector<SimulatedScenario> simulated;
  if (!common.empty()) simulated = means.of(advice_experiment(question, common));
  Advice advice;
  advice.bounds = bounds_of(question, common, simulated);
  const auto add = [&](const SharingWay& way, const SimulatedScenario& its) {
    TriedWay tried{.way = way};
    for (const AskedProgram& program : question.programs) tried.programs.push_back(share_of(program.name, its));
    const std::string mechanism = mechanism_of(way, tried.programs);
    tried.is_compared = bands.of(mechanism, "any").has_value();
    for (std::size_t i = 0; i < question.programs.size(); ++i)
      add_band(tried.programs[i],
               bands.of(mechanism, tried.programs[i].fps ? "frames" : std::string_view{advice.bounds[i]}));
    if (way.mode == "mig" &&
        std::ranges::any_of(tried.programs, [](const auto& share) { return share.fps.has_value(); }))
      throw Error(ErrorKind::kUnsupported, {}, "MIG instances draw no frames");
    tried.broken = broken_promises(question, tried.programs);
    set_goal(question.goal, tried);
    advice.ways.push_back(std::move(tried));
    if (its.bounds.size() == 1) return;
    for (std::size_t i = 0; i < question.programs.size(); ++i)
      if (!question.programs[i].keys.contains("solo_rate") &&
          std::ranges::find(advice.unknown_rates, question.programs[i].name) == advice.unknown_rates.end())
        advice.unknown_rates.push_back(question.programs[i].name);
  };
  for (std::size_t w = 0; w < common.size(); ++w) add(common[w], simulated[w]);
  for (const SharingWay& way : instances) {
    try {
      add(way, means.of(advice_experiment(question, {way})).front());
    } catch (const InvalidInput& refused) {
      advice.ways.push_back({.way = way, .impossible = refused.diagnostics().front().message});
    } catch (const Error& refused) {
      advice.ways.push_back({.way = way, .impossible = refused.message()});
    }
  }
  advice.warnings = warnings_of(question, means.warnings());
  advice.best = best_of(advice.ways);
  if (advice.best) advice.second = best_of(advice.ways, advice.ways[*advice.best].way.mode);
  advice.verdict = verdict_of(advice);
  return advice;
}

}  // namespace corun
