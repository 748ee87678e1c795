#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/engine/random.h"
#include "sim/workload/quality.h"
#include "sim/workload/workload.h"

namespace corun {

/// A stretch of a game with a load of its own.
struct GameScene {
  Duration frame_gpu_mean{};
  double cv = 0.0;                 ///< coefficient of variation, >= 0
  Duration dwell{};                ///< length of a stay, > 0: see SceneOrder
  SceneEffect effect{};            ///< how far settings matter in it
  std::vector<Duration> frames{};  ///< GPU times of captured frames, in order, in place of mean and variation
};

/// Which scene follows which, and when. Time is the game's own: a period for each frame or, uncapped, its GPU time.
enum class SceneOrder : std::uint8_t {
  kMarkov,  ///< any begins, any other one follows, each as likely; a stay lasts `dwell` on average and ends with equal
            ///< probability after each frame
  kListed,  ///< as listed, from the first, and over again; a stay lasts `dwell`
};

/// Pieces in which the GPU gets a frame: the host waits for one and works for a gap before it submits the next.
struct FrameSubtasks {
  std::uint32_t least = 0, most = 0;  ///< pieces of a frame, each count as likely; 0 = the frame is not cut
  Duration gap_mean{};                ///< exponential
  Duration longest_gap_sum{};         ///< of one frame: longer draws are drawn again; 0 = no limit
};

/// GPU time of a synthetic game's frames: an AR(1) log-normal process with occasional spikes.
///
/// gpu(k) = mean * exp(s z_k - s^2/2) * spike_k, clamped to [0.3 ms, 2 periods];
/// z_k = rho z_{k-1} + sqrt(1-rho^2) N(0,1); s = sqrt(ln(1 + cv^2)).
/// With scenes, mean and cv are those of the present scene. z goes on through changes. In a scene of captured frames,
/// frames are as captured, unclamped and without spikes: each stay begins at a random one and goes on in order, with
/// the first after the last.
struct GameProfile {
  Duration frame_gpu_mean{};
  double cv = 0.0;           ///< coefficient of variation, >= 0
  double correlation = 0.0;  ///< rho in [0, 1)
  double spike_probability = 0.0;
  double spike_factor = 1.0;
  Duration cpu_per_frame{};         ///< host work before a frame is submitted
  std::uint32_t visits = 1;         ///< separate visits to the GPU per frame; the host waits for each before the next
  Duration later_visit{};           ///< GPU time of each further visit; the first takes what they leave of the frame's
  FrameSubtasks subtasks{};         ///< in place of visits
  std::vector<GameScene> scenes{};  ///< empty = one, with the mean and cv above
  SceneOrder scene_order = SceneOrder::kMarkov;
};

/// 5 to 8 pieces whose gaps sum to 1.39 ms on average and to 3.1 ms at most: what LEGO (HPCA 2026) measured inside
/// the frames of three games. The mean of a gap then is 0.25 ms; LEGO states 0.24 ms, and 90 % below 0.73 ms.
FrameSubtasks measured_subtasks();

/// The named games of the reference: "light", "rdr2", "ffxvi", "wukong", "heavy", "fable".
std::optional<GameProfile> game_profile(std::string_view name);
std::vector<std::string_view> game_profile_names();

/// Frames drawn from a profile, one each `period`. The period clamps; 0 = uncapped, frames follow one another. Each
/// frame says which scene it belongs to.
Workload make_game(const GameProfile& profile, Duration period, std::uint32_t frames, RandomStream& random);

/// Kernels of one training iteration: a mixture of two log-normals, the second truncated at the longest observed.
struct TrainingProfile {
  std::uint32_t kernels_per_iteration = 0;
  double short_share = 0.0;  ///< share of kernels in the first component
  double short_median_us = 0.0, short_sigma = 0.0;
  double long_median_us = 0.0, long_sigma = 0.0;
  double longest_us = 0.0;
  Duration launch_gap{10'000};         ///< host time per launch
  double straggler_probability = 0.0;  ///< of a launch, in [0, 1]
  double straggler_factor = 1.0;       ///< on a straggler's duration; predictions do not know of stragglers
};

/// "resnet50", "resnet101", "mobilenetv2", "bert", "transformer_xl" (batch sizes of the reference, V100).
std::optional<TrainingProfile> training_profile(std::string_view name);
std::vector<std::string_view> training_profile_names();

/// One iteration is drawn and repeated `iterations` times, as training does: the long component in random order, then
/// the optimiser's short kernels. There are fewer names than kernels and one name covers several sizes, so predictions
/// by name err as those of real profiles do, and predictions by name and launch shape err less. Stragglers, where there
/// are any, are drawn for each launch, so iterations then differ.
Workload make_training(const TrainingProfile& profile, std::uint32_t iterations, RandomStream& random);

/// Requests with drawn arrivals and service times: for queueing laws and bursty clients.
struct RequestProfile {
  enum class Arrivals : std::uint8_t { kPoisson, kPeriodic };
  enum class Service : std::uint8_t { kExponential, kConstant, kLognormal };
  Arrivals arrivals = Arrivals::kPoisson;
  double rate_per_s = 1.0;
  Service service = Service::kExponential;
  Duration service_mean{};
  double service_cv = 1.0;    ///< kLognormal
  std::uint32_t kernels = 1;  ///< equal kernels that a request's service consists of
};
Workload make_requests(const RequestProfile& profile, std::uint32_t requests, RandomStream& random);

/// A stretch of a program: time on the host, or time in which kernels of one length follow one another.
struct ProgramPhase {
  Duration host{};    ///< a phase without kernels
  Duration gpu{};     ///< how long a phase of kernels lasts alone on a device; 0 = a phase on the host
  Duration kernel{};  ///< > 0 in a phase of kernels
  double duty = 1.0;  ///< share of the phase in which a kernel runs, in (0, 1]; the host works in between
};

/// One job: its phases once, in order. The host waits for each kernel, then works for kernel * (1 / duty - 1). The last
/// kernel of a phase is shorter where the phase is not a multiple of them.
struct ProgramProfile {
  std::vector<ProgramPhase> phases;
};
Workload make_program(const ProgramProfile& profile);

/// Steps of a serving engine whose device times are linear in what they compute.
struct EngineProfile {
  Duration prefill_base{};                ///< of a step that reads a prompt
  Duration prefill_per_token{};           ///< > 0
  double prefill_per_context_token_ns{};  ///< for each of these tokens and each that is in the KV cache already
  Duration decode_base{};                 ///< of a step that gives one token to each sequence, > 0
  Duration decode_per_sequence{};
  double decode_per_context_token_ns{};  ///< for each token in the KV cache of these sequences
  std::uint32_t kernels = 1;             ///< equal ones, of which a step consists
  Duration host_per_step{};              ///< work of the host before each
};
/// Jobs of the least and the largest sizes, between which times are interpolated exactly.
Workload make_engine(const EngineProfile& profile);

/// A job of equal kernels that the host submits one after another without waiting.
struct KernelsProfile {
  Duration duration{};          ///< of each kernel, > 0
  std::uint32_t count = 1;      ///< kernels of a job
  std::uint32_t blocks = 1;     ///< of each kernel's grid
  std::uint32_t threads = 256;  ///< of a block
  Duration launch_gap{10'000};  ///< host time per launch
};
Workload make_kernels(const KernelsProfile& profile);

}  // namespace corun
