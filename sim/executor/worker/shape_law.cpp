#include <sched.h>

#include <algorithm>
#include <cmath>

#include "sim/executor/worker/device_context.h"
#include "sim/executor/worker/memory_traffic.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

/// The shortest of some runs: what disturbs a run only makes it longer.
double shortest_ns(DeviceContext& context, const ShapeLaw& shape, std::uint64_t iterations) {
  constexpr int kTrials = 5;
  double shortest = context.trial_ns(shape, iterations);
  for (int trial = 1; trial < kTrials; ++trial) shortest = std::min(shortest, context.trial_ns(shape, iterations));
  return shortest;
}

void insert(ShapeLaw& shape, std::uint32_t at, const ShapeLaw::Point& point) {
  std::copy_backward(shape.point + at, shape.point + shape.points, shape.point + shape.points + 1);
  shape.point[at] = point;
  ++shape.points;
}

/// Halves stretches whose middle the law misses, as long as there is room for points: where a launch of many blocks
/// stops hiding their work the time has a corner, and a straight line across it asks for too little work. Returns the
/// worst error that is left.
double refine(DeviceContext& context, ShapeLaw& shape) {
  constexpr double kGoodEnough = 0.01;
  double worst = 0;
  for (std::uint32_t end = 1; end < shape.points;) {
    const ShapeLaw::Point from = shape.point[end - 1], to = shape.point[end];
    const std::uint64_t middle = (from.iterations + to.iterations) / 2;
    const double measured = shortest_ns(context, shape, middle);
    const double error = std::abs(shape.ns_of(middle) - measured) / measured;
    if (error <= kGoodEnough || middle == from.iterations || shape.points == ShapeLaw::kMostPoints) {
      worst = std::max(worst, error);
      ++end;
    } else {
      insert(shape, end, {middle, std::clamp(measured, from.ns, to.ns)});
    }
  }
  return worst;
}

/// The stretch that a value lies in, by a field of its points: that which ends at the result.
template <class Value>
std::uint32_t end_of_stretch(const ShapeLaw& shape, Value ShapeLaw::Point::*field, double value) {
  std::uint32_t end = 1;
  while (end + 1 < shape.points && static_cast<double>(shape.point[end].*field) < value) ++end;
  return end;
}

}  // namespace

// Not by the last two points, which may lie so close that their slope is what disturbed them.
double ShapeLaw::ns_per_iteration() const {
  const Point& last = point[points - 1];
  std::uint32_t from = points - 2;
  while (from > 0 && point[from].iterations > last.iterations / 2) --from;
  return (last.ns - point[from].ns) / static_cast<double>(last.iterations - point[from].iterations);
}

double ShapeLaw::ns_of(std::uint64_t iterations) const {
  const auto count = static_cast<double>(iterations);
  const Point& last = point[points - 1];
  if (iterations > last.iterations)
    return last.ns + (count - static_cast<double>(last.iterations)) * ns_per_iteration();
  const std::uint32_t end = end_of_stretch(*this, &Point::iterations, count);
  const Point &from = point[end - 1], &to = point[end];
  const double part =
      (count - static_cast<double>(from.iterations)) / static_cast<double>(to.iterations - from.iterations);
  return from.ns + part * (to.ns - from.ns);
}

std::uint64_t ShapeLaw::iterations_in(double ns) const {
  if (ns <= shortest_ns()) return 0;
  const Point& last = point[points - 1];
  if (const double slope = ns_per_iteration(); ns > last.ns && slope > 0)
    return last.iterations + static_cast<std::uint64_t>(std::llround((ns - last.ns) / slope));
  const std::uint32_t end = end_of_stretch(*this, &Point::ns, ns);
  const Point &from = point[end - 1], &to = point[end];
  if (to.ns <= from.ns) return to.iterations;
  const double part = (ns - from.ns) / (to.ns - from.ns);
  return from.iterations +
         static_cast<std::uint64_t>(std::llround(part * static_cast<double>(to.iterations - from.iterations)));
}

void DeviceContext::answer(const Request&) {
  throw Error(ErrorKind::kUnsupported, "a client that renders has no memory that could be copied or resized");
}

void warm_up(DeviceContext& context, const ShapeLaw& shape) {
  constexpr double kLongNs = 50e6;  // with the shorter ones before it twice that
  std::uint64_t iterations = 1024;
  while (iterations < (1U << 30) && context.trial_ns(shape, iterations) < kLongNs) iterations *= 2;
}

void measure_shape(DeviceContext& context, ShapeLaw& shape) {
  const double none_ns = shortest_ns(context, shape, 0);
  const double long_ns = std::max(200'000.0, 4 * none_ns);
  shape.point[0] = {0, none_ns};
  shape.points = 1;
  for (std::uint64_t iterations = 16; iterations < (1ULL << 34); iterations *= 2) {
    const double ns = std::max(shortest_ns(context, shape, iterations), shape.point[shape.points - 1].ns);
    const bool tells_more = ns > 1.02 * shape.point[shape.points - 1].ns;
    if (!tells_more && shape.points > 1) --shape.points;  // a flat stretch is two points
    shape.point[shape.points++] = {iterations, ns};
    if (ns >= long_ns || shape.points == ShapeLaw::kMostPoints) break;
  }
  shape.worst_error = refine(context, shape);
}

/// With a read every n iterations these take n * t + L instead of n * t, where L is what a read adds: what its latency
/// is not hidden behind, and what the memory is short of. L depends on n, so it is looked for in rounds.
void measure_shape_with_traffic(DeviceContext& context, ShapeLaw& shape, double traffic) {
  measure_shape(context, shape);
  const double bytes_per_ns = context.memory_bytes_per_ns();
  if (traffic <= 0 || bytes_per_ns <= 0) return;
  constexpr int kRounds = 3;
  const double round_bytes = static_cast<double>(shape.blocks) * shape.threads * MemoryTraffic::kLoadBytes;
  const double wanted_ns = round_bytes / (traffic * bytes_per_ns);  // from one read of all threads to the next
  const double alone_ns = shape.ns_per_iteration();
  double added_ns = 0;
  for (int round = 0; round < kRounds; ++round) {
    shape.iterations_per_load =
        static_cast<std::uint64_t>(std::max(1LL, std::llround((wanted_ns - added_ns) / alone_ns)));
    measure_shape(context, shape);
    const auto iterations = static_cast<double>(shape.iterations_per_load);
    added_ns = std::max(0.0, (shape.ns_per_iteration() - alone_ns) * iterations);
    shape.traffic = round_bytes / (shape.ns_per_iteration() * iterations * bytes_per_ns);
  }
}

void rest() {
  static std::uint32_t spins = 0;
  if (++spins % 64 == 0) {
    sched_yield();
  } else {
    __builtin_ia32_pause();
  }
}

}  // namespace corun::executor
