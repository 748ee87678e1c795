#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace corun::testing {

/// A stream of a device that is not one: a thread that does what it is given, one after another, in real time.
class StreamThread {
 public:
  StreamThread() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void push(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    ++unfinished_;
    changed_.notify_all();
  }
  /// Waits until all is done.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return unfinished_ == 0; });
  }
  bool is_idle() {
    const std::lock_guard lock(mutex_);
    return unfinished_ == 0;
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      lock.lock();
      --unfinished_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  int unfinished_ = 0;
  std::jthread thread_;
};

}  // namespace corun::testing
