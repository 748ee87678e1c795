#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/commands/command_line.h"
#include "experiments/results/stored_plan.h"
#include "experiments/summary/summary.h"
#include "experiments/summary/sweep_summary.h"

namespace corun {

/// What a command prints about the runs of an experiment: figures to stdout, all else to stderr. Refers to all that it
/// is constructed with. One thread.
class RunReport {
 public:
  RunReport(const CommonOptions& common, const Experiment& experiment, const Plan& plan, std::string output);

  /// Counts a run into the summary.
  void add(const RunSpec& spec, const RunOutcome& outcome);
  /// A run of a scenario under a policy with slower hosts: Summary::add_slower().
  void add_slower(const Scenario& scenario, const std::string& policy, const RunOutcome& outcome) {
    summary_.add_slower(scenario, policy, outcome);
  }
  const Summary& summary() const { return summary_; }

  void print_begin(unsigned jobs, const std::optional<Shard>& shard) const;
  /// What a resumed file held; `retried` of its runs ran out of memory and are done again.
  void print_resumed(const std::map<std::string, RunOutcome>& completed, std::size_t retried, std::size_t to_do) const;
  /// The figures of `runs` runs, those of a resumed file included. True if every expectation holds; expectations are of
  /// single scenarios, not of the points of a sweep.
  bool print_results(std::size_t runs) const;
  void print_trailer() const;
  /// `resuming`: the arguments that continue the results; empty = nothing does.
  void print_stop(std::size_t done, std::size_t wanted, bool is_cut_short,
                  const std::vector<std::string>& resuming) const;

 private:
  bool is_sweep() const { return !experiment_.points.empty(); }
  void print_sweep(std::size_t runs) const;
  std::vector<std::string> warnings_of(const std::vector<const Scenario*>& bounds) const;
  bool print_scenario(const Scenario& scenario) const;
  bool print_scenarios_json(std::size_t runs) const;
  void print_notes() const;

  const CommonOptions& common_;
  const Experiment& experiment_;
  const Plan& plan_;
  std::string output_;
  Summary summary_;
  SweepSummary sweep_;
};

}  // namespace corun
