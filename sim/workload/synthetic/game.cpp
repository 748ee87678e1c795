#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/workload/synthetic/steps.h"
#include "sim/workload/synthetic/synthetic.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr Duration kShortestFrame{300'000};

/// The scenes of a profile; one without any is a single scene that never ends.
std::vector<GameScene> scenes_of(const GameProfile& profile) {
  if (!profile.scenes.empty()) return profile.scenes;
  return {{profile.frame_gpu_mean, profile.cv, Duration::max()}};
}

/// Which scene each frame belongs to. A single synthetic scene takes no draws.
class Scenes {
 public:
  Scenes(const GameProfile& profile, RandomStream& random)
      : scenes_(scenes_of(profile)), is_listed_(profile.scene_order == SceneOrder::kListed), random_(random) {
    enter(is_listed_ || scenes_.size() == 1 ? 0 : one_of(scenes_.size()));
  }

  std::size_t present() const { return present_; }
  const GameScene& scene() const { return scenes_[present_]; }

  /// The next captured frame of a scene that has them.
  Duration captured_frame() { return scene().frames[next_frame_++ % scene().frames.size()]; }

  /// Passes the time that a frame takes.
  void pass(Duration frame) {
    if (scenes_.size() < 2) return;
    if (is_listed_) return pass_in_order(frame);
    const bool is_over = random_.uniform() < std::min(1.0, to_seconds(frame) / to_seconds(scene().dwell));
    const std::size_t other = one_of(scenes_.size() - 1);
    if (is_over) enter(other < present_ ? other : other + 1);
  }

 private:
  void pass_in_order(Duration frame) {
    stayed_ += frame;
    while (stayed_ >= scene().dwell) {
      stayed_ -= scene().dwell;
      enter((present_ + 1) % scenes_.size());
    }
  }

  void enter(std::size_t scene) {
    present_ = scene;
    if (!scenes_[scene].frames.empty()) next_frame_ = one_of(scenes_[scene].frames.size());
  }

  std::size_t one_of(std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(random_.uniform() * static_cast<double>(count)));
  }

  std::vector<GameScene> scenes_;
  bool is_listed_;
  RandomStream& random_;
  std::size_t present_ = 0;
  std::size_t next_frame_ = 0;
  Duration stayed_{};
};

struct GameFrame {
  Duration gpu;
  std::size_t scene;
};

/// The AR(1) log-normal process of GameProfile. Every frame takes as many draws, so a spike shifts nothing after it.
class FrameTimes {
 public:
  FrameTimes(const GameProfile& profile, Duration period, RandomStream& random)
      : profile_(profile), period_(period), random_(random), z_(random.normal()), scenes_(profile, random) {}

  GameFrame next() {
    const std::size_t present = scenes_.present();
    const GameScene& scene = scenes_.scene();
    const double variance = std::log1p(scene.cv * scene.cv);  // of the logarithm
    const double gpu_ns = static_cast<double>(to_ns(scene.frame_gpu_mean)) *
                          std::exp(std::sqrt(variance) * z_ - variance / 2) *
                          (random_.uniform() < profile_.spike_probability ? profile_.spike_factor : 1.0);
    const double rho = profile_.correlation;
    z_ = rho * z_ + std::sqrt(1 - rho * rho) * random_.normal();
    const Duration longest = is_paced() ? std::max(kShortestFrame, 2 * period_) : Duration::max();
    const Duration drawn = std::clamp(Duration{std::llround(gpu_ns)}, kShortestFrame, longest);
    const Duration gpu = scene.frames.empty() ? drawn : scenes_.captured_frame();
    scenes_.pass(is_paced() ? period_ : gpu);
    return {gpu, present};
  }

 private:
  bool is_paced() const { return period_ > Duration{0}; }

  const GameProfile& profile_;
  Duration period_;
  RandomStream& random_;
  double z_;
  Scenes scenes_;
};

void add_visits(Workload& workload, const GameProfile& profile, Duration gpu) {
  const Duration later = (profile.visits - 1) * profile.later_visit;
  submit(workload, synthetic_op(OpKind::kRender, 0, std::max(gpu - later, Duration{0})), profile.cpu_per_frame);
  for (std::uint32_t visit = 1; visit < profile.visits; ++visit) {
    wait_for_last(workload);
    submit(workload, synthetic_op(OpKind::kRender, 0, profile.later_visit), Duration{0});
  }
}

