#pragma once

#include <cstdint>
#include <string>

#include "traces/timeline.h"

namespace corun {

/// How much of the device's units the kernels of a capture use, in parts of their peaks: means over the kernel time
/// that is counted.
struct MeanUse {
  double dram = 0, l2 = 0, sms = 0;
  double counted = 0;  ///< part of the kernel time that has counters; 0: the means say nothing

  /// Whether memory, DRAM or the second-level cache, is used more than the SMs.
  bool is_of_memory() const { return dram > sms || l2 > sms; }
};

/// What the kernels of a capture are bound by, in parts of their time: the unit that they use most, where they use 60 %
/// of its peak or more. That is where Nsight Compute draws the line, too.
struct BoundBy {
  double dram = 0, l2 = 0, sms = 0;
  double nothing = 0;                      ///< latencies and launches: no unit is used to 60 %
  std::uint64_t kernels = 0, counted = 0;  ///< kinds of kernels by name and launch shape
  MeanUse mean;
};
BoundBy bound_by(const Timeline& timeline);

/// Adds up what kernels use.
class UseSum {
 public:
  void add(const CounterRecord& counter, double ns);
  void add_uncounted(double ns) { all_ns_ += ns; }
  MeanUse mean() const;

 private:
  MeanUse sum_;  ///< by nanoseconds
  double all_ns_ = 0;
};

/// "DRAM 41.0 %, L2 12.0 %, SMs 20.0 %, none of them 23.0 %, not counted 4.0 % of the kernels' time".
std::string to_text(const BoundBy& bound);
/// "DRAM 72 %, L2 65 %, SMs 5 % of the peak".
std::string to_text(const MeanUse& use);

}  // namespace corun
