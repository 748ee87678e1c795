#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "tracer/guest/background.h"

/// Waiting for a word in shared memory to change.
namespace corun::gate {

/// Sleeps while `word` is `seen`, for at most `most_ns`; may return sooner.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t most_ns) {
  const timespec most = guest::to_timespec(most_ns);
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &most, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Changes the word and wakes the threads that wait for that.
inline void announce(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  futex_wake_all(word);
}
/// The same where sleeping threads count themselves among `sleepers`: no system call while there are none.
inline void announce(std::atomic<std::uint32_t>& word, const std::atomic<std::uint32_t>& sleepers) {
  word.fetch_add(1);
  if (sleepers.load() != 0) futex_wake_all(word);
}

/// Waits awake until `word` is `seen` no more, for at most `most_ns`. True if it changed. For answers that mostly come
/// sooner than a thread can be put to sleep and woken.
inline bool spin_until_changed(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t most_ns) {
  constexpr int kLooks = 32;  // between two at the clock
  const auto now_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * guest::kSecondNs + now.tv_nsec;
  };
  const std::int64_t until = now_ns() + most_ns;
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (word.load(std::memory_order_acquire) != seen) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (now_ns() < until);
  return false;
}

/// Spins before sleeping while that pays: where answers keep coming late, as they do where there are fewer processors
/// than threads that want one, most waits are slept through. Any thread.
class AwakeWait {
 public:
  /// As spin_until_changed(), but returns false at once in most calls that follow some without a change.
  bool wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t most_ns) {
    if (trust_.load(std::memory_order_relaxed) < 0) {
      trust_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    const bool has_changed = spin_until_changed(word, seen, most_ns);
    const int trust = trust_.load(std::memory_order_relaxed);
    trust_.store(has_changed ? (trust < kMost ? trust + 1 : kMost) : trust - kLoss, std::memory_order_relaxed);
    return has_changed;
  }

 private:
  static constexpr int kMost = 16, kLoss = 8;
  std::atomic<int> trust_{0};
};

}  // namespace corun::gate
