#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/identify/search.h"

namespace corun::identification {

/// When an identification ends, and how it repeats trials.
struct IdentifyOptions {
  std::uint32_t least_trials = 3;  ///< even where one is enough to be certain: the others may still contradict
  std::uint32_t most_trials = 8;
  std::uint32_t repetitions = 3;  ///< of each trial, with other phases and jitter
  Noise noise;
  double certain = 0.99;              ///< a rule stands when it is this likely
  double least_bits = 0.2;            ///< a trial with less expected information is not worth running
  double least_bits_in_doubt = 0.02;  ///< the same while no rule stands
  double worst_misfit = 3;            ///< of a trial that was run again: above, the best rule does not fit
};

/// How likely a rule is, with the numbers that fit best under it.
struct RuleVerdict {
  std::size_t rule = 0;
  double probability = 0.0;
  Hypothesis best;
};

/// One step: why a trial was run, and what was known after it.
struct IdentifyStep {
  TrialRun run;
  double expected_bits = 0.0;
  std::vector<RuleVerdict> verdicts;  ///< most likely first
};

/// Why no further trial was run.
enum class Ending : std::uint8_t {
  kCertain,       ///< one rule stands, and no trial would narrow its numbers much further
  kNothingTells,  ///< the rest are the same to every trial there is
  kMostTrials,    ///< as many as were allowed
};

struct Identification {
  std::vector<IdentifyStep> steps;
  std::vector<RuleVerdict> verdicts;  ///< most likely first
  std::vector<FoundValue> values;     ///< of the most likely rule
  Ending ending = Ending::kCertain;
  std::vector<double> misfits;  ///< by step, of the most likely rule at its best; see misfit()
  bool fits = false;            ///< no misfit is above the worst that is allowed

  const RuleVerdict& best() const { return verdicts.front(); }
};

/// Finds out which of the rules, and which numbers, a GPU follows: again and again runs the trial with most expected
/// information, and weighs the rules by how well they predicted it. Calls `on_step` after each. Deterministic: the same
/// observations lead to the same trials.
Identification identify(Predictions& predictions, const std::vector<Trial>& trials, const Observe& observe,
                        const IdentifyOptions& options, const std::function<void(const IdentifyStep&)>& on_step = {});

/// Rules that are too likely to be left out: all above 1 %, most likely first.
std::vector<RuleVerdict> standing(const std::vector<RuleVerdict>& verdicts);

}  // namespace corun::identification
