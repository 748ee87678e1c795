#include "experiments/identify/trial.h"

#include <memory>
#include <utility>

#include "sim/workload/synthetic/steps.h"
#include "sim/workload/synthetic/synthetic.h"

namespace corun::identification {

namespace {

using namespace std::chrono_literals;

constexpr double kDurationJitter = 0.02;
constexpr Duration kTrailingVisit = 5us;
constexpr std::uint32_t kThreads = 256;
constexpr Pacing kQueued{Pacing::Mode::kUncapped, {}, 2};
constexpr Pacing kAwaited{Pacing::Mode::kSyncEachJob, {}, Pacing::kByMode};
constexpr Pacing kUncapped{Pacing::Mode::kUncapped, {}, 0};
constexpr Pacing kSixty{Pacing::Mode::kVsync, 16'666'667ns, Pacing::kByMode};

ClientSpec client(std::string name, Role role, Workload workload, const Pacing& pacing) {
  workload.check();
  ClientSpec spec;
  spec.name = std::move(name);
  spec.role = role;
  spec.workload = std::make_shared<const Workload>(std::move(workload));
  spec.pacing = pacing;
  spec.random_phase = true;
  spec.duration_jitter = kDurationJitter;
  return spec;
}

/// A frame of equal draws, each awaited before the next.
Workload frame_of(std::uint32_t draws, Duration draw) {
  Workload workload;
  workload.job_kind = JobKind::kFrame;
  workload.names = {"draw"};
  begin_job(workload, kRunStart);
  for (std::uint32_t i = 0; i < draws; ++i) {
    if (i > 0) wait_for_last(workload);
    submit(workload, synthetic_op(OpKind::kRender, 0, draw), Duration{0});
  }
  predict_from_means(workload);
  workload.recorded_span = draws * draw;
  return workload;
}

ClientSpec game(std::string name, std::uint32_t draws, Duration draw, const Pacing& pacing) {
  return client(std::move(name), Role::kInteractive, frame_of(draws, draw), pacing);
}

/// Makes trials of clients whose kernels fill a stated share of the device.
class Pool {
 public:
  Pool(const DeviceSpec& device, Duration length)
      : whole_(std::max(1U, device.max_threads_per_sm / kThreads) * device.sm_count), length_(length) {}

  /// Kernels that wait for nothing but one another.
  ClientSpec queue(std::string name, Duration kernel, double waves = 1) const {
    const auto count = static_cast<std::uint32_t>(std::max<std::int64_t>(1, 10ms / kernel));
    return computing(std::move(name), {kernel, count, blocks(waves), kThreads, 1us}, kQueued);
  }
  /// One kernel at a time, the host busy in between.
  ClientSpec bursts(std::string name, Duration kernel, Duration host, double waves = 1) const {
    return computing(std::move(name), {kernel, 1, blocks(waves), kThreads, host}, kAwaited);
  }
  void add(std::string name, std::string description, std::vector<ClientSpec> clients) {
    bool has_frames = false;
    for (const ClientSpec& spec : clients) has_frames |= spec.workload->job_kind == JobKind::kFrame;
    trials_.push_back({std::move(name), std::move(description), std::move(clients), has_frames, length_});
  }
  std::vector<Trial> take() { return std::move(trials_); }

 private:
  static ClientSpec computing(std::string name, const KernelsProfile& kernels, const Pacing& pacing) {
    return client(std::move(name), Role::kBestEffort, make_kernels(kernels), pacing);
  }
  std::uint32_t blocks(double waves) const {
    return std::max(1U, static_cast<std::uint32_t>(waves * static_cast<double>(whole_)));
  }

