#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/bands/bands.h"
#include "experiments/bands/basis.h"
#include "experiments/bands/error_class.h"
#include "experiments/bands/figure_band.h"
#include "experiments/run/clients/client_builder.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// The part of a server's answered requests that it answered within its service level, as a metric of ClientMeans.
inline constexpr const char* kGoodPart = "good_part";
/// And the part of the runs in which a server answered none.
inline constexpr const char* kSilentRuns = "silent_runs";

/// One client of a scenario under a policy: means of its metrics over seeds.
class ClientMeans {
 public:
  void add(const std::string& metric, double value) { sums_[metric] += value; }
  void end_run() { runs_ += 1; }
  /// Has the other's mean of a metric in place of its own.
  void take(const std::string& metric, const ClientMeans& other);
  /// nullopt: it has no such metric.
  std::optional<double> of(const std::string& metric) const;
  /// Its rate over its rate alone; 0 where it has none alone.
  double kept() const;

 private:
  std::map<std::string, double> sums_;
  double runs_ = 0;
};

/// A scenario under a policy, over its seeds.
struct SimulatedRuns {
  std::map<std::string, ClientMeans> clients;
  std::map<std::string, ErrorClass> classes;    ///< by client: error_classes()
  MechanismOn mechanism;                        ///< by which the clients share the device
  std::set<std::string> unknown_rates;          ///< clients whose hosts' speed is an end of a range
  std::map<std::string, ServiceLevel> servers;  ///< by client that is one: its `slo`

  double measured_s = 0;  ///< Scenario::measured_s()
  double seeds = 0;       ///< how many runs these are

  /// How many jobs a client ended in the measured time, a mean over seeds.
  double jobs_of(const std::string& client) const;
  /// Of the client that ended the fewest: of those that a rate needs, or, of a server, of those that a 99th percentile
  /// needs over all seeds; 1 = enough.
  double enough() const;
  /// How it is known what this way of sharing does on the device.
  Basis basis() const;
  /// See figure_band().
  std::optional<FigureBand> band(const Bands& bands, const std::string& client, std::string_view metric) const;
};

/// Where hosts of unknown speed or unknown draws make a scenario a range, it has several bounds; at least one.
using SimulatedBounds = std::vector<SimulatedRuns>;

/// What errors call an experiment that a command made.
inline constexpr const char* kMadeExperiment = "the experiment that `--write FILE` writes";

/// Over so many requests, of all seeds, a 99th percentile is more than the longest.
inline constexpr double kFewestRequests = 100;

/// Simulates experiments that a command made, and keeps what their runs warn of.
class SimulatedMeans {
 public:
  /// At most `jobs` threads.
  SimulatedMeans(const PolicyRegistry& policies, unsigned jobs) : policies_(policies), jobs_(jobs) {}

  /// Scenarios in order, each under its policies in order. Throws InvalidInput, each reason once, or Error
  /// where it is refused or fails.
  std::vector<SimulatedBounds> of(const std::string& experiment);

  const std::vector<std::string>& warnings() const { return warnings_; }  ///< each once
  /// Clients whose hosts' speed was taken as a range, and those whose draws were.
  const std::set<std::string>& unknown_rates() const { return unknown_rates_; }
  const std::set<std::string>& unknown_draws() const { return unknown_draws_; }

 private:
  std::vector<SimulatedBounds> simulate(const std::string& experiment);
  void keep(std::string warning);

  const PolicyRegistry& policies_;
  unsigned jobs_;
  std::shared_ptr<FitMemo> memo_ = std::make_shared<FitMemo>();
  std::vector<std::string> warnings_;
  std::set<std::string> unknown_rates_, unknown_draws_;
};

}  // namespace corun
