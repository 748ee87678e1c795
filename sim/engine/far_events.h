#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/event_key.h"

namespace corun {

/// Keys of events that lie too far ahead to be ordered yet: a radix heap whose digits have six bits.
///
/// A key lies in the bucket of the highest digit in which its time differs from `base`, a time before which nothing is
/// added; so each bucket is a stretch of time, and buckets are ordered by their digits. The first bucket is given out
/// where it is short enough, or else spread over the buckets below it: a key moves once for each digit at most, and
/// always from memory that is read in a row. A key that was cancelled stays until its bucket is opened or until as many
/// are dead as alive.
class FarEvents {
 public:
  std::size_t size() const { return stored_ - dead_; }  ///< that are alive

  /// A time at or after that of the last rebase(), and at or after what the last take_first() returned.
  void add(const EventKey& key);
  /// The event of a key that was added is cancelled; `is_alive(key)` says so from now on.
  template <class IsAlive>
  void cancelled(const IsAlive& is_alive) {
    if (++dead_ > kMostDead && 2 * dead_ > stored_) rebase(base_ns_, is_alive);
  }
  /// From now on, times at or after `base_ns` may be added.
  template <class IsAlive>
  void rebase(std::uint64_t base_ns, const IsAlive& is_alive);
  /// Moves the earliest keys that are alive to the end of `taken`: about `most`, or more where more are for one
  /// nanosecond; none if there are none. Returns the time before which no key is left, or UINT64_MAX if none is.
  template <class IsAlive>
  std::uint64_t take_first(std::size_t most, std::vector<EventKey>& taken, const IsAlive& is_alive);

 private:
  static constexpr unsigned kDigitBits = 6;
  static constexpr unsigned kDigits = 1u << kDigitBits;
  static constexpr unsigned kLevels = (63 + kDigitBits - 1) / kDigitBits;
  static constexpr std::uint32_t kChunkKeys = 32;
  static constexpr std::size_t kMostDead = 1024;

  struct Bucket {
    std::uint32_t head = 0;   ///< the newest of its chunks, which alone may not be full
    std::uint32_t count = 0;  ///< keys
  };
  struct alignas(64) Chunk {
    std::array<EventKey, kChunkKeys> keys;
  };
  struct Level {
    std::uint64_t filled = 0;  ///< bit d: bucket d has keys
    std::array<Bucket, kDigits> buckets;
  };

  std::uint32_t take_chunk();
  template <class IsAlive, class Use>
  void empty(Bucket bucket, const IsAlive& is_alive, const Use& use);
  template <class IsAlive>
  void take_all(std::vector<EventKey>& taken, const IsAlive& is_alive);

  std::array<Level, kLevels> levels_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> next_;  ///< by chunk: the one that was filled before it
  std::vector<std::uint32_t> free_chunks_;
  std::uint64_t base_ns_ = 0;
  std::size_t stored_ = 0;
  std::size_t dead_ = 0;  ///< of them
};

inline void FarEvents::add(const EventKey& key) {
  const auto time_ns = static_cast<std::uint64_t>(key.time_ns);
  const auto highest_bit = static_cast<unsigned>(63 - std::countl_zero((time_ns ^ base_ns_) | 1));
  const unsigned level = highest_bit / kDigitBits;
  const unsigned digit = static_cast<unsigned>(time_ns >> (level * kDigitBits)) % kDigits;
  Bucket& bucket = levels_[level].buckets[digit];
  const std::uint32_t place = bucket.count++ % kChunkKeys;
  if (place == 0) {
    const std::uint32_t chunk = take_chunk();
    next_[chunk] = std::exchange(bucket.head, chunk);
    levels_[level].filled |= std::uint64_t{1} << digit;
  }
  chunks_[bucket.head].keys[place] = key;
  ++stored_;
}

inline std::uint32_t FarEvents::take_chunk() {
  if (free_chunks_.empty()) {
    chunks_.emplace_back();
    next_.emplace_back();
    return static_cast<std::uint32_t>(chunks_.size() - 1);
  }
  const std::uint32_t chunk = free_chunks_.back();
  free_chunks_.pop_back();
  return chunk;
}

/// Calls `use(key)` of what is alive in a bucket that is no longer one of a level. `use` may add it again.
template <class IsAlive, class Use>
void FarEvents::empty(Bucket bucket, const IsAlive& is_alive, const Use& use) {
  stored_ -= bucket.count;
  while (bucket.count > 0) {
    const std::uint32_t in_chunk = (bucket.count - 1) % kChunkKeys + 1;
    const Chunk keys = chunks_[bucket.head];  // a copy: what is added may make room for more
    free_chunks_.push_back(std::exchange(bucket.head, next_[bucket.head]));
    for (std::uint32_t i = 0; i < in_chunk; ++i) {
      if (dead_ > 0 && !is_alive(keys.keys[i])) {
        --dead_;
      } else {
        use(keys.keys[i]);
      }
    }
    bucket.count -= in_chunk;
  }
}

template <class IsAlive>
void FarEvents::take_all(std::vector<EventKey>& taken, const IsAlive& is_alive) {
  for (Level& level : levels_) {
    for (; level.filled != 0; level.filled &= level.filled - 1)
      empty(std::exchange(level.buckets[static_cast<unsigned>(std::countr_zero(level.filled))], {}), is_alive,
            [&](const EventKey& key) { taken.push_back(key); });
  }
}

template <class IsAlive>
void FarEvents::rebase(std::uint64_t base_ns, const IsAlive& is_alive) {
  std::vector<EventKey> all;
  all.reserve(size());
  take_all(all, is_alive);
  base_ns_ = base_ns;
  for (const EventKey& key : all) add(key);
}

template <class IsAlive>
std::uint64_t FarEvents::take_first(std::size_t most, std::vector<EventKey>& taken, const IsAlive& is_alive) {
  while (stored_ > most) {
    unsigned number = 0;
    while (levels_[number].filled == 0) ++number;
    Level& level = levels_[number];
    const auto digit = static_cast<unsigned>(std::countr_zero(level.filled));
    level.filled &= level.filled - 1;
    const unsigned shift = number * kDigitBits;
    base_ns_ = ((base_ns_ >> shift) / kDigits * kDigits + digit) << shift;
    const Bucket bucket = std::exchange(level.buckets[digit], {});
    if (bucket.count > most && number > 0) {
      empty(bucket, is_alive, [this](const EventKey& key) { add(key); });
      continue;
    }
    empty(bucket, is_alive, [&](const EventKey& key) { taken.push_back(key); });
    if (!taken.empty()) return stored_ == 0 ? UINT64_MAX : base_ns_ + (std::uint64_t{1} << shift);
  }
  take_all(taken, is_alive);
  return UINT64_MAX;
}

}  // namespace corun
