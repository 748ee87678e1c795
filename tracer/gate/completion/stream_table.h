#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "tracer/gate/completion/launch_groups.h"

namespace corun::gate {

/// A stream that the program has launched into. Threads' default streams are one for each thread.
struct TrackedStream {
  void* context;
  void* stream;
  pthread_t thread;   ///< of a thread's default stream
  LaunchGroup* open;  ///< to which launches are added; null: none. Changes by set_open()
  LaunchGroup* last;  ///< that was closed; may be another stream's by now

  /// `open`, without the lock.
  LaunchGroup* open_now() const { return __atomic_load_n(&open, __ATOMIC_RELAXED); }
  void set_open(LaunchGroup* group) { __atomic_store_n(&open, group, __ATOMIC_RELAXED); }
  bool is_of_thread() const;
  bool is_of_another_thread() const { return is_of_thread() && thread != pthread_self(); }
  bool has_launches() const { return open != nullptr && open->count > 0; }
};

/// The streams of a process, numbered in the order of their first launches. Calls are made under one lock, but for
/// those that say otherwise.
class StreamTable {
 public:
  static constexpr std::uint32_t kMost = 256;

  /// Adds it where it is new; null where there is no room.
  TrackedStream* find(void* context, void* stream);
  /// Whether the calling thread found this stream last. Without the lock.
  bool is_known(void* context, void* stream) const;
  /// What it found then. Without the lock.
  static TrackedStream* known() { return known_.found; }
  /// find(), for known() from then on.
  TrackedStream* learn(void* context, void* stream);
  /// kMost for null. Without the lock.
  std::uint32_t number_of(const TrackedStream* stream) const;
  /// Its row may be another stream's from now on.
  void forget(TrackedStream& stream);

  TrackedStream* begin() { return streams_; }
  TrackedStream* end() { return streams_ + count_; }
  const TrackedStream* begin() const { return streams_; }
  const TrackedStream* end() const { return streams_ + count_; }

 private:
  struct Known {
    void *context, *stream;
    TrackedStream* found;
    std::uint32_t generation;
  };
  static __thread Known known_ __attribute__((tls_model("initial-exec")));

  TrackedStream streams_[kMost] = {};
  std::uint32_t count_ = 0;
  std::atomic<std::uint32_t> generation_{1};  // changes when a stream is forgotten
};

}  // namespace corun::gate
