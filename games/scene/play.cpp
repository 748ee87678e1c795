#include "games/scene/play.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "games/scene/drawing/gpu_timer.h"
#include "games/scene/drawing/picture.h"
#include "games/scene/drawing/renderer.h"
#include "games/scene/drawing/screen.h"
#include "games/scene/frame_times.h"
#include "games/scene/quality_file.h"

namespace scene {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

volatile sig_atomic_t is_to_end = 0;

/// Lets one frame be submitted while the one before is rendered, and no more.
class Queue {
 public:
  explicit Queue(const Gl& gl) : gl_(gl) {}
  /// Everything of a frame has been drawn.
  void add() { fences_[1] = std::exchange(fences_[0], gl_.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)); }
  /// Until all frames but the newest have been rendered.
  void wait() {
    if (fences_[1] == nullptr) return;
    constexpr GLuint64 kTenthOfASecond = 100'000'000;
    while (gl_.ClientWaitSync(fences_[1], GL_SYNC_FLUSH_COMMANDS_BIT, kTenthOfASecond) == GL_TIMEOUT_EXPIRED &&
           is_to_end == 0)
      continue;
    gl_.DeleteSync(std::exchange(fences_[1], nullptr));
  }

 private:
  const Gl& gl_;
  GLsync fences_[2] = {};
};

class Game {
 public:
  explicit Game(const Options& options)
      : options_(options),
        quality_(open_quality()),
        screen_(options.size, options.device),
        renderer_(screen_.gl(), options.size, options.load),
        timer_(screen_.gl()),
        queue_(screen_.gl()) {
    renderer_.set_level(options.level);
  }

  void run() {
    start_ = next_ = Clock::now();
    while (!is_over()) {
      obey();
      timer_.begin();
      renderer_.draw(shown_ms_.size());
      timer_.end();
      queue_.add();
      screen_.show();
      shown_ms_.push_back(Milliseconds(Clock::now() - start_).count());
      ++frames_at_[renderer_.level()];
      timer_.collect(false);
      queue_.wait();
      rest();
    }
    if (!options_.picture.empty()) draw_again();
  }

  void report() {
    const FrameFigures figures = figures_of(shown_ms_, timer_.collect(true));
    std::printf(
        "{\"renderer\": \"%s\", \"size\": \"%s\", \"load\": %g, \"frames\": %zu, \"fps_mean\": %.3f, "
        "\"fps_1low\": %.3f, \"frame_time_p50_ms\": %.3f, \"frame_time_p99_ms\": %.3f, "
        "\"gpu_time_p50_ms\": %.3f, \"gpu_time_p99_ms\": %.3f, \"frames_at_level\": [",
        screen_.renderer().c_str(), to_string(options_.size).c_str(), options_.load, figures.frames, figures.fps_mean,
        figures.fps_1low, figures.frame_time_p50_ms, figures.frame_time_p99_ms, figures.gpu_time_p50_ms,
        figures.gpu_time_p99_ms);
    for (std::size_t i = 0; i < frames_at_.size(); ++i) std::printf("%s%zu", i == 0 ? "" : ", ", frames_at_[i]);
    std::printf("]}\n");
    std::fflush(stdout);
  }

 private:
  static std::unique_ptr<QualityFile> open_quality() {
    const char* path = std::getenv("CORUN_QUALITY");
    return path == nullptr ? nullptr : std::make_unique<QualityFile>(path);
  }

  bool is_over() const {
    if (is_to_end != 0) return true;
    if (options_.frames > 0 && shown_ms_.size() >= options_.frames) return true;
    return options_.seconds > 0 && Clock::now() - start_ >= std::chrono::duration<double>(options_.seconds);
  }

  /// The last frame shown, for its picture: so reading it costs no other frame anything.
  void draw_again() {
    renderer_.draw(std::max<std::size_t>(shown_ms_.size(), 1) - 1);
    write_picture(read_picture(screen_.gl(), options_.size), options_.picture);
  }

  void obey() {
    if (quality_ == nullptr) return;
    if (const auto wanted = quality_->level(kLevels.size())) renderer_.set_level(*wanted);
  }

  /// Until the next frame is due; one that is late does not make those after it hurry.
  void rest() {
    if (options_.fps <= 0) return;
    next_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / options_.fps));
    next_ = std::max(next_, Clock::now());
    while (is_to_end == 0 && Clock::now() < next_)
      std::this_thread::sleep_until(std::min(next_, Clock::now() + std::chrono::milliseconds(100)));
  }

  const Options& options_;
  std::unique_ptr<QualityFile> quality_;
  Screen screen_;
  Renderer renderer_;
  GpuTimer timer_;
  Queue queue_;
  Clock::time_point start_, next_;
  std::vector<double> shown_ms_;
  std::array<std::size_t, kLevels.size()> frames_at_{};
};

}  // namespace

void play(const Options& options) {
  for (int number : {SIGTERM, SIGINT}) signal(number, [](int) { is_to_end = 1; });
  Game game(options);
  game.run();
  game.report();
}

}  // namespace scene
