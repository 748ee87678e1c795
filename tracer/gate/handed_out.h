#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/gate/driver/driver_calls.h"

/// Names of driver_calls.h, the functions of ours that go by them, and those of the driver behind them.
///
/// A program gets at the driver by linking, by dlsym() or by asking cuGetProcAddress(); in each case it is handed ours,
/// which calls what it would have got without us. Of one name there is one function behind: the first that was met. A
/// second one of another library is handed out as it is: it may be what a library behind us calls in its own place. Any
/// thread.
namespace corun::gate {

struct DriverCall {
  const char* name;
  std::uint32_t function;  ///< CUPTI's number
  int since;               ///< the version of CUDA
  CallRole role;
};
inline constexpr DriverCall kDriverCalls[] = {
#define CORUN_ROW(name, function, since, arguments, role) {#name, function, since, CallRole::role},
    CORUN_DRIVER_CALLS(CORUN_ROW)
#undef CORUN_ROW
};
inline constexpr std::size_t kDriverCallCount = sizeof(kDriverCalls) / sizeof(kDriverCalls[0]);
inline constexpr std::size_t kNoDriverCall = kDriverCallCount;

/// The row of this name.
std::size_t row_of(const char* name);

/// What ours of this row calls; nullptr where a call from `caller` would have found no function.
void* find_behind(std::size_t row, const void* caller);

/// What to hand out in place of `found`, which a look-up of this row's name found.
void* hand_out(std::size_t row, void* found);

/// The same for what cuGetProcAddress() answered with, asked for this symbol, version of CUDA and flags.
void* hand_out_for(const char* symbol, int version, std::uint64_t flags, void* found);

}  // namespace corun::gate
