#include "experiments/identify/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace corun::identification {

namespace {

constexpr int kMostRounds = 60;
constexpr double kToldApart = 0.6;  // weight of the middle of three neighbours from which finer ones are worth a look
// Numbers that fit as well may lie apart from the best, as kernels of so many slices do: these are kept in mind.
constexpr int kFarther = 4, kFarReach = 2;
constexpr std::size_t kMostStarts = 4;
constexpr double kNearlyAsWell = 6;  // less of the logarithm of the likelihood
constexpr int kFineReach = 4;
constexpr double kLittle = 0.02;  // weight at the edge of a grid that is wide enough

using Unknowns = std::vector<const Unknown*>;

/// Every combination of steps centre + spacing * {-reach, ..., reach} that is on the lattice.
std::vector<Hypothesis> grid(const Hypothesis& centre, const std::vector<int>& spacing, int reach,
                             const Unknowns& unknowns) {
  std::vector<Hypothesis> points = {centre};
  for (std::size_t axis = 0; axis < unknowns.size(); ++axis) {
    const std::vector<Hypothesis> before = std::exchange(points, {});
    for (Hypothesis point : before)
      for (int i = -reach; i <= reach; ++i) {
        point.steps[axis] = centre.steps[axis] + i * spacing[axis];
        if (point.steps[axis] >= unknowns[axis]->least && point.steps[axis] <= unknowns[axis]->most)
          points.push_back(point);
      }
  }
  return points;
}

std::vector<Hypothesis> coarse_grid(std::size_t rule, const Unknowns& unknowns) {
  std::vector<Hypothesis> points = {{rule, std::vector<int>(unknowns.size())}};
  for (std::size_t axis = 0; axis < unknowns.size(); ++axis) {
    const std::vector<Hypothesis> before = std::exchange(points, {});
    for (Hypothesis point : before)
      for (int i = 0; i < unknowns[axis]->count; ++i) {
        point.steps[axis] = unknowns[axis]->first + i * unknowns[axis]->spacing;
        points.push_back(point);
      }
  }
  return points;
}

std::vector<int> coarse_spacing(const Unknowns& unknowns) {
  std::vector<int> spacing;
  for (const Unknown* unknown : unknowns) spacing.push_back(unknown->spacing);
  return spacing;
}

using Supports = std::map<Hypothesis, double>;

Supports supports_of(const std::vector<Hypothesis>& points, const Evidence& evidence) {
  evidence.prepare(points);
  Supports supports;
  for (const Hypothesis& point : points) supports[point] = evidence.support(point);
  return supports;
}

/// On a tie, the one that was there before.
Hypothesis best_of(const Supports& supports, const Hypothesis& present) {
  Hypothesis best = present;
  for (const auto& [point, support] : supports)
    if (support > supports.at(best)) best = point;
  return best;
}

/// Weight of each step of an axis, over all other axes.
std::map<int, double> marginal(const Supports& supports, std::size_t axis, double excess) {
  double most = -INFINITY, sum = 0;
  for (const auto& [point, support] : supports) most = std::max(most, support);
  std::map<int, double> weights;
  for (const auto& [point, support] : supports) {
    const double weight = std::exp((support - most) / excess);
    weights[point.steps[axis]] += weight;
    sum += weight;
  }
  for (auto& [step, weight] : weights) weight /= sum;
  return weights;
}

/// The best of its neighbourhood.
struct Peak {
  Hypothesis top;
  std::vector<int> spacing;
  double support = 0.0;
};

/// False where no axis gains from it.
bool narrow(Peak& peak, const Supports& supports, const Unknowns& unknowns) {
  bool is_narrower = false;
  for (std::size_t axis = 0; axis < unknowns.size(); ++axis) {
    if (peak.spacing[axis] == 1) continue;
    if (marginal(supports, axis, 1.0)[peak.top.steps[axis]] < kToldApart) continue;
    peak.spacing[axis] /= 2;
    is_narrower = true;
  }
  return is_narrower;
}

std::vector<int> times(std::vector<int> spacing, int factor) {
  for (int& each : spacing) each *= factor;
  return spacing;
}

Peak climb(const Hypothesis& start, const Evidence& evidence, const Unknowns& unknowns) {
  Peak peak{start, coarse_spacing(unknowns)};
  for (int round = 0; round < kMostRounds; ++round) {
    const Supports near = supports_of(grid(peak.top, peak.spacing, 1, unknowns), evidence);
    const Hypothesis best = best_of(near, peak.top);
    peak.support = near.at(best);
    if (best != std::exchange(peak.top, best)) continue;
    if (narrow(peak, near, unknowns)) continue;
    const Supports far = supports_of(grid(best, times(peak.spacing, kFarther), kFarReach, unknowns), evidence);
    peak.top = best_of(far, best);
    if (peak.top == best) break;
  }
  return peak;
}

bool are_near(const Hypothesis& a, const Hypothesis& b, const Unknowns& unknowns) {
  for (std::size_t axis = 0; axis < unknowns.size(); ++axis)
    if (std::abs(a.steps[axis] - b.steps[axis]) > unknowns[axis]->spacing / 4) return false;
  return true;
}

/// The best few, each far from those before it.
std::vector<Hypothesis> far_apart(const Supports& supports, const Unknowns& unknowns) {
  std::vector<std::pair<double, Hypothesis>> order;
  for (const auto& [point, support] : supports) order.emplace_back(-support, point);
  std::ranges::sort(order);
  std::vector<Hypothesis> kept;
  for (const auto& [support, point] : order) {
    const bool is_near_one =
        std::ranges::any_of(kept, [&](const Hypothesis& before) { return are_near(point, before, unknowns); });
    if (!is_near_one) kept.push_back(point);
    if (kept.size() == kMostStarts) break;
  }
  return kept;
}

/// False where the grid reaches as far as the weights do, or as the lattice.
bool widen(std::vector<int>& spacing, const Supports& supports, const Hypothesis& centre, const Unknowns& unknowns,
           double excess) {
  bool is_wider = false;
  for (std::size_t axis = 0; axis < unknowns.size(); ++axis) {
    const std::map<int, double> weights = marginal(supports, axis, excess);
    const int reach = kFineReach * spacing[axis];
    const auto is_cut = [&](int step) {
      const auto edge = weights.find(step);
      return edge != weights.end() && edge->second > kLittle;
    };
    if (!is_cut(centre.steps[axis] - reach) && !is_cut(centre.steps[axis] + reach)) continue;
    spacing[axis] *= 2;
    is_wider = true;
  }
  return is_wider;
}

/// Step at which the weights, spread over the spacing of their steps, reach `share`.
double quantile(const std::map<int, double>& weights, int spacing, double share) {
  double below = 0;
  for (const auto& [step, weight] : weights) {
    if (below + weight >= share && weight > 0) return step + spacing * ((share - below) / weight - 0.5);
    below += weight;
  }
  return weights.rbegin()->first;
}

double between_steps(const Unknown& unknown, double step) {
  const int below = static_cast<int>(std::floor(step));
  const double part = step - below;
  return (1 - part) * unknown.value(below) + part * unknown.value(below + 1);
}

}  // namespace

