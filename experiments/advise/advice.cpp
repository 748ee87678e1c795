#include "experiments/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "experiments/bands/figure_band.h"
#include "traces/base/error.h"

namespace corun {

namespace {

ProgramShare share_of(const std::string& program, const SimulatedBounds& simulated) {
  ProgramShare share;
  std::optional<Spread> kept_spread;
  for (const auto& programs : simulated) {
    const ClientMeans& means = programs.at(program);
    widen(kept_spread, means.kept());
    widen(share.fps, means.of("fps_mean"));
    const auto frames = means.of("frame_time_p99_ms");
    widen(share.p99_ms, frames ? frames : means.of("job_time_p99_ms"));
    share.has_like_tail =
        frames || waits_for_each_job(means.of("throughput_per_s").value_or(0), means.of("job_time_p50_ms").value_or(0));
  }
  share.kept = kept_spread.value_or(Spread{});
  return share;
}

std::string mechanism_of(const SharingWay& way, const std::vector<ProgramShare>& programs) {
  return mechanism_among(way.mechanism,
                         std::ranges::any_of(programs, [](const auto& share) { return share.fps.has_value(); }));
}

/// `its` of the programs together: how they share, how many they are, and whether all of that was measured.
void add_bands(ProgramShare& share, const Bands& bands, const ErrorClass& its, const std::string& bound_alone) {
  const std::string bound = share.fps ? "frames" : bound_alone;
  const auto band_of = [&](const char* figure) {
    return bands.of(figure, its.mechanism, bound, its.programs, its.measured());
  };
  if (const auto band = band_of("kept"))
    share.kept_band = {std::min(1.0, share.kept.low * band->low), std::min(1.0, share.kept.high * band->high)};
  if (const auto band = band_of("p99"); band && share.p99_ms && share.has_like_tail)
    share.p99_band = {share.p99_ms->low * band->low, share.p99_ms->high * band->high};
}

/// Of kept rates, one for each program.
double goal_of(AdviceGoal goal, const std::vector<double>& kept) {
  return goal == AdviceGoal::kFairest ? *std::ranges::min_element(kept)
                                      : std::accumulate(kept.begin(), kept.end(), 0.0);
}

void set_goal(AdviceGoal goal, TriedWay& way) {
  std::vector<double> low, high;
  for (const ProgramShare& program : way.programs) {
    low.push_back(program.kept.low);
    high.push_back(program.kept.high);
  }
  way.goal = {goal_of(goal, low), goal_of(goal, high)};
}

template <class Promises, class Breaks, class Phrase>
void add_broken(const Promises& promises, const std::string& program, Breaks breaks, Phrase phrase,
                std::vector<std::string>& broken) {
  const auto promise = promises.find(program);
  if (promise != promises.end() && breaks(promise->second)) broken.push_back(phrase(promise->second));
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
  }
  return broken;
}

/// The best way that was tried. `but` leaves a mode out.
std::optional<std::size_t> best_of(const std::vector<TriedWay>& ways, const std::string& but = {}) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!ways[i].impossible.empty() || ways[i].way.mode == but) continue;
    if (!best || ways[i].rank() > ways[*best].rank()) best = i;
  }
  return best;
}

Verdict verdict_of(const Advice& advice) {
  if (!advice.best) return Verdict::kNoWay;
  const TriedWay& best = advice.ways[*advice.best];
  if (!best.broken.empty()) return best.may_keep ? Verdict::kCannotTell : Verdict::kNoWay;
  if (!(advice.unknown_rates.empty() && advice.unknown_draws.empty()) && advice.second) {
    const TriedWay& other = advice.ways[*advice.second];
    if (other.broken.empty() && other.goal.high > best.goal.low * (1 + kAlike)) return Verdict::kCannotTell;
  }
  return best.work() > 1 ? Verdict::kShare : Verdict::kApart;
}

