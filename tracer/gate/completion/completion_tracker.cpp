#include "tracer/gate/completion/completion_tracker.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "tracer/gate/channel/futex.h"
#include "tracer/guest/background.h"
#include "tracer/guest/lock.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

using guest::Lock;

constexpr std::int64_t kShortestNapNs = 20'000, kLongestNapNs = 200'000;
constexpr std::int64_t kAwakeNs = 5'000'000;    // after the last work, lest every launch of a slow program wakes us
constexpr std::int64_t kLongGroupNs = 500'000;  // as launches took lately: so much may end before it is reported
constexpr std::int64_t kIdleNs = 1'000'000'000;
constexpr std::int64_t kStopPatienceNs = 100'000'000;

/// While it lives, this thread may poll events although a stream is being captured.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) { driver_.exchange_capture_mode(&mode_); }
  ~RelaxedCapture() { driver_.exchange_capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  static constexpr int kRelaxed = 2;
  const Driver& driver_;
  int mode_ = kRelaxed;
};

}  // namespace

bool CompletionTracker::start(const GateLink& link) {
  link_ = &link;
  ends_.start(link);
  return driver_.load() && guest::start_thread(&CompletionTracker::run, this);
}

TrackedStream* CompletionTracker::known_stream(void* context, void* stream) {
  if (streams_.is_known(context, stream)) return StreamTable::known();
  const Lock locked(lock_);
  return streams_.learn(context, stream);
}

std::uint32_t CompletionTracker::number_of(void* context, void* stream) {
  return streams_.number_of(known_stream(context, stream));
}

void CompletionTracker::before_launch(void* context, void* stream) {
  const TrackedStream* known = known_stream(context, stream);
  if (known == nullptr || known->open_now() != nullptr) return;
  const Lock locked(lock_);
  TrackedStream* its = is_stopped_ ? nullptr : streams_.find(context, stream);
  if (its != nullptr) open(*its);
}

void CompletionTracker::open(TrackedStream& stream) {
  if (stream.open != nullptr || !captures_.may_record(stream.stream)) return;
  LaunchGroup* group = groups_.make(stream.context);
  if (group == nullptr) return;
  if (groups_.begin(*group, stream.last, stream)) {
    stream.set_open(group);
  } else {
    groups_.release(*group);
  }
}

void CompletionTracker::after_launch(void* context, void* stream, std::uint64_t number) {
  const Lock locked(lock_);
  TrackedStream* its = nullptr;
  if (!is_stopped_) its = streams_.is_known(context, stream) ? StreamTable::known() : streams_.find(context, stream);
  if (its != nullptr) open(*its);  // where it has been closed since: the launch's time is lost, its end is not
  if (its == nullptr || its->open == nullptr || its->open->count == LaunchGroup::kMostLaunches)
    return ends_.write_unobserved(number);
  its->open->numbers[its->open->count++] = number;
  if (is_to_close(*its, number)) close(*its);
  wake();
}

// The clock is read for launches that have waited, not for every launch: hence the time of submission.
bool CompletionTracker::is_to_close(const TrackedStream& stream, std::uint64_t newest) const {
  const LaunchGroup& group = *stream.open;
  const std::uint32_t every = ends_.lane().every.load(std::memory_order_relaxed);
  return group.count >= std::clamp(every, 1U, LaunchGroup::kMostLaunches) ||
         ends_.submitted_ns(newest) - group.opened_ns >= kOldestNs ||
         group.count * ends_.typical_ns() >= kLongGroupNs || stream.is_of_thread();
}

void CompletionTracker::forget_launch(std::uint64_t number) {
  const Lock locked(lock_);
  ends_.write_unobserved(number);
}

void CompletionTracker::has_failed(void* context, void* stream, std::uint64_t number) {
  {
    const Lock locked(lock_);
    TrackedStream* its = streams_.find(context, stream);
    if (its != nullptr && its->open != nullptr && its->open->count == 0) {
      groups_.release(*its->open);
      its->set_open(nullptr);
    }
  }
  ended_with_call(number);
}

void CompletionTracker::ended_with_call(std::uint64_t number) {
  look();
  const Lock locked(lock_);
  ends_.write_ended_now(number);
}

bool CompletionTracker::close(TrackedStream& stream) {
  if (!stream.has_launches() || is_stopped_ || !captures_.may_record(stream.stream)) return false;
  LaunchGroup& group = *stream.open;
  stream.set_open(nullptr);
  if (driver_.event_record(group.end, stream.stream) != Driver::kSuccess) {
    finish(group, false);
    return false;
  }
  group.stream = &stream;
  group.closed_ns = guest::monotonic_ns();
  stream.last = &group;
  closed_[closed_count_++] = &group;
  return true;
}

void CompletionTracker::close_groups(void* context) {
  const Lock locked(lock_);
  for (TrackedStream& stream : streams_)
    if (stream.context == context && !stream.is_of_another_thread()) close(stream);
  wake();
}

void CompletionTracker::close_old_groups(std::int64_t now_ns) {
  for (TrackedStream& stream : streams_) {
    if (stream.open == nullptr || stream.is_of_thread() || now_ns - stream.open->opened_ns < kOldestNs) continue;
    if (driver_.set_context(stream.context) == Driver::kSuccess) close(stream);
  }
}

void CompletionTracker::look() {
  if (captures_.has_any()) return;
  const Lock locked(lock_);
  poll();
}

