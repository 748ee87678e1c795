#pragma once

#include <string>
#include <vector>

#include "experiments/advise/question.h"

namespace corun {

/// A way in which programs share a GPU.
struct SharingWay {
  std::string mode;        ///< "time_sliced", "mps", "mps_split", "mig", "policy"
  std::string label;       ///< "MPS, a 30 %, b 70 %", "under pilotfish"
  std::vector<int> parts;  ///< by program: percentages of SMs, or compute slices; empty = none
  std::string scenario;    ///< its entry in the scenarios of an experiment file
  double horizon_s = 3;    ///< longer where that holds too few steps of a program
};

/// "time_sliced", "mps", "mps_split", "mig".
const std::vector<std::string>& advice_modes();

/// The ways to try, in order: in turns, under MPS, with percentages and in MIG instances (these of two programs alone);
/// then policies.
std::vector<SharingWay> sharing_ways(const AdviceQuestion& question);

/// An experiment file of one of these ways, or of several.
std::string advice_experiment(const AdviceQuestion& question, const std::vector<SharingWay>& ways);

}  // namespace corun
