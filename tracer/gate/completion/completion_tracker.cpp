#include "tracer/gate/completion/completion_tracker.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "tracer/cuda/cupti_abi.h"
#include "tracer/gate/channel/futex.h"
#include "tracer/guest/background.h"
#include "tracer/guest/lock.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

using guest::Lock;

constexpr std::int64_t kShortestNapNs = 20'000, kLongestNapNs = 200'000;
constexpr std::int64_t kAwakeNs = 5'000'000;    // after the last work, lest every launch of a slow program wakes us
constexpr int kRelaxed = 2;                     // a mode of capturing
constexpr std::int64_t kLongGroupNs = 500'000;  // as launches took lately: so much may end before we hear of it
constexpr std::int64_t kNewestWeighs = 8;       // an eighth
constexpr std::int64_t kBackToBackNs = 20'000;  // from the end of a group's launches to the next: as between two of its own
constexpr std::int64_t kIdleNs = 1'000'000'000;
constexpr std::int64_t kStopPatienceNs = 100'000'000;

bool is_of_thread(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) == cupti::kStreamPerThread; }
bool is_legacy(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) == cupti::kStreamLegacy; }

}  // namespace

bool CompletionTracker::start(const GateLink& link) {
  link_ = &link;
  link.slot().typical_ns = kUsualNs;
  return driver_.load() && guest::start_thread(&CompletionTracker::run, this);
}

CompletionTracker::Group* CompletionTracker::group_of(void* context, void* stream) {
  const pthread_t thread = is_of_thread(stream) ? pthread_self() : pthread_t{};
  for (std::uint32_t i = 0; i < group_count_; ++i) {
    Group& group = groups_[i];
    if (group.context == context && group.stream == stream && group.thread == thread) return &group;
  }
  for (std::uint32_t i = 0; i < group_count_; ++i)
    if (groups_[i].context == nullptr) return groups_[i] = {context, stream, thread, nullptr, nullptr}, &groups_[i];
  if (group_count_ == kMostGroups) return nullptr;
  groups_[group_count_] = {context, stream, thread, nullptr, nullptr};
  return &groups_[group_count_++];
}

__thread CompletionTracker::Known CompletionTracker::known_ __attribute__((tls_model("initial-exec")));

bool CompletionTracker::is_known(void* context, void* stream) const {
  return known_.context == context && known_.stream == stream &&
         known_.generation == generation_.load(std::memory_order_relaxed);
}

CompletionTracker::Group* CompletionTracker::known_group(void* context, void* stream) {
  if (is_known(context, stream)) return known_.group;
  const Lock locked(lock_);
  known_ = {context, stream, group_of(context, stream), generation_.load()};
  return known_.group;
}

std::uint32_t CompletionTracker::number_of(void* context, void* stream) {
  const Group* group = known_group(context, stream);
  return group == nullptr ? kMostGroups : static_cast<std::uint32_t>(group - groups_);
}

CompletionTracker::Checkpoint* CompletionTracker::make(void* context) {
  for (Checkpoint& checkpoint : checkpoints_) {
    if (checkpoint.is_used || (checkpoint.begin != nullptr && checkpoint.context != context)) continue;
    const bool has_events =
        checkpoint.begin != nullptr || (driver_.event_create(&checkpoint.begin, 0) == Driver::kSuccess &&
                                        driver_.event_create(&checkpoint.end, 0) == Driver::kSuccess);
    if (!has_events) return checkpoint.begin = nullptr, nullptr;
    checkpoint.context = context;
    checkpoint.group = nullptr;
    checkpoint.count = 0;
    checkpoint.is_used = true;
    return &checkpoint;
  }
  return nullptr;
}

bool CompletionTracker::is_in_capture(void* stream) const {
  if (captures_.load() == 0) return false;
  int status = 0;
  return driver_.is_capturing(stream, &status) == Driver::kSuccess && status != 0;
}

