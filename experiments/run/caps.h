#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/device/spec.h"
#include "sim/workload/workload.h"

namespace corun {

/// Which utilisation caps a limiter can hold for a program, from its launch rate and the device alone: the limiter's
/// loop around equal launches, no simulated device. docs/controllability.md says what it was checked against.

/// What a limiter can notice of a program.
struct LaunchProfile {
  double blocks_per_ms = 0.0;      ///< thread blocks over device time, both of kernels; unknown grids count one block
  double blocks_per_launch = 0.0;  ///< mean
  Duration mean_launch{};          ///< device time of a kernel
  Duration longest_launch{};
  double busy_alone = 1.0;     ///< fraction of time in which it has kernels on the device when alone, (0, 1]
  std::uint64_t launches = 0;  ///< kernels counted; 0 = nothing to limit, all else is 0
};

/// `jobs_per_s` is the rate of the program alone and untraced; 0 = as the capture states, its recorded span if it
/// states no rate.
LaunchProfile profile_launches(const Workload& workload, double jobs_per_s);

enum class CapLimiter : std::uint8_t {
  kGaiaGpu,    ///< gaiagpu, hard
  kHami,       ///< hami, throttling forced
  kBlockTime,  ///< block_time_limiter
};
inline constexpr CapLimiter kCapLimiters[] = {CapLimiter::kGaiaGpu, CapLimiter::kHami, CapLimiter::kBlockTime};

/// Name of the policy.
std::string_view to_string(CapLimiter limiter);

struct CapVerdict {
  /// That utilisation is within a fifth of the cap, or of what the program alone uses where that is less.
  bool is_held = false;
  double predicted = 0.0;  ///< mean utilisation of a lone program's first minute, percent
  std::string reason;      ///< half a sentence
};

inline constexpr double kHeldWithin = 0.2;  ///< of what it should use

/// Predicts it for a lone program under a cap of `percent`, 1 to 99, with the limiter's default parameters.
CapVerdict judge_cap(CapLimiter limiter, const DeviceSpec& device, const LaunchProfile& profile, int percent);

}  // namespace corun
