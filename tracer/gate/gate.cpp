#include "tracer/gate/gate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tracer/gate/futex.h"
#include "tracer/gate/gate_word.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

constexpr std::int64_t kNapNs = 10'000'000;  // between looks at whether the scheduler lives
constexpr std::int64_t kShortestNapNs = 20'000, kLongestNapNs = 200'000;  // between looks at what has ended
constexpr std::uint64_t kLaunchesPerRing = 1024;                          // that pass an open gate unheard, at most

constexpr char kNoCupti[] = "corun: no libcupti.so.13 was found, this program runs on without a gate\n";
constexpr char kTaken[] = "corun: another profiler holds CUPTI in this program, it runs on without a gate\n";
constexpr char kNoDriver[] = "corun: the CUDA driver lacks what a gate needs, this program runs on without one\n";
constexpr char kStranger[] = "corun: another process of this client has the gate, this one runs on without one\n";
constexpr char kGone[] = "corun: the scheduler is gone, this program runs on without a gate\n";

}  // namespace

void Gate::start(cupti::Callback callback) {
  if (!link_.open()) return;
  const char* path = secure_getenv("CORUN_TRACE_CUPTI");
  if (cupti::load(path == nullptr ? "" : path, cupti_) != cupti::LoadResult::kLoaded) return give_up(kNoCupti);
  if (!graphs_.load()) return give_up(kNoDriver);
  if (!subscribe(callback)) return give_up(kTaken);
  const char* const obstacle = !link_.claim_launches() ? kStranger : !checkpoints_.start(link_) ? kNoDriver : nullptr;
  if (obstacle != nullptr) {
    cupti_.unsubscribe(subscriber_);
    return give_up(obstacle);
  }
  process_ = getpid();
  is_on_ = true;
  link_.ring();
}

// CUPTI refuses numbers of functions that are newer than itself.
bool Gate::subscribe(cupti::Callback callback) {
  if (cupti_.subscribe(&subscriber_, callback, nullptr) != cupti::kSuccess) return false;
  bool is_enabled = false;
  for (const CallRange& range : kCalls)
    for (std::uint32_t function = range.first; function <= range.last; ++function)
      is_enabled |= cupti_.enable_callback(1, subscriber_, cupti::kDomainDriver, function) == cupti::kSuccess;
  return is_enabled;
}

void Gate::give_up(const char* line) {
  is_on_ = false;
  if (has_spoken_.exchange(true)) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, strlen(line));
}

// Nobody is told of a client that has left or a run that has ended as it should.
bool Gate::must_give_up() {
  if (!is_on_) return true;
  if (link_.is_over()) return is_on_ = false, true;
  if (link_.has_scheduler()) return false;
  give_up(kGone);
  return true;
}

void Gate::on_call(std::uint32_t function, const cupti::CallbackSite& site) {
  const CallRole role = role_of(function);
  if (site.site == cupti::kSiteEnter) {
    if (role == CallRole::kLaunch) *site.shared = 0;
    if (is_on_.load(std::memory_order_relaxed)) before(function, role, site);
  } else if (is_on_.load(std::memory_order_relaxed)) {
    after(function, role, site);
  }
}

void Gate::before(std::uint32_t function, CallRole role, const cupti::CallbackSite& site) {
  switch (role) {
    case CallRole::kLaunch:
      return enter_launch(function, site);
    case CallRole::kSynchronise:
      return checkpoints_.close_groups(site.context);
    case CallRole::kBeginCapture:
      return checkpoints_.capture_began();
    case CallRole::kDestroyStream:
      return checkpoints_.forget_stream(site.context, const_cast<void*>(first_handle(site.parameters)));
    case CallRole::kDestroyContext:
      return checkpoints_.forget_context();
    case CallRole::kDestroyGraph:
      return graphs_.destroyed(first_handle(site.parameters));
    default:
      return;
  }
}

void Gate::after(std::uint32_t function, CallRole role, const cupti::CallbackSite& site) {
  const bool has_failed = site.result != nullptr && *site.result != cupti::kSuccess;
  switch (role) {
    case CallRole::kLaunch:
      return leave_launch(function, site);
    case CallRole::kSynchronise:
      return checkpoints_.look();
    case CallRole::kBeginCapture:
      return has_failed ? checkpoints_.capture_ended() : void();
    case CallRole::kEndCapture:
      return checkpoints_.capture_ended();
    case CallRole::kMakeGraph:
      if (const MadeGraph made = read_made_graph(site.parameters); !has_failed && made.made != nullptr)
        graphs_.made(*made.made, made.graph);
      return;
    default:
      return;
  }
}

