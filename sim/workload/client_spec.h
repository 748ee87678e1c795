#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/policy/view.h"
#include "sim/serving/server.h"
#include "sim/workload/quality.h"
#include "sim/workload/workload.h"

namespace corun {

/// Whether a client waits for what it depends on, or submits at recorded times whatever happens.
enum class Replay : std::uint8_t {
  kClosed,  ///< next step after what it depends on plus the recorded host gap
  kOpen,    ///< each job released at its recorded (or drawn) time; a late one queues
};

/// When a closed client may begin its next job.
struct Pacing {
  enum class Mode : std::uint8_t {
    kUncapped,     ///< as soon as its host is free
    kVsync,        ///< at the next tick of a fixed grid; a frame that misses its tick is shown at the next one
    kLimited,      ///< no sooner than `period` after the job before began (a frame limiter)
    kSyncEachJob,  ///< as soon as everything of the job before has finished (one synchronisation per job)
  };
  Mode mode = Mode::kUncapped;
  Duration period{};  ///< kVsync, kLimited
  /// Most jobs with unfinished device work when the next one's host begins; kByMode = 1 for uncapped frames, 0 for
  /// paced ones, unlimited for iterations and requests. With kVsync and more than 0, frames queue for the display: one
  /// is shown at a tick, and a host that has missed a tick begins its next frame at once.
  std::uint32_t queued_ahead = kByMode;
  static constexpr std::uint32_t kByMode = UINT32_MAX;
};

/// What a client's owner asks for from some time on.
struct Resize {
  Duration at{};            ///< after the run began
  double share = 0.0;       ///< of the device's compute, (0, 1]
  std::uint64_t bytes = 0;  ///< of device memory
};

/// A program that a live run starts for a client, in place of a replay.
struct LiveCommand {
  std::vector<std::string> words;        ///< program and arguments; empty = none
  std::vector<std::string> environment;  ///< "NAME=value", in addition to the environment of the run
  std::string working_folder;            ///< "" = the run's own
  bool is_restartable = false;           ///< a policy may kill its processes, and it is then started again
};

/// What a client's owner states of it and a run takes over as it stands.
struct ClientTerms : ClientTraits {
  Duration arrival{};                  ///< joins this long after the run begins
  Duration stay{};                     ///< begins no job that long after it joined; 0 = stays until its passes are done
  double duration_jitter = 0.0;        ///< coefficient of variation of a factor drawn per operation
  std::vector<QualityKnob> knobs;      ///< of which the quality menu is made, if it is
  std::vector<Duration> switch_costs;  ///< GPU time that the first frame at each level takes more; empty = none
  std::vector<Resize> resizes;         ///< in order of time
  ContextSpec context;                 ///< working set and cap on the device
  LiveCommand command;                 ///< of live runs; the workload then is its profile, and may have no jobs
};

/// A client of a run: what it does and how it is replayed.
struct ClientSpec : ClientTerms {
  Role role = Role::kBestEffort;
  std::shared_ptr<const Workload> workload{};
  Replay replay = Replay::kClosed;
  Pacing pacing{};
  /// A server: its jobs are requests, and its host forms steps of them, each a job of the workload that has its size.
  std::shared_ptr<const ServerSpec> server{};
  /// Reads the prompts of that client of the run, a server, while it decodes; the two are one program with two
  /// contexts. Its jobs are the steps in which it does so.
  std::optional<std::uint32_t> reads_prompts_of{};
  std::uint64_t repeat = 0;           ///< passes over the workload's jobs; 0 = forever
  bool random_phase = false;          ///< adds a uniform fraction of its first job's length to the arrival
  bool random_first_job = false;      ///< begins with any of its jobs, drawn with the seed and its name; closed replay
  double host_gap_scale = 1.0;        ///< multiplies every host gap (see fit_to_solo_rate)
  double launch_latency_scale = 1.0;  ///< multiplies what passes from launches until the device sees them, likewise
  double device_time_scale = 1.0;     ///< multiplies operations and the device's own gaps between them, likewise
  double host_jitter = 0.0;           ///< coefficient of variation of a factor drawn per job for its host gaps

  // Of an operation of its workload, scaled.
  Duration dispatch_gap_of(std::size_t index) const;
  Duration launch_latency_of(std::size_t index) const;
  /// The workload's jobs that are steps of an engine.
  std::vector<CapturedStep> captured_steps() const;
  /// What the first frame after a change between two levels of its menu takes more.
  Duration switch_cost(std::uint32_t from, std::uint32_t to) const;
};

}  // namespace corun
