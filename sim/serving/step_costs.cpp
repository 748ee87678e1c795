#include "sim/serving/step_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

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

/// Of captured steps, the quickest one that is as large in all respects; nullptr where there is none.
template <class BySize>
const typename BySize::mapped_type* quickest_as_large(const BySize& steps, const StepSize& size) {
  const typename BySize::mapped_type* quickest = nullptr;
  for (const auto& [captured, point] : steps) {
    const bool is_as_large = captured.count >= size.count && captured.context >= size.context &&
                             captured.decodes >= size.decodes && captured.decode_context >= size.decode_context &&
                             captured.prompts >= size.prompts;
    if (is_as_large && (quickest == nullptr || point.mean_ns < quickest->mean_ns)) quickest = &point;
  }
  return quickest;
}

bool has_several(const StepSize& size) { return size.kind == StepSize::Kind::kPrefill && size.prompts > 1; }

}  // namespace

StepCosts::StepCosts(const std::vector<CapturedStep>& steps, bool pads) : pads_(pads) {
  for (const CapturedStep& step : steps) {
    const bool is_mixed = step.size.kind == StepSize::Kind::kMixed;
    Point& point = is_mixed ? mixed_[step.size]
                   : has_several(step.size)
                       ? several_[step.size]
                       : points_[static_cast<std::size_t>(step.size.kind)][step.size.count][step.size.context];
    const auto before = static_cast<double>(point.jobs.size());
    point.mean_ns = (point.mean_ns * before + static_cast<double>(to_ns(step.device_time))) / (before + 1);
    point.jobs.push_back(step.job);
  }
  if (has(StepSize::Kind::kPrefill)) learn_further_prompts();
  if (has(StepSize::Kind::kPrefill) && has(StepSize::Kind::kDecode)) learn_mixed();
}

void StepCosts::learn_further_prompts() {
  if (several_.empty()) return;
  double sum = 0;
  for (const auto& [size, point] : several_) sum += (point.mean_ns - of_one_kind_ns(size)) / (size.prompts - 1);
  further_prompt_ns_ = std::max(0.0, sum / static_cast<double>(several_.size()));
}

void StepCosts::learn_mixed() {
  done_once_ns_ = quickest_decode_ns() / 2;
  if (mixed_.empty()) return;
  double sum = 0;
  for (const auto& [size, point] : mixed_) sum += apart_ns(size) - point.mean_ns;
  done_once_ns_ = std::clamp(sum / static_cast<double>(mixed_.size()), 0.0, quickest_decode_ns());
}

const StepCosts::Point* StepCosts::template_among(const BySize& captured, const StepSize& size) const {
  const Point* const padded = pads_ ? quickest_as_large(captured, size) : nullptr;
  if (captured.empty() || padded != nullptr) return padded;
  // Too few tokens are worse than any number too many.
  const auto far = [&](const auto& entry) {
    const std::uint32_t tokens = entry.first.count + entry.first.decodes, asked = size.count + size.decodes;
    return tokens >= asked ? tokens - asked : UINT32_MAX - tokens;
  };
  return &std::ranges::min_element(captured, {}, far)->second;
}

const StepCosts::Point& StepCosts::template_of(const StepSize& size) const {
  if (size.kind == StepSize::Kind::kMixed) {
    const Point* const mixed = template_among(mixed_, size);
    return mixed != nullptr ? *mixed : template_of(size.prefill_alone());
  }
  if (has_several(size))
    if (const Point* const several = template_among(several_, size)) return *several;
  CORUN_ASSERT(has(size.kind), "no step of kind {} was captured", static_cast<int>(size.kind));
  return next_larger(next_larger(of(size.kind), size.count)->second, size.context)->second;
}

/// Of a mixed step, its prefill and its decode one after the other.
double StepCosts::apart_ns(const StepSize& mixed) const {
  return time_of(mixed.prefill_alone()) + time_of(mixed.decode_alone());
}

double StepCosts::quickest_decode_ns() const {
  double quickest = std::numeric_limits<double>::max();
  for (const auto& [count, contexts] : of(StepSize::Kind::kDecode))
    for (const auto& [context, point] : contexts) quickest = std::min(quickest, point.mean_ns);
  return quickest;
}

std::pair<Duration, Duration> StepCosts::mixed_range(const StepSize& mixed) const {
  const double apart = apart_ns(mixed);
  const double longer = std::max(time_of(mixed.prefill_alone()), time_of(mixed.decode_alone()));
  const double least = std::max(apart - quickest_decode_ns(), longer);
  return {Duration{std::llround(least)}, Duration{std::llround(apart)}};
}

std::pair<Duration, Duration> StepCosts::prompts_range(const StepSize& several) const {
  const StepSize one{StepSize::Kind::kPrefill, std::max(1U, several.count / several.prompts), several.context};
  const double least = of_one_kind_ns(several), most = several.prompts * of_one_kind_ns(one);
  return {Duration{std::llround(least)}, Duration{std::llround(std::max(least, most))}};
}

double StepCosts::error_of(const BySize& captured) const {
  double largest = 0;
  for (const auto& [size, point] : captured) largest = std::max(largest, std::abs(time_of(size) / point.mean_ns - 1));
  return largest;
}

double StepCosts::mixed_error() const { return error_of(mixed_); }

double StepCosts::several_prompts_error() const { return error_of(several_); }

/// As one prompt, or one decode, of all its tokens.
double StepCosts::of_one_kind_ns(const StepSize& size) const {
  if (pads_) return next_larger(next_larger(of(size.kind), size.count)->second, size.context)->second.mean_ns;
  const auto with_context = [&](const ByContext& contexts) {
    return interpolate(contexts, size.context, [](const Point& point) { return point.mean_ns; });
  };
  return interpolate(of(size.kind), size.count, with_context);
}

double StepCosts::time_of(const StepSize& size) const {
  const bool is_mixed = size.kind == StepSize::Kind::kMixed;
  if (!is_mixed && !has_several(size)) return of_one_kind_ns(size);
  const Point* const padded = pads_ ? quickest_as_large(is_mixed ? mixed_ : several_, size) : nullptr;
  if (padded != nullptr) return padded->mean_ns;
  return is_mixed ? apart_ns(size) - done_once_ns_ : of_one_kind_ns(size) + (size.prompts - 1) * further_prompt_ns_;
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
  if (size.kind == StepSize::Kind::kMixed) return covers(size.prefill_alone()) && covers(size.decode_alone());
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
