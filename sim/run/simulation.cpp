#include "sim/run/simulation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/device/work.h"
#include "sim/run/reports.h"
#include "sim/run/client_views.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr unsigned kNumberBits = 40;                                          // a ticket is (client, submission number)
constexpr std::uint64_t kCopyNumber = (std::uint64_t{1} << kNumberBits) - 1;  // of a snapshot or restore

Ticket ticket_of(ClientId client, std::uint64_t number) { return (Ticket{client.value} << kNumberBits) | number; }
std::uint64_t number_of(Ticket ticket) { return ticket & ((Ticket{1} << kNumberBits) - 1); }

std::vector<bool> which_render(const RunInput& input) {
  std::vector<bool> renders;
  for (const ClientSpec& spec : input.clients) renders.push_back(spec.workload->job_kind == JobKind::kFrame);
  return renders;
}

}  // namespace

Simulation::Simulation(const RunInput& input, Engine& engine, Recorder& recorder, Finished on_finished)
    : input_(input),
      engine_(engine),
      invariants_(input.clients.size(), recorder),
      device_(make_device(input.device)),
      arbiter_(*input.policy, input.policy_name, device_view(input.device), arbiter_clients(input), *this, invariants_),
      news_(input.gate, which_render(input), engine, arbiter_),
      on_finished_(std::move(on_finished)) {
  for (std::uint32_t i = 0; i < input.clients.size(); ++i) {
    const ClientSpec& spec = input.clients[i];
    clients_.push_back(
        std::make_unique<Client>(ClientId{i}, spec, input.seed, input.device.launch_queue_depth, *this, invariants_));
    if (spec.workload->job_kind == JobKind::kFrame) framed_.push_back(ClientId{i});
    if (spec.context.working_set_bytes > 0) paged_.push_back(ClientId{i});
    controls_.emplace_back().sm_cap = spec.context.sm_cap;
    device_->join(ClientId{i}, spec.context);
    const auto same =
        std::ranges::find(input.clients.begin(), input.clients.begin() + i, spec.workload, &ClientSpec::workload);
    sm_demands_.push_back(same - input.clients.begin() < i
                              ? sm_demands_[same - input.clients.begin()]
                              : std::make_shared<const std::vector<double>>(sm_demands(input.device, *spec.workload)));
  }
  resume_events_.resize(clients_.size());
  promised_.resize(clients_.size(), UINT64_MAX);
  copying_.resize(clients_.size());
  warm_time_.resize(clients_.size());
}

void Simulation::schedule() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    engine_.at(clients_[i]->arrival(), Phase::kArrival, &Simulation::on_join, this, i);
    for (const Resize& resize : input_.clients[i].resizes) {
      const Time when = kRunStart + resize.at;
      resizes_.push_back(
          {ClientId{i}, resize, engine_.at(when, Phase::kArrival, &Simulation::on_resize, this, resizes_.size())});
    }
  }
  engine_.at(kRunStart + input_.warmup, Phase::kSample, &Simulation::on_warm, this);
}

void Simulation::join(ClientId client) {
  arbiter_.join(client);
  clients_[client.value]->start();
}

RunResult Simulation::finish() {
  advance_device(now());
  arbiter_.finish();
  invariants_.compare(*device_, now());
  RunResult result;
  result.events = engine_.events_fired();
  result.end = now();
  result.usage = difference(device_->usage(), warm_usage_);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    result.device_time.push_back(device_->device_time(ClientId{i}) - warm_time_[i]);
    result.jobs_finished.push_back(clients_[i]->jobs_finished());
  }
  return result;
}

/// A policy is shown, besides, what the device's shape and, for an oracle, the future tell of the operation.
bool Simulation::submit(ClientId client, const Submission& submission) {
  invariants_.submitted(client, submission.number, now());
  if (arbiter_.passes_unheard(client)) {
    arbiter_.pass(client, submission.number, submission.shared->predicted_by_name);
    return true;
  }
  const Client& submitter = *clients_[client.value];
  OpView op = submitter.view_of(submission);
  op.sm_demand = (*sm_demands_[client.value])[submitter.spec().workload->ops.prototype_of(submission.index)];
  if (input_.tells_exact_durations) op.exact = submission.duration;
  if (input_.gate.answer > Duration{} && arbiter_.admits_ahead(client) > 0) promised_[client.value] = op.number;
  return arbiter_.submit(client, op);
}

