#pragma once

#include <string>
#include <vector>

#include "experiments/advise/question.h"

namespace corun {

/// A question in words, as on a command line.
struct AdviceWords {
  std::vector<std::string> traces;          ///< a capture of each program, which is called as its file is
  std::vector<std::string> rates;           ///< "a=31/s": rates alone
  std::vector<std::string> keys;            ///< "game.pacing=60fps": keys of clients
  std::vector<std::string> kept, p99, fps;  ///< "a=0.9", "a=30ms", "game=60": promises
  std::vector<std::string> modes;           ///< of advice_modes(); empty = all
  std::string gpu = "h200";
  bool is_for_most_work = false;
};

/// Throws Error(kInput) where a word is wrong: which, what was found, what is expected.
AdviceQuestion question_of(const AdviceWords& words);

}  // namespace corun
