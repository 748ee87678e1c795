#include "sim/live/metrics/figures_board.h"

#include <utility>

namespace corun::live {

std::uint64_t FiguresBoard::begin_run() {
  const std::lock_guard lock(mutex_);
  return ++runs_begun_;
}

void FiguresBoard::post(RunFigures figures) { put(std::move(figures), std::unique_lock(mutex_, std::try_to_lock)); }

void FiguresBoard::post_last(RunFigures figures) { put(std::move(figures), std::unique_lock(mutex_)); }

void FiguresBoard::end_run() {
  const std::lock_guard lock(mutex_);
  ++runs_finished_;
}

void FiguresBoard::put(RunFigures figures, std::unique_lock<std::mutex> lock) {
  if (!lock) return;
  figures_ = std::make_shared<const RunFigures>(std::move(figures));
  posted_ns_ = executor::WallClock::monotonic_ns();
  ++posts_;
  is_asked_.store(false, std::memory_order_relaxed);
  lock.unlock();
  posted_.notify_all();
}

FiguresBoard::Posted FiguresBoard::ask(Duration patience) {
  std::unique_lock lock(mutex_);
  if (runs_begun_ > runs_finished_) {
    is_asked_.store(true, std::memory_order_relaxed);
    posted_.wait_for(lock, patience, [&, before = posts_] { return posts_ != before; });
  }
  const Duration age = figures_ == nullptr ? Duration{} : Duration{executor::WallClock::monotonic_ns() - posted_ns_};
  return {figures_, age, runs_finished_};
}

}  // namespace corun::live
