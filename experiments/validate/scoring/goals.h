#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace corun::validation {

/// What a cell puts to the test; each has goals of its own (docs/validate.md).
enum class Tier : std::uint8_t {
  kSolo,        ///< a client alone: the replay
  kTimeSliced,  ///< time-slicing, lock, token, frame windows
  kConcurrent,  ///< MPS: kernels of several clients at once
  kGame,        ///< frames co-located with compute
};

/// What holds a client back when it is alone, which decides how well it can be predicted.
enum class Bound : std::uint8_t {
  kDevice,       ///< on the device for 90 % of its time or more
  kHost,         ///< less
  kTinyKernels,  ///< the same, with kernels of which half take less than 20 us
};

std::string_view to_string(Tier tier);    ///< "T0 solo"
std::string_view to_string(Bound bound);  ///< "device", "host", "tiny kernels"

/// How near a prediction is to be. Fractions of what was measured; a difference of up to `absolute`, in the unit of the
/// metric, is near enough in any case.
struct Goal {
  double mean = 0.0;   ///< over all predictions of a kind
  double worst = 0.0;  ///< of each
  double absolute = 0.0;
};

// Metrics of a validation that no single run has.
inline constexpr const char* kAddedDelay = "added_delay_p99_ms";  ///< frame_time_p99_ms minus that of the client alone
inline constexpr const char* kRateKept = "rate_kept";  ///< rate over rate alone, in the same backend and validation

/// nullopt where no goal is set: such figures are not scored. `solo_spread` is how far the rates of one client alone
/// lay apart in this validation, as a fraction: no prediction of a host-bound client can be better.
std::optional<Goal> goal_of(Tier tier, Bound bound, std::string_view metric, double solo_spread);

}  // namespace corun::validation