/// Rendering passes whatever its gate is, and a launch that was promised to pass asks nobody.
Duration Simulation::held_for(ClientId client, const Submission& submission) const {
  const Duration waited = now() - submission.submitted;
  const bool is_promised = promised_[client.value] == submission.number;
  const bool is_asked = submission.shared->kind != OpKind::kRender && !arbiter_.gate_is_open(client) && !is_promised;
  if (waited > GateDelays::kStaysAwake) return input_.gate.wake;
  return waited > Duration{} || is_asked ? input_.gate.answer : Duration{};
}

void Simulation::launch(ClientId client, std::uint64_t number) {
  invariants_.launched(client, number, now());
  Client& launcher = *clients_[client.value];
  const Duration held = held_for(client, launcher.submission(number));
  launcher.launched(number, held);
  const Submission& submission = launcher.submission(number);
  const WorkOp& op = *submission.shared;
  const Workload& workload = *launcher.spec().workload;
  const auto [awaits_begin, awaits_count] = workload.ops.awaits_of(submission.index);
  awaited_.clear();
  for (std::uint32_t a = awaits_begin; a < awaits_begin + awaits_count; ++a)
    awaited_.push_back(ticket_of(client, number - (submission.index - workload.awaits[a])));
  DeviceOp device_op;
  device_op.ticket = ticket_of(client, number);
  device_op.client = client;
  device_op.stream = op.stream;
  device_op.kind = op.kind;
  device_op.duration = submission.duration;
  device_op.dispatch_gap = launcher.spec().dispatch_gap_of(submission.index);
  device_op.ready_at = now() + held + launcher.spec().launch_latency_of(submission.index);
  device_op.shape = op.shape;
  device_op.bytes = op.bytes;
  device_op.after = awaited_;
  advance_device(now());
  device_->submit(device_op, now());
  begin_is_due_ = begin_is_due_ || has_begun(launcher.frame_awaiting_begin(), client);
  watch_device();
}

void Simulation::snapshot(ClientId client) {
  copying_[client.value] = CopyEvent::kSnapshot;
  copy_memory(client, OpKind::kCopyDeviceToHost, input_.device.from_device_bytes_per_s);
}

Duration Simulation::copy_time(ClientId client, std::uint64_t bytes, std::uint64_t bytes_per_s) const {
  const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_s);
  if (seconds > to_seconds(kLongestOp))
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("client '{}': copying {} bytes of its memory takes {:.0f} s; a device takes at most {:.0f} s",
                    input_.clients[client.value].name, bytes, seconds, to_seconds(kLongestOp)));
  return Duration{std::llround(seconds * 1e9)};
}

void Simulation::copy_memory(ClientId client, OpKind kind, std::uint64_t bytes_per_s) {
  DeviceOp copy;
  copy.ticket = ticket_of(client, kCopyNumber);
  copy.client = client;
  copy.stream = StreamId{clients_[client.value]->stream_count()};
  copy.kind = kind;
  copy.bytes = snapshot_bytes(input_.clients[client.value]);
  copy.duration = copy_time(client, copy.bytes, bytes_per_s);
  copy.ready_at = now();
  advance_device(now());
  device_->submit(copy, now());
  watch_device();
}

void Simulation::kill(ClientId client) {
  advance_device(now());
  device_->abort(client, now(), completions_);
  engine_.at(now() + input_.device.context_create, Phase::kArrival, &Simulation::on_context_created, this,
             client.value);
  watch_device();
}

/// The new context gets its persistent memory as the last snapshot kept it or, without one, as it was at first. Without
/// a host link nothing is copied.
void Simulation::restore(ClientId client) {
  if (clients_[client.value]->is_finished()) return;
  copying_[client.value] = CopyEvent::kRestored;
  const bool has_link = input_.device.to_device_bytes_per_s > 0;
  if (!has_link || snapshot_bytes(input_.clients[client.value]) == 0) return copy_completed(client);
  copy_memory(client, OpKind::kCopyHostToDevice, input_.device.to_device_bytes_per_s);
}

void Simulation::copy_completed(ClientId client) {
  arbiter_.copied(client, *std::exchange(copying_[client.value], std::nullopt));
}

void Simulation::refuse(ClientId client) {
  engine_.at(now(), Phase::kArrival, &Simulation::on_refused, this, client.value);
}

void Simulation::prefetch(ClientId client) {
  advance_device(now());
  device_->prefetch(client, now());
  watch_device();
}

