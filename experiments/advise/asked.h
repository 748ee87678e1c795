#pragma once

#include <string>
#include <vector>

#include "experiments/advise/question.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// A question in words, as on a command line.
struct AdviceWords {
  std::vector<std::string> traces;          ///< see programs_of()
  std::vector<std::string> rates;           ///< "a=31/s": rates alone
  std::vector<std::string> keys;            ///< "game.pacing=60fps": keys of clients
  std::vector<std::string> kept, p99, fps;  ///< "a=0.9", "a=30ms", "game=60": promises
  std::vector<std::string> modes;           ///< of advice_modes(); empty = all, or none where there are policies
  std::vector<std::string> policies;        ///< "passthrough": the driver's turns
  std::string gpu;                          ///< "" = that of the experiment, or else an H200
  bool is_for_most_work = false;
  bool has_largest_load = false;
};

/// Throws Error(kInput) where a word is wrong: which, what was found, what is expected.
AdviceQuestion question_of(const AdviceWords& words, const PolicyRegistry& policies);

}  // namespace corun
