#include "experiments/run/clients/workload_cache.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/workload/program_steps.h"
#include "sim/workload/sm_curves.h"
#include "traces/base/units.h"
#include "traces/reader.h"

namespace corun {

namespace {

constexpr Duration kUsualPeriod{16'666'667};
constexpr std::uint32_t kMostDrawn = 200'000;
constexpr double kMostKernels = 4e6;  // of one client, a few hundred megabytes

/// Of the frames of a game; 0 = they follow one another.
Duration frame_period(const ClientChoice& choice) { return choice.pacing ? choice.pacing->period : kUsualPeriod; }

/// Enough of them that a run does not repeat itself, within reason.
std::uint32_t enough(double count, double most = kMostDrawn) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(count) + 2, 1.0, most));
}

/// Says of work that fills less than a run that it is drawn once and repeated.
void note_repetition(Workload& workload, double wanted, std::string_view what) {
  if (std::ceil(wanted) <= static_cast<double>(workload.jobs.size())) return;
  workload.notes.push_back(fmt::format("its {} {} are drawn once and repeated: the horizon holds up to {:.0f}",
                                       workload.jobs.size(), what, std::ceil(wanted)));
}

Duration mean_frame(const GameScene& scene) {
  if (scene.frames.empty()) return scene.frame_gpu_mean;
  const Duration sum = std::accumulate(scene.frames.begin(), scene.frames.end(), Duration::zero());
  return std::max(sum / static_cast<std::int64_t>(scene.frames.size()), Duration{1});
}

/// Frames of a game for the whole horizon. An uncapped game with scenes may be quicker than any mean shows.
Workload draw_game(const GameProfile& game, const ClientChoice& choice, Duration horizon, RandomStream& random) {
  const Duration period = frame_period(choice);
  Duration shortest = game.frame_gpu_mean;
  for (const GameScene& scene : game.scenes)
    shortest = shortest > Duration::zero() ? std::min(shortest, mean_frame(scene)) : mean_frame(scene);
  const Duration frame = period > Duration::zero() ? period : std::min(shortest, kUsualPeriod);
  const double wanted = to_seconds(horizon) / to_seconds(frame);
  Workload workload = make_game(game, period, enough(wanted), random);
  note_repetition(workload, wanted, "frames");
  return workload;
}

/// One iteration that repeats itself; with stragglers, as many as can finish within the horizon.
Workload draw_training(const TrainingProfile& training, Duration horizon, RandomStream& random) {
  if (training.straggler_probability == 0) return make_training(training, 1, random);
  constexpr double kShortestKernelMs = 0.01;  // below the mean of every profile
  const double iteration_s = training.kernels_per_iteration * kShortestKernelMs * 1e-3;
  const double most = kMostKernels / training.kernels_per_iteration;
  Workload workload = make_training(training, enough(std::min(most, to_seconds(horizon) / iteration_s)), random);
  const Duration shortest = workload.device_time(workload.jobs.front());
  note_repetition(workload, to_seconds(horizon) / to_seconds(shortest), "iterations with their stragglers");
  return workload;
}

/// As many as come within the horizon: they are played once. In closed replay, where each follows the one before, they
/// are repeated.
Workload draw_requests(const RequestProfile& requests, const ClientChoice& choice, Duration horizon,
                       RandomStream& random) {
  const double expected = requests.rate_per_s * to_seconds(horizon);
  const double wanted = expected + 6 * std::sqrt(expected) + 2;
  const bool is_open = choice.replay_or_default() == Replay::kOpen;
  const double most = kMostKernels / requests.kernels;
  if (is_open && wanted > most)
    throw Error(
        ErrorKind::kUnsupported, choice.where,
        fmt::format("client `{}`: {:.0f} requests of {} kernel{} come within {}, and at most {:.0f} kernels are "
                    "drawn for a client",
                    choice.name, expected, requests.kernels, requests.kernels == 1 ? "" : "s", format_duration(horizon),
                    kMostKernels),
        fmt::format("a `rate` of up to {:.0f}/s, a shorter `horizon`{}", most / to_seconds(horizon) / 1.01,
                    requests.kernels > 1 ? ", or fewer `kernels`" : ""));
  Workload workload = make_requests(requests, enough(wanted - 2, most), random);
  if (!is_open)
    workload.notes.push_back(fmt::format("its {} requests follow one another and are repeated", workload.jobs.size()));
  return workload;
}

Workload draw(const SyntheticWork& work, const ClientChoice& choice, Duration horizon, RandomStream& random) {
  if (const auto* game = std::get_if<GameProfile>(&work.numbers)) return draw_game(*game, choice, horizon, random);
  if (const auto* training = std::get_if<TrainingProfile>(&work.numbers))
    return draw_training(*training, horizon, random);
  if (const auto* program = std::get_if<ProgramProfile>(&work.numbers)) return make_program(*program);
  if (const auto* kernels = std::get_if<KernelsProfile>(&work.numbers)) return make_kernels(*kernels);
  if (const auto* engine = std::get_if<EngineProfile>(&work.numbers)) return make_engine(*engine);
  return draw_requests(std::get<RequestProfile>(work.numbers), choice, horizon, random);
}