/// Whether the device works most of the time for each program alone, as turns show: they do not lengthen its work.
std::vector<std::string> bounds_of(const AdviceQuestion& question, const std::vector<SharingWay>& ways,
                                   const std::vector<SimulatedBounds>& simulated) {
  std::vector<std::string> bounds(question.programs.size(), "any");
  for (std::size_t w = 0; w < simulated.size(); ++w) {
    if (ways[w].mode != "time_sliced") continue;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const ClientMeans& means = simulated[w].front().at(question.programs[i].name);
      const double share = means.kept(), busy = means.of("gpu_busy_ratio").value_or(0);
      bounds[i] = share > 0 && busy / share >= kDeviceBound ? "device" : "host";
    }
  }
  return bounds;
}

/// Those about programs: what is not known of a mechanism its bands say, or their absence.
std::vector<std::string> warnings_of(const AdviceQuestion& question, std::vector<std::string> all) {
  std::erase_if(all, [&](const std::string& warning) {
    return std::ranges::none_of(question.programs,
                                [&](const AskedProgram& program) { return warning.starts_with(program.name + ":"); });
  });
  return all;
}

/// In the order of the programs.
std::vector<std::string> names_in(const AdviceQuestion& question, const std::set<std::string>& names) {
  std::vector<std::string> found;
  for (const AskedProgram& program : question.programs)
    if (names.contains(program.name)) found.push_back(program.name);
  return found;
}

}  // namespace

std::tuple<bool, bool, bool, double> TriedWay::rank() const {
  return {broken.empty(), may_keep, is_compared, goal.low * (way.mode == "mps" ? 1 + kAlike : 1)};
}

double TriedWay::work() const {
  double sum = 0;
  for (const ProgramShare& program : programs) sum += program.kept.middle();
  return sum;
}

Advice advise(const AdviceQuestion& question, const PolicyRegistry& policies, const Bands& bands, unsigned jobs) {
  std::vector<SharingWay> common, instances;
  for (SharingWay& way : sharing_ways(question)) (way.mode == "mig" ? instances : common).push_back(std::move(way));
  SimulatedMeans means(policies, jobs);
  std::vector<SimulatedBounds> simulated;
  if (!common.empty()) simulated = means.of(advice_experiment(question, common));
  Advice advice;
  advice.bounds = bounds_of(question, common, simulated);
  const auto add = [&](const SharingWay& way, const SimulatedBounds& its) {
    TriedWay tried{.way = way};
    for (const AskedProgram& program : question.programs) tried.programs.push_back(share_of(program.name, its));
    const std::string mechanism = mechanism_of(way, tried.programs);
    const ErrorClass together{mechanism, question.programs.size(), means.unmeasured()};
    tried.is_compared = bands.of("kept", mechanism, "any", together.programs).has_value();
    for (std::size_t i = 0; i < question.programs.size(); ++i)
      add_bands(tried.programs[i], bands, together, advice.bounds[i]);
    if (way.mode == "mig" &&
        std::ranges::any_of(tried.programs, [](const auto& share) { return share.fps.has_value(); }))
      throw Error(ErrorKind::kUnsupported, {}, "MIG instances draw no frames");
    tried.broken = broken_promises(question, tried.programs, true);
    tried.may_keep = broken_promises(question, tried.programs, false).empty();
    set_goal(question.goal, tried);
    advice.ways.push_back(std::move(tried));
  };
  for (std::size_t w = 0; w < common.size(); ++w) add(common[w], simulated[w]);
  for (const SharingWay& way : instances) {
    try {
      add(way, means.of(advice_experiment(question, {way})).front());
    } catch (const Error& refused) {
      advice.ways.push_back({.way = way, .impossible = refused.message()});
    }
  }
  advice.warnings = warnings_of(question, means.warnings());
  advice.unknown_rates = names_in(question, means.unknown_rates());
  advice.unknown_draws = names_in(question, means.unknown_draws());
  advice.best = best_of(advice.ways);
  if (advice.best) advice.second = best_of(advice.ways, advice.ways[*advice.best].way.mode);
  advice.verdict = verdict_of(advice);
  return advice;
}

}  // namespace corun