// While anything is being captured, an event in the legacy stream would spoil it.
bool CompletionTracker::may_record(void* stream) const {
  return captures_.load() == 0 || !(is_legacy(stream) || is_in_capture(stream));
}

void CompletionTracker::before_launch(void* context, void* stream) {
  const Group* known = known_group(context, stream);
  if (known == nullptr || __atomic_load_n(&known->open, __ATOMIC_RELAXED) != nullptr) return;
  const Lock locked(lock_);
  Group* group = is_stopped_ ? nullptr : group_of(context, stream);
  if (group != nullptr) open(*group);
}

void CompletionTracker::open(Group& group) {
  if (group.open != nullptr || !may_record(group.stream)) return;
  Checkpoint* checkpoint = make(group.context);
  if (checkpoint == nullptr) return;
  if (begin(*checkpoint, group)) return put(group, checkpoint);
  release(*checkpoint);
}

// An event costs a launch-bound program more than all else here: of two groups back to back, one serves both.
bool CompletionTracker::begin(Checkpoint& checkpoint, Group& group) {
  checkpoint.opened_ns = guest::monotonic_ns();
  Checkpoint* before = group.last;
  const bool is_back_to_back = before != nullptr && before->is_used && before->group == &group &&
                               checkpoint.opened_ns - before->closed_ns < kBackToBackNs;
  if (!is_back_to_back) return driver_.event_record(checkpoint.begin, group.stream) == Driver::kSuccess;
  checkpoint.before = before;
  before->next = &checkpoint;
  return true;
}

// Who comes behind takes over the event.
void CompletionTracker::release(Checkpoint& checkpoint) {
  if (checkpoint.next != nullptr) {
    std::swap(checkpoint.end, checkpoint.next->begin);
    checkpoint.next->before = nullptr;
  }
  if (checkpoint.before != nullptr) checkpoint.before->next = nullptr;
  checkpoint.before = checkpoint.next = nullptr;
  checkpoint.is_used = false;
}

void CompletionTracker::put(Group& group, Checkpoint* open) { __atomic_store_n(&group.open, open, __ATOMIC_RELAXED); }

// The clock is looked at for what has waited, not for every launch: hence the time at which it was submitted.
void CompletionTracker::after_launch(void* context, void* stream, std::uint64_t number) {
  const Lock locked(lock_);
  Group* group = is_stopped_ ? nullptr : is_known(context, stream) ? known_.group : group_of(context, stream);
  if (group != nullptr) open(*group);  // where somebody has closed it since: its time is lost, its end is not
  if (group == nullptr || group->open == nullptr || group->open->count == kMostLaunches)
    return leave_unobserved(number);
  Checkpoint& open = *group->open;
  open.numbers[open.count++] = number;
  const std::uint32_t every = std::clamp(link_->lane().every.load(std::memory_order_relaxed), 1U, kMostLaunches);
  const bool is_old = link_->lane().launches[number % kDepth].submitted_ns - open.opened_ns >= kOldestNs;
  const bool is_long = open.count * link_->slot().typical_ns >= kLongGroupNs;
  if (open.count >= every || is_old || is_long || is_of_thread(stream)) close(*group);
  wake();
}

void CompletionTracker::forget_launch(std::uint64_t number) {
  const Lock locked(lock_);
  leave_unobserved(number);
}

void CompletionTracker::leave_unobserved(std::uint64_t number) {
  link_->lane().unobserved.fetch_add(1);
  const std::int64_t now = guest::monotonic_ns();
  report(number, now, now, 0, 1);
  tell();
}

// What was recorded before it may have been long before the next one.
void CompletionTracker::has_failed(void* context, void* stream, std::uint64_t number) {
  {
    const Lock locked(lock_);
    Group* group = group_of(context, stream);
    if (group != nullptr && group->open != nullptr && group->open->count == 0) {
      release(*group->open);
      put(*group, nullptr);
    }
  }
  ended_with_call(number);
}

