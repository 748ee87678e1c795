#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

/// Waiting for a word in shared memory to change.
namespace corun::gate {

/// Sleeps while `word` is `seen`, for at most `most_ns`; may return sooner.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t most_ns) {
  const timespec most{static_cast<time_t>(most_ns / 1'000'000'000), static_cast<long>(most_ns % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &most, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Changes the word and wakes those who wait for that.
inline void announce(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  futex_wake_all(word);
}

}  // namespace corun::gate