  std::uint32_t whole_;  ///< blocks that the device holds at once
  Duration length_;
  std::vector<Trial> trials_;
};

void add_kernels_in_time(Pool& pool) {
  pool.add("two_long", "two queues of 10 ms kernels", {pool.queue("a", 10ms), pool.queue("b", 10ms)});
  pool.add("three_long", "three queues of 10 ms kernels",
           {pool.queue("a", 10ms), pool.queue("b", 10ms), pool.queue("c", 10ms)});
  pool.add("four_long", "four queues of 10 ms kernels",
           {pool.queue("a", 10ms), pool.queue("b", 10ms), pool.queue("c", 10ms), pool.queue("d", 10ms)});
  pool.add("longest", "a queue of 40 ms kernels alongside one of 3 ms", {pool.queue("a", 40ms), pool.queue("b", 3ms)});
  pool.add("two_short", "two queues of 0.5 ms kernels", {pool.queue("a", 500us), pool.queue("b", 500us)});
  pool.add("short_beside_long", "a queue of 0.5 ms kernels alongside one of 10 ms",
           {pool.queue("short", 500us), pool.queue("long", 10ms)});
  pool.add("bursts_beside_long", "0.5 ms kernels 3 ms apart alongside a queue of 10 ms kernels",
           {pool.bursts("bursts", 500us, 3ms), pool.queue("long", 10ms)});
  pool.add("bursts_beside_short", "1 ms kernels 2 ms apart alongside a queue of 0.5 ms kernels",
           {pool.bursts("bursts", 1ms, 2ms), pool.queue("short", 500us)});
  pool.add("two_bursts", "1 ms kernels 1 ms apart, twice, alongside a queue of 10 ms kernels",
           {pool.bursts("a", 1ms, 1ms), pool.bursts("b", 1ms, 1ms), pool.queue("long", 10ms)});
}

void add_frames(Pool& pool) {
  const ClientSpec long_a = pool.queue("a", 10ms), long_b = pool.queue("b", 10ms), long_c = pool.queue("c", 10ms);
  pool.add("game", "uncapped frames of 2.5 ms alongside a queue of 10 ms kernels",
           {game("game", 1, 2500us, kUncapped), long_a});
  pool.add("game_beside_three", "uncapped frames of 2.5 ms alongside three queues of 10 ms kernels",
           {game("game", 1, 2500us, kUncapped), long_a, long_b, long_c});
  pool.add("heavy_game", "uncapped frames of 20 ms alongside a queue of 10 ms kernels",
           {game("game", 1, 20ms, kUncapped), long_a});
  pool.add("paced_game", "frames of 8 ms at 60 a second alongside a queue of 10 ms kernels",
           {game("game", 1, 8ms, kSixty), long_a});
  pool.add("paced_game_beside_two", "frames of 3 ms at 60 a second alongside 10 ms kernels and 1 ms kernels 2 ms apart",
           {game("game", 1, 3ms, kSixty), long_a, pool.bursts("bursts", 1ms, 2ms)});
  pool.add("two_draws", "uncapped frames of two 3 ms draws alongside a queue of 10 ms kernels",
           {game("game", 2, 3ms, kUncapped), long_a});
  pool.add("four_draws", "uncapped frames of four 1 ms draws alongside two queues of 10 ms kernels",
           {game("game", 4, 1ms, kUncapped), long_a, long_b});
  pool.add("game_beside_bursts", "uncapped frames of 6 ms alongside 1 ms kernels 2 ms apart",
           {game("game", 1, 6ms, kUncapped), pool.bursts("bursts", 1ms, 2ms)});
  pool.add("two_games", "uncapped frames of 6 ms and of 9 ms",
           {game("game", 1, 6ms, kUncapped), game("other", 1, 9ms, kUncapped)});
  pool.add("two_games_beside_long", "uncapped frames of 4 ms, twice, alongside a queue of 10 ms kernels",
           {game("game", 1, 4ms, kUncapped), game("other", 1, 4ms, kUncapped), long_a});
}

void add_kernels_in_space(Pool& pool) {
  pool.add("two_halves", "two queues of 4 ms kernels that fill half of the device",
           {pool.queue("a", 4ms, 0.5), pool.queue("b", 4ms, 0.5)});
  pool.add(
      "four_quarters", "four queues of 4 ms kernels that fill a quarter of the device",
      {pool.queue("a", 4ms, 0.25), pool.queue("b", 4ms, 0.25), pool.queue("c", 4ms, 0.25), pool.queue("d", 4ms, 0.25)});
  pool.add("half_beside_whole", "4 ms kernels of half of the device alongside 3 ms kernels of one and a half",
           {pool.queue("half", 4ms, 0.5), pool.queue("whole", 3ms, 1.5)});
  pool.add("small_beside_waves",
           "1 ms kernels of a tenth of the device, 1 ms apart, alongside 6 ms kernels of ten waves",
           {pool.bursts("small", 1ms, 1ms, 0.1), pool.queue("waves", 6ms, 10)});
  pool.add("two_waves", "two queues of 6 ms kernels of ten waves",
           {pool.queue("a", 6ms, 10), pool.queue("b", 6ms, 10)});
  pool.add("uneven_waves", "5 ms kernels of three quarters of the device alongside 1 ms kernels of two and a quarter",
           {pool.queue("a", 5ms, 0.75), pool.queue("b", 1ms, 2.25)});
}

Workload followed_by_tiny_visits(const Workload& frames) {
  Workload workload;
  workload.job_kind = frames.job_kind;
  workload.names = {frames.names.front(), std::string(kTrailingVisitName)};
  for (const Job& job : frames.jobs) {
    begin_job(workload, job.recorded_start);
    for (std::uint32_t i = job.first_step; i < job.first_step + job.step_count; ++i) {
      const HostStep step = frames.steps[i];
      if (step.kind != StepKind::kSubmit) {
        wait_for_last(workload, step.gap);
        continue;
      }
      submit(workload, frames.ops[step.target], step.gap);
      wait_for_last(workload);
      submit(workload, synthetic_op(OpKind::kRender, 1, kTrailingVisit), Duration{0});
    }
  }
  predict_from_means(workload);
  workload.recorded_span = frames.recorded_span;
  workload.check();
  return workload;
}

}  // namespace

Trial again(Trial trial) {
  trial.name += "_again";
  trial.length *= 2;
  trial.first_seed += 100;
  return trial;
}

std::vector<ClientSpec> with_trailing_visits(const std::vector<ClientSpec>& clients) {
  std::vector<ClientSpec> changed = clients;
  for (ClientSpec& spec : changed)
    if (spec.workload->job_kind == JobKind::kFrame)
      spec.workload = std::make_shared<const Workload>(followed_by_tiny_visits(*spec.workload));
  return changed;
}

std::vector<Trial> trial_pool(const DeviceSpec& device, Duration length) {
  Pool pool(device, length);
  add_kernels_in_time(pool);
  add_frames(pool);
  add_kernels_in_space(pool);
  return pool.take();
}

}  // namespace corun::identification
