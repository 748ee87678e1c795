#pragma once

#include <string>

#include "experiments/question/experiment.h"

namespace corun {

/// An experiment with the policies that it may name.
struct KnownExperiment {
  std::string text;
  Experiment experiment;
  PolicyRegistry policies;
};

/// Raises the Python exception that says what `error` says, in the words of simcli. Experiments that lie in no file
/// show their own lines.
[[noreturn]] void raise(const Error& error, const std::string& file, const std::string& text);

/// Does what may throw Error for the experiment.
template <class Work>
auto located(const KnownExperiment& known, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    raise(error, known.experiment.file, known.text);
  }
}

}  // namespace corun
