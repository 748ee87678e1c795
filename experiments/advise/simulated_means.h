#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/policy/descriptor.h"

namespace corun {

/// A predicted figure over what is not known: seeds are averaged; the ends are those of hosts whose speed nothing
/// states, or of draws whose length nothing does.
struct Spread {
  double low = 0, high = 0;
  double middle() const { return (low + high) / 2; }
};

/// Makes the spread hold a value; a first one is both its ends. Without a value nothing changes.
void widen(std::optional<Spread>& spread, std::optional<double> value);

/// One client of a scenario under a policy: means of its metrics over seeds.
class ClientMeans {
 public:
  void add(const std::string& metric, double value) { sums_[metric] += value; }
  void end_run() { runs_ += 1; }
  /// nullopt: it has no such metric.
  std::optional<double> of(const std::string& metric) const;
  /// Its rate over its rate alone; 0 where it has none alone.
  double kept() const;

 private:
  std::map<std::string, double> sums_;
  double runs_ = 0;
};

/// A scenario under a policy. Where hosts of unknown speed make it a range, it has several bounds.
struct SimulatedScenario {
  std::string name;                                          ///< as the experiment has it
  std::string policy;                                        ///< its label
  std::vector<std::map<std::string, ClientMeans>> bounds{};  ///< by client; at least one
};

/// Simulates experiments that a command wrote itself, and keeps what their runs warn of and assume.
class SimulatedMeans {
 public:
  /// `name`: what errors call an experiment. At most `jobs` threads.
  SimulatedMeans(std::string name, const PolicyRegistry& policies, unsigned jobs)
      : name_(std::move(name)), policies_(policies), jobs_(jobs) {}

  /// Scenarios in order, each under its policies in order. Throws InvalidInput or Error where it is refused or fails.
  std::vector<SimulatedScenario> of(const std::string& experiment);

  const std::vector<std::string>& warnings() const { return warnings_; }  ///< each once
  const std::vector<std::string>& notes() const { return notes_; }        ///< what was assumed; each once

 private:
  void take_notes(const std::string& notes);

  std::string name_;
  const PolicyRegistry& policies_;
  unsigned jobs_;
  std::vector<std::string> warnings_, notes_;
};

}  // namespace corun
