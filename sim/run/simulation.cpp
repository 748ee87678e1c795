#include "sim/run/simulation.h"

#include <algorithm>
#include <utility>

#include "sim/run/client_views.h"
#include "sim/run/reports.h"
#include "sim/run/tickets.h"
#include "traces/base/error.h"

namespace corun {

namespace {

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
      driver_(input.device, engine, *this),
      arbiter_(*input.policy, input.policy_name, device_view(input.device), client_views(input), *this, invariants_),
      events_(input.gate, which_render(input), engine, arbiter_),
      copies_(input, driver_, arbiter_),
      on_finished_(std::move(on_finished)) {
  for (std::uint32_t i = 0; i < input.clients.size(); ++i) {
    const ClientSpec& spec = input.clients[i];
    const Client::Gate gate{input.device.launch_queue_depth, input.policy->buffers_launches()};
    clients_.push_back(std::make_unique<Client>(ClientId{i}, spec, input.seed, gate, *this, invariants_));
    if (spec.workload->job_kind == JobKind::kFrame) framed_.push_back(ClientId{i});
    if (spec.context.working_set_bytes > 0) paged_.push_back(ClientId{i});
    controls_.emplace_back().sm_cap = spec.context.sm_cap;
    driver_.join(ClientId{i}, spec.context);
    const auto same =
        std::ranges::find(input.clients.begin(), input.clients.begin() + i, spec.workload, &ClientSpec::workload);
    sm_demands_.push_back(same - input.clients.begin() < i
                              ? sm_demands_[same - input.clients.begin()]
                              : std::make_shared<const std::vector<double>>(sm_demands(input.device, *spec.workload)));
  }
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (const auto decoding = input.clients[i].reads_prompts_of) clients_[i]->share_server_of(*clients_[*decoding]);
  resume_events_.resize(clients_.size());
  promised_.resize(clients_.size(), UINT64_MAX);
  warm_time_.resize(clients_.size());
  warm_energy_j_.resize(clients_.size());
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
  for (std::uint64_t i = 0; i < input_.adjustments.size(); ++i)
    adjustments_.push_back(
        engine_.at(kRunStart + input_.adjustments[i].at, Phase::kArrival, &Simulation::on_adjust, this, i));
  engine_.at(kRunStart + input_.warmup, Phase::kSample, &Simulation::on_warm, this);
}

void Simulation::join(ClientId client) {
  arbiter_.join(client);
  clients_[client.value]->start();
}

RunResult Simulation::finish() {
  driver_.catch_up();
  arbiter_.finish();
  const DeviceModel& device = driver_.device();
  invariants_.compare(device, now());
  RunResult result;
  result.events = engine_.events_fired();
  result.end = now();
  result.usage = difference(device.usage(), warm_usage_);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    result.device_time.push_back(device.device_time(ClientId{i}) - warm_time_[i]);
    result.energy_j.push_back(device.energy_j(ClientId{i}) - warm_energy_j_[i]);
    result.jobs_finished.push_back(clients_[i]->jobs_finished());
  }
  return result;
}

/// A policy also sees what follows about the operation from the device's shape and, for an oracle, from the future.
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

/// Rendering passes whatever its gate is, and a launch that was promised to pass does not wait for an answer.
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
  const DeviceOp op = device_op(client, launcher.submission(number), held);
  driver_.submit(op, [&] {
    if (has_begun(launcher.frame_awaiting_begin(), client)) driver_.report_at_once();
  });
}

/// Valid until the next call.
DeviceOp Simulation::device_op(ClientId client, const Submission& submission, Duration held) {
  const ClientSpec& spec = clients_[client.value]->spec();
  const Workload& workload = *spec.workload;
  const auto [awaits_begin, awaits_count] = workload.ops.awaits_of(submission.index);
  awaited_.clear();
  for (std::uint32_t a = awaits_begin; a < awaits_begin + awaits_count; ++a)
    awaited_.push_back(ticket_of(client, submission.number - (submission.index - workload.awaits[a])));
  const WorkOp& op = *submission.shared;
  return {.ticket = ticket_of(client, submission.number),
          .client = client,
          .stream = op.stream,
          .kind = op.kind,
          .duration = submission.duration,
          .dispatch_gap = spec.dispatch_gap_of(submission.index),
          .ready_at = now() + held + spec.launch_latency_of(submission.index),
          .bytes = op.bytes,
          .shape = op.shape,
          .sm_curve = op.sm_curve == 0 ? nullptr : &workload.sm_curves[op.sm_curve - 1],
          .begin_is_watched = workload.job_kind == JobKind::kFrame,
          .after = awaited_};
}

void Simulation::snapshot(ClientId client) { copies_.snapshot(client, copy_stream(client)); }

void Simulation::kill(ClientId client) {
  driver_.change([&](DeviceModel& device, std::vector<Completion>& completions) {
    device.abort(client, now(), completions);
    engine_.at(now() + input_.device.context_create, Phase::kArrival, &Simulation::on_context_created, this,
               client.value);
  });
}

void Simulation::restore(ClientId client) {
  if (!clients_[client.value]->is_finished()) copies_.restore(client, copy_stream(client));
}

void Simulation::refuse(ClientId client) {
  engine_.at(now(), Phase::kArrival, &Simulation::on_refused, this, client.value);
}

void Simulation::prefetch(ClientId client) {
  driver_.change([&](DeviceModel& device, auto&) { device.prefetch(client, now()); });
}