/// SMs of a capture over those of the client's own.
double part_of_sms(const ClientChoice& client, const Workload& fewer, const Workload& all, const CapturedFile& file) {
  const std::uint32_t count = fewer.captured_on.sm_count, whole = all.captured_on.sm_count;
  if (count > 0 && count < whole) return static_cast<double>(count) / whole;
  const std::string what = count == 0 || whole == 0
                               ? "it does not say how many SMs there were"
                               : fmt::format("recorded with {} SMs, and {} with {}", count, client.trace, whole);
  throw Error(ErrorKind::kInput, file.where,
              fmt::format("client `{}`, `fewer_sms`, {}: {}", client.name, file.path, what),
              "record the program under an MPS daemon with CUDA_MPS_ACTIVE_THREAD_PERCENTAGE set");
}

/// A program whose steps are not known has no rate: it would be 0/s, or one over the length of its capture.
void check_steps(const Workload& workload) {
  if (workload.job_kind == JobKind::kFrame || workload.finding.certainty != StepCertainty::kNone) return;
  throw Error(ErrorKind::kInput, SourceLocation{}, "no steps were found: " + workload.finding.how, kStepRemedies);
}

}  // namespace

WorkloadCache::SharedWorkload WorkloadCache::of(const ClientChoice& client, Duration horizon, std::uint64_t seed) {
  if (client.synthetic) return drawn(client, horizon, seed);
  if (!client.trace.empty() && !client.fewer_sms.empty()) return with_fewer_sms(client);
  if (!client.trace.empty()) return captured(client, client.trace, client.where);
  auto none = std::make_shared<Workload>();
  none->job_kind = client.role == Role::kInteractive ? JobKind::kFrame : JobKind::kIteration;
  return none;
}

WorkloadCache::SharedWorkload WorkloadCache::captured(const ClientChoice& client, const std::string& trace,
                                                      const SourceLocation& where) {
  return captured_.get({trace, client.options, {}}, [&]() -> SharedWorkload {
    CompactCapture capture = load_compact(trace);
    try {
      auto workload = std::make_shared<const Workload>(workload_from_capture(std::move(capture), client.options));
      check_steps(*workload);
      return workload;
    } catch (const Error& error) {
      throw Error(error.kind(), where, fmt::format("client `{}`, trace {}: {}", client.name, trace, error.message()),
                  error.help());
    }
  });
}

WorkloadCache::SharedWorkload WorkloadCache::with_fewer_sms(const ClientChoice& client) {
  CaptureKey key{client.trace, client.options, {}};
  for (const CapturedFile& file : client.fewer_sms) key.fewer_sms.push_back(file.path);
  return captured_.get(key, [&]() -> SharedWorkload {
    Workload workload = *captured(client, client.trace, client.where);
    std::vector<SharedWorkload> read;
    std::vector<WithFewerSms> captures;
    for (const CapturedFile& file : client.fewer_sms) {
      read.push_back(captured(client, file.path, file.where));
      captures.push_back({part_of_sms(client, *read.back(), workload, file), read.back().get()});
    }
    try {
      add_sm_curves(workload, captures);
    } catch (const Error& error) {
      throw Error(error.kind(), client.fewer_sms.front().where,
                  fmt::format("client `{}`, `fewer_sms`: {}", client.name, error.message()), error.help());
    }
    return std::make_shared<const Workload>(std::move(workload));
  });
}

std::vector<Duration> WorkloadCache::captured_frames(const ClientChoice& client, const SceneTrace& scene) {
  const SharedWorkload workload = captured(client, scene.path, scene.where);
  if (workload->job_kind != JobKind::kFrame)
    throw Error(ErrorKind::kUnsupported, scene.where,
                fmt::format("client `{}`, trace {}: a scene is made of frames, and this is no capture of frames alone",
                            client.name, scene.path),
                "name a capture of a game, or state `gpu`, the mean GPU time of the scene's frames");
  std::vector<Duration> frames;
  for (const Job& frame : workload->jobs)
    frames.push_back(Duration{std::llround(static_cast<double>(to_ns(workload->device_time(frame))) * scene.scale)});
  return frames;
}

WorkloadCache::SharedWorkload WorkloadCache::drawn(const ClientChoice& client, Duration horizon, std::uint64_t seed) {
  return drawn_.get({seed, horizon, canonical_client(client, hashes_)}, [&]() -> SharedWorkload {
    RandomStream random(seed, client.name + "/work");
    SyntheticWork work = *client.synthetic;
    for (const SceneTrace& scene : work.scene_traces)
      std::get<GameProfile>(work.numbers).scenes[scene.scene].frames = captured_frames(client, scene);
    return std::make_shared<const Workload>(draw(work, client, horizon, random));
  });
}

}  // namespace corun