std::vector<Cloud> first_clouds(const std::vector<Rule>& rules) {
  std::vector<Cloud> clouds;
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    const Unknowns& unknowns = rules[rule].unknowns;
    const std::vector<Hypothesis> points = coarse_grid(rule, unknowns);
    clouds.push_back({rule, points.front(), {points.front()}, coarse_spacing(unknowns), 0.0, points});
  }
  return clouds;
}

void fit(Cloud& cloud, const Evidence& evidence) {
  const Unknowns& unknowns = evidence.predictions().rules()[cloud.rule].unknowns;
  std::vector<Hypothesis> looked_at = coarse_grid(cloud.rule, unknowns);
  looked_at.insert(looked_at.end(), cloud.points.begin(), cloud.points.end());
  looked_at.insert(looked_at.end(), cloud.peaks.begin(), cloud.peaks.end());
  std::vector<Peak> peaks;
  for (const Hypothesis& start : far_apart(supports_of(looked_at, evidence), unknowns))
    peaks.push_back(climb(start, evidence, unknowns));
  const Peak& best = *std::ranges::max_element(peaks, {}, &Peak::support);
  cloud.best = best.top;
  cloud.support = best.support;
  cloud.spacing = best.spacing;
  std::set<Hypothesis> tops, points;
  for (const Peak& peak : peaks) {
    if (peak.support < best.support - kNearlyAsWell) continue;
    tops.insert(peak.top);
    const std::vector<Hypothesis> around = grid(peak.top, times(peak.spacing, kFarther), kFarReach, unknowns);
    points.insert(around.begin(), around.end());
  }
  cloud.peaks.assign(tops.begin(), tops.end());
  cloud.points.assign(points.begin(), points.end());
}

std::vector<FoundValue> found_values(const Cloud& cloud, const Evidence& evidence, double excess) {
  const Unknowns& unknowns = evidence.predictions().rules()[cloud.rule].unknowns;
  std::vector<int> spacing = cloud.spacing;
  Supports supports;
  do {
    supports.clear();
    for (const Hypothesis& peak : cloud.peaks)
      supports.merge(supports_of(grid(peak, spacing, kFineReach, unknowns), evidence));
  } while (widen(spacing, supports, cloud.best, unknowns, excess));
  std::vector<FoundValue> values;
  for (std::size_t axis = 0; axis < unknowns.size(); ++axis) {
    const Unknown& unknown = *unknowns[axis];
    const std::map<int, double> weights = marginal(supports, axis, excess);
    const auto at = [&](double share) { return between_steps(unknown, quantile(weights, spacing[axis], share)); };
    const int best = cloud.best.steps[axis];
    values.push_back(
        {std::string(unknown.key), at(0.5), at(0.025), at(0.975), best == unknown.least || best == unknown.most});
  }
  return values;
}

}  // namespace corun::identification
