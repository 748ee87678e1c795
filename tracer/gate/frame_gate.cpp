#include "tracer/gate/frame_gate.h"

#include <time.h>

#include "tracer/guest/background.h"
#include "tracer/guest/lock.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {

namespace {

using guest::Lock;
using guest::monotonic_ns;

constexpr long kNapNs = 100'000;  // some libraries hold a lock while they wait for a fence: so they are asked instead
constexpr std::int64_t kPatienceNs = 5'000'000'000;

// In the child of a fork: the thread is the parent's.
void give_up_in_child() { frame_gate.give_up(); }

}  // namespace

void FrameGate::start() {
  pthread_atfork(nullptr, nullptr, &give_up_in_child);
  const bool is_started = link_.open() && link_.claim_frames(teller_) && guest::start_thread(&FrameGate::run, this);
  state_.store(is_started ? State::kOn : State::kOff, std::memory_order_release);
}

bool FrameGate::begin() {
  State known = state_.load(std::memory_order_acquire);
  if (known == State::kUnknown && state_.compare_exchange_strong(known, State::kStarting)) start();
  if (!is_on()) return false;
  if (is_in_frame_.load(std::memory_order_relaxed) || is_in_frame_.exchange(true)) return true;
  begin_ns_ = monotonic_ns();
  link_.tell_frame(FrameMoment::kBegin, frame_, begin_ns_);
  return true;
}

void FrameGate::drop_oldest() {
  first_ = (first_ + 1) % kMostFences;
  --count_;
}

bool FrameGate::has_room() {
  const Lock lock(lock_);
  return count_ + kMostMakers <= kMostFences;
}

// With all places taken, the oldest goes unseen.
void FrameGate::await(const Fence& fence, bool is_end) {
  const Lock lock(lock_);
  if (count_ == kMostFences) {
    const Fence& oldest = awaited_[first_].fence;
    oldest.destroy(oldest.owner, oldest.handle);
    drop_oldest();
  }
  awaited_[(first_ + count_++) % kMostFences] = {fence, frame_, begin_ns_, is_end};
  pthread_cond_broadcast(&changed_);
}

void FrameGate::present(bool has_end) {
  link_.tell_frame(FrameMoment::kPresent, frame_, monotonic_ns());
  if (!has_end) {
    const Lock lock(lock_);
    end(frame_, begin_ns_);
  }
  ++frame_;
  is_in_frame_.store(false);
}

// What is watched comes first: ends are reported in the order of frames.
void FrameGate::forget(void* owner) {
  if (!is_on()) return;
  const Lock lock(lock_);
  forgotten_ = owner;
  while (watched_owner_ == owner) pthread_cond_wait(&changed_, &lock_);
  forgotten_ = nullptr;
  for (std::uint32_t left = count_; left > 0; --left) {
    const Awaited awaited = awaited_[first_];
    drop_oldest();
    if (awaited.fence.owner != owner) {
      awaited_[(first_ + count_++) % kMostFences] = awaited;
      continue;
    }
    if (awaited.is_end) end(awaited.frame, awaited.begin_ns);
    awaited.fence.destroy(owner, awaited.fence.handle);
  }
}

void FrameGate::stop() {
  if (!is_on()) return;
  give_up();
  const Lock lock(lock_);
  while (watched_owner_ != nullptr) pthread_cond_wait(&changed_, &lock_);
}

FrameGate::Awaited FrameGate::take_oldest() {
  const Lock lock(lock_);
  watched_owner_ = nullptr;
  pthread_cond_broadcast(&changed_);
  while (count_ == 0 || !is_on()) pthread_cond_wait(&changed_, &lock_);
  const Awaited oldest = awaited_[first_];
  drop_oldest();
  watched_owner_ = oldest.fence.owner;
  return oldest;
}

void* FrameGate::run(void* self) {
  static_cast<FrameGate*>(self)->watch();
  return nullptr;
}

void FrameGate::watch() {
  const timespec nap{0, kNapNs};
  for (;;) {
    const Awaited awaited = take_oldest();
    const Fence& fence = awaited.fence;
    const std::int64_t patient_until = monotonic_ns() + kPatienceNs;
    while (is_on() && forgotten_ != fence.owner && !fence.has_passed(fence.owner, fence.handle) &&
           monotonic_ns() < patient_until)
      nanosleep(&nap, nullptr);
    if (!is_on()) continue;
    {
      const Lock lock(lock_);
      if (awaited.is_end) end(awaited.frame, awaited.begin_ns);
    }
    fence.destroy(fence.owner, fence.handle);
  }
}

void FrameGate::end(std::uint64_t frame, std::int64_t begin_ns) {
  const std::int64_t now = monotonic_ns();
  link_.tell_frame(FrameMoment::kEnd, frame, now, begin_ns > last_end_ns_ ? begin_ns : last_end_ns_);
  last_end_ns_ = now;
}

}  // namespace corun::gate
