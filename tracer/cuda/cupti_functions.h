#pragma once

#include <cstdint>
#include <span>

#include "traces/parts/part_record.h"

namespace corun::cupti {

/// Functions `first` to `last` of one of CUPTI's two numberings (callback ids), all of one role.
struct FunctionRange {
  std::uint32_t first;
  std::uint32_t last;
  part::CallRole role;
};

/// The functions of the runtime, or of the driver, that submit work or wait for it, in order of their numbers. NVIDIA
/// never gives a number to another function. Some of the ranges are newer than the library in use, which then refuses
/// their numbers.
std::span<const FunctionRange> runtime_functions();
std::span<const FunctionRange> driver_functions();

/// Whether the default stream is, to this function of the driver that records an event or waits, that of its thread.
bool has_thread_stream(std::uint32_t function);

/// What a function does; kOther for all that are not in the ranges.
part::CallRole role_of(std::span<const FunctionRange> functions, std::uint32_t function);

}  // namespace corun::cupti
