#pragma once

#include <atomic>
#include <cstdint>

namespace corun::cupti {

/// Ranges that a program has opened and not closed yet, by its threads. Bounded; zeroed memory is an empty log. Any
/// thread.
///
/// Ranges of push and pop are of one thread, the innermost of a domain ends first. Ranges of start and end have numbers
/// and may end on another thread. What does not fit (more than kMostDepth ranges inside each other, kMostThreads
/// threads, kMostStarted numbers) is not logged; pops go with their pushes all the same.
///
/// Without locks: a program may fork while another of its threads is in here, and the child goes on with the log.
class RangeLog {
 public:
  struct Range {
    const void* domain;
    std::int64_t start_ns;
    std::uint32_t name;  ///< 0: not to be recorded
  };

  /// Returns how many ranges the thread has open without this one.
  int push(const Range& range);
  /// The range that ends; its name is 0 where none is known.
  Range pop(const void* domain);

  /// Number of the range, never 0.
  std::uint64_t start(const Range& range);
  Range end(std::uint64_t number);

  static constexpr std::uint32_t kMostDepth = 32;
  static constexpr std::uint32_t kMostThreads = 512;
  static constexpr std::uint32_t kMostStarted = 1024;

 private:
  struct Stack {
    bool is_taken;
    std::uint32_t depth;
    Range ranges[kMostDepth];
  };
  struct Started {
    std::atomic<std::uint64_t> number;
    Range range;
  };

  static constexpr std::uint64_t kFree = 0, kInUse = ~std::uint64_t{0};  // instead of the number of a range

  static void make_key();
  static void give_back(void* stack);
  Stack* own_stack();

  Stack stacks_[kMostThreads]{};
  std::atomic<std::uint64_t> numbers_{0};
  Started started_[kMostStarted]{};
};

}  // namespace corun::cupti