void CompletionTracker::ended_with_call(std::uint64_t number) {
  look();
  const Lock locked(lock_);
  const std::int64_t now = guest::monotonic_ns();
  const std::int64_t submitted = link_->lane().launches[number % kDepth].submitted_ns;
  const std::int64_t begin = std::clamp(last_end_ns_, std::min(submitted, now), now);
  report(number, begin, now, now - begin, 1);
  tell();
}

bool CompletionTracker::close(Group& group) {
  Checkpoint* open = group.open;
  if (open == nullptr || open->count == 0 || is_stopped_ || !may_record(group.stream)) return false;
  put(group, nullptr);
  if (driver_.event_record(open->end, group.stream) != Driver::kSuccess) return finish(*open, false), false;
  open->group = &group;
  open->closed_ns = guest::monotonic_ns();
  group.last = open;
  closed_[closed_count_++] = open;
  return true;
}

void CompletionTracker::close_groups(void* context) {
  const Lock locked(lock_);
  for (std::uint32_t i = 0; i < group_count_; ++i) {
    const bool is_of_another = is_of_thread(groups_[i].stream) && groups_[i].thread != pthread_self();
    if (groups_[i].context == context && !is_of_another) close(groups_[i]);
  }
  wake();
}

void CompletionTracker::close_old_groups(std::int64_t now_ns) {
  for (std::uint32_t i = 0; i < group_count_; ++i) {
    Group& group = groups_[i];
    if (group.open == nullptr || is_of_thread(group.stream) || now_ns - group.open->opened_ns < kOldestNs) continue;
    if (driver_.set_context(group.context) == Driver::kSuccess) close(group);
  }
}

void CompletionTracker::look() {
  if (captures_.load() > 0) return;
  const Lock locked(lock_);
  poll();
}

// Somebody may capture, and to ask for an event would be an offence: but not for a thread that has relaxed.
void CompletionTracker::poll() {
  if (is_stopped_ || closed_count_ == 0) return;
  int mode = kRelaxed;
  driver_.exchange_capture_mode(&mode);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < closed_count_; ++i) {
    Checkpoint* checkpoint = closed_[i];
    const bool is_behind_another = std::any_of(
        closed_, closed_ + kept, [&](const Checkpoint* before) { return before->group == checkpoint->group; });
    const Driver::Result result = is_behind_another ? Driver::kNotReady : driver_.event_query(checkpoint->end);
    if (result == Driver::kNotReady) {
      closed_[kept++] = checkpoint;
    } else {
      finish(*checkpoint, result == Driver::kSuccess);
    }
  }
  closed_count_ = kept;
  driver_.exchange_capture_mode(&mode);
}

void CompletionTracker::finish(Checkpoint& checkpoint, bool is_observed) {
  const std::int64_t now = guest::monotonic_ns();
  float milliseconds = 0;
  const bool has_time =
      is_observed && driver_.event_elapsed(&milliseconds, checkpoint.begin, checkpoint.end) == Driver::kSuccess;
  const std::int64_t took = has_time && milliseconds > 0 ? static_cast<std::int64_t>(milliseconds * 1e6F) : 0;
  const std::int64_t each = took / checkpoint.count;
  std::atomic<std::int64_t>& typical_ns = link_->slot().typical_ns;
  if (has_time) typical_ns = typical_ns + (each - typical_ns) / kNewestWeighs;
  for (std::uint32_t i = 0; i < checkpoint.count; ++i) {
    const std::int64_t begin = now - took + each * i;
    report(checkpoint.numbers[i], begin, begin + each, each, checkpoint.count);
  }
  if (!is_observed) link_->lane().unobserved.fetch_add(checkpoint.count);
  last_end_ns_ = now;
  release(checkpoint);
  tell();
}

