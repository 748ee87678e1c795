#include "experiments/validate/scoring/null_models.h"

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

namespace corun::validation {

namespace {

std::vector<double> scaled(const std::vector<SoloFigure>& alone, auto factor_of) {
  std::vector<double> rates;
  for (const SoloFigure& client : alone) rates.push_back(client.rate_per_s * factor_of(client));
  return rates;
}

Eigen::Vector3d features(const KeptRate& row) { return {1.0, row.own_busy, row.others_busy}; }

}  // namespace

std::vector<NullModel> null_models(const std::vector<SoloFigure>& alone) {
  const auto count = static_cast<double>(alone.size());
  const double needed =
      std::accumulate(alone.begin(), alone.end(), 0.0, [](double sum, const SoloFigure& c) { return sum + c.busy; });
  return {{"no interference", scaled(alone, [](const SoloFigure&) { return 1.0; })},
          {"equal share",
           scaled(alone, [&](const SoloFigure& c) { return c.busy * count > 1 ? 1 / (c.busy * count) : 1.0; })},
          {"proportional share", scaled(alone, [&](const SoloFigure&) { return 1 / std::max(1.0, needed); })},
          {"serialised", scaled(alone, [&](const SoloFigure&) { return 1 / count; })}};
}

std::optional<double> linear_model(const std::vector<KeptRate>& rows, const KeptRate& row) {
  constexpr Eigen::Index kEnough = 6;
  std::vector<const KeptRate*> others;
  for (const KeptRate& other : rows)
    if (other.company != row.company) others.push_back(&other);
  const auto count = static_cast<Eigen::Index>(others.size());
  if (count < kEnough) return std::nullopt;
  Eigen::MatrixX3d known(count, 3);
  Eigen::VectorXd kept(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    known.row(i) = features(*others[static_cast<std::size_t>(i)]);
    kept(i) = others[static_cast<std::size_t>(i)]->kept;
  }
  const Eigen::Vector3d weights = known.completeOrthogonalDecomposition().solve(kept);
  return features(row).dot(weights);
}

}  // namespace corun::validation
