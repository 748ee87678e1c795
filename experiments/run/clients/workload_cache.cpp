#include "experiments/run/clients/workload_cache.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/workload/program_steps.h"
#include "traces/reader.h"

namespace corun {

namespace {

constexpr Duration kUsualPeriod{16'666'667};
constexpr std::uint32_t kMostDrawn = 200'000;

/// Of the frames of a game; 0 = they follow one another.
Duration frame_period(const ClientChoice& choice) { return choice.pacing ? choice.pacing->period : kUsualPeriod; }

/// Enough of them that a run does not repeat itself, within reason.
std::uint32_t enough(double count) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(count) + 2, 1.0, static_cast<double>(kMostDrawn)));
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
  return make_game(game, period, enough(to_seconds(horizon) / to_seconds(frame)), random);
}

/// One iteration that repeats itself; with stragglers, as many as can finish within the horizon.
Workload draw_training(const TrainingProfile& training, Duration horizon, RandomStream& random) {
  if (training.straggler_probability == 0) return make_training(training, 1, random);
  constexpr double kShortestKernelMs = 0.01;  // below the mean of every profile
  const double iteration_s = training.kernels_per_iteration * kShortestKernelMs * 1e-3;
  constexpr double kMostKernels = 4e6;
  const double most = kMostKernels / training.kernels_per_iteration;
  return make_training(training, enough(std::min(most, to_seconds(horizon) / iteration_s)), random);
}

Workload draw(const SyntheticWork& work, const ClientChoice& choice, Duration horizon, RandomStream& random) {
  if (const auto* game = std::get_if<GameProfile>(&work.numbers)) return draw_game(*game, choice, horizon, random);
  if (const auto* training = std::get_if<TrainingProfile>(&work.numbers))
    return draw_training(*training, horizon, random);
  if (const auto* program = std::get_if<ProgramProfile>(&work.numbers)) return make_program(*program);
  if (const auto* kernels = std::get_if<KernelsProfile>(&work.numbers)) return make_kernels(*kernels);
  const auto& requests = std::get<RequestProfile>(work.numbers);
  const double expected = requests.rate_per_s * to_seconds(horizon);
  return make_requests(requests, enough(expected + 6 * std::sqrt(expected)), random);
}

/// A program whose steps are not known has no rate: it would be 0/s, or one over the length of its capture.
void check_steps(const Workload& workload) {
  if (workload.job_kind == JobKind::kFrame || workload.finding.certainty != StepCertainty::kNone) return;
  throw Error(ErrorKind::kInput, SourceLocation{}, "no steps were found: " + workload.finding.how, kStepRemedies);
}

}  // namespace

WorkloadCache::SharedWorkload WorkloadCache::of(const ClientChoice& client, Duration horizon, std::uint64_t seed) {
  if (client.synthetic) return drawn(client, horizon, seed);
  if (!client.trace.empty()) return captured(client, client.trace, client.where);
  auto none = std::make_shared<Workload>();
  none->job_kind = client.role == Role::kInteractive ? JobKind::kFrame : JobKind::kIteration;
  return none;
}

WorkloadCache::SharedWorkload WorkloadCache::captured(const ClientChoice& client, const std::string& trace,
                                                      const SourceLocation& where) {
  return captured_.get({trace, client.options}, [&]() -> SharedWorkload {
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
