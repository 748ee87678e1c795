#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/device/sm_curve.h"
#include "sim/serving/step_size.h"
#include "sim/workload/quality.h"
#include "sim/workload/step_finding.h"
#include "sim/workload/work_ops.h"
#include "sim/workload/work_steps.h"
#include "traces/base/time.h"
#include "traces/compact_capture.h"
#include "traces/counters/bound_by.h"
#include "traces/gpus.h"

namespace corun {

/// What a job of a workload is called.
enum class JobKind : std::uint8_t { kFrame, kIteration, kRequest };

/// What people know of a game: from its times from present to present.
struct FrameFigures {
  double fps = 0;       ///< frames but one over the time between the first present and the last
  double fps_1low = 0;  ///< rate of the mean of the slowest 1 % of frame times (at least one)
  double frame_time_p99_s = 0;
};

/// A unit of progress: a contiguous run of steps, submitting a contiguous run of operations.
struct Job {
  std::uint32_t first_step = 0, step_count = 0;
  std::uint32_t first_op = 0, op_count = 0;
  Time recorded_start{};    ///< when it began in the capture: its release in open replay
  std::uint32_t scene = 0;  ///< of frames: 1 + index into Workload::scenes; 0 = not known
};

/// What a client does, job by job: immutable, shared by all runs that replay it.
///
/// A frame's operations are pieces of its draws, then its later visits, in order. Built by `workload_from_capture` or
/// by the synthetic profiles; checked by `check`.
struct Workload {
  JobKind job_kind = JobKind::kIteration;
  std::vector<std::string> names;
  WorkOps ops;
  WorkOps left_out;  ///< of a capture, outside of jobs: profiled and not replayed
  WorkSteps steps;
  std::vector<std::uint32_t> awaits;
  std::vector<Job> jobs;
  StepFinding finding;             ///< of the jobs of a capture
  std::vector<SmCurve> sm_curves;  ///< of kernels that were captured with fewer SMs, too
  /// Of an engine that serves: what each job computes (nullopt: it is no step); by job. Empty for all others.
  std::vector<std::optional<StepSize>> step_sizes;
  std::vector<SceneEffect> scenes;  ///< parts of a game; empty = settings matter as the menu says throughout
  Duration recorded_span{};  ///< first operation's begin to last one's end in the capture; of frames, their intervals
  /// Of captured programs: from a job's first operation to the next one's, mean; of a single one that a range marks,
  /// the range. 0 = not known.
  Duration recorded_step{};
  Duration present_period{};  ///< of a capture that was paced: its vsync period; 0 = uncapped or not frames
  Duration limiter_period{};  ///< of a capture that its game held back: from frame to frame; 0 = it did not
  /// Of captured frames: those with unfinished GPU work when the host began the next; kUnknownQueue = not frames.
  std::uint32_t queued_ahead = kUnknownQueue;
  static constexpr std::uint32_t kUnknownQueue = UINT32_MAX;
  std::optional<FrameFigures> recorded_frames;  ///< of a capture of frames: those that became jobs, as recorded
  /// Jobs a second of the program alone and untraced: the launch rate of the capture's untraced pass over the launches
  /// of a job (see launch_instants). Where a part of the capture is left out, the rate of the jobs in the capture times
  /// the factor by which the untraced pass was faster. 0 = there was no untraced pass, or it has no rate.
  double untraced_jobs_per_s = 0.0;
  bool is_taken_whole = false;  ///< no jobs were found in the capture, nor marks: the one job is all of it
  /// What the host launched in the jobs, as a gate counts it: a graph is one launch. 0 = one for each operation.
  std::uint64_t launches = 0;
  std::uint64_t graphs = 0;        ///< among these
  bool has_no_wait = false;        ///< of a program whose host's calls were recorded: none of them waited
  std::uint32_t unseen_waits = 0;  ///< waits of the host that were not recorded; each ends a job (unseen_waits)
  double untraced_jitter = 0.0;    ///< coefficient of variation of that rate; 0 where too little of it was of the jobs
  /// What recorded its times, and so lengthened them (fit_to_solo_rate).
  enum class Tracer : std::uint8_t {
    kNone,      ///< nothing: the times are synthetic, or only frames were recorded
    kTracer,    ///< one that leaves hosts nearly as they are
    kProfiler,  ///< one that slows hosts down (Fidelity::host_gaps_inflated)
  } tracer = Tracer::kNone;
  CapturedDevice captured_on;      ///< device of its operations, as far as the capture says
  double collective_share = 0.0;   ///< of the device time of a capture, in kernels that wait for other GPUs
  GpuMemory memory;                ///< most that the program held at a time, as far as the capture says
  PowerMean power;                 ///< of the device while the capture was made; 0 W = not recorded
  double recorded_load = 0.0;      ///< load_of() its capture, where its power was recorded; 0 = that of the jobs
  MeanUse use;                     ///< of the device by its kernels, where they were counted
  std::vector<std::string> notes;  ///< what was assumed, one sentence each; results repeat them

