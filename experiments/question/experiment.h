#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/diagnostic.h"
#include "experiments/question/clients/client_choice.h"
#include "experiments/question/cluster_choice.h"
#include "experiments/question/device_file.h"
#include "experiments/question/expectation.h"
#include "experiments/question/policy_choice.h"
#include "experiments/question/sweep.h"
#include "sim/arbiter/gate_delays.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// The backend of runs without hardware, as results name it.
inline constexpr std::string_view kSimulation = "simulation";
/// And of those with surrogates on a GPU.
inline constexpr std::string_view kSurrogates = "gpu";

/// One set of clients on one device, or one list of pods on one cluster, run under every policy with every seed.
/// Clients of a cluster are templates: pods do their work, on cards that are each such a device.
/// A program that ends fewer jobs in the measured time has too few for a rate.
inline constexpr double kFewestJobs = 10;

struct Scenario {
  std::string name;
  std::string bounds{};  ///< the scenario whose answer, a range, this one bounds; "" = it is an answer of its own
  std::string backend{kSimulation};  ///< where its runs take place: see ExecutionBackend
  std::string description;
  SourceLocation where;
  DeviceSpec device;
  DeviceFacts device_facts;  ///< spreads: where its file states them and the experiment does not override the value
  Duration horizon{10'000'000'000};
  std::optional<Duration> warmup;  ///< default: 1 s, at most a tenth of the horizon
  GateDelays gate;
  std::vector<std::uint64_t> seeds{1};
  std::vector<ClientChoice> clients;
  std::optional<ClusterChoice> cluster;
  std::vector<PolicyChoice> policies;
  std::vector<Expectation> expectations;  ///< decide the exit code
  std::vector<Expectation> qos;           ///< shown, decide nothing
  std::optional<std::size_t> point;       ///< of a sweep: index into Experiment::points
  bool is_seen = false;                   ///< models could be fitted to what it gave: scored apart in a validation

  Duration warmup_or_default() const;
  /// Between warm-up and end: the seconds in which jobs count; 0 at least.
  double measured_s() const;
  /// As the experiment names it.
  const std::string& own_name() const { return bounds.empty() ? name : bounds; }
};

/// What is kept of each run in addition to its metrics.
struct RecordChoice {
  bool frames = true;
  bool requests = true;
  bool operations = false;
  std::uint64_t decisions = 10'000;  ///< the first so many of a run
  bool baselines = true;             ///< slowdown and harvest, for which every client also runs alone; no key of files
};

/// A parameter of a sweep and what a point sets it to.
struct PointValue {
  std::string parameter;             ///< path as in `--set`
  std::string text;                  ///< as written or drawn
  std::optional<Quantity> quantity;  ///< where the text is a number
};

/// A question: which clients, on which device, under which policies.
struct Experiment {
  std::string file;                  ///< as named by the user
  std::string text;                  ///< what the file holds
  std::vector<std::string> changes;  ///< by the command line, as options: "--seed 7", "--set clients.game.pacing=60fps"
  std::string name;
  std::string description;
  std::string output;  ///< results file; empty = `<name>.sqlite` in the working folder
  RecordChoice record;
  std::vector<Scenario> scenarios;  ///< at least one; without `scenarios:` a single one named like the experiment
  std::optional<Sweep> sweep;       ///< as written
  std::vector<std::vector<PointValue>> points;  ///< of an expanded sweep: then `scenarios` are those of every point
};

/// What the command line changes in an experiment.
struct ExperimentOverrides {
  std::vector<std::string> sets{};  ///< "clients.game.pacing=60fps": a path of keys, names and [indices], and a value
  std::vector<std::uint64_t> seeds{};  ///< replace all seeds; empty = as written
  std::optional<Duration> until{};     ///< shortens horizons to this
  std::vector<std::string> sweeps{};   ///< "pilotfish.margin=100us,300us": see apply_sweep_options
  bool expands_sweep = false;          ///< into the scenarios of every point
};

/// Reads an experiment file. Policies of plug-ins that it names are loaded into `policies`.
/// Throws InvalidInput with everything that is wrong, Error(kInput) where the file cannot be read.
Experiment read_experiment(const std::string& path, const ExperimentOverrides& overrides, PolicyRegistry& policies);
/// The same of text that has been read already. `path` is what errors are located in; relative paths begin at its
/// folder.
Experiment parse_experiment(const std::string& text, const std::string& path, const ExperimentOverrides& overrides,
                            PolicyRegistry& policies);

}  // namespace corun