void Gate::enter_launch(std::uint32_t function, const cupti::CallbackSite& site) {
  const LaunchCall call = read_launch(function, site.parameters);
  Lane& lane = link_.lane();
  if (call.has_stream && checkpoints_.is_in_capture(call.stream)) {
    lane.captured.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (!call.has_stream) checkpoints_.close_groups(site.context);
  const std::uint64_t before = lane.gate.fetch_add(1);
  const std::uint64_t number = launches_of(before);
  if (!await_entry(number)) return;
  submit(number, call, site);
  if (!passes(before, number)) {
    await_admission(number, site.context);
  } else if (number % kLaunchesPerRing == 0) {
    link_.ring();
  }
  await_bound(site.context);
  if (!is_on_.load(std::memory_order_relaxed)) return;
  checkpoints_.launched();
  *site.shared = number + 1;
  if (call.has_stream) checkpoints_.before_launch(site.context, call.stream);
}

void Gate::submit(std::uint64_t number, const LaunchCall& call, const cupti::CallbackSite& site) {
  Launch& launch = link_.lane().launches[number % kDepth];
  launch.submitted_ns = guest::monotonic_ns();
  launch.kind = call.kind;
  launch.name = call.kind == LaunchKind::kKernel ? names_.number_of(site.symbol, link_.lane()) : kNoName;
  launch.stream = call.has_stream ? checkpoints_.number_of(site.context, call.stream) : 0;
  launch.threads = call.threads;
  launch.blocks = call.blocks;
  launch.bytes = call.bytes;
  launch.shared_bytes = call.shared_bytes;
  launch.graph_nodes = 0;
  if (call.kind == LaunchKind::kGraph) {
    const GraphTable::Sum sum = graphs_.sum_of(call.graph);
    launch.graph_nodes = sum.kernels;
    launch.blocks = sum.blocks;
  }
  launch.ready.store(number + 1, std::memory_order_release);
}

// Where thousands are in flight, entries are used again only when the scheduler has seen the old ones end.
bool Gate::await_entry(std::uint64_t number) {
  Lane& lane = link_.lane();
  for (;;) {
    const std::uint32_t seen = lane.turn.load();
    if (number - lane.retired.load(std::memory_order_acquire) < kDepth) return true;
    if (must_give_up()) return false;
    link_.ring();
    sleep_until_turn(seen);
  }
}

void Gate::sleep_until_turn(std::uint32_t seen) {
  Lane& lane = link_.lane();
  lane.sleepers.fetch_add(1);
  futex_wait(lane.turn, seen, kNapNs);
  lane.sleepers.fetch_sub(1);
}

// Most answers come while we are still awake. Where none does, the end of what is in flight may be what is waited for.
void Gate::await_admission(std::uint64_t number, void* context) {
  Lane& lane = link_.lane();
  std::uint32_t seen = lane.turn.load();
  link_.ring();
  const bool is_answered = awake_.wait(lane.turn, seen, kAwakeForAnswerNs) && passes(lane.gate.load(), number);
  if (is_answered) return;
  checkpoints_.close_groups(context);
  for (;;) {
    seen = lane.turn.load();
    if (passes(lane.gate.load(), number) || must_give_up()) return;
    sleep_until_turn(seen);
  }
}

// One launch always runs while the next is queued, however long they are.
bool Gate::is_at_bound() const {
  const Lane& lane = link_.lane();
  const std::uint32_t bound = lane.bound.load(std::memory_order_relaxed), in_flight = checkpoints_.in_flight();
  const auto bound_ns = static_cast<std::int64_t>(lane.bound_ns.load(std::memory_order_relaxed));
  if (bound > 0 && in_flight >= bound) return true;
  return bound_ns > 0 && in_flight >= 2 && checkpoints_.in_flight_ns() >= bound_ns;
}

// Who waits looks for ends itself: no other thread has to be woken first. A launch that nothing may follow until
// something else has been launched would stand here for ever: hence the patience.
void Gate::await_bound(void* context) {
  std::int64_t since_ns = 0, nap_ns = kShortestNapNs;
  std::uint32_t least = UINT32_MAX;
  while (is_at_bound() && !must_give_up()) {
    const std::int64_t now = guest::monotonic_ns();
    const std::uint32_t in_flight = checkpoints_.in_flight();
    if (least == UINT32_MAX) checkpoints_.close_groups(context);
    if (in_flight < least) since_ns = now;
    least = in_flight < least ? in_flight : least;
    if (now - since_ns > kPatienceNs) {
      link_.lane().let_through.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const timespec nap{0, static_cast<long>(nap_ns)};
    nanosleep(&nap, nullptr);
    nap_ns = nap_ns * 5 / 4 < kLongestNapNs ? nap_ns * 5 / 4 : kLongestNapNs;
    checkpoints_.look();
  }
}

void Gate::leave_launch(std::uint32_t function, const cupti::CallbackSite& site) {
  if (*site.shared == 0) return;
  const std::uint64_t number = *site.shared - 1;
  const bool has_failed = site.result != nullptr && *site.result != cupti::kSuccess;
  const LaunchCall call = read_launch(function, site.parameters);
  if (has_failed || !call.has_stream) return checkpoints_.ended_with_call(number);
  checkpoints_.after_launch(site.context, call.stream, number);
}

void Gate::finish() {
  if (getpid() != process_) return;
  is_on_ = false;
  checkpoints_.stop();
}

}  // namespace corun::gate
