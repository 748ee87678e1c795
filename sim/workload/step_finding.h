#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corun {

/// How sure it is that the jobs of a workload are the steps of its program.
enum class StepCertainty : std::uint8_t {
  kNone,     ///< the capture does not show steps
  kUnsure,   ///< stretches that are alike, without proof that each is a step
  kLikely,   ///< the host repeats itself, and waits or pauses after each round
  kCertain,  ///< the program marked its steps, the experiment says what a step is, or the work is synthetic or frames
};
std::string_view to_string(StepCertainty certainty);

/// How the jobs of a workload were found.
struct StepFinding {
  StepCertainty certainty = StepCertainty::kNone;
  std::string how;              ///< what shows them, or why there are none; a clause
  std::string left_out_before;  ///< what lies before the first and after the last: "5 operations in 0.1 s", "nothing"
  std::string left_out_after;
};

}  // namespace corun
