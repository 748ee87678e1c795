#include "experiments/identify/identify.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "experiments/identify/design.h"

namespace corun::identification {

namespace {

constexpr double kTooLikelyToLeaveOut = 0.01;
constexpr double kTooUnlikelyToTry = 1e-4;
constexpr std::uint64_t kFirstSeed = 1001;  // predictions have others

class Search {
 public:
  Search(Predictions& predictions, const std::vector<Trial>& trials, const IdentifyOptions& options)
      : options_(options),
        evidence_(predictions, options.noise),
        clouds_(first_clouds(predictions.rules())),
        probabilities_(clouds_.size(), 1.0 / static_cast<double>(clouds_.size())) {
    for (const Trial& trial : trials) left_.push_back(&trial);
  }

  bool is_exhausted() const { return left_.empty() || evidence_.runs().size() >= options_.most_trials; }

  Choice choose() const { return choose_trial(weighted(), left_, evidence_.predictions(), options_.noise); }

  void run(const Trial& trial, const Observe& observe) {
    measure(trial, observe);
    std::erase(left_, &trial);
    for (std::size_t i = 0; i < clouds_.size(); ++i)
      if (is_standing(i)) fit(clouds_[i], evidence_);
    judge();
  }

  /// Adds to the evidence what comes of the trial.
  const TrialRun& measure(const Trial& trial, const Observe& observe) {
    std::vector<Observation> repetitions;
    for (std::uint64_t i = 0; i < options_.repetitions; ++i)
      repetitions.push_back(observe(trial, kFirstSeed + evidence_.runs().size() * options_.repetitions + i));
    evidence_.add({trial, pooled(repetitions)});
    return evidence_.runs().back();
  }

  std::vector<RuleVerdict> verdicts() const {
    std::vector<RuleVerdict> verdicts;
    for (std::size_t i = 0; i < clouds_.size(); ++i) verdicts.push_back({i, probabilities_[i], clouds_[i].best});
    std::ranges::stable_sort(verdicts, std::greater{}, &RuleVerdict::probability);
    return verdicts;
  }

  /// Looks again at what was found to fit nearly as well.
  void fit_again(std::size_t rule) { fit(clouds_[rule], evidence_); }

  const Evidence& evidence() const { return evidence_; }
  const Cloud& cloud(std::size_t rule) const { return clouds_[rule]; }

 private:
  bool is_standing(std::size_t rule) const { return probabilities_[rule] > kTooUnlikelyToTry; }

  /// Weighs the rules by their best hypotheses. One that was too unlikely to try again stays as it was.
  void judge() {
    const auto support = [&](std::size_t i) { return is_standing(i) ? clouds_[i].support : -INFINITY; };
    std::size_t best = 0;
    for (std::size_t i = 0; i < clouds_.size(); ++i)
      if (support(i) > support(best)) best = i;
    excess_ = evidence_.excess(clouds_[best].best);
    std::vector<double> likelihoods;
    double sum = 0;
    for (std::size_t i = 0; i < clouds_.size(); ++i) {
      likelihoods.push_back(std::exp((support(i) - support(best)) / excess_));
      sum += likelihoods.back();
    }
    for (std::size_t i = 0; i < clouds_.size(); ++i)
      if (is_standing(i)) probabilities_[i] = likelihoods[i] / sum;
  }

  /// The hypotheses that stand: a rule's share is spread over its cloud by likelihood.
  std::vector<Weighted> weighted() const {
    std::vector<Weighted> all;
    for (std::size_t i = 0; i < clouds_.size(); ++i) {
      if (!is_standing(i)) continue;
      evidence_.prepare(clouds_[i].points);
      std::vector<Weighted> its;
      double sum = 0;
      for (const Hypothesis& point : clouds_[i].points) {
        its.push_back({point, std::exp((evidence_.support(point) - clouds_[i].support) / excess_)});
        sum += its.back().weight;
      }
      for (Weighted& weighted : its) weighted.weight *= probabilities_[i] / sum;
      std::ranges::copy_if(its, std::back_inserter(all),
                           [](const Weighted& w) { return w.weight > kTooUnlikelyToTry; });
    }
    double sum = 0;
    for (const Weighted& weighted : all) sum += weighted.weight;
    for (Weighted& weighted : all) weighted.weight /= sum;
    return all;
  }

  const IdentifyOptions& options_;
  Evidence evidence_;
  std::vector<Cloud> clouds_;
  std::vector<const Trial*> left_;
  std::vector<double> probabilities_;
  double excess_ = 1.0;
};

/// Says how well the most likely rule fits, and with which numbers. Some trials come out in one of several ways, and
/// all repetitions may do so in another than all predictions: one that does not fit is run again before that is said.
void conclude(Search& search, const Observe& observe, const IdentifyOptions& options, Identification& result) {
  result.verdicts = search.verdicts();
  const Hypothesis& best = result.best().best;
  const auto misfit_of = [&](const TrialRun& run) {
    return misfit(run.measured, search.evidence().predictions().of(best, run.trial), options.noise);
  };
  for (const IdentifyStep& step : result.steps) result.misfits.push_back(misfit_of(step.run));
  result.fits = true;
  for (std::size_t i = 0; result.fits && i < result.steps.size(); ++i) {
    if (result.misfits[i] <= options.worst_misfit) continue;
    result.misfits[i] = misfit_of(search.measure(again(result.steps[i].run.trial), observe));
    result.steps[i].run = search.evidence().runs().back();
    result.fits = result.misfits[i] <= options.worst_misfit;
  }
  search.fit_again(best.rule);
  result.values = found_values(search.cloud(best.rule), search.evidence(), search.evidence().excess(best));
}

}  // namespace

Identification identify(Predictions& predictions, const std::vector<Trial>& trials, const Observe& observe,
                        const IdentifyOptions& options, const std::function<void(const IdentifyStep&)>& on_step) {
  Search search(predictions, trials, options);
  Identification result;
  result.ending = Ending::kMostTrials;
  while (!search.is_exhausted()) {
    const Choice choice = search.choose();
    const bool is_certain = search.verdicts().front().probability >= options.certain;
    const double least_bits = is_certain ? options.least_bits : options.least_bits_in_doubt;
    if (result.steps.size() >= options.least_trials && choice.bits < least_bits) {
      result.ending = is_certain ? Ending::kCertain : Ending::kNothingTells;
      break;
    }
    search.run(*choice.trial, observe);
    result.steps.push_back({search.evidence().runs().back(), choice.bits, search.verdicts()});
    if (on_step) on_step(result.steps.back());
  }
  conclude(search, observe, options, result);
  return result;
}

std::vector<RuleVerdict> standing(const std::vector<RuleVerdict>& verdicts) {
  std::vector<RuleVerdict> kept;
  std::ranges::copy_if(verdicts, std::back_inserter(kept),
                       [](const RuleVerdict& verdict) { return verdict.probability > kTooLikelyToLeaveOut; });
  return kept;
}

}  // namespace corun::identification