  /// Sum of operation durations of one job.
  Duration device_time(const Job& job) const;
  Duration device_time() const;  ///< of all jobs
  /// Of the scene that the job belongs to; as the menu says where none is known.
  SceneEffect scene_of(const Job& job) const { return job.scene == 0 ? SceneEffect{} : scenes[job.scene - 1]; }
  /// Asserts that jobs, steps, operations and waits refer to one another correctly.
  void check() const;
};

/// Sets every operation's predictions to those of a profiling run of this workload: means of the durations by name,
/// and by name, launch shape and bytes.
void predict_from_means(Workload& workload);

/// What a step of a captured program is, where its owner says so.
struct StepChoice {
  enum class By : std::uint8_t {
    kFound,     ///< the owner does not say: see split_into_jobs
    kWhole,     ///< the whole capture is one job
    kRange,     ///< each range of the program that is called `name`, to the next one's begin
    kKernel,    ///< from each operation whose name contains `name` to the next
    kLaunches,  ///< `launches` operations
    kSized,     ///< each range whose name states the size of an engine's step (step_size_of)
  } by = By::kFound;
  std::string name;
  std::uint32_t launches = 0;

  auto operator<=>(const StepChoice&) const = default;
};

/// Which waits of a host are replayed.
enum class HostWaits : std::uint8_t {
  kEvident,   ///< the recorded ones; where there are none, those that launches show (unseen_waits)
  kRecorded,  ///< the recorded ones alone
};

/// How a capture becomes jobs.
struct WorkloadOptions {
  std::uint32_t iterations = 0;        ///< split into this many jobs of equal operation count; 0 = see split_into_jobs
  StepChoice step;                     ///< of programs; `iterations` goes before it
  std::uint32_t visits_per_frame = 0;  ///< 0 = as captured (1 where the capture does not say)
  Duration draw{};                     ///< length of the draws of a frame; 0 = as captured (see FrameDraws)
  std::uint32_t run = 0;               ///< of a file with several recordings of frames: which, from 1; 0 = the longest
  bool keep_start = false;             ///< of frame captures: their start is not left out (see steady_start)
  double gpu_busy_ratio = 0.0;         ///< for frame logs without GPU time: busy / interval; 0 = refuse such logs
  bool allow_co_run = false;           ///< accept a capture whose durations contain time away
  HostWaits host_waits = HostWaits::kEvident;  ///< of programs
  static constexpr std::uint32_t kOnlyGpu = UINT32_MAX;
  std::uint32_t gpu = kOnlyGpu;  ///< of a capture of several: the one whose operations are replayed

  auto operator<=>(const WorkloadOptions&) const = default;
};

/// Turns a capture into jobs of operations with dependencies and host gaps.
///
/// Host gaps are the times between the capture's calls; an operation whose call was cut off keeps its recorded distance
/// to its stream predecessor. In a capture of frames without other work, a frame becomes pieces (FrameDraws) and
/// visits. Throws Error(kUnsupported) for a capture that cannot be replayed (no operations and no frames; sampled logs;
/// co-run captures; several GPUs of which `gpu` names none; frames without GPU time), saying what to do. What the
/// capture takes is freed on the way: both are packed (studies/simulator-speed says to what). Up to 4 bytes an
/// operation more while streams wait for each other, 8 where calls were cut off, and up to 100 while steps are searched
/// for.
Workload workload_from_capture(CompactCapture capture, const WorkloadOptions& options);
inline Workload workload_from_timeline(Timeline timeline, const WorkloadOptions& options) {
  return workload_from_capture(compact(std::move(timeline)), options);
}

}  // namespace corun
