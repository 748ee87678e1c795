#include "experiments/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "experiments/question/experiment.h"
#include "experiments/run/host_range.h"
#include "experiments/run/plan.h"
#include "experiments/run/run_inputs.h"
#include "experiments/run/runner.h"

namespace corun {

namespace {

constexpr double kNearlyAll = 0.99;   ///< of a promised frame rate: a display's 60 Hz may be 59.9
constexpr double kDeviceBound = 0.9;  ///< of the time alone that the device works for it

/// One program in one scenario, a mean over seeds.
struct Means {
  std::map<std::string, double> sums;
  double runs = 0;

  std::optional<double> of(const std::string& metric) const {
    const auto found = sums.find(metric);
    return found == sums.end() ? std::nullopt : std::optional(found->second / runs);
  }
};

/// Of each program, in the scenarios that bound one way.
using Ends = std::vector<std::map<std::string, Means>>;

class Trial {
 public:
  Trial(const AdviceQuestion& question, const PolicyRegistry& policies, unsigned jobs)
      : question_(question), policies_(policies), jobs_(jobs) {}

  /// By way, in order. Throws where a scenario is refused.
  std::vector<Ends> simulate(const std::vector<SharingWay>& ways) {
    PolicyRegistry policies = policies_;
    Experiment experiment = with_host_ranges(parse_experiment(
        advice_experiment(question_, ways), "the experiment that `--write FILE` writes", {}, policies));
    const Plan plan = make_plan(experiment);
    RunInputs inputs(experiment, plan.hashes, policies);
    inputs.check();
    for (std::string& warning : inputs.warnings())
      if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(std::move(warning));
    std::vector<std::map<std::string, Means>> means(experiment.scenarios.size());
    run_plan(experiment, plan, inputs, policies, {.jobs = jobs_}, [&](const RunSpec& spec, const RunOutcome& outcome) {
      if (outcome.error) throw *outcome.error;
      for (const Metric& metric : outcome.metrics)
        means[spec.scenario][metric.client].sums[metric.name] += metric.value;
      for (auto& [client, its] : means[spec.scenario]) its.runs += 1;
    });
    return by_way(experiment, means, ways.size());
  }

  std::vector<std::string> warnings() const { return warnings_; }

 private:
  /// Scenarios of one way stand together, under its name or as bounds of it.
  static std::vector<Ends> by_way(const Experiment& experiment, std::vector<std::map<std::string, Means>>& means,
                                  std::size_t ways) {
    std::vector<Ends> found;
    std::string last;
    for (std::size_t s = 0; s < means.size(); ++s) {
      if (found.empty() || experiment.scenarios[s].own_name() != last) found.emplace_back();
      last = experiment.scenarios[s].own_name();
      found.back().push_back(std::move(means[s]));
    }
    CORUN_ASSERT(found.size() == ways, "{} ways of {}", found.size(), ways);
    return found;
  }

  const AdviceQuestion& question_;
  const PolicyRegistry& policies_;
  const unsigned jobs_;
  std::vector<std::string> warnings_;
};

void widen(std::optional<Spread>& spread, std::optional<double> value) {
  if (!value) return;
  if (!spread) spread = Spread{*value, *value};
  spread->low = std::min(spread->low, *value);
  spread->high = std::max(spread->high, *value);
}

double kept(const Means& means) {
  const double alone = means.of("solo_throughput_per_s").value_or(0);
  return alone > 0 ? means.of("throughput_per_s").value_or(0) / alone : 0;
}

ProgramShare share_of(const std::string& program, const Ends& ends) {
  ProgramShare share;
  std::optional<Spread> kept_spread;
  for (const auto& programs : ends) {
    const Means& means = programs.at(program);
    widen(kept_spread, kept(means));
    widen(share.fps, means.of("fps_mean"));
    const auto frames = means.of("frame_time_p99_ms");
    widen(share.p99_ms, frames ? frames : means.of("job_time_p99_ms"));
  }
  share.kept = kept_spread.value_or(Spread{});
  return share;
}

/// Games have none: what bands rest on are programs without frames.
void add_band(ProgramShare& share, const std::optional<Band>& band) {
  if (!band || share.fps) return;
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
                                   const std::vector<Ends>& ends) {
  std::vector<std::string> bounds(question.programs.size(), "any");
  for (std::size_t w = 0; w < ends.size(); ++w) {
    if (ways[w].mode != "time_sliced") continue;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const Means& means = ends[w].front().at(question.programs[i].name);
      const double share = kept(means), busy = means.of("gpu_busy_ratio").value_or(0);
      bounds[i] = share > 0 && busy / share >= kDeviceBound ? "device" : "host";
    }
  }
  return bounds;
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
  Trial trial(question, policies, jobs);
  std::vector<Ends> ends;
  if (!common.empty()) ends = trial.simulate(common);
  Advice advice;
  advice.bounds = bounds_of(question, common, ends);
  const auto add = [&](const SharingWay& way, const Ends& its) {
    TriedWay tried{.way = way, .is_compared = bands.of(way.mechanism, "any").has_value()};
    for (std::size_t i = 0; i < question.programs.size(); ++i) {
      ProgramShare share = share_of(question.programs[i].name, its);
      add_band(share, bands.of(way.mechanism, advice.bounds[i]));
      tried.programs.push_back(std::move(share));
    }
    if (way.mode == "mig" &&
        std::ranges::any_of(tried.programs, [](const auto& share) { return share.fps.has_value(); }))
      throw Error(ErrorKind::kUnsupported, {}, "MIG instances draw no frames");
    tried.broken = broken_promises(question, tried.programs);
    set_goal(question.goal, tried);
    advice.ways.push_back(std::move(tried));
    if (its.size() == 1) return;
    for (std::size_t i = 0; i < question.programs.size(); ++i)
      if (question.programs[i].keys.find("solo_rate") == std::string::npos &&
          std::ranges::find(advice.unknown_rates, question.programs[i].name) == advice.unknown_rates.end())
        advice.unknown_rates.push_back(question.programs[i].name);
  };
  for (std::size_t w = 0; w < common.size(); ++w) add(common[w], ends[w]);
  for (const SharingWay& way : instances) {
    try {
      add(way, trial.simulate({way}).front());
    } catch (const InvalidInput& refused) {
      advice.ways.push_back({.way = way, .impossible = refused.diagnostics().front().message});
    } catch (const Error& refused) {
      advice.ways.push_back({.way = way, .impossible = refused.message()});
    }
  }
  advice.warnings = trial.warnings();
  advice.best = best_of(advice.ways);
  if (advice.best) advice.second = best_of(advice.ways, advice.ways[*advice.best].way.mode);
  advice.verdict = verdict_of(advice);
  return advice;
}

}  // namespace corun
