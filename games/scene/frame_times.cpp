#include "games/scene/frame_times.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace scene {

namespace {

double slowest_hundredth(std::vector<double> times) {
  const std::size_t count = std::max<std::size_t>(1, times.size() / 100);
  std::ranges::sort(times, std::greater<>());
  return std::accumulate(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

FrameFigures figures_of(const std::vector<double>& shown_ms, const std::vector<double>& gpu_ms) {
  FrameFigures figures;
  figures.frames = shown_ms.size();
  figures.gpu_time_p50_ms = quantile(gpu_ms, 0.5);
  figures.gpu_time_p99_ms = quantile(gpu_ms, 0.99);
  if (shown_ms.size() < 2) return figures;
  std::vector<double> times(shown_ms.size());
  std::adjacent_difference(shown_ms.begin(), shown_ms.end(), times.begin());
  times.erase(times.begin());
  figures.fps_mean = 1000 * static_cast<double>(times.size()) / (shown_ms.back() - shown_ms.front());
  figures.fps_1low = 1000 / slowest_hundredth(times);
  figures.frame_time_p50_ms = quantile(times, 0.5);
  figures.frame_time_p99_ms = quantile(times, 0.99);
  return figures;
}

}  // namespace scene
