#include "experiments/identify/evidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "traces/base/error.h"

namespace corun::identification {

namespace {

constexpr double kDegrees = 4;
constexpr double kMostCounted = 6;  // of one figure, which may jump between two values from run to run

double counted_square(const Figure& measured, const Figure& predicted, const Noise& noise) {
  return std::pow(std::min(kMostCounted, std::fabs(deviation(measured, predicted, noise))), 2);
}

double log_density(const Figure& measured, const Figure& predicted, const Noise& noise) {
  return -(kDegrees + 1) / 2 * std::log1p(std::pow(deviation(measured, predicted, noise), 2) / kDegrees);
}

using OfFigure = double (*)(const Figure& measured, const Figure& predicted, const Noise& noise);

/// By client, the mean over its figures, which follow one another.
std::vector<double> means_of_clients(const Figures& measured, const Figures& predicted, const Noise& noise,
                                     OfFigure of_figure) {
  CORUN_ASSERT(measured.size() == predicted.size(), "{} figures measured, {} predicted", measured.size(),
               predicted.size());
  std::vector<double> means;
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    sum += of_figure(measured[i], predicted[i], noise);
    ++count;
    if (i + 1 < measured.size() && measured[i + 1].client == measured[i].client) continue;
    means.push_back(sum / count);
    sum = count = 0;
  }
  return means;
}

}  // namespace

double deviation(const Figure& measured, const Figure& predicted, const Noise& noise) {
  const double degrees = static_cast<double>(measured.count + predicted.count) - 2.0;
  const double variance = degrees > 0 ? (measured.squares + predicted.squares) / degrees : 0.0;
  const double of_means = variance * (1.0 / measured.count + 1.0 / predicted.count);
  const double of_model = std::pow(noise.relative * predicted.mean, 2) + std::pow(noise.absolute_ms, 2);
  return (measured.mean - predicted.mean) / std::sqrt(of_means + of_model);
}

double log_likelihood(const Figures& measured, const Figures& predicted, const Noise& noise) {
  const std::vector<double> clients = means_of_clients(measured, predicted, noise, log_density);
  return std::accumulate(clients.begin(), clients.end(), 0.0);
}

double misfit(const Figures& measured, const Figures& predicted, const Noise& noise) {
  return std::sqrt(std::ranges::max(means_of_clients(measured, predicted, noise, counted_square)));
}

void Evidence::add(TrialRun run) { runs_.push_back(std::move(run)); }

void Evidence::prepare(const std::vector<Hypothesis>& hypotheses) const {
  std::vector<const Trial*> trials;
  for (const TrialRun& run : runs_) trials.push_back(&run.trial);
  predictions_.prepare(hypotheses, trials);
}

double Evidence::support(const Hypothesis& hypothesis) const {
  double sum = 0;
  for (const TrialRun& run : runs_) sum += log_likelihood(run.measured, predictions_.of(hypothesis, run.trial), noise_);
  return sum;
}

double Evidence::excess(const Hypothesis& best) const {
  double sum = 0, count = 0;
  for (const TrialRun& run : runs_) {
    for (const double square :
         means_of_clients(run.measured, predictions_.of(best, run.trial), noise_, counted_square)) {
      sum += square;
      ++count;
    }
  }
  return count > 0 ? std::max(1.0, sum / count) : 1.0;
}

}  // namespace corun::identification
