#include "policies/pilotfish/guarantee_choice.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr std::int64_t kMostFrames = 1'000'000;

double ratio(Duration time, Duration unit) {
  return static_cast<double>(to_ns(time)) / static_cast<double>(to_ns(unit));
}

}  // namespace

/// With probability k of a kill at each frame, n frames in a row take ((1 - k)^-n - 1) / k frames on average, and
/// (1 - k)^-n - 1 kills.
double kept_ratio(const GuaranteeCosts& costs, double overruns_per_frame, std::int64_t every) {
  const auto frames = static_cast<double>(every);
  const double snapshot = ratio(costs.snapshot, costs.period);
  if (overruns_per_frame <= 0) return frames / (frames + snapshot);
  const double kills = std::expm1(-frames * std::log1p(-overruns_per_frame));
  return frames / (kills / overruns_per_frame + kills * ratio(costs.restore, costs.period) + snapshot);
}

/// What is kept rises to its maximum and falls from there.
GuaranteeChoice choose_snapshots(const GuaranteeCosts& costs, const OverrunRate& overruns) {
  const double free = std::max(0.0, 1.0 - ratio(overruns.margin, costs.window));
  if (overruns.per_frame <= 0) return {overruns, 0, free};
  const auto kept = [&](std::int64_t every) { return kept_ratio(costs, overruns.per_frame, every); };
  std::int64_t least = 1, most = kMostFrames;
  while (least < most) {
    const std::int64_t middle = least + (most - least) / 2;
    if (kept(middle + 1) > kept(middle))
      least = middle + 1;
    else
      most = middle;
  }
  return {overruns, least, free * kept(least)};
}

GuaranteeChoice choose_guarantee(const GuaranteeCosts& costs, std::span<const OverrunRate> margins,
                                 double most_overruns) {
  GuaranteeChoice best{.overruns = {}, .snapshot_every = 0, .kept = -1.0};
  for (const OverrunRate& overruns : margins) {
    if (overruns.per_frame > most_overruns) continue;
    const GuaranteeChoice choice = choose_snapshots(costs, overruns);
    if (choice.kept > best.kept) best = choice;
  }
  return best;
}

}  // namespace corun
