#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "tracer/gate/channel/link.h"
#include "tracer/gate/completion/captures.h"
#include "tracer/gate/completion/end_writer.h"
#include "tracer/gate/completion/launch_groups.h"
#include "tracer/gate/completion/stream_table.h"
#include "tracer/gate/driver/driver.h"

namespace corun::gate {

/// Detects completion of launches. Brackets groups of launches with CUDA events; a thread polls these and reports to
/// the scheduler.
///
///     before_launch -> StreamTable -> LaunchGroups -> after_launch -> close -> poll -> EndWriter -> scheduler
///
/// A stream's open group is closed after Lane::every launches, or half a millisecond of them as launches took lately,
/// kOldestNs after its first, whenever the program waits, and after each launch into a thread's default stream, in
/// which no other thread can record. No stream that is being captured gets an event. Any thread of the program; one
/// lock, under which the driver is called; a launch into an open group takes it once.
class CompletionTracker {
 public:
  static constexpr std::int64_t kOldestNs = 1'000'000;

  /// Finds the driver and starts the thread, once the process has its slot. False where ends cannot be detected.
  bool start(const GateLink& link);

  /// A launch counts as in flight from here on.
  void launched() { link_->slot().in_flight.fetch_add(1); }
  /// Around a launch into a stream of this context. `number` is the launch's.
  void before_launch(void* context, void* stream);
  void after_launch(void* context, void* stream, std::uint64_t number);
  /// It ended with its call; or it failed, and the event recorded before it brackets nothing.
  void ended_with_call(std::uint64_t number);
  void has_failed(void* context, void* stream, std::uint64_t number);
  /// Its end will not be detected: it counts as complete.
  void forget_launch(std::uint64_t number);

  /// The program is about to wait: all groups of the context are closed.
  void close_groups(void* context);
  /// The program has waited: polls for ends.
  void look();

  Captures& captures() { return captures_; }

  void forget_stream(void* context, void* stream);
  void forget_context(const void* context);  ///< it ends with its events: what is in flight in it counts as complete
  void forget_contexts();                    ///< all of them
  /// The primary context of a device was given back once. It has ended if that was the last time, and is taken to be
  /// `context`, the one that is current, where that is of the same device.
  bool released_primary(int device, const void* context);
  /// No call of the driver from here on. Waits up to 100 ms for one that is being made: it may be this thread's.
  void stop();

  /// A small number for a stream, in order of appearance.
  std::uint32_t number_of(void* context, void* stream);

 private:
  static void* run(void* self);
  void watch();
  void wake();
  TrackedStream* known_stream(void* context, void* stream);
  void open(TrackedStream& stream);
  bool close(TrackedStream& stream);
  bool is_to_close(const TrackedStream& stream, std::uint64_t newest) const;
  void close_old_groups(std::int64_t now_ns);
  void poll();
  bool has_closed_before(const LaunchGroup& group, std::uint32_t count) const;
  void finish(LaunchGroup& group, bool is_observed);

  Driver driver_;
  Captures captures_{driver_};
  const GateLink* link_ = nullptr;
  pthread_mutex_t lock_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;  // held for a few calls of the driver
  StreamTable streams_;
  LaunchGroups groups_{driver_};
  EndWriter ends_;
  LaunchGroup* closed_[LaunchGroups::kMost] = {};  // in the order of closing
  std::uint32_t closed_count_ = 0;
  std::atomic<bool> is_stopped_{false};
  std::atomic<std::uint32_t> work_{0};  // futex: changes when the thread has something to do again
  std::atomic<std::uint32_t> is_idle_{0};
};

}  // namespace corun::gate
