#include "sim/executor/client_worker.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sim/executor/client_commands.h"
#include "sim/executor/host/mps_daemon.h"
#include "sim/executor/host/spawn.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr useconds_t kNap = 1'000;
constexpr Duration kTerminationPatience = std::chrono::seconds{2};

Duration since(std::int64_t ns) { return Duration{WallClock::monotonic_ns() - ns}; }

}  // namespace

ClientWorker::ClientWorker(ClientId id, const RunInput& input, const ExecuteOptions& options, std::uint32_t streams,
                           int processor, RunAccount& account)
    : id_(id),
      spec_(input.clients[id.value]),
      device_(input.device),
      options_(options),
      processor_(processor),
      account_(account),
      setup_(setup_of(spec_, options, streams)),
      surrogates_(*spec_.workload, input.device, setup_.is_graphics),
      in_flight_(id, streams) {
  if (setup_.snapshot_bytes == 0) return;
  snapshot_ = SharedMemory::create("corun-snapshot", setup_.snapshot_bytes);
  setup_.snapshot_descriptor = snapshot_.descriptor();
}

void ClientWorker::start() {
  start_process();
  process_->await_ready(options_.start_patience);
  surrogates_.learn(process_->channel());
  setup_.is_measured = true;
  if (options_.mps != nullptr && !setup_.is_graphics) mps_server_ = options_.mps->server();
}

void ClientWorker::start_process() {
  auto next = std::make_unique<WorkerProcess>(spec_.name);
  Channel& channel = next->channel();
  channel.setup = setup_;
  channel.setup.first_number = in_flight_.next_number();
  channel.posted = channel.taken = in_flight_.next_number();
  surrogates_.describe(channel);
  if (process_) {
    const Channel& before = process_->channel();
    set_text(channel.device_name, before.device_name);
    channel.clock_offset_ns = before.clock_offset_ns;
    channel.clock_error_ns = before.clock_error_ns;
    channel.mps = before.mps;
  }
  process_ = std::move(next);
  const bool is_under_ours = options_.mps != nullptr;
  process_->start(options_.worker, processor_,
                  is_under_ours ? options_.mps->environment() : std::vector<std::string>{});
}

void ClientWorker::launch(const Submission& submission, Time now) {
  WorkOp op = spec_.workload->ops[submission.index];
  op.dispatch_gap = spec_.dispatch_gap_of(submission.index);
  Command command = command_for(submission, *spec_.workload, setup_.is_graphics);
  command.priority = priority_;
  const bool is_queued = in_flight_.has_work(op.stream);
  if (command_kind(op.kind) == CommandKind::kKernel &&
      !surrogates_.fill_in(command, op, submission.duration, is_queued))
    account_.too_short();
  in_flight_.launch(command, now, process_->channel());
}

std::optional<Ended> ClientWorker::take_completed(const WallClock& clock) {
  std::optional<Ended> done;
  if (!killed_.empty()) {
    done = killed_.front();
    killed_.pop_front();
  } else if (life_ == Life::kServing) {
    Channel& channel = process_->channel();
    done = in_flight_.take_completed(channel, clock);
  }
  return done;
}

Time ClientWorker::begin_of(std::uint64_t number, const WallClock& clock) const {
  return in_flight_.begin_of(number, process_->channel(), clock);
}

Time ClientWorker::running_since(const WallClock& clock) const {
  return life_ == Life::kServing ? in_flight_.running_since(process_->channel(), clock) : kNever;
}

Time ClientWorker::oldest_launch() const {
  Time oldest = in_flight_.oldest_launch();
  for (const Ended& killed : killed_) oldest = std::min(oldest, killed.begin);
  return oldest;
}

/// Graphics contexts are not part of MPS: nothing caps them, here as in simulation.
void ClientWorker::set_sm_cap(double fraction) {
  if (setup_.is_graphics) return;
  if (std::exchange(setup_.sm_cap, fraction) == fraction) return;
  if (life_ != Life::kDoomed && life_ != Life::kDying) ask({.kind = RequestKind::kSmCap, .fraction = fraction});
}

/// A client that takes no memory in simulation takes none here, either.
void ClientWorker::hold_memory(std::uint64_t bytes) {
  if (setup_.is_graphics || setup_.memory_bytes == 0) return;
  bytes = std::max(bytes, setup_.snapshot_bytes);
  if (std::exchange(setup_.memory_bytes, bytes) == bytes) return;
  if (life_ != Life::kDoomed && life_ != Life::kDying) ask({.kind = RequestKind::kMemory, .bytes = bytes});
}

void ClientWorker::snapshot() { ask({.kind = RequestKind::kSnapshot}); }

void ClientWorker::ask(Request request) {
  requests_.push_back(request);
  post_request();
}

