#include "experiments/run/clients/self_check.h"

#include <algorithm>
#include <cmath>

#include "experiments/question/clients/client_choice.h"

namespace corun {

namespace {

constexpr double kRateTolerance = 0.02, kSpanTolerance = 0.05;

bool misses(double found, double wanted, double tolerance) { return !(std::abs(found / wanted - 1) <= tolerance); }

std::string counted_jobs(const Workload& workload) {
  return fmt::format("{} job{}", workload.jobs.size(), workload.jobs.size() == 1 ? "" : "s");
}

/// "; its capture may hold at least 30 jobs: state `iterations`" where so many would give the stated rate. The rate
/// reached is the nearest possible one, so their number is a bound.
std::string likely_iterations(double stated_per_s, double reached_per_s, const Workload& workload) {
  const double jobs = stated_per_s / reached_per_s * static_cast<double>(workload.jobs.size());
  const double whole = std::round(jobs);
  const bool is_likely =
      whole >= 1 && std::abs(jobs / whole - 1) < 0.15 && whole != static_cast<double>(workload.jobs.size());
  return is_likely ? fmt::format("; its capture may hold at {} {:.0f} job{}: state `iterations`",
                                 stated_per_s > reached_per_s ? "least" : "most", whole, whole == 1 ? "" : "s")
                   : "";
}

Misfit rate_misfit(const ClientChoice& choice, const Workload& workload, double rate, const SoloFit& fit) {
  const std::string whose = choice.solo_rate ? fmt::format("the stated solo_rate of {:.4g}/s", rate)
                                             : fmt::format("the {:.4g}/s of its untraced pass", rate);
  const std::string taken = "its capture is taken as " + counted_jobs(workload);
  const std::string likely =
      likely_iterations(rate, fit.possible_per_s > 0 ? fit.possible_per_s : fit.reached_per_s, workload);
  if (fit.possible_per_s > 0)
    return {
        Doubt::kSoloRate,
        fmt::format("its recorded device times exclude {}: without any host time they allow {:.4g}/s; {}", whose,
                    fit.possible_per_s, taken),
        fmt::format("at most {:.4g}/s is possible: measure its rate alone and untraced{}", fit.possible_per_s, likely)};
  return {Doubt::kSoloRate, fmt::format("its replay alone gives {:.4g}/s, not {}; {}", fit.reached_per_s, whose, taken),
          fmt::format("measure its rate alone and untraced{}", likely)};
}

Misfit span_misfit(const Workload& workload, const RecordedReplay& replay) {
  if (workload.job_kind != JobKind::kFrame)
    return {Doubt::kSpan,
            fmt::format("its capture spans {:.4g} s, and its replay alone {}", to_seconds(replay.recorded),
                        replay.replayed ? fmt::format("{:.4g} s", to_seconds(*replay.replayed))
                                        : "is not done after four times as long"),
            "the replay does not do what the program did: see what `simcli info` says of the capture"};
  const double intervals = static_cast<double>(workload.jobs.size()) - 1;
  const double recorded = intervals / to_seconds(replay.recorded);
  const std::string found =
      replay.replayed ? fmt::format("{:.4g} fps", intervals / to_seconds(*replay.replayed)) : "less than a quarter";
  return {Doubt::kSpan,
          fmt::format("its capture shows {:.4g} fps, and its replay alone, paced as captured, {}", recorded, found),
          "state how it was played: `queued_ahead`, `gpu_busy_ratio`, `visits`"};
}

}  // namespace

std::vector<Misfit> misfits(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder) {
  std::vector<Misfit> found;
  if (!builder.replays() || choice.trace.empty()) return found;
  const ClientSpec spec = builder.as_captured(scenario, choice, scenario.seeds.front());
  const Workload& workload = *spec.workload;
  if (const auto rate = builder.solo_rate(choice, workload)) {
    const SoloFit fit = builder.fit(scenario, choice, spec);
    if (fit.possible_per_s > 0 || misses(fit.reached_per_s, *rate, kRateTolerance))
      found.push_back(rate_misfit(choice, workload, *rate, fit));
  }
  if (choice.server) return found;  // its capture is a grid of steps with preparations between them, and no run
  const RecordedReplay replay = builder.replay_alone(scenario, choice);
  const double tolerance = workload.job_kind == JobKind::kFrame ? kRateTolerance : kSpanTolerance;
  const bool is_known =
      replay.recorded > Duration{} && (workload.job_kind != JobKind::kFrame || workload.jobs.size() > 1);
  if (is_known && (!replay.replayed || misses(to_seconds(*replay.replayed), to_seconds(replay.recorded), tolerance)))
    found.push_back(span_misfit(workload, replay));
  return found;
}

std::vector<std::string> accepted_misfits(const Scenario& scenario, const ClientChoice& choice,
                                          ClientBuilder& builder) {
  std::vector<std::string> found;
  for (const Misfit& misfit : misfits(scenario, choice, builder))
    if (choice.accepts(misfit.doubt))
      found.push_back(fmt::format("accepted ({}): {}", kDoubts[static_cast<std::size_t>(misfit.doubt)], misfit.what));
  return found;
}

}  // namespace corun
