#include "tracer/gl/gate_frames.h"

#include <time.h>

#include "tracer/gl/scopes.h"
#include "tracer/guest/background.h"
#include "tracer/guest/kept_errno.h"
#include "tracer/guest/part_file.h"

namespace corun::gl {

constinit GateFrames gate_frames;

namespace {

using guest::monotonic_ns;

constexpr unsigned kFence = 0x30F9;  // EGL_SYNC_FENCE
constexpr int kTimedOut = 0x30F5;
constexpr long kNapNs = 100'000;  // some libraries hold a lock while they wait for a fence: so they are asked instead
constexpr std::int64_t kPatienceNs = 5'000'000'000;

// In the child of a fork: the thread is the parent's.
void give_up_in_child() { gate_frames.give_up(); }

}  // namespace

bool GateFrames::is_on() {
  State known = state_.load(std::memory_order_acquire);
  if (known == State::kUnknown && state_.compare_exchange_strong(known, State::kStarting)) start();
  return state_.load(std::memory_order_relaxed) == State::kOn;
}

void GateFrames::start() {
  pthread_atfork(nullptr, nullptr, &give_up_in_child);
  const bool is_started = link_.open() && guest::start_thread(&GateFrames::run, this);
  state_.store(is_started ? State::kOn : State::kOff, std::memory_order_release);
}

void GateFrames::begin() {
  if (is_in_frame_.load(std::memory_order_relaxed)) return;
  const guest::KeptErrno kept;
  if (!is_on() || is_in_frame_.exchange(true)) return;
  begin_ns_ = monotonic_ns();
  link_.tell_frame(gate::FrameMoment::kBegin, frame_, begin_ns_);
}

void GateFrames::find_functions(const void* real) {
  if (functions_.create != nullptr) return;
  const auto find = [&](const char* name) {
    void* found = find_in_scope_of(real, name);
    return found != nullptr ? found : find_anywhere(name);
  };
  functions_.wait = reinterpret_cast<decltype(functions_.wait)>(find("eglClientWaitSync"));
  functions_.destroy = reinterpret_cast<decltype(functions_.destroy)>(find("eglDestroySync"));
  const auto create = reinterpret_cast<decltype(functions_.create)>(find("eglCreateSync"));
  if (functions_.wait != nullptr && functions_.destroy != nullptr) functions_.create = create;
}

void GateFrames::before_swap(Platform platform, void* display, const void* real) {
  const guest::KeptErrno kept;
  begin();
  if (state_.load(std::memory_order_relaxed) != State::kOn) return;
  is_fenced_ = false;
  if (platform != Platform::kEgl) return;
  find_functions(real);
  void* sync = functions_.create == nullptr ? nullptr : functions_.create(display, kFence, nullptr);
  if (sync == nullptr) return;
  is_fenced_ = true;
  put({display, sync, frame_, begin_ns_});
}

void GateFrames::after_swap(bool is_shown) {
  if (state_.load(std::memory_order_relaxed) != State::kOn || !is_shown) return;
  const guest::KeptErrno kept;
  link_.tell_frame(gate::FrameMoment::kPresent, frame_, monotonic_ns());
  if (!is_fenced_) end(frame_, begin_ns_);
  ++frame_;
  is_in_frame_.store(false);
}

// With all of them awaited, the oldest goes unseen.
void GateFrames::put(const Fence& fence) {
  pthread_mutex_lock(&lock_);
  if (count_ == kMostFences) {
    functions_.destroy(fences_[first_].display, fences_[first_].sync);
    first_ = (first_ + 1) % kMostFences;
    --count_;
  }
  fences_[(first_ + count_++) % kMostFences] = fence;
  pthread_cond_signal(&changed_);
  pthread_mutex_unlock(&lock_);
}

bool GateFrames::take(Fence& fence) {
  pthread_mutex_lock(&lock_);
  while (count_ == 0) pthread_cond_wait(&changed_, &lock_);
  fence = fences_[first_];
  first_ = (first_ + 1) % kMostFences;
  --count_;
  pthread_mutex_unlock(&lock_);
  return true;
}

void* GateFrames::run(void* self) {
  static_cast<GateFrames*>(self)->watch();
  return nullptr;
}

void GateFrames::watch() {
  for (Fence fence{}; take(fence);) {
    const std::int64_t patient_until = monotonic_ns() + kPatienceNs;
    const timespec nap{0, kNapNs};
    while (functions_.wait(fence.display, fence.sync, 0, 0) == kTimedOut && monotonic_ns() < patient_until)
      nanosleep(&nap, nullptr);
    end(fence.frame, fence.begin_ns);
    functions_.destroy(fence.display, fence.sync);
  }
}

void GateFrames::end(std::uint64_t frame, std::int64_t begin_ns) {
  const std::int64_t now = monotonic_ns();
  link_.tell_frame(gate::FrameMoment::kEnd, frame, now, begin_ns > last_end_ns_ ? begin_ns : last_end_ns_);
  last_end_ns_ = now;
}

}  // namespace corun::gl