/// One at a time: the channel has room for one.
void ClientWorker::post_request() {
  if (life_ != Life::kServing || under_way_ || requests_.empty()) return;
  under_way_ = requests_.front();
  requests_.pop_front();
  Channel& channel = process_->channel();
  channel.request = *under_way_;
  channel.request.after = channel.posted.load(std::memory_order_relaxed);
  asked_ns_ = WallClock::monotonic_ns();
  channel.asked.fetch_add(1, std::memory_order_release);
}

std::optional<CopyEvent> ClientWorker::take_answer() {
  const Channel& channel = process_->channel();
  if (!under_way_ || channel.answered.load(std::memory_order_acquire) != channel.asked.load()) return std::nullopt;
  const RequestKind kind = std::exchange(under_way_, std::nullopt)->kind;
  const Duration took{channel.answer.end_ns - channel.answer.begin_ns};
  post_request();
  switch (kind) {
    case RequestKind::kSmCap:
      account_.capped(spec_.name, channel.capped_sms, took);
      return std::nullopt;
    case RequestKind::kMemory:
      account_.resized(spec_.name, took);
      return std::nullopt;
    case RequestKind::kSnapshot:
      account_.kills().snapshot(spec_.name, since(asked_ns_));
      return CopyEvent::kSnapshot;
    case RequestKind::kRestore:
      account_.kills().restarted(spec_.name, since(killed_ns_), Duration{ended_ns_ - killed_ns_});
      return CopyEvent::kRestored;
  }
  return std::nullopt;
}

void ClientWorker::kill(const WallClock& clock) {
  life_ = Life::kDoomed;
  killed_ns_ = WallClock::monotonic_ns();
  if (mps_server_ > 0) termination_ = options_.mps->begin_to_terminate(mps_server_, process_->id());
  if (may_be_killed()) kill_process();
  std::ranges::copy(in_flight_.abort(clock.now(), process_->channel(), clock), std::back_inserter(killed_));
  requests_.clear();
  under_way_.reset();
}

void ClientWorker::kill_process() {
  life_ = Life::kDying;
  process_->kill();
}

/// A server that takes too long is not waited for.
bool ClientWorker::may_be_killed() const {
  return termination_ <= 0 || has_ended(termination_) || since(killed_ns_) > kTerminationPatience;
}

std::optional<CopyEvent> ClientWorker::go_on() {
  if (copied_) return std::exchange(copied_, std::nullopt);
  if (life_ == Life::kServing) return take_answer();
  if (life_ == Life::kDoomed && may_be_killed()) kill_process();
  if (has_left_ || life_ == Life::kDoomed) return std::nullopt;
  if (life_ == Life::kStarting) return come_back();
  if (!process_->has_exited()) return std::nullopt;
  ended_ns_ = WallClock::monotonic_ns();
  life_ = Life::kStarting;
  start_process();
  return std::nullopt;
}

/// With its memory as the last snapshot kept it or, without one, as it was at first: what is copied takes as long.
std::optional<CopyEvent> ClientWorker::come_back() {
  if (!process_->is_ready()) return std::nullopt;
  life_ = Life::kServing;
  const bool has_link = device_.to_device_bytes_per_s > 0;
  if (has_link && setup_.snapshot_bytes > 0 && !setup_.is_graphics) {
    requests_.push_front({.kind = RequestKind::kRestore});
    post_request();
    return std::nullopt;
  }
  post_request();
  account_.kills().restarted(spec_.name, since(killed_ns_), Duration{ended_ns_ - killed_ns_});
  return CopyEvent::kRestored;
}

void ClientWorker::finish_requests() {
  while (under_way_ || !requests_.empty()) {
    if (const auto copied = take_answer()) copied_ = copied;
    check(kRunStart);
    usleep(kNap);
  }
}

void ClientWorker::give_up(std::string_view what, Duration patience) const {
  throw Error(ErrorKind::kDevice, fmt::format("client '{}': {} for {:.1f} s", spec_.name, what, to_seconds(patience)));
}

/// For one that has left, the run waits neither for a new process nor for what was asked.
void ClientWorker::check(Time now) const {
  if (life_ != Life::kServing && !has_left_ && since(killed_ns_) > options_.start_patience)
    give_up("it was killed, and no new process has come up", options_.start_patience);
  if (life_ == Life::kDoomed || life_ == Life::kDying) return;
  process_->check();
  if (under_way_ && !has_left_ && since(asked_ns_) > options_.start_patience)
    give_up("its worker has not done what was asked of it", options_.start_patience);
  const Time waiting = in_flight_.waiting_since();
  if (waiting != kNever && !under_way_ && now - waiting >= options_.stall_patience)
    give_up("an operation has not ended", options_.stall_patience);
}

void ClientWorker::leave() {
  has_left_ = true;
  process_->tell_to_end();
}

void ClientWorker::end(Duration patience) {
  if (life_ == Life::kDoomed) kill_process();
  if (life_ != Life::kDying) return process_->end(patience);
  const WallClock clock;
  while (!process_->has_exited() && clock.elapsed() < patience) usleep(kNap);
}

}  // namespace corun::executor
