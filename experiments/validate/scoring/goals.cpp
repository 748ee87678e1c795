#include "experiments/validate/scoring/goals.h"

#include <algorithm>

namespace corun::validation {

namespace {

bool is_rate(std::string_view metric) {
  return metric == "throughput_per_s" || metric == "fps_mean" || metric == kRateKept;
}

std::optional<Goal> solo_goal(Bound bound, std::string_view metric, double solo_spread) {
  if (!is_rate(metric)) return std::nullopt;
  constexpr double kReplay = 0.01;
  const double within = bound == Bound::kDevice ? kReplay : std::max(kReplay, solo_spread);
  return Goal{within, within};
}

std::optional<Goal> time_sliced_goal(Bound bound, std::string_view metric) {
  if (is_rate(metric)) return bound == Bound::kDevice ? Goal{0.02, 0.05} : Goal{0.04, 0.10};
  if (metric == "job_time_p99_ms" || metric == "frame_time_p99_ms") return Goal{0.10, 0.10};
  return std::nullopt;
}

std::optional<Goal> concurrent_goal(Bound bound, std::string_view metric) {
  if (!is_rate(metric)) return std::nullopt;
  return bound == Bound::kTinyKernels ? Goal{0.15, 0.30} : Goal{0.04, 0.10};
}

std::optional<Goal> game_goal(std::string_view metric) {
  if (is_rate(metric)) return Goal{0.03, 0.07};
  if (metric == "frame_time_p99_ms") return Goal{0.04, 0.08};
  if (metric == kAddedDelay) return Goal{0.25, 0.25, 0.5};
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Tier tier) {
  switch (tier) {
    case Tier::kSolo:
      return "T0 solo";
    case Tier::kTimeSliced:
      return "T1 time-sliced";
    case Tier::kConcurrent:
      return "T2 MPS";
    case Tier::kGame:
      return "T3 game beside compute";
  }
  return "no tier";
}

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::kDevice:
      return "device";
    case Bound::kHost:
      return "host";
    case Bound::kTinyKernels:
      return "tiny kernels";
  }
  return "nothing";
}

std::optional<Goal> goal_of(Tier tier, Bound bound, std::string_view metric, double solo_spread) {
  switch (tier) {
    case Tier::kSolo:
      return solo_goal(bound, metric, solo_spread);
    case Tier::kTimeSliced:
      return time_sliced_goal(bound, metric);
    case Tier::kConcurrent:
      return concurrent_goal(bound, metric);
    case Tier::kGame:
      return game_goal(metric);
  }
  return std::nullopt;
}

}  // namespace corun::validation
