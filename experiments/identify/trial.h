#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/device/spec.h"
#include "sim/workload/client_spec.h"

namespace corun::identification {

/// A small experiment whose outcome depends on how a GPU is shared: up to four synthetic clients for a moment.
struct Trial {
  std::string name;         ///< unique in its pool: "two_long"
  std::string description;  ///< what runs, half a sentence
  std::vector<ClientSpec> clients;
  bool has_frames = false;
  Duration length{};
  std::uint64_t first_seed = 1;  ///< of its predictions

  Duration warmup() const { return length / 10; }
  Duration window() const { return length - warmup(); }
};

/// The trial once more: twice as long, with other phases and jitter.
Trial again(Trial trial);

/// Operation name of the visits that with_trailing_visits() adds: hardware does not report them.
inline constexpr std::string_view kTrailingVisitName = "trailing visit";

/// The clients, where a graphics driver follows every draw by a tiny visit of its own that the program waits for.
std::vector<ClientSpec> with_trailing_visits(const std::vector<ClientSpec>& clients);

/// Every trial there is for a device; grids are multiples of what its SMs hold. Durations vary by 2 %, so that no
/// client keeps step with another by accident.
std::vector<Trial> trial_pool(const DeviceSpec& device, Duration length = std::chrono::seconds{1});

}  // namespace corun::identification