// A stream may be captured by another thread meanwhile, which polling an event would spoil.
void CompletionTracker::poll() {
  if (is_stopped_ || closed_count_ == 0) return;
  const RelaxedCapture relaxed(driver_);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < closed_count_; ++i) {
    LaunchGroup& group = *closed_[i];
    const Driver::Result result = has_closed_before(group, kept) ? Driver::kNotReady : driver_.event_query(group.end);
    if (result == Driver::kNotReady) {
      closed_[kept++] = &group;
    } else {
      finish(group, result == Driver::kSuccess);
    }
  }
  closed_count_ = kept;
}

/// Whether one of the first `count` closed groups is of the same stream.
bool CompletionTracker::has_closed_before(const LaunchGroup& group, std::uint32_t count) const {
  return std::any_of(closed_, closed_ + count,
                     [&](const LaunchGroup* before) { return before->stream == group.stream; });
}

void CompletionTracker::finish(LaunchGroup& group, bool is_observed) {
  if (is_observed) {
    float milliseconds = 0;
    const bool has_time = driver_.event_elapsed(&milliseconds, group.begin, group.end) == Driver::kSuccess;
    const auto took_ns = static_cast<std::int64_t>(std::max(milliseconds, 0.0F) * 1e6F);
    ends_.write_group(group, has_time ? took_ns : EndWriter::kUnknownNs);
  } else {
    ends_.write_unobserved(group);
  }
  groups_.release(group);
}

void CompletionTracker::forget_stream(void* context, void* stream) {
  const Lock locked(lock_);
  for (TrackedStream& each : streams_) {
    if (each.stream != stream || each.context != context) continue;
    const bool is_closed = close(each);
    if (!is_closed && each.has_launches()) {
      finish(*each.open, false);
    } else if (!is_closed && each.open != nullptr) {
      groups_.release(*each.open);
    }
    streams_.forget(each);
  }
}

void CompletionTracker::forget_context(const void* context) {
  const Lock locked(lock_);
  poll();
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < closed_count_; ++i) {
    if (closed_[i]->context == context) {
      finish(*closed_[i], false);
    } else {
      closed_[kept++] = closed_[i];
    }
  }
  closed_count_ = kept;
  for (TrackedStream& stream : streams_) {
    if (stream.context != context) continue;
    if (stream.has_launches()) finish(*stream.open, false);
    streams_.forget(stream);
  }
  groups_.forget_context(context);
}

void CompletionTracker::forget_contexts() {
  for (const TrackedStream& stream : streams_)
    if (const void* context = stream.context; context != nullptr) forget_context(context);
  for (const LaunchGroup& group : groups_)  // whose streams are gone
    if (const void* context = group.context; context != nullptr) forget_context(context);
}

bool CompletionTracker::released_primary(int device, const void* context) {
  unsigned flags = 0;
  int is_active = 0;
  const bool is_known = driver_.primary_context_state != nullptr &&
                        driver_.primary_context_state(device, &flags, &is_active) == Driver::kSuccess;
  int its_device = device;  // of a context that has ended, the driver may not say it
  if (driver_.current_device != nullptr && driver_.current_device(&its_device) != Driver::kSuccess) its_device = device;
  const bool has_ended = is_known && is_active == 0 && its_device == device;
  if (has_ended) forget_context(context);
  return has_ended;
}

// A signal's handler may end the program while its own thread has the lock.
void CompletionTracker::stop() {
  is_stopped_ = true;
  const timespec until = guest::to_timespec(guest::monotonic_ns() + kStopPatienceNs);
  if (pthread_mutex_clocklock(&lock_, CLOCK_MONOTONIC, &until) == 0) pthread_mutex_unlock(&lock_);
}

void CompletionTracker::wake() {
  if (is_idle_.load() == 0) return;
  is_idle_.store(0);
  announce(work_);
}

void* CompletionTracker::run(void* self) {
  prctl(PR_SET_NAME, "corun-gate");
  prctl(PR_SET_TIMERSLACK, 1000);
  static_cast<CompletionTracker*>(self)->watch();
  return nullptr;
}

// Naps are short while an end may soon be detected, and longer the longer that takes.
void CompletionTracker::watch() {
  std::int64_t nap_ns = kShortestNapNs, last_work_ns = 0;
  for (;;) {
    const std::uint32_t seen = work_.load();
    const std::int64_t now = guest::monotonic_ns();
    {
      const Lock locked(lock_);
      if (is_stopped_) return;
      const std::uint32_t before = closed_count_;
      close_old_groups(now);
      poll();
      nap_ns = closed_count_ < before ? kShortestNapNs : std::min(nap_ns * 5 / 4, kLongestNapNs);
      const bool has_work = closed_count_ > 0 || std::any_of(streams_.begin(), streams_.end(),
                                                             [](const auto& stream) { return stream.has_launches(); });
      if (has_work) last_work_ns = now;
      if (!has_work && now - last_work_ns > kAwakeNs) is_idle_.store(1);
    }
    if (is_idle_.load() != 0) {
      futex_wait(work_, seen, kIdleNs);
      is_idle_.store(0);
      nap_ns = kShortestNapNs;
      last_work_ns = guest::monotonic_ns();
      continue;
    }
    const timespec nap{0, static_cast<long>(nap_ns)};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace corun::gate
