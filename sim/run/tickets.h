#pragma once

#include <cstdint>

#include "sim/device/device_model.h"

namespace corun {

// A ticket of a run is (client, submission number). The last number is that of a copy of the client's memory.

inline constexpr unsigned kNumberBits = 40;
inline constexpr std::uint64_t kCopyNumber = (std::uint64_t{1} << kNumberBits) - 1;

inline Ticket ticket_of(ClientId client, std::uint64_t number) {
  return (Ticket{client.value} << kNumberBits) | number;
}
inline std::uint64_t number_of(Ticket ticket) { return ticket & kCopyNumber; }

}  // namespace corun
