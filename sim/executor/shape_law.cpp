#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/executor/device_context.h"

namespace corun::executor {

namespace {

/// The shortest of some runs: what disturbs a run only makes it longer.
double shortest_ns(DeviceContext& context, const ShapeLaw& shape, std::uint64_t iterations) {
  constexpr int kTrials = 5;
  double shortest = context.trial_ns(shape, iterations);
  for (int trial = 1; trial < kTrials; ++trial) shortest = std::min(shortest, context.trial_ns(shape, iterations));
  return shortest;
}

}  // namespace

void warm_up(DeviceContext& context, const ShapeLaw& shape) {
  constexpr double kLongNs = 50e6;  // with the shorter ones before it twice that
  std::uint64_t iterations = 1024;
  while (iterations < (1U << 30) && context.trial_ns(shape, iterations) < kLongNs) iterations *= 2;
}

void measure_shape(DeviceContext& context, ShapeLaw& shape) {
  const double short_ns = std::max(20'000.0, 3 * shortest_ns(context, shape, 0));
  std::uint64_t iterations = 16;
  while (iterations < (1U << 30) && shortest_ns(context, shape, iterations) < short_ns) iterations *= 2;
  const std::array<std::uint64_t, 3> counts = {iterations, iterations * 3, iterations * 10};
  std::array<double, 3> times{};
  double mean_count = 0, mean_time = 0, covariance = 0, variance = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    times[i] = shortest_ns(context, shape, counts[i]);
    mean_count += static_cast<double>(counts[i]) / 3;
    mean_time += times[i] / 3;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double away = static_cast<double>(counts[i]) - mean_count;
    covariance += away * (times[i] - mean_time);
    variance += away * away;
  }
  shape.ns_per_iteration = covariance / variance;
  shape.fixed_ns = std::max(0.0, mean_time - shape.ns_per_iteration * mean_count);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double fitted = shape.fixed_ns + shape.ns_per_iteration * static_cast<double>(counts[i]);
    shape.worst_error = std::max(shape.worst_error, std::abs(fitted - times[i]) / times[i]);
  }
}

void rest() {
  static std::uint32_t spins = 0;
  ++spins % 64 == 0 ? static_cast<void>(sched_yield()) : __builtin_ia32_pause();
}

}  // namespace corun::executor
