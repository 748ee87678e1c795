#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "tracer/cuda/cupti_library.h"
#include "tracer/gate/calls.h"
#include "tracer/gate/checkpoints.h"
#include "tracer/gate/futex.h"
#include "tracer/gate/gate_link.h"
#include "tracer/gate/graph_table.h"
#include "tracer/gate/name_table.h"

namespace corun::gate {

/// Holds the launches of this process at the gate of its client, by CUPTI's callbacks on the driver's functions.
///
/// A launch through an open gate makes no system call. At a closed gate, the calling thread sleeps in its call; nothing
/// but launches is held, whatever the program's other threads do. Launches that are captured into a graph pass and
/// are none; the launch of a graph is one. It fails open: without CUPTI, without a scheduler, or after any error the
/// program runs as it would without a gate, and says so once. Never destroyed.
class Gate {
 public:
  /// Where the environment names a gate: loads CUPTI, subscribes, and takes the launches of the client last, so that
  /// nobody has them who is not gated.
  void start(cupti::Callback callback);
  void on_call(std::uint32_t function, const cupti::CallbackSite& site);
  /// The program ends.
  void finish();
  /// In the child of a fork.
  void abandon() { is_on_ = false; }

  static constexpr std::int64_t kPatienceNs = 100'000'000;  ///< at the bound, while nothing ends

 private:
  bool subscribe(cupti::Callback callback);
  void before(std::uint32_t function, CallRole role, const cupti::CallbackSite& site);
  void after(std::uint32_t function, CallRole role, const cupti::CallbackSite& site);
  void enter_launch(std::uint32_t function, const cupti::CallbackSite& site);
  void leave_launch(std::uint32_t function, const cupti::CallbackSite& site);
  void submit(std::uint64_t number, const LaunchCall& call, const cupti::CallbackSite& site);
  bool await_entry(std::uint64_t number);
  void await_admission(std::uint64_t number, void* context);
  void await_bound(void* context);
  bool is_at_bound() const;
  void sleep_until_turn(std::uint32_t seen);
  bool must_give_up();
  void give_up(const char* line);

  GateLink link_;
  cupti::Library cupti_;
  cupti::Subscriber subscriber_ = nullptr;
  Checkpoints checkpoints_;
  NameTable names_;
  GraphTable graphs_;
  AwakeWait awake_;
  pid_t process_ = 0;
  std::atomic<bool> is_on_{false};
  std::atomic<bool> has_spoken_{false};
};

}  // namespace corun::gate
