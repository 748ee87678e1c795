#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/step_finding.h"
#include "traces/base/time.h"
#include "traces/timeline.h"

namespace corun {

/// What a capture says of its program's steps: as a replay without further words would take them.
struct ProgramSteps {
  std::uint64_t count = 0;  ///< 0 = none were found
  StepFinding finding;
  Duration mean{};  ///< from one's first operation to the next one's; of a single one its range, or all of it
  /// From one's first call to the next one's: the median, and what a tenth of them do not reach, or exceed. Shorter
  /// than the mean where the host runs ahead of the device. 0 for fewer than two steps.
  Duration usual{}, short_one{}, long_one{};
  std::uint32_t operations = 0, fewest_operations = 0, most_operations = 0;  ///< of a step; the first is the median
  Duration device_time{};                                                    ///< of a step, median
  std::string unfit;   ///< why it cannot be replayed, or not without further words; "" = it can
  std::string remedy;  ///< what to write then
  /// Names of ranges that recur, with # for numbers in them, and how often; the most frequent first, at most four.
  std::vector<std::pair<std::string, std::uint64_t>> ranges;
};

/// Of a capture that has operations.
ProgramSteps program_steps(const Timeline& timeline);

/// What to write where the steps of a capture were not found, or wrongly.
extern const char* const kStepRemedies;

}  // namespace corun
