#include "experiments/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "experiments/advise/figures/slower_hosts.h"
#include "experiments/run/clients/doubts.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr double kEnough = 1.1;     ///< so many times the steps that a rate needs
constexpr double kLongest_s = 120;  ///< simulated

Verdict verdict_of(const Advice& advice) {
  if (!advice.best) return Verdict::kNoWay;
  const TriedWay& best = advice.ways[*advice.best];
  if (best.is_close) return Verdict::kClose;
  if (!best.broken.empty()) return best.may_keep ? Verdict::kCannotTell : Verdict::kNoWay;
  if (!(advice.unknown_rates.empty() && advice.unknown_draws.empty()) && advice.second) {
    const TriedWay& other = advice.ways[*advice.second];
    if (other.broken.empty() && other.goal.high > best.goal.low * (1 + kAlike)) return Verdict::kCannotTell;
  }
  return best.work() > 1 ? Verdict::kShare : Verdict::kApart;
}

/// Those about programs: what is not known of a mechanism its bands say, or their absence. A horizon is the adviser's.
std::vector<std::string> warnings_of(const AdviceQuestion& question, std::vector<std::string> all) {
  std::erase_if(all, [&](const std::string& warning) {
    const auto is_of = [&](const AskedProgram& program) { return warning.starts_with(program.name + ":"); };
    return warning.find(kTooFewJobs) != std::string::npos || std::ranges::none_of(question.programs, is_of);
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

class Adviser {
 public:
  Adviser(const AdviceQuestion& question, const PolicyRegistry& policies, const Bands& bands, unsigned jobs)
      : question_(question), policies_(policies), bands_(bands), means_(policies, jobs) {}

  Advice advice() {
    try_ways();
    try_alone();
    if (question_.has_largest_load) search_loads();
    advice_.warnings = warnings_of(question_, means_.warnings());
    warn_of_few_requests();
    advice_.unknown_rates = names_in(question_, means_.unknown_rates());
    advice_.unknown_draws = names_in(question_, means_.unknown_draws());
    advice_.best = best_of(advice_.ways);
    if (advice_.best) advice_.second = best_of(advice_.ways, advice_.ways[*advice_.best].way.mode);
    advice_.verdict = verdict_of(advice_);
    if (advice_.verdict == Verdict::kCannotTell && advice_.unknown_rates.size() == 1 && advice_.unknown_draws.empty())
      find_what_it_hangs_on();
    return std::move(advice_);
  }

 private:
  void try_alone() {
    for (const AskedProgram& program : question_.programs) {
      if (!program.is_server()) continue;
      AdviceQuestion alone = question_;
      alone.programs = {program};
      alone.modes = {"time_sliced"};
      alone.policies.clear();
      SharingWay turns = sharing_ways(alone).front();
      advice_.alone[program.name] = server_share(
          program.name, settled(alone, turns, means_.of(advice_experiment(alone, {turns})).front()), bands_);
    }
  }

  void try_ways() {
    std::vector<SharingWay> common, doubtful;  // those that a device or a policy may refuse
    for (SharingWay& way : sharing_ways(question_))
      (way.mode == "mig" || way.mode == "policy" ? doubtful : common).push_back(std::move(way));
    advice_.bounds.assign(question_.programs.size(), "any");
    if (!common.empty()) try_common(common);
    for (SharingWay& way : doubtful) {
      try {
        SimulatedBounds simulated = means_.of(advice_experiment(question_, {way})).front();
        simulated = settled(question_, way, std::move(simulated));
        add(way, simulated, simulated);
      } catch (const Error& refused) {
        advice_.ways.push_back({.way = way, .impossible = refused.message()});
      }
    }
  }

  /// With hosts as alone, and where these may be slower in company, with such ones, too.
  void try_common(std::vector<SharingWay>& ways) {
    std::vector<SimulatedBounds> simulated = means_.of(advice_experiment(question_, ways));
    for (std::size_t w = 0; w < ways.size(); ++w) simulated[w] = settled(question_, ways[w], std::move(simulated[w]));
    std::vector<SimulatedBounds> all = simulated;
    add_slower_hosts(
        question_.programs, all, [](std::size_t) { return std::optional<std::string>(""); },
        [&](const std::vector<AskedProgram>& slower, const std::vector<std::size_t>& places) {
          AdviceQuestion question = question_;
          question.programs = slower;
          std::vector<SharingWay> its;
          for (const std::size_t w : places) its.push_back(ways[w]);
          return means_.of(advice_experiment(question, its));
        });
    for (std::size_t w = 0; w < ways.size(); ++w) add(ways[w], simulated[w], all[w]);
  }

  /// Once more and longer where a program ended too few steps for a rate, or a server too few requests.
  SimulatedBounds settled(const AdviceQuestion& question, SharingWay& way, SimulatedBounds simulated) {
    const double enough = std::ranges::min(simulated | std::views::transform(&SimulatedRuns::enough));
    if (enough >= 1) return simulated;
    way.horizon_s = std::min(kLongest_s, way.horizon_s * kEnough / std::max(enough, 1 / kFewestJobs));
    return means_.of(advice_experiment(question, {way})).front();
  }

  void search_loads() {
    for (TriedWay& tried : advice_.ways)
      if (tried.impossible.empty()) tried.loads = loads_of(question_, tried.way, policies_, bands_);
  }

  /// `all`: with what hosts that are slower give, too.
  void add(const SharingWay& way, const SimulatedBounds& simulated, const SimulatedBounds& all) {
    TriedWay tried = tried_way(question_, way, all, bands_);
    if (way.mode == "mig" && std::ranges::any_of(tried.programs, [](const auto& its) { return its.fps.has_value(); }))
      throw Error(ErrorKind::kUnsupported, {}, "MIG instances draw no frames");
    if (way.mode == "time_sliced") learn_bounds(simulated);
    simulated_.resize(advice_.ways.size());
    simulated_.push_back(simulated);
    advice_.ways.push_back(std::move(tried));
  }

  /// Whether the device works most of the time for each program alone, as turns show: they do not lengthen its work.
  void learn_bounds(const SimulatedBounds& turns) {
    for (std::size_t i = 0; i < advice_.bounds.size(); ++i) {
      const ClientMeans& means = turns.front().clients.at(question_.programs[i].name);
      const double share = means.kept(), busy = means.of("gpu_busy_ratio").value_or(0);
      advice_.bounds[i] = share > 0 && busy / share >= kDeviceBound ? "device" : "host";
    }
  }

  void warn_of_few_requests() {
    for (std::size_t i = 0; i < question_.programs.size(); ++i) {
      double fewest = kFewestRequests;
      for (const TriedWay& way : advice_.ways)
        if (way.impossible.empty() && way.programs[i].server)
          fewest = std::min(fewest, way.programs[i].server->answered);
      if (std::lround(fewest) < kFewestRequests)
        advice_.warnings.push_back(
            fmt::format("{}: in the shortest case it answered {:.0f} requests; a 99th percentile needs {:.0f}",
                        question_.programs[i].name, fewest, kFewestRequests));
    }
  }

  TriedWay at_bound(std::size_t way, std::size_t bound) const {
    return tried_way(question_, advice_.ways[way].way, {simulated_[way][bound]}, bands_);
  }

  /// The two bounds are those of the program's slowest and fastest host.
  void find_what_it_hangs_on() {
    const std::size_t best = *advice_.best;
    if (simulated_[best].size() != 2) return;
    HangsOn its{.program = advice_.unknown_rates.front()};
    double rates[2] = {}, leads[2] = {};
    std::string answers[2];
    for (const std::size_t bound : {0U, 1U}) {
      rates[bound] = simulated_[best][bound].clients.at(its.program).of("solo_throughput_per_s").value_or(0);
      const TriedWay first = at_bound(best, bound);
      if (!advice_.ways[best].broken.empty()) {
        answers[bound] = first.broken.empty() ? "kept" : first.may_keep ? "in doubt" : "broken";
        continue;
      }
      const TriedWay other = at_bound(*advice_.second, bound);
      leads[bound] = first.score() - other.score();
      answers[bound] = leads[bound] >= 0 ? first.way.label : other.way.label;
    }
    if (answers[0] == answers[1] || rates[0] <= 0 || rates[1] <= 0) return;
    if (leads[0] != leads[1])
      its.changes_at_per_s = rates[0] * std::pow(rates[1] / rates[0], leads[0] / (leads[0] - leads[1]));
    const std::size_t slow = rates[0] <= rates[1] ? 0 : 1;
    its.rate_per_s = {rates[slow], rates[1 - slow]};
    its.at_low = answers[slow];
    its.at_high = answers[1 - slow];
    advice_.hangs_on = its;
  }

  const AdviceQuestion& question_;
  const PolicyRegistry& policies_;
  const Bands& bands_;
  SimulatedMeans means_;
  Advice advice_;
  std::vector<SimulatedBounds> simulated_;  ///< by way; none of those that cannot be tried
};

}  // namespace

Advice advise(const AdviceQuestion& question, const PolicyRegistry& policies, const Bands& bands, unsigned jobs) {
  return Adviser(question, policies, bands, jobs).advice();
}

}  // namespace corun
