#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/cluster_choice.h"
#include "experiments/device_file.h"
#include "experiments/diagnostic.h"
#include "experiments/expectation.h"
#include "experiments/policy_choice.h"
#include "experiments/sweep.h"
#include "sim/arbiter/gate_delays.h"
#include "sim/policy/descriptor.h"
#include "sim/workload/client_spec.h"
#include "sim/workload/synthetic.h"

namespace corun {

/// A scene of a game whose frames are those of a capture.
struct SceneTrace {
  std::size_t scene = 0;  ///< index into GameProfile::scenes, whose frames are filled in when the capture is read
  std::string path;       ///< with the experiment's folder put before a relative one
  SourceLocation where;
  double scale = 1.0;  ///< on the captured GPU times
};

/// A client whose work is drawn from a profile; `profile` is its name, or "" where the numbers are given.
struct SyntheticWork {
  std::string profile;
  std::variant<GameProfile, TrainingProfile, RequestProfile, ProgramProfile, KernelsProfile> numbers;
  std::vector<SceneTrace> scene_traces{};  ///< of games
};

/// What one client of an experiment does, as written. At most one of `trace` and `synthetic` is set; where neither is,
/// there is a `command`.
struct ClientChoice {
  std::string name;
  SourceLocation where;
  std::string trace;  ///< path, with the experiment's folder put before a relative one
  SourceLocation trace_where;
  std::optional<SyntheticWork> synthetic;
  WorkloadOptions options;       ///< iterations, visits, draw, keep_start, gpu_busy_ratio, allow_co_run
  std::optional<Replay> replay;  ///< default: closed; open for synthetic requests
  std::uint64_t repeat = 0;      ///< passes over the work; 0 = forever
  Duration arrival{};
  std::uint32_t count = 1;       ///< equal clients, named name1, name2, ...; the experiment holds them one by one
  Duration stay{};               ///< leaves that long after it came; 0 = stays
  Duration every{};              ///< between their arrivals
  std::optional<Role> role;      ///< default: frames are interactive, all else best effort
  std::optional<Pacing> pacing;  ///< default: as recorded
  std::optional<std::uint32_t> queued_ahead;
  std::optional<double> solo_rate;  ///< jobs per second of the untraced program alone; default: the capture's, if any
  bool random_phase = true;
  std::optional<double> host_jitter;  ///< coefficient of variation; default: the capture's, if any
  double duration_jitter = 0.0;       ///< the same
  std::vector<QualitySetting> quality;
  std::vector<QualityKnob> knobs;  ///< of which `quality` is made, if it is
  std::uint32_t quality_level = 0;
  double requested_share = 0.0;       ///< (0, 1]; 0 = not stated
  std::uint64_t requested_bytes = 0;  ///< 0 = not stated
  std::vector<Resize> resizes;        ///< in order of time, each complete
  std::int32_t priority = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t snapshot_bytes = 0;
  ContextSpec context;
  LiveCommand command;                            ///< what a live run starts for it
  std::vector<std::pair<std::string, Node>> qos;  ///< metric and condition, e.g. "frame_time_p99", "<= 16.7ms"

  bool draws_requests() const;
  Replay replay_or_default() const;
};

/// One set of clients on one device, or one list of pods on one cluster, run under every policy with every seed.
/// Clients of a cluster are templates: pods do their work, on cards that are each such a device.
struct Scenario {
  std::string name;
  std::string backend = "simulation";  ///< where its runs take place: see World
  std::string description;
  SourceLocation where;
  DeviceSpec device;
  DeviceSpreads device_spreads;  ///< where its file tells them and the experiment does not override the value
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
};

/// What is kept of each run beside its metrics.
struct RecordChoice {
  bool frames = true;
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
  std::vector<std::string> sets{};     ///< "clients.game.pacing=60fps": a path of keys, names and [indices], and a value
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