/// A server whose SMs are divided already.
bool Simulation::is_divided(ClientId client) const {
  const auto is_part_of_it = [&](const ClientSpec& spec) { return spec.reads_prompts_of == client.value; };
  return input_.clients[client.value].reads_prompts_of || std::ranges::any_of(input_.clients, is_part_of_it);
}

void Simulation::control(const Action& action) {
  const bool divides_sms = action.kind == Action::Kind::kSetSmCap || action.kind == Action::Kind::kSetSmShare ||
                           action.kind == Action::Kind::kSetInstance;
  if (divides_sms && is_divided(action.client))
    throw Error(ErrorKind::kUnsupported, SourceLocation{},
                fmt::format("policy '{}' sets SMs of client '{}', which divides its SMs by itself", input_.policy_name,
                            input_.clients[action.client.value].name),
                "leave out `prefill_share`, or take a policy that leaves the SMs alone");
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
  driver_.change([&](DeviceModel& device, auto&) { device.control(action.client, controls, now()); });
}

void Simulation::finished(ClientId client) {
  for (const PlannedResize& planned : resizes_)
    if (planned.client == client) engine_.cancel(planned.event);
  if (++left_ == clients_.size())
    for (const EventHandle adjustment : adjustments_) engine_.cancel(adjustment);
  invariants_.left(client, now());
  events_.catch_up(client);
  arbiter_.leave(client);
  driver_.change([&](DeviceModel& device, std::vector<Completion>& completions) {
    if (copies_.goes_on(client)) device.abort(client, now(), completions);
    device.leave(client, now());
  });
  if (on_finished_) on_finished_(client);
}

void Simulation::measure(std::span<ClientView> clients, DeviceView& device) {
  if (!paged_.empty()) measure_memory(clients);
  if (measured_ != driver_.moved_to()) measure_times(clients, device);
}

void Simulation::measure_memory(std::span<ClientView> clients) const {
  for (const ClientId id : paged_) {
    clients[id.value].resident_bytes = resident_bytes(id);
    clients[id.value].paged_bytes = paged_bytes(id);
  }
}

void Simulation::measure_times(std::span<ClientView> clients, DeviceView& device) {
  measured_ = driver_.moved_to();
  newer_times_.clear();
  driver_.catch_up_device(newer_times_);
  device.busy = driver_.device().usage().busy;
  const std::span<const Duration> times = driver_.device().device_times();
  for (const ClientId client : newer_times_) clients[client.value].device_time = times[client.value];
}

void Simulation::wake_at(Time when) {
  if (when == wake_time_) return;
  engine_.cancel(wake_event_);
  wake_time_ = when;
  if (when != kNever) wake_event_ = engine_.at(when, Phase::kTimer, &Simulation::on_wake, this);
}

void Simulation::request_decision() {
  decision_is_needed_ = true;
  schedule_decision();
}

/// It remains an event, but the policy is not asked, and the device need not move.
void Simulation::spare_decision() {
  if (decision_is_due_ || engine_.is_idle_pending(idle_decision_)) return;
  if (engine_.is_step_by_step()) return request_decision();
  if (driver_.moved_to() != now()) return schedule_decision();
  idle_decision_ = engine_.add_idle();
}

void Simulation::schedule_decision() {
  if (decision_is_due_) return;
  if (engine_.is_idle_pending(idle_decision_)) {
    engine_.cancel_idle();
    idle_decision_ = UINT64_MAX;
  }
  decision_is_due_ = true;
  if (!puts_off_decision_) queue_decision();
}

void Simulation::decide() {
  decision_is_due_ = false;
  const bool is_needed = std::exchange(decision_is_needed_, false);
  if (!is_needed && driver_.moved_to() == now()) return;
  puts_off_decision_ = true;
  driver_.change([&](auto&, auto&) {
    if (is_needed) arbiter_.decide();
  });
  puts_off_decision_ = false;
}

/// Makes the decisions that were put off, unless something else comes before.
void Simulation::go_on_deciding() {
  while (decision_is_due_) {
    if (!engine_.goes_on(now(), Phase::kDecide)) return queue_decision();
    decide();
  }
}

void Simulation::resume(std::uint64_t client) {
  const bool is_queued = decision_is_due_;
  is_resuming_ = puts_off_decision_ = true;
  clients_[client]->resume();
  is_resuming_ = puts_off_decision_ = false;
  if (decision_is_due_ && !is_queued) go_on_deciding();
}

bool Simulation::has_begun(std::uint64_t number, ClientId client) const {
  return number != UINT64_MAX && driver_.device().begin_of(ticket_of(client, number)) != kNever;
}

void Simulation::completed(const Completion& completion) {
  const ClientId id = completion.client;
  const std::uint64_t number = number_of(completion.ticket);
  if (number == kCopyNumber) return copies_.completed(id);
  Client& client = *clients_[id.value];
  if (completion.is_lost) {
    events_.catch_up(id);
    report_completion(number, completion, client, arbiter_);
  } else {
    report_completion(number, completion, client, events_);
  }
}

/// Reports frames that have begun.
void Simulation::device_moved() {
  for (const ClientId id : framed_) {
    Client& client = *clients_[id.value];
    const std::uint64_t first = client.frame_awaiting_begin();
    if (has_begun(first, id)) report_frame_begin(id, client, events_, driver_.device().begin_of(ticket_of(id, first)));
  }
}

void Simulation::remember_warm_usage() {
  driver_.change([&](const DeviceModel& device, auto&) {
    invariants_.compare(device, now());
    warm_usage_ = device.usage();
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
      warm_time_[i] = device.device_time(ClientId{i});
      warm_energy_j_[i] = device.energy_j(ClientId{i});
    }
  });
}

}  // namespace corun
