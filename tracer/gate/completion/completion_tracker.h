#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/gate/driver/driver.h"
#include "tracer/gate/channel/link.h"

namespace corun::gate {

/// Sees launches end, and tells the scheduler: events before the first and behind the last of a few launches of a
/// stream, which a thread of ours asks for.
///
/// Launches of a stream are grouped: a group begins with an event, or where the one before has just ended; it is closed by an event behind it after Lane::every launches, or half a
/// millisecond of them, kOldestNs after its first, whenever the program waits, and after each launch into a thread's
/// default stream, which nobody else can record in. What a group took is shared out among its launches equally, one
/// after another. No stream that is being captured gets an event. Any thread of the program; one lock, under which the
/// driver is called; a launch into an open group takes it once.
class CompletionTracker {
 public:
  /// Finds the driver and starts the thread, once the process has its slot. False where launches cannot be seen to end.
  bool start(const GateLink& link);

  /// Around a launch into a stream of this context. `number` is the launch's.
  void before_launch(void* context, void* stream);
  void after_launch(void* context, void* stream, std::uint64_t number);
  /// It ended with its call; or it failed, and what was recorded before it is of nothing.
  void ended_with_call(std::uint64_t number);
  void has_failed(void* context, void* stream, std::uint64_t number);
  /// The program is about to wait: whatever has been launched is to be seen to end.
  void close_groups(void* context);
  /// The program has waited.
  void look();

  void capture_began() { captures_.fetch_add(1); }
  void capture_ended();
  bool is_in_capture(void* stream) const;

  void forget_launch(std::uint64_t number);  ///< nobody will see it end: it counts as complete
  void forget_stream(void* context, void* stream);
  void forget_context(const void* context);  ///< it ends with its events: what is in flight in it counts as complete
  void forget_contexts();                    ///< all of them
  /// The primary context of a device was given back once. It has ended if that was the last time, and is taken to be
  /// `context`, the one that is current, where that is of the same device.
  void released_primary(int device, const void* context);
  /// No call of the driver from here on. Waits for one that is being made, but not for ever: it may be this thread's.
  void stop();

  void launched() { link_->slot().in_flight.fetch_add(1); }
  /// Number of a stream for people.
  std::uint32_t number_of(void* context, void* stream);

  static constexpr std::int64_t kOldestNs = 1'000'000;
  static constexpr std::int64_t kUsualNs = 50'000;  ///< of a launch, before any has been seen to end

 private:
  static constexpr std::uint32_t kMostGroups = 256;
  static constexpr std::uint32_t kMostCheckpoints = 1024;
  static constexpr std::uint32_t kMostLaunches = 64;

  struct Checkpoint {
    void* context;
    const void* group;  ///< of one, they end in the order of closing
    void *begin, *end;  ///< events
    Checkpoint* before;  ///< not seen to end, and its end is where this one begins, whose own event is not used
    Checkpoint* next;    ///< to which it is that
    std::int64_t opened_ns, closed_ns;
    std::uint32_t count;
    std::uint64_t numbers[kMostLaunches];
    bool is_used;
  };
  struct Group {
    void* context;
    void* stream;
    pthread_t thread;  ///< of a thread's default stream
    Checkpoint* open;  ///< nullptr: none; changed under the lock
    Checkpoint* last;  ///< that was closed; may be somebody else's by now
  };

  struct Known {
    void *context, *stream;
    Group* group;
    std::uint32_t generation;
  };

  static void* run(void* self);
  void watch();
  Group* group_of(void* context, void* stream);
  Group* known_group(void* context, void* stream);
  bool is_known(void* context, void* stream) const;
  Checkpoint* make(void* context);
  bool may_record(void* stream) const;
  void open(Group& group);
  bool begin(Checkpoint& checkpoint, Group& group);
  static void put(Group& group, Checkpoint* open);
  static void release(Checkpoint& checkpoint);
  bool close(Group& group);
  void close_old_groups(std::int64_t now_ns);
  void poll();
  void finish(Checkpoint& checkpoint, bool is_observed);
  void leave_unobserved(std::uint64_t number);
  void report(std::uint64_t number, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t device_ns,
              std::uint32_t group);
  void tell();
  bool has_open_group() const;
  void wake();

  /// Of each thread: the group that it launched into last.
  static __thread Known known_ __attribute__((tls_model("initial-exec")));

  Driver driver_;
  const GateLink* link_ = nullptr;
  pthread_mutex_t lock_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;  // held for a few calls of the driver
  std::atomic<std::uint32_t> generation_{1};                      // of groups: changes where some are forgotten
  Group groups_[kMostGroups] = {};
  std::uint32_t group_count_ = 0;
  Checkpoint checkpoints_[kMostCheckpoints] = {};
  Checkpoint* closed_[kMostCheckpoints] = {};  // in the order of closing
  std::uint32_t closed_count_ = 0;
  std::int64_t last_end_ns_ = 0;
  std::atomic<bool> is_stopped_{false};
  std::atomic<int> captures_{0};
  std::atomic<std::uint32_t> work_{0};  // futex: changes when the thread has something to do again
  std::atomic<std::uint32_t> is_idle_{0};
};

}  // namespace corun::gate
