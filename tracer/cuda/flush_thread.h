#pragma once

#include <pthread.h>

#include <cstdint>

namespace corun::cupti {

/// The one thread from which the capture calls CUPTI after its start. All signals are blocked in it.
///
/// CUPTI may take its time, or never come back while a process is falling apart; a caller that waits for the thread
/// therefore waits only so long. Its priority is that of the program: it holds locks of CUPTI that launches need.
class FlushThread {
 public:
  /// Does the periodic work and returns the instant of CLOCK_MONOTONIC at which it wants to be called again.
  /// `is_last`: it will not be called again.
  using Work = std::int64_t (*)(bool is_last);

  /// Calls `work` from `first_ns` on. False where no thread could be made.
  bool start(Work work, std::int64_t first_ns);
  /// Has the work done one last time, now, and waits for it at most `patience_ns`. True if it is done. Not in the child
  /// of a fork, where the thread does not exist.
  bool finish(std::int64_t patience_ns);

 private:
  static void* run_thread(void* self);
  void run();

  Work work_ = nullptr;
  std::int64_t next_ns_ = 0;
  bool is_started_ = false;
  bool is_finishing_ = false;
  bool is_done_ = false;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // of the flags; not held during the work
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace corun::cupti
