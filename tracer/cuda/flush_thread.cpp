#include "tracer/cuda/flush_thread.h"

#include "tracer/guest/background.h"
#include "tracer/guest/part_file.h"

namespace corun::cupti {
bool FlushThread::start(Work work, std::int64_t first_ns) {
  work_ = work;
  next_ns_ = first_ns;
  guest::init_monotonic(changed_);
  is_started_ = guest::start_thread(&FlushThread::run_thread, this);
  return is_started_;
}

bool FlushThread::finish(std::int64_t patience_ns) {
  if (!is_started_) return false;
  const timespec until = guest::to_timespec(guest::monotonic_ns() + patience_ns);
  pthread_mutex_lock(&lock_);
  is_finishing_ = true;
  pthread_cond_broadcast(&changed_);
  int result = 0;
  while (!is_done_ && result == 0) result = pthread_cond_timedwait(&changed_, &lock_, &until);
  const bool is_done = is_done_;
  pthread_mutex_unlock(&lock_);
  return is_done;
}

void* FlushThread::run_thread(void* self) {
  static_cast<FlushThread*>(self)->run();
  return nullptr;
}

void FlushThread::run() {
  pthread_mutex_lock(&lock_);
  while (!is_done_) {
    const timespec until = guest::to_timespec(next_ns_);
    int result = 0;
    while (!is_finishing_ && result == 0) result = pthread_cond_timedwait(&changed_, &lock_, &until);
    const bool is_last = is_finishing_;
    pthread_mutex_unlock(&lock_);
    const std::int64_t next_ns = work_(is_last);
    pthread_mutex_lock(&lock_);
    next_ns_ = next_ns;
    is_done_ = is_last;
  }
  pthread_cond_broadcast(&changed_);
  pthread_mutex_unlock(&lock_);
}

}  // namespace corun::cupti