/// Gaps before the pieces of a frame after its first.
std::vector<Duration> draw_gaps(const FrameSubtasks& subtasks, RandomStream& random) {
  const auto counts = static_cast<double>(subtasks.most - subtasks.least + 1);
  const auto pieces = subtasks.least + static_cast<std::uint32_t>(random.uniform() * counts);
  std::vector<Duration> gaps(pieces - 1);
  do {
    for (Duration& gap : gaps) gap = scaled(subtasks.gap_mean, random.exponential(1.0));
  } while (subtasks.longest_gap_sum > Duration{0} &&
           std::accumulate(gaps.begin(), gaps.end(), Duration{0}) > subtasks.longest_gap_sum);
  return gaps;
}

/// Pieces between half and one and a half times their mean length.
void add_subtasks(Workload& workload, const GameProfile& profile, Duration gpu, RandomStream& random) {
  const std::vector<Duration> gaps = draw_gaps(profile.subtasks, random);
  std::vector<double> weights(gaps.size() + 1);
  for (double& weight : weights) weight = 0.5 + random.uniform();
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Duration left = gpu;
  for (std::size_t piece = 0; piece < weights.size(); ++piece) {
    const bool is_last = piece + 1 == weights.size();
    const Duration share = is_last ? left : scaled(gpu, weights[piece] / total);
    if (piece > 0) wait_for_last(workload);
    submit(workload, synthetic_op(OpKind::kRender, 0, share), piece == 0 ? profile.cpu_per_frame : gaps[piece - 1]);
    left -= share;
  }
}

std::string note(const GameProfile& profile) {
  const std::vector<GameScene> scenes = scenes_of(profile);
  const auto captured = std::ranges::count_if(scenes, [](const GameScene& scene) { return !scene.frames.empty(); });
  if (captured > 0) return fmt::format("its frames are of {} scenes, {} of them captured", scenes.size(), captured);
  if (scenes.size() > 1) return fmt::format("its frames are synthetic, of {} scenes", scenes.size());
  const GameScene& scene = scenes.front();
  return fmt::format("its frames are synthetic: mean GPU time {:.3g} ms, coefficient of variation {}",
                     to_milliseconds(scene.frame_gpu_mean), scene.cv);
}

void check_profile(const GameProfile& profile) {
  const bool has_mean = profile.frame_gpu_mean > Duration{0} || !profile.scenes.empty();
  CORUN_ASSERT(has_mean && profile.visits > 0, "{} ns, {} visits", to_ns(profile.frame_gpu_mean), profile.visits);
  CORUN_ASSERT(profile.correlation >= 0 && profile.correlation < 1, "correlation {}", profile.correlation);
  CORUN_ASSERT(profile.subtasks.least <= profile.subtasks.most, "{} to {} subtasks", profile.subtasks.least,
               profile.subtasks.most);
  for (const GameScene& scene : profile.scenes)
    CORUN_ASSERT((scene.frame_gpu_mean > Duration{0} || !scene.frames.empty()) && scene.dwell > Duration{0},
                 "scene of {} ns, dwell {} ns", to_ns(scene.frame_gpu_mean), to_ns(scene.dwell));
}

}  // namespace

// With gaps of 0.26 ms, 4 to 7 of them and a limit of 3.1 ms, the mean sum is 1.39 ms.
FrameSubtasks measured_subtasks() { return {5, 8, Duration{260'000}, Duration{3'100'000}}; }

Workload make_game(const GameProfile& profile, Duration period, std::uint32_t frames, RandomStream& random) {
  check_profile(profile);
  Workload workload;
  workload.job_kind = JobKind::kFrame;
  workload.names = {"frame"};
  workload.present_period = period;
  // Drawn first: cutting frames into pieces must not change them.
  std::vector<GameFrame> drawn(frames);
  FrameTimes times(profile, period, random);
  for (GameFrame& frame : drawn) frame = times.next();
  for (const GameScene& scene : scenes_of(profile)) workload.scenes.push_back(scene.effect);
  Time start = kRunStart;
  for (const auto& [gpu, scene] : drawn) {
    begin_job(workload, start);
    workload.jobs.back().scene = static_cast<std::uint32_t>(scene + 1);
    if (profile.subtasks.most > 0) {
      add_subtasks(workload, profile, gpu, random);
    } else {
      add_visits(workload, profile, gpu);
    }
    workload.recorded_span = start + gpu - kRunStart;
    start += period > Duration{0} ? period : gpu;
  }
  predict_from_means(workload);
  workload.notes.push_back(note(profile));
  return workload;
}

}  // namespace corun
