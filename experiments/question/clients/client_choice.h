#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/base/diagnostic.h"
#include "experiments/base/yaml.h"
#include "experiments/question/clients/server_choice.h"
#include "sim/workload/client_spec.h"
#include "sim/workload/sm_curves.h"
#include "sim/workload/synthetic/synthetic.h"

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
  std::variant<GameProfile, TrainingProfile, RequestProfile, ProgramProfile, KernelsProfile, EngineProfile> numbers;
  std::vector<SceneTrace> scene_traces{};  ///< of games
};

/// Doubts about a client that refuse it unless its `accept` names them. Accepted ones change no result.
enum class Doubt : std::uint8_t {
  kOtherGpu,     ///< it was captured on another GPU than the device
  kCollectives,  ///< it waits for other GPUs (NCCL), which are not there
  kSoloRate,     ///< alone, it does not have the rate that is stated of it
  kSpan,         ///< alone, it does not take the time that its capture took
};
inline constexpr std::array<std::string_view, 4> kDoubts = {"other_gpu", "collectives", "solo_rate", "span"};

/// What is assumed of a captured program's host where its own speed is not known.
enum class HostGaps : std::uint8_t {
  kRange,     ///< both ends: the scenario is answered as a range (with_host_ranges)
  kRecorded,  ///< as the recorder saw them: the slowest host
  kNone,      ///< the host never keeps the device waiting: the fastest
};

/// What one client of an experiment does, as written. At most one of `trace` and `synthetic` is set; where neither is,
/// there is a `command`.
struct ClientChoice : ClientTerms {
  SourceLocation where;
  std::string trace;  ///< path, with the experiment's folder put before a relative one
  SourceLocation trace_where;
  std::vector<CapturedFile> fewer_sms;   ///< captures of the same program with fewer SMs; or
  std::vector<CappedRate> capped_rates;  ///< its rates alone with fewer SMs, of `fewer_sms` too
  std::optional<SyntheticWork> synthetic;
  WorkloadOptions options;  ///< iterations, step, visits, draw, run, keep_start, gpu_busy_ratio, allow_co_run,
                            ///< host_waits, gpu
  std::optional<ServerChoice> server;
  std::optional<Replay> replay;  ///< default: closed; open for synthetic requests
  std::uint64_t repeat = 0;      ///< passes over the work; 0 = forever
  std::uint32_t count = 1;       ///< equal clients: name, name#2, name#3, ...; the experiment holds them one by one
  Duration every{};              ///< between their arrivals
  std::optional<Role> role;      ///< default: frames are interactive, all else best effort
  std::optional<Pacing> pacing;  ///< default: as recorded
  std::optional<std::uint32_t> queued_ahead;
  std::optional<double> solo_rate;  ///< jobs per second of the untraced program alone; default: the capture's, if any
  std::optional<PowerMean> power;   ///< of the device while the program ran alone; default: the capture's, if any
  HostGaps host_gaps = HostGaps::kRange;
  bool is_bound = false;        ///< `host_gaps` is an end of its range, and not stated (with_host_ranges)
  bool has_bound_draw = false;  ///< `draw` is such an end (with_draw_ranges)
  bool random_phase = true;
  bool random_first_job = false;
  double host_speed = 1.0;            ///< of its host, in times of the recorded one's; host gaps are divided by it
  std::optional<double> host_jitter;  ///< coefficient of variation; default: the capture's, if any
  std::vector<std::pair<std::string, Node>> qos;  ///< metric and condition, e.g. "frame_time_p99", "<= 16.7ms"
  std::vector<Doubt> accepted;                    ///< of `accept`

  bool draws_requests() const;
  Replay replay_or_default() const;
  bool accepts(Doubt doubt) const;
};

}  // namespace corun
