#pragma once

#include <cstdint>
#include <string_view>

namespace corun {

/// A named stream of random numbers: Philox4x64-10 (Random123), keyed by (seed, name), counted by draws.
///
/// Streams are independent of one another and of the order in which they are made, so adding a client never shifts
/// another client's numbers. Distributions are our own, since the standard library's differ between implementations.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  std::uint64_t bits();                      ///< 64 uniform bits
  double uniform();                          ///< in [0, 1)
  double exponential(double mean);           ///< mean > 0
  double normal();                           ///< standard normal
  double lognormal(double mean, double cv);  ///< by its own mean (> 0) and coefficient of variation (>= 0)

 private:
  std::uint64_t key_[2];
  std::uint64_t counter_ = 0;
  std::uint64_t block_[4] = {};
  unsigned used_ = 4;
};

}  // namespace corun