void CompletionTracker::report(std::uint64_t number, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t device_ns,
                         std::uint32_t group) {
  Slot& slot = link_->slot();
  Launch& launch = link_->lane().launches[number % kDepth];
  launch.begin_ns = std::max(begin_ns, launch.submitted_ns);
  launch.end_ns = std::max(end_ns, launch.begin_ns);
  launch.device_ns = device_ns;
  launch.group = group;
  const std::uint64_t place = slot.done_count.load(std::memory_order_relaxed);
  slot.done[place % kDepth] = number;
  slot.done_count.store(place + 1, std::memory_order_release);
  slot.in_flight.fetch_sub(1);
}

void CompletionTracker::tell() {
  Lane& lane = link_->lane();
  if (lane.tells.load(std::memory_order_relaxed) != 0) link_->ring();
}

void CompletionTracker::capture_ended() {
  int before = captures_.load();
  while (before > 0 && !captures_.compare_exchange_weak(before, before - 1)) {
  }
}

void CompletionTracker::forget_stream(void* context, void* stream) {
  const Lock locked(lock_);
  for (std::uint32_t i = 0; i < group_count_; ++i) {
    Group& group = groups_[i];
    if (group.stream != stream || group.context != context) continue;
    if (!close(group) && group.open != nullptr) {
      group.open->count > 0 ? finish(*group.open, false) : release(*group.open);
    }
    group = {};
    ++generation_;
  }
}

// Events go with their context.
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
  for (Group& group : groups_) {
    if (group.context != context) continue;
    if (group.open != nullptr && group.open->count > 0) finish(*group.open, false);
    group = {};
  }
  ++generation_;
  for (Checkpoint& checkpoint : checkpoints_)
    if (checkpoint.context == context) checkpoint = {};
}

void CompletionTracker::forget_contexts() {
  for (std::uint32_t i = 0; i < group_count_; ++i)
    if (const void* context = groups_[i].context; context != nullptr) forget_context(context);
  for (const Checkpoint& checkpoint : checkpoints_)  // whose streams are gone
    if (const void* context = checkpoint.context; context != nullptr) forget_context(context);
}

void CompletionTracker::released_primary(int device, const void* context) {
  unsigned flags = 0;
  int is_active = 0;
  const bool is_known = driver_.primary_context_state != nullptr &&
                        driver_.primary_context_state(device, &flags, &is_active) == Driver::kSuccess;
  int its_device = device;  // of a context that has ended, the driver may not say it
  if (driver_.current_device != nullptr && driver_.current_device(&its_device) != Driver::kSuccess) its_device = device;
  if (is_known && is_active == 0 && its_device == device) forget_context(context);
}

// A signal's handler may end the program while its own thread is in the lock.
void CompletionTracker::stop() {
  is_stopped_ = true;
  const timespec until = guest::to_timespec(guest::monotonic_ns() + kStopPatienceNs);
  if (pthread_mutex_clocklock(&lock_, CLOCK_MONOTONIC, &until) == 0) pthread_mutex_unlock(&lock_);
}

bool CompletionTracker::has_open_group() const {
  return std::any_of(groups_, groups_ + group_count_,
                     [](const Group& group) { return group.open != nullptr && group.open->count > 0; });
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

// Naps are short while something may soon be seen to end, and longer the longer that takes.
void CompletionTracker::watch() {
  std::int64_t nap_ns = kShortestNapNs, last_work_ns = 0;
  for (;;) {
    const std::uint32_t seen = work_.load();
    const std::int64_t now = guest::monotonic_ns();
    bool has_work = false, is_stopped = false;
    {
      const Lock locked(lock_);
      const std::uint32_t before = closed_count_;
      if (!is_stopped_) close_old_groups(now);
      poll();
      nap_ns = closed_count_ < before ? kShortestNapNs : std::min(nap_ns * 5 / 4, kLongestNapNs);
      has_work = closed_count_ > 0 || has_open_group();
      is_stopped = is_stopped_;
      if (has_work) last_work_ns = now;
      if (!has_work && now - last_work_ns > kAwakeNs) is_idle_.store(1);
    }
    if (is_stopped) return;
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
