#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/time.h"

namespace corun {

/// One rendering setting of a game: what it costs on the GPU and how good it looks.
struct QualityLevel {
  std::string name;
  double cost = 1.0;                  ///< GPU time relative to the best level's
  double quality = 1.0;               ///< similarity to the best level's picture (SSIM), in [0, 1]
  std::vector<std::uint8_t> knobs{};  ///< level of each of the game's knobs, 0 = best; empty = it has none
};

/// What a client's owner states of it and a policy may know, from the experiment file to the policy's view.
struct ClientTraits {
  std::string name;
  std::int32_t priority = 0;               ///< higher matters more
  std::vector<QualityLevel> quality_menu;  ///< best first; empty = one fixed setting
  std::uint32_t quality_level = 0;         ///< index into quality_menu: where it starts; in a view, of its next frame
  Duration promised_ttft{};      ///< of a server: from a request's arrival to its first token; 0 = nothing is promised
  Duration promised_tpot{};      ///< of a server: from each token of a request to the next, on average; 0 = likewise
  double requested_share = 0.0;  ///< of the device's compute, (0, 1]; 0 = not stated
  std::uint64_t requested_bytes = 0;  ///< of device memory; 0 = not stated
  std::uint64_t allocated_bytes = 0;  ///< device memory that it asks for when it joins; 0 = its working set, if known
  std::uint64_t snapshot_bytes = 0;   ///< persistent memory, which a snapshot copies; 0 = its working set, if known
};

}  // namespace corun
