#include "games/scene/menu.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "games/scene/drawing/gpu_timer.h"
#include "games/scene/drawing/picture.h"
#include "games/scene/drawing/renderer.h"
#include "games/scene/drawing/screen.h"

namespace scene {

namespace {

constexpr std::uint64_t kStep = 97;  ///< frames between those that are rendered: they show different parts of the world
constexpr std::size_t kPictures = 3;

struct Measured {
  double frame_ms = 0;  ///< mean GPU time
  std::vector<Picture> pictures;
};

/// Frames 0, 97, 194, ... of one level. Those whose pictures are read wait for nothing else.
Measured measure(const Screen& screen, Renderer& renderer, Size size, std::size_t level, std::size_t frames) {
  Measured measured;
  GpuTimer timer(screen.gl());
  renderer.set_level(level);
  renderer.draw(0);  // makes its targets
  screen.show();
  screen.gl().Finish();
  for (std::size_t i = 0; i < frames; ++i) {
    timer.begin();
    renderer.draw(i * kStep);
    timer.end();
    if (i < kPictures) measured.pictures.push_back(read_picture(screen.gl(), size));
    screen.show();
  }
  const std::vector<double>& times = timer.collect(true);
  measured.frame_ms = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  return measured;
}

double mean_similarity(const Measured& a, const Measured& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kPictures; ++i) sum += similarity(a.pictures[i], b.pictures[i]);
  return sum / kPictures;
}

/// Frames of each level that together take a second, by how long those of the best one take; the clock of the GPU has
/// risen meanwhile.
std::size_t frames_in_a_second(const Screen& screen, Renderer& renderer, Size size) {
  const double best_ms = measure(screen, renderer, size, 0, 8).frame_ms;
  const double share_ms = 1000.0 / static_cast<double>(kLevels.size());
  return static_cast<std::size_t>(std::clamp(share_ms / best_ms, 6.0, 200.0));
}

}  // namespace

void list_levels(const Options& options) {
  std::printf("level  name    picture      samples  shadows   lights  draws  million steps  cost\n");
  const auto steps = [&](const Level& level) {
    return static_cast<double>(work_of(level, options.size, options.load).shader_steps);
  };
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const Level& level = kLevels[i];
    std::printf("%-5zu  %-6s  %-11s  %7d  %d x %-4d  %6d  %5d  %13.1f  %.3f\n", i, level.name,
                to_string(rendered_size(level, options.size)).c_str(), level.samples, level.shadow_maps,
                level.shadow_size, effort_of(level, options.load).lights,
                work_of(level, options.size, options.load).draws, steps(level) / 1e6, steps(level) / steps(kLevels[0]));
  }
}

void print_menu(const Options& options) {
  const Screen screen(options.size, options.device);
  Renderer renderer(screen.gl(), options.size, options.load);
  const std::size_t frames = frames_in_a_second(screen, renderer, options.size);
  const Measured best = measure(screen, renderer, options.size, 0, frames);
  std::printf("# %s, load %g, %s: %.3f ms of GPU a frame at the best level\nquality:\n",
              to_string(options.size).c_str(), options.load, screen.renderer().c_str(), best.frame_ms);
  std::printf("  - { name: %s, cost: 1, quality: 1 }\n", kLevels[0].name);
  for (std::size_t level = 1; level < kLevels.size(); ++level) {
    const Measured measured = measure(screen, renderer, options.size, level, frames);
    std::printf("  - { name: %s, cost: %.3f, quality: %.3f }\n", kLevels[level].name, measured.frame_ms / best.frame_ms,
                mean_similarity(best, measured));
  }
}

}  // namespace scene
