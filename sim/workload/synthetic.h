#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/random.h"
#include "sim/workload/workload.h"

namespace corun {

/// GPU time of a synthetic game's frames: an AR(1) log-normal process with occasional spikes.
///
/// gpu(k) = mean * exp(s z_k - s^2/2) * spike_k, clamped to [0.3 ms, 2 periods];
/// z_k = rho z_{k-1} + sqrt(1-rho^2) N(0,1); s = sqrt(ln(1 + cv^2)).
struct GameProfile {
  Duration frame_gpu_mean{};
  double cv = 0.0;           ///< coefficient of variation, >= 0
  double correlation = 0.0;  ///< rho in [0, 1)
  double spike_probability = 0.0;
  double spike_factor = 1.0;
  Duration cpu_per_frame{};  ///< host work before a frame is submitted
  std::uint32_t visits = 1;  ///< separate visits to the GPU per frame; the host waits for each before the next
  Duration later_visit{};    ///< GPU time of each further visit; the first takes what they leave of the frame's
};

/// The named games of the reference: "light", "rdr2", "ffxvi", "wukong", "heavy", "fable".
std::optional<GameProfile> game_profile(std::string_view name);
std::vector<std::string_view> game_profile_names();

/// Frames drawn from a profile, one each `period`. The period clamps; 0 = uncapped, frames follow one another.
Workload make_game(const GameProfile& profile, Duration period, std::uint32_t frames, RandomStream& random);

/// Kernels of one training iteration: a mixture of two log-normals, the second truncated at the longest observed.
struct TrainingProfile {
  std::uint32_t kernels_per_iteration = 0;
  double short_share = 0.0;  ///< share of kernels in the first component
  double short_median_us = 0.0, short_sigma = 0.0;
  double long_median_us = 0.0, long_sigma = 0.0;
  double longest_us = 0.0;
  Duration launch_gap{10'000};  ///< host time per launch
};

/// "resnet50", "resnet101", "mobilenetv2", "bert", "transformer_xl" (batch sizes of the reference, V100).
std::optional<TrainingProfile> training_profile(std::string_view name);
std::vector<std::string_view> training_profile_names();

/// One iteration is drawn and repeated `iterations` times, as training does: the long component in random order, then
/// the optimiser's short kernels. There are fewer names than kernels and one name covers several sizes, so predictions
/// by name err as those of real profiles do, and predictions by name and launch shape err less.
Workload make_training(const TrainingProfile& profile, std::uint32_t iterations, RandomStream& random);

/// Requests with drawn arrivals and service times: for queueing laws and bursty clients.
struct RequestProfile {
  enum class Arrivals : std::uint8_t { kPoisson, kPeriodic };
  enum class Service : std::uint8_t { kExponential, kConstant, kLognormal };
  Arrivals arrivals = Arrivals::kPoisson;
  double rate_per_s = 1.0;
  Service service = Service::kExponential;
  Duration service_mean{};
  double service_cv = 1.0;  ///< kLognormal
};
Workload make_requests(const RequestProfile& profile, std::uint32_t requests, RandomStream& random);

}  // namespace corun
