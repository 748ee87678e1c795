#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/advise/asked/asked_program.h"

namespace corun {

/// What is best, where several ways of sharing keep all promises. Servers with an `slo` count only among such.
enum class AdviceGoal : std::uint8_t {
  kFairest,   ///< the program that keeps least keeps most
  kMostWork,  ///< the sum of what all keep
};

/// Programs that may share a GPU, and what is asked of them. A program keeps its rate in company over its rate alone. A
/// server promises its `slo`.
struct AdviceQuestion {
  std::vector<AskedProgram> programs;  ///< at least two
  std::string gpu;                     ///< a built-in device
  AdviceGoal goal = AdviceGoal::kFairest;
  std::map<std::string, double> least_kept;   ///< by program, in (0, 1]
  std::map<std::string, double> most_p99_ms;  ///< by program: 99th percentile of its job or frame times
  std::map<std::string, double> least_fps;    ///< by program with frames
  std::vector<std::string> modes;             ///< of advice_modes(); empty = all, or none where there are policies
  std::vector<std::string> policies{};        ///< tried, too; `passthrough`: the driver's turns
  bool has_largest_load = false;              ///< that of its one server is searched in each way
};

}  // namespace corun
