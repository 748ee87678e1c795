#include "tracer/gate/gate.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tracer/gate/channel/futex.h"
#include "tracer/gate/channel/word.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

constexpr std::int64_t kNapNs = 10'000'000;  // between looks at whether the scheduler lives
constexpr std::int64_t kShortestNapNs = 20'000, kLongestNapNs = 200'000;  // between looks at what has ended
constexpr std::uint64_t kLaunchesPerRing = 1024;                          // that pass an open gate unheard, at most
constexpr std::uint64_t kNoTicket = 0;
constexpr std::uint64_t kWasCaptured = 1;  // of the end of a capture: the stream it names was being captured

// By Obstacle.
constexpr const char* kLines[] = {
    "",
    "corun: the CUDA driver lacks what a gate needs, this program runs on without one\n",
    "corun: 32 processes of this client are at the gate, this one runs on without one\n",
    "corun: no libcupti.so.13 was found, this program runs on without a gate\n",
    "corun: another profiler holds CUPTI in this program, it runs on without a gate\n",
    "corun: the scheduler is gone, this program runs on without a gate\n",
};
static_assert(kMostProcesses == 32);

}  // namespace

bool Gate::start(Interception interception) {
  const Obstacle obstacle = !graphs_.load()              ? Obstacle::kNoDriver
                            : !link_.take_slot()         ? Obstacle::kNoSlot
                            : !completions_.start(link_) ? Obstacle::kNoDriver
                                                         : Obstacle::kNone;
  if (obstacle != Obstacle::kNone) {
    give_up(obstacle);
    return false;
  }
  memory_.start(link_);
  process_ = getpid();
  (interception == Interception::kCupti ? link_.lane().by_cupti : link_.lane().by_preload).fetch_add(1);
  interception_ = interception;
  link_.ring();
  return true;
}

void Gate::give_up(Obstacle obstacle) {
  interception_ = Interception::kNone;
  link_.lane().obstacle = obstacle;
  if (has_spoken_.exchange(true)) return;
  const char* line = kLines[static_cast<std::uint32_t>(obstacle)];
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, strlen(line));
}

// A program says nothing where its client has left or the run has ended.
bool Gate::must_give_up() {
  if (interception_ == Interception::kNone) return true;
  const bool is_over = link_.is_over();
  if (!is_over && link_.has_scheduler()) return false;
  if (is_over) {
    interception_ = Interception::kNone;
  } else {
    give_up(Obstacle::kNoScheduler);
  }
  return true;
}

std::uint64_t Gate::before(const Call& call) {
  switch (role_of(call.function)) {
    case CallRole::kLaunch:
      return enter_launch(call);
    case CallRole::kSynchronise:
      completions_.close_groups(call.context);
      break;
    case CallRole::kBeginCapture:
      completions_.captures().began();
      break;
    case CallRole::kEndCapture:
      return completions_.captures().includes(const_cast<void*>(first_handle(call.parameters))) ? kWasCaptured
                                                                                                : kNoTicket;
    case CallRole::kDestroyStream:
      completions_.forget_stream(call.context, const_cast<void*>(first_handle(call.parameters)));
      break;
    case CallRole::kDestroyContext:
      completions_.forget_context(first_handle(call.parameters));
      memory_.forget_context(first_handle(call.parameters));
      break;
    case CallRole::kResetContext:
      completions_.forget_contexts();
      memory_.forget_contexts();
      break;
    case CallRole::kDestroyGraph:
      graphs_.destroyed(first_handle(call.parameters));
      break;
    default:
      break;
  }
  return kNoTicket;
}

void Gate::after(const Call& call, std::uint64_t ticket, bool has_failed) {
  switch (role_of(call.function)) {
    case CallRole::kLaunch:
      if (ticket != kNoTicket) leave_launch(call, ticket - 1, has_failed);
      break;
    case CallRole::kSynchronise:
      completions_.look();
      break;
    case CallRole::kReleaseContext:
      if (!has_failed && completions_.released_primary(first_number(call.parameters), call.context))
        memory_.forget_context(call.context);
      break;
    case CallRole::kBeginCapture:
      if (has_failed) completions_.captures().ended();
      break;
    case CallRole::kEndCapture:
      if (ticket == kWasCaptured && !completions_.captures().includes(const_cast<void*>(first_handle(call.parameters))))
        completions_.captures().ended();
      break;
    case CallRole::kMakeGraph:
      if (const MadeGraph made = read_made_graph(call.parameters); !has_failed && made.made != nullptr)
        graphs_.made(*made.made, made.graph);
      break;
    default:
      break;
  }
}

