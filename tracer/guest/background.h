#pragma once

#include <pthread.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace corun::guest {

/// For threads of ours in another program's process, which wait on CLOCK_MONOTONIC.

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

inline timespec to_timespec(std::int64_t ns) {
  return {static_cast<time_t>(ns / kSecondNs), static_cast<long>(ns % kSecondNs)};
}

/// Makes a condition whose timed waits are instants of CLOCK_MONOTONIC.
void init_monotonic(pthread_cond_t& condition);

/// Starts a detached thread in which all signals are blocked: the program's handlers run in the program's threads.
/// `stack_bytes` 0 is what the system gives. False where no thread could be made.
bool start_thread(void* (*run)(void*), void* argument, std::size_t stack_bytes = 0);

}  // namespace corun::guest
