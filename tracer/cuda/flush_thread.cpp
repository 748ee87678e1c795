#include "tracer/cuda/flush_thread.h"

#include <signal.h>
#include <time.h>

#include "tracer/guest/part_file.h"

namespace corun::cupti {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

timespec to_timespec(std::int64_t ns) { return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)}; }

bool start_with_signals_blocked(void* (*run)(void*), void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool is_started = pthread_create(&thread, nullptr, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (is_started) pthread_detach(thread);
  return is_started;
}

}  // namespace

bool FlushThread::start(Work work, std::int64_t first_ns) {
  work_ = work;
  next_ns_ = first_ns;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&changed_, &attributes);
  pthread_condattr_destroy(&attributes);
  is_started_ = start_with_signals_blocked(&FlushThread::run_thread, this);
  return is_started_;
}

bool FlushThread::finish(std::int64_t patience_ns) {
  if (!is_started_) return false;
  const timespec until = to_timespec(guest::monotonic_ns() + patience_ns);
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
    const timespec until = to_timespec(next_ns_);
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
