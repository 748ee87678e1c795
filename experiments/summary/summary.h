#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "experiments/bands/basis.h"
#include "experiments/bands/figure_band.h"
#include "experiments/base/table.h"
#include "experiments/run/runner.h"
#include "experiments/statistics/statistics.h"

namespace corun {

/// What an experiment found, over its seeds. Collects outcomes as they are delivered; one thread.
class Summary {
 public:
  explicit Summary(const Experiment& experiment) : experiment_(experiment) {}

  void add(const RunSpec& spec, const RunOutcome& outcome);
  /// A run of with_slower_hosts(), of a scenario under a policy: figures that hang on hosts are ranges from now on. Its
  /// clients keep their rates alone.
  void add_slower(const Scenario& scenario, const std::string& policy, const RunOutcome& outcome);
  bool has_slower_hosts(const Scenario& scenario) const;
  /// Mean with slower hosts; nullopt where there are none, or the run has no such metric.
  std::optional<double> slower(const Scenario& scenario, const std::string& policy, const std::string& client,
                               const std::string& metric) const;

  /// Over the seeds that did not fail; nullopt where no run has the metric.
  std::optional<Estimate> get(const Scenario& scenario, const std::string& policy, const std::string& client,
                              const std::string& metric) const;
  std::size_t failures() const { return failures_.size(); }
  /// Kinds of error among the failed runs.
  const std::set<ErrorKind>& failure_kinds() const { return failure_kinds_; }
  const std::vector<std::string>& failure_lines() const { return failures_; }
  /// What was assumed in a scenario, each sentence once; and of which clients nothing counts.
  std::vector<std::string> notes(const Scenario& scenario) const;

  /// Policy, with its basis(), by client with the main metrics, aligned() to the width. Of scenarios that bound one
  /// another (with_host_ranges), the first one's table holds all of them: "31.0 to 44.2 /s".
  std::string table(const Scenario& scenario, std::size_t width = kAnyWidth) const;
  /// The scenarios that bound the same one, in order; a scenario of its own alone.
  std::vector<const Scenario*> bounds_with(const Scenario& scenario) const;
  /// Where measured figures lie that were predicted so, a line each client of the policies that were compared with
  /// hardware, and the names of the others. Of scenarios that bound one another, around the ends. "" of what was not
  /// simulated, of clusters and of a client alone.
  std::string bands(const Scenario& scenario, std::size_t width = kAnyWidth) const;
  /// nullopt: no such figure was ever compared.
  std::optional<FigureBand> band(const Scenario& scenario, const std::string& policy, const std::string& client,
                                 const std::string& metric) const;
  /// How it is known what the policy's way of sharing does on the device.
  Basis basis(const Scenario& scenario, const PolicyChoice& policy) const;
  /// One or two sentences on what the table means.
  std::vector<std::string> sentences(const Scenario& scenario) const;

  struct Verdict {
    std::string text;  ///< "pilotfish.game.fps_mean >= 55fps: 60.0 fps"
    bool holds = false;
  };
  /// Expectations that decide the exit code, then those of `qos`.
  std::vector<Verdict> verdicts(const Scenario& scenario, bool of_qos) const;

 private:
  /// What stands where there is no figure: the run failed, was not done, or ended too soon.
  const char* absence(const Scenario& scenario, const std::string& policy) const;
  std::string mix_range(const Scenario& scenario, const std::string& policy, std::string_view metric) const;
  std::string cluster_table(const Scenario& scenario, std::size_t width) const;
  PredictedRuns predicted(const Scenario& scenario, const PolicyChoice& policy) const;
  std::string band_cell(const Scenario& scenario, const std::string& policy, const std::string& client,
                        const std::string& metric) const;
  std::string kept_cell(const Scenario& scenario, const std::string& policy, const std::string& client) const;
  /// A run of it went well.
  bool is_done(const Scenario& scenario, const std::string& policy) const {
    return done_.contains({scenario.name, policy});
  }
  /// Of a client none of whose time lies between warm-up and end, though the run went well.
  bool counts_nothing(const Scenario& scenario, const std::string& policy, const std::string& client) const;
  /// A client, not of frames, that alone ends so few jobs within the horizon that their number says little of a rate.
  bool has_few_jobs(const Scenario& scenario, const std::string& policy, const ClientChoice& client) const;
  std::string rate_cell(const Scenario& scenario, const std::string& policy, const ClientChoice& client,
                        const std::string& metric, bool with_interval) const;
  /// Refused with every seed before it got anything done.
  bool is_turned_away(const Scenario& scenario, const std::string& policy, const std::string& client) const;
  /// bounds_with() the scenario, and its runs with slower hosts, where there are such.
  std::vector<const Scenario*> all_bounds(const Scenario& scenario, const std::string& policy) const;
  using Key = std::tuple<std::string, std::string, std::string, std::string>;  // scenario, policy, client, metric
  double mean(const Scenario& scenario, const std::string& policy, const std::string& client,
              const std::string& metric) const;
  std::vector<double> values(const Scenario& scenario, const MetricPath& path) const;
  std::string cell(const Scenario& scenario, const std::string& policy, const std::string& client,
                   const std::string& metric, bool with_interval) const;
  Verdict verdict(const Scenario& scenario, const Expectation& expectation) const;

  const Experiment& experiment_;
  std::map<Key, std::vector<double>> values_;
  std::set<std::pair<std::string, std::string>> done_;  // scenario, policy
  std::map<std::string, std::vector<std::string>> notes_;
  std::vector<std::string> failures_;
  std::set<std::pair<std::string, std::string>> failed_;  // scenario and policy of runs
  std::set<ErrorKind> failure_kinds_;
  std::map<std::string, Scenario> slower_;  // by scenario: itself, under a name that no scenario has
};

/// "60.0 fps [59.8,60.2]": a figure of that metric with its unit, and its interval where it has one.
std::string figure(const Estimate& estimate, const std::string& metric, bool with_interval);

/// "31.0 to 44.2 /s": of figures between which the answer lies; as figure() where they are the same.
std::string figure_range(const Estimate& low, const Estimate& high, const std::string& metric, bool with_interval);

/// "(54.4 to 60.0)", as precise as the figure that it stands behind, whose value this is.
std::string band_text(const FigureBand& band, const std::string& metric, double value);

/// "60.0", "6.91", "0.844", "1240": three significant digits, and one decimal below 1000.
std::string short_number(double value);

}  // namespace corun