/// The ticket of a launch is 1 + its number.
std::uint64_t Gate::enter_launch(const Call& call) {
  if (is_refused(call.function, call.parameters)) return kNoTicket;
  const LaunchCall launch = read_launch(call.function, call.parameters);
  Lane& lane = link_.lane();
  if (launch.has_stream && completions_.captures().includes(launch.stream)) {
    lane.captured.fetch_add(1, std::memory_order_relaxed);
    return kNoTicket;
  }
  if (!launch.has_stream) completions_.close_groups(call.context);
  const std::uint64_t before = lane.gate.fetch_add(1);
  const std::uint64_t number = launches_of(before);
  if (!await_entry(number)) return kNoTicket;
  submit(number, launch, call);
  if (!passes(before, number)) {
    await_admission(number, call.context);
  } else if (number % kLaunchesPerRing == 0) {
    link_.ring();
  }
  await_bound(call.context);
  completions_.launched();
  if (interception_.load(std::memory_order_relaxed) == Interception::kNone) {
    completions_.forget_launch(number);
    return kNoTicket;
  }
  if (launch.has_stream) completions_.before_launch(call.context, launch.stream);
  return number + 1;
}

void Gate::submit(std::uint64_t number, const LaunchCall& given, const Call& call) {
  Launch& launch = link_.lane().launches[number % kDepth];
  launch.submitted_ns = guest::monotonic_ns();
  launch.kind = given.kind;
  launch.name = given.kind == LaunchKind::kKernel ? names_.number_of(call.symbol, link_.lane()) : kNoName;
  launch.stream = given.has_stream ? completions_.number_of(call.context, given.stream) : 0;
  launch.threads = given.threads;
  launch.blocks = given.blocks;
  launch.bytes = given.bytes;
  launch.shared_bytes = given.shared_bytes;
  launch.graph_nodes = 0;
  launch.slot = link_.slot_mark();
  if (given.kind == LaunchKind::kGraph) {
    const GraphTable::Sum sum = graphs_.sum_of(given.graph);
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
  completions_.close_groups(context);
  for (;;) {
    seen = lane.turn.load();
    if (passes(lane.gate.load(), number) || must_give_up()) return;
    sleep_until_turn(seen);
  }
}

// Of all processes of the client.
Gate::InFlight Gate::in_flight() const {
  InFlight sum{};
  const Lane& lane = link_.lane();
  const std::uint32_t used = lane.slots_used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used && i < kMostProcesses; ++i) {
    const std::uint32_t launches = lane.slots[i].in_flight.load(std::memory_order_relaxed);
    sum.launches += launches;
    sum.takes_ns += launches * lane.slots[i].typical_ns.load(std::memory_order_relaxed);
  }
  return sum;
}

// One launch always runs while the next is queued, however long they are.
bool Gate::is_at_bound() const {
  const Lane& lane = link_.lane();
  const std::uint32_t bound = lane.bound.load(std::memory_order_relaxed);
  const auto bound_ns = static_cast<std::int64_t>(lane.bound_ns.load(std::memory_order_relaxed));
  if (bound == 0 && bound_ns == 0) return false;
  const InFlight its = in_flight();
  if (bound > 0 && its.launches >= bound) return true;
  return bound_ns > 0 && its.launches >= 2 && its.takes_ns >= bound_ns;
}

// The waiting thread polls for ends itself, so that no other thread has to be woken first. A launch that can only end
// after a later one would wait here for ever: hence the patience.
void Gate::await_bound(void* context) {
  std::int64_t since_ns = 0, nap_ns = kShortestNapNs;
  std::uint32_t least = UINT32_MAX;
  while (is_at_bound() && !must_give_up()) {
    const std::int64_t now = guest::monotonic_ns();
    const std::uint32_t launches = in_flight().launches;
    if (least == UINT32_MAX) completions_.close_groups(context);
    if (launches < least) since_ns = now;
    least = launches < least ? launches : least;
    if (now - since_ns > kPatienceNs) {
      link_.lane().let_through.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const timespec nap{0, static_cast<long>(nap_ns)};
    nanosleep(&nap, nullptr);
    nap_ns = nap_ns * 5 / 4 < kLongestNapNs ? nap_ns * 5 / 4 : kLongestNapNs;
    completions_.look();
  }
}

void Gate::leave_launch(const Call& call, std::uint64_t number, bool has_failed) {
  const LaunchCall launch = read_launch(call.function, call.parameters);
  if (!launch.has_stream) return completions_.ended_with_call(number);
  if (has_failed) return completions_.has_failed(call.context, launch.stream, number);
  completions_.after_launch(call.context, launch.stream, number);
}

void Gate::finish() {
  if (getpid() != process_) return;
  interception_ = Interception::kNone;
  completions_.stop();
}

}  // namespace corun::gate
