#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "tracer/gate/channel/futex.h"
#include "tracer/gate/channel/link.h"
#include "tracer/gate/completion/completion_tracker.h"
#include "tracer/gate/driver/calls.h"
#include "tracer/gate/graph_table.h"
#include "tracer/gate/memory/memory_limit.h"
#include "tracer/gate/name_table.h"

namespace corun::gate {

/// Holds the launches of this process at the gate of its client, however its calls of the driver are intercepted.
///
/// A launch through an open gate makes no system call. At a closed gate, the calling thread sleeps in its call; nothing
/// but launches is held, and the program's other threads go on. Launches that are captured into a graph pass and
/// are none; the launch of a graph is one. It fails open: without a scheduler, or after any error the program runs as
/// it would without a gate, and says so once. Never destroyed.
class Gate {
 public:
  /// False where the environment names no gate. To be called first.
  bool open() { return link_.open(); }
  /// Takes a slot at the gate. To be called when calls can come here: a process that is not gated is to have none.
  bool start(Interception interception);
  /// Says once, on the program's standard error and to the scheduler, that it runs without a gate.
  void give_up(Obstacle obstacle);

  /// Whether calls that are intercepted so are to be reported.
  bool is_on(Interception interception) const { return interception_.load(std::memory_order_relaxed) == interception; }
  /// Around a call of the driver; a launch may be held in before(), whose ticket is for after().
  std::uint64_t before(const Call& call);
  void after(const Call& call, std::uint64_t ticket, bool has_failed);

  /// Of this process. To be asked only while calls are reported (is_on).
  MemoryLimit& memory() { return memory_; }

  /// The program ends.
  void finish();
  /// In the child of a fork.
  void abandon() { interception_ = Interception::kNone; }

  static constexpr std::int64_t kPatienceNs = 100'000'000;  ///< at the bound, while nothing ends

 private:
  std::uint64_t enter_launch(const Call& call);
  void leave_launch(const Call& call, std::uint64_t number, bool has_failed);
  void submit(std::uint64_t number, const LaunchCall& launch, const Call& call);
  bool await_entry(std::uint64_t number);
  void await_admission(std::uint64_t number, void* context);
  void await_bound(void* context);
  struct InFlight {
    std::uint32_t launches;
    std::int64_t
        takes_ns;  ///< if they take as long as launches did lately, time in which others had the device included
  };
  InFlight in_flight() const;
  bool is_at_bound() const;
  void sleep_until_turn(std::uint32_t seen);
  bool must_give_up();

  GateLink link_;
  CompletionTracker completions_;
  NameTable names_;
  GraphTable graphs_;
  MemoryLimit memory_;
  AwakeWait awake_;
  pid_t process_ = 0;
  std::atomic<Interception> interception_{Interception::kNone};
  std::atomic<bool> has_spoken_{false};
};

}  // namespace corun::gate
