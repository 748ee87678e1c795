#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "sim/executor/host/wall_clock.h"
#include "sim/live/metrics/figures.h"

namespace corun::live {

/// Hands figures of live runs from the scheduler's thread to one that serves them. They are made when they are asked
/// for. The scheduler never waits: where it meets the other thread here, it tries again at its next look.
class FiguresBoard {
 public:
  struct Posted {
    std::shared_ptr<const RunFigures> figures;  ///< of the run that goes on, or of one before; nullptr: there are none
    Duration age{};                             ///< since they were posted
    std::uint64_t runs_finished = 0;
    bool is_over() const { return figures != nullptr && figures->number <= runs_finished; }
  };

  // The scheduler's thread.
  /// Returns the number of the run, from 1.
  std::uint64_t begin_run();
  bool is_asked() const { return is_asked_.load(std::memory_order_relaxed); }
  /// Does nothing where the board is being read at this instant: it is still asked then.
  void post(RunFigures figures);
  /// The same once launches are held no longer: may wait for as long as a pointer is copied.
  void post_last(RunFigures figures);
  void end_run();

  // The other thread.
  /// The figures of now, as soon as the scheduler posts them; the newest there are where no run goes on or it has
  /// posted none after `patience`.
  Posted ask(Duration patience);

 private:
  void put(RunFigures figures, std::unique_lock<std::mutex> lock);

  std::atomic<bool> is_asked_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable posted_;
  std::shared_ptr<const RunFigures> figures_;
  std::int64_t posted_ns_ = 0;
  std::uint64_t posts_ = 0, runs_begun_ = 0, runs_finished_ = 0;
};

}  // namespace corun::live
