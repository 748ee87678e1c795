#include "sim/serving/step_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "traces/base/error.h"

namespace corun {

namespace {

/// The entry at or above `key`, or the last one.
template <class Map>
auto next_larger(const Map& map, std::uint32_t key) {
  const auto found = map.lower_bound(key);
  return found == map.end() ? std::prev(map.end()) : found;
}

/// `value(entry)` at `key`, linear between neighbours and constant beyond both ends.
template <class Map, class Value>
double interpolate(const Map& map, std::uint32_t key, Value value) {
  const auto above = next_larger(map, key);
  if (above == map.begin() || above->first <= key) return value(above->second);
  const auto below = std::prev(above);
  const double part = static_cast<double>(key - below->first) / static_cast<double>(above->first - below->first);
  return (1 - part) * value(below->second) + part * value(above->second);
}

}  // namespace

StepCosts::StepCosts(const std::vector<CapturedStep>& steps, bool pads) : pads_(pads) {
  for (const CapturedStep& step : steps) {
    Point& point = points_[static_cast<std::size_t>(step.size.kind)][step.size.count][step.size.context];
    const auto before = static_cast<double>(point.jobs.size());
    point.mean_ns = (point.mean_ns * before + static_cast<double>(to_ns(step.device_time))) / (before + 1);
    point.jobs.push_back(step.job);
  }
}

const StepCosts::Point& StepCosts::template_of(const StepSize& size) const {
  CORUN_ASSERT(has(size.kind), "no step of kind {} was captured", static_cast<int>(size.kind));
  return next_larger(next_larger(of(size.kind), size.count)->second, size.context)->second;
}

double StepCosts::time_of(const StepSize& size) const {
  if (pads_) return template_of(size).mean_ns;
  const auto with_context = [&](const ByContext& contexts) {
    return interpolate(contexts, size.context, [](const Point& point) { return point.mean_ns; });
  };
  return interpolate(of(size.kind), size.count, with_context);
}

StepReplay StepCosts::next(const StepSize& size) {
  const Point& point = template_of(size);
  return {point.jobs[calls_++ % point.jobs.size()], time_of(size) / point.mean_ns};
}

Duration StepCosts::device_time(const StepSize& size) const { return Duration{std::llround(time_of(size))}; }

std::uint32_t StepCosts::largest_count(StepSize::Kind kind) const {
  return has(kind) ? std::prev(of(kind).end())->first : 0;
}

bool StepCosts::covers(const StepSize& size) const {
  if (size.count > largest_count(size.kind)) return false;
  const ByContext& contexts = next_larger(of(size.kind), size.count)->second;
  return size.context <= std::prev(contexts.end())->first;
}

double StepCosts::interpolation_error() const {
  if (pads_) return 0;
  double largest = 0;
  for (const ByCount& kind : points_) {
    if (kind.size() < 3) continue;
    for (auto at = std::next(kind.begin()); std::next(at) != kind.end(); ++at) {
      const ByCount neighbours{*std::prev(at), *std::next(at)};
      for (const auto& [context, point] : at->second) {
        const double told = interpolate(neighbours, at->first, [&](const ByContext& contexts) {
          return interpolate(contexts, context, [](const Point& p) { return p.mean_ns; });
        });
        largest = std::max(largest, std::abs(told / point.mean_ns - 1));
      }
    }
  }
  return largest;
}

}  // namespace corun