void Simulation::control(const Action& action) {
  ContextControls& controls = controls_[action.client.value];
  switch (action.kind) {
    case Action::Kind::kSetSlice:
      controls.time_slice = action.duration;
      break;
    case Action::Kind::kSetPriority:
      controls.priority = action.level;
      break;
    case Action::Kind::kSetSmCap:
      controls.sm_cap = action.fraction;
      break;
    case Action::Kind::kSetSmShare:
      controls.sm_share = action.fraction;
      break;
    case Action::Kind::kSetInstance:
      controls.instance = action.fraction;
      break;
    default:
      CORUN_ASSERT(false, "{} is no control", to_string(action.kind));
  }
  advance_device(now());
  device_->control(action.client, controls, now());
  watch_device();
}

void Simulation::finished(ClientId client) {
  for (const PlannedResize& planned : resizes_)
    if (planned.client == client) engine_.cancel(planned.event);
  invariants_.left(client, now());
  news_.catch_up(client);
  arbiter_.leave(client);
  advance_device(now());
  if (copying_[client.value]) device_->abort(client, now(), completions_);
  device_->leave(client, now());
  watch_device();
  if (on_finished_) on_finished_(client);
}

void Simulation::measure(std::span<ClientView> clients, DeviceView& device) {
  if (!paged_.empty()) measure_memory(clients);
  if (measured_ != device_time_) measure_times(clients, device);
}

void Simulation::measure_memory(std::span<ClientView> clients) const {
  for (const ClientId id : paged_) {
    clients[id.value].resident_bytes = resident_bytes(id);
    clients[id.value].paged_bytes = paged_bytes(id);
  }
}

[[gnu::noinline]] void Simulation::measure_times(std::span<ClientView> clients, DeviceView& device) {
  measured_ = device_time_;
  device.busy = device_->usage().busy;
  const Duration* its = device_->device_times().data();
  for (ClientView& client : clients) client.device_time = *its++;
}

void Simulation::wake_at(Time when) {
  if (when == wake_time_) return;
  engine_.cancel(wake_event_);
  wake_time_ = when;
  if (when != kNever) wake_event_ = engine_.at(when, Phase::kTimer, &Simulation::on_wake, this);
}

void Simulation::request_decision() {
  if (decision_is_due_) return;
  decision_is_due_ = true;
  engine_.at(now(), Phase::kDecide, &Simulation::on_decide, this);
}

void Simulation::advance_device(Time to) {
  device_->advance(to, completions_);
  device_time_ = to;
}

bool Simulation::has_begun(std::uint64_t number, ClientId client) const {
  return number != UINT64_MAX && device_->begin_of(ticket_of(client, number)) != kNever;
}

/// Keeps one engine event at the device's next change, and at once while completions or a frame's begin wait to be
/// told.
void Simulation::watch_device() {
  const Time due = completions_.empty() && !begin_is_due_ ? device_->next_change() : now();
  if (due == device_event_time_) return;
  engine_.cancel(device_event_);
  device_event_time_ = due;
  if (due != kNever) device_event_ = engine_.at(due, Phase::kCompletion, &Simulation::on_device, this);
}

void Simulation::device_changed() {
  device_event_time_ = kNever;
  begin_is_due_ = false;
  advance_device(now());
  if (!completions_.empty()) tell_completions();
  report_frame_begins();
  watch_device();
}

/// What completes while they are told is told at the next change, which is now.
void Simulation::tell_completions() {
  std::vector<Completion> told = std::exchange(completions_, std::exchange(told_, {}));
  for (const Completion& completion : told) complete(completion);
  told.clear();
  told_ = std::move(told);
}

void Simulation::complete(const Completion& completion) {
  const std::uint64_t number = number_of(completion.ticket);
  if (number == kCopyNumber) return copy_completed(completion.client);
  if (completion.is_lost) news_.catch_up(completion.client);
  Client& client = *clients_[completion.client.value];
  completion.is_lost ? report_completion(number, completion, client, arbiter_)
                     : report_completion(number, completion, client, news_);
}

void Simulation::report_frame_begins() {
  for (const ClientId id : framed_) {
    Client& client = *clients_[id.value];
    const std::uint64_t first = client.frame_awaiting_begin();
    if (has_begun(first, id)) report_frame_begin(id, client, news_, device_->begin_of(ticket_of(id, first)));
  }
}

void Simulation::remember_warm_usage() {
  advance_device(now());
  invariants_.compare(*device_, now());
  warm_usage_ = device_->usage();
  for (std::uint32_t i = 0; i < clients_.size(); ++i) warm_time_[i] = device_->device_time(ClientId{i});
  watch_device();
}

}  // namespace corun
