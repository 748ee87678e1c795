#include "sim/arbiter/arbiter.h"

#include <algorithm>
#include <new>
#include <utility>

#include "traces/base/error.h"

namespace corun {

namespace {

Duration known(Duration predicted) { return std::max(predicted, Duration{0}); }

}  // namespace

Arbiter::Arbiter(Policy& policy, std::string policy_name, const DeviceView& device, std::vector<ClientView> clients,
                 Backend& backend, Recorder& recorder)
    : policy_(policy),
      policy_name_(policy_name),
      hears_(policy.hears()),
      views_(std::move(clients)),
      view_{{}, device, views_, {}},
      rules_(std::move(policy_name), view_),
      pending_(views_.size(), PendingOps(hears_.completed)),
      holds_(views_.size(), recorder),
      kills_(views_.size(), recorder),
      is_refused_(views_.size()),
      backend_(backend),
      recorder_(recorder) {
  for (std::uint32_t i = 0; i < views_.size(); ++i) views_[i].id = ClientId{i};
}

const GpuView& Arbiter::view() {
  view_.now = backend_.now();
  backend_.measure(views_, view_.device);
  return view_;
}

/// Calls the policy. What it throws gets the simulated time.
template <class Call>
void Arbiter::tell(const Call& call) const {
  const auto fail = [this](std::string_view what) {
    throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.9f} s threw{}", policy_name_,
                                                to_seconds(backend_.now() - kRunStart), what));
  };
  try {
    call();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(fmt::format(": {}", error.what()));
  } catch (...) {
    fail(" something that is no exception");
  }
}

void Arbiter::heard(bool wants) {
  if (wants) backend_.request_decision();
}

void Arbiter::heard_of_op(bool wants, ClientId client, OpEvent event) {
  if (!wants) return;
  bool is_needed = true;
  tell([&] { is_needed = policy_.decides_after(view_, client, event); });
  if (is_needed) {
    backend_.request_decision();
  } else {
    backend_.spare_decision();
  }
}

void Arbiter::show_waiting(ClientId client) {
  views_[client.value].waiting = pending_[client.value].waiting();
  if (views_[client.value].waiting.empty()) holds_.emptied(client);
}

void Arbiter::join(ClientId client) {
  change(client).is_present = true;
  is_refused_[client.value] = false;
  tell([&] { policy_.on_joined(view(), client); });
  heard(true);
}

void Arbiter::leave(ClientId client) {
  ClientView& left = change(client);
  CORUN_ASSERT(pending_[client.value].waiting().empty() && left.in_flight == 0, "client '{}' left with work pending",
               left.name);
  left.is_present = false;
  left.gate_is_open = false;
  left.is_copying = false;
  left.awaits_shadow = false;
  left.server = {};
  rules_.forget(client);
  holds_.emptied(client);
  kills_.end(client, kNever);
  tell([&] { policy_.on_left(view(), client); });
  heard(true);
}

bool Arbiter::submit(ClientId client, const OpView& op) {
  ClientView& submitter = change(client);
  PendingOps& pending = pending_[client.value];
  submitter.last_submitted = backend_.now();
  if (is_refused_[client.value]) return false;  // the error is on its way
  const bool passes = submitter.gate_is_open && pending.waiting().empty();
  if (!passes) {
    pending.hold(op);
    show_waiting(client);
    holds_.update(submitter, submitter.last_submitted);
  }
  if (hears_.submitted) tell([&] { policy_.on_submitted(view(), client, op); });
  if (passes) launch(client, op);
  heard_of_op(hears_.submitted, client, OpEvent::kSubmitted);
  return passes;
}

bool Arbiter::passes_unheard(ClientId client) const {
  const bool is_heard = hears_.submitted || hears_.launched || hears_.completed;
  return !is_heard && views_[client.value].gate_is_open && pending_[client.value].waiting().empty() &&
         !is_refused_[client.value];
}

void Arbiter::pass(ClientId client, std::uint64_t number, Duration predicted_by_name) {
  change(client).last_submitted = backend_.now();
  take_in(client, number, predicted_by_name);
  backend_.launch(client, number);
}

void Arbiter::slipped(ClientId client, std::uint32_t count) {
  CORUN_ASSERT(count <= pending_[client.value].waiting().size(), "{} operations of client '{}' slipped, {} wait", count,
               views_[client.value].name, pending_[client.value].waiting().size());
  launch_waiting(client, count);
  holds_.update(change(client), backend_.now());
}

std::uint32_t Arbiter::admits_ahead(ClientId client) {
  const ClientView& its = views_[client.value];
  const bool may_ask = has_decided_ && its.is_present && !its.gate_is_open && pending_[client.value].waiting().empty();
  if (!may_ask) return 0;
  return policy_.admits_ahead(view(), its);
}

MemoryTerms Arbiter::memory_terms(ClientId client) {
  CORUN_ASSERT(views_[client.value].is_present, "client {} has not joined", client.value);
  return policy_.memory_terms(view(), views_[client.value]);
}

void Arbiter::abandon(ClientId client) {
  change(client);
  pending_[client.value].drop_waiting();
  show_waiting(client);
  holds_.end(client, backend_.now());
}

void Arbiter::launch(ClientId client, const OpView& op) {
  take_in(client, op.number, op.predicted_by_name);
  pending_[client.value].keep(op);
  backend_.launch(client, op.number);
  if (hears_.launched) tell([&] { policy_.on_launched(view(), client, op); });
  heard_of_op(hears_.launched, client, OpEvent::kLaunched);
}

/// It is in flight from now on. The caller has noted that the client changes.
void Arbiter::take_in(ClientId client, std::uint64_t number, Duration predicted_by_name) {
  ClientView& launcher = views_[client.value];
  PendingOps& pending = pending_[client.value];
  CORUN_ASSERT(number == pending.next(), "client '{}' launches {} after {}", launcher.name, number, pending.next());
  const Duration predicted = known(predicted_by_name);
  pending.launched(number, predicted);
  ++launcher.in_flight;
  launcher.in_flight_predicted += predicted;
}

void Arbiter::complete(ClientId client, std::uint64_t number, Duration device_time) {
  ClientView& completer = change(client);
  PendingOps& pending = pending_[client.value];
  CORUN_ASSERT(pending.may_be_in_flight(number), "client '{}' completes {}", completer.name, number);
  completer.in_flight_predicted -= pending.completed(number);
  --completer.in_flight;
  if (hears_.completed) tell([&] { policy_.on_completed(view(), client, pending.view_of(number), device_time); });
  heard_of_op(hears_.completed, client, OpEvent::kCompleted);
}

void Arbiter::frame(ClientId client, FrameEvent event, const FrameView& reported) {
  FrameView& frame = change(client).frame;
  const bool begins = event == FrameEvent::kBegin;
  const Time begin = begins ? backend_.now() : frame.begin;
  frame = reported;
  frame.begin = begin;
  frame.end = begins ? kNever : backend_.now();
  if (hears_.frames) tell([&] { policy_.on_frame(view(), client, event); });
  heard(hears_.frames);
}

void Arbiter::shadow(ClientId client, const ShadowFrame& shadow) {
  ClientView& its = change(client);
  if (!its.is_present) return;
  its.awaits_shadow = false;
  tell([&] { policy_.on_shadow(view(), client, shadow); });
  heard(true);
}

void Arbiter::resize(ClientId client, double requested_share, std::uint64_t requested_bytes) {
  ClientView& its = change(client);
  its.requested_share = requested_share;
  its.requested_bytes = requested_bytes;
  if (!its.is_present) return;
  tell([&] { policy_.on_resized(view(), client); });
  heard(true);
}

void Arbiter::adjust(const Adjustment& adjustment) {
  tell([&] { policy_.on_adjusted(view(), adjustment.parameter, adjustment.value); });
  heard(true);
}

void Arbiter::copied(ClientId client, CopyEvent event) {
  ClientView& its = change(client);
  if (!its.is_present) return;
  its.is_copying = false;
  if (event == CopyEvent::kSnapshot) {
    its.last_snapshot = backend_.now();
    kills_.keep_snapshot(client);
  }
  if (event == CopyEvent::kRestored) kills_.end(client, backend_.now());
  tell([&] { policy_.on_copied(view(), client, event); });
  heard(true);
}

void Arbiter::snapshot_asked(ClientId client) {
  ClientView& its = change(client);
  if (!its.is_present) return;
  its.is_copying = false;
  tell([&] { policy_.on_copied(view(), client, CopyEvent::kSnapshot); });
  heard(true);
}

void Arbiter::snapshot_saved(ClientId client, Duration device_time, Time when) {
  change(client).last_snapshot = backend_.now();
  kills_.begin_snapshot(client, device_time, when);
  kills_.keep_snapshot(client);
}

/// What changes from here on is for the next decision.
void Arbiter::ask() {
  actions_.clear();
  to_show_.clear();
  changed_.for_each([&](ClientId client) { to_show_.push_back(client); });
  changed_.clear();
  view_.changed = to_show_;
  tell([&] { policy_.decide(view(), actions_); });
  view_.changed = {};
}

void Arbiter::decide() {
  ask();
  has_decided_ = true;
  holds_.state(actions_.holds(), actions_.keeps_holds());
  for (const Action& action : actions_.list())
    if (!repeats(action)) apply(action);
  const Time now = backend_.now();
  holds_.update_after(actions_.list(), views_, now);
  rules_.check_wake(actions_.wake(), now);
  backend_.wake_at(actions_.wake());
}

void Arbiter::finish() {
  for (const ClientView& client : views_) {
    holds_.end(client.id, backend_.now());
    kills_.end(client.id, kNever);
  }
}

/// Whether the gate of a client that is present stands as the action says. Most of what policies state is of this kind.
bool Arbiter::repeats(const Action& action) const {
  const bool opens = action.kind == Action::Kind::kOpen;
  if ((!opens && action.kind != Action::Kind::kClose) || action.client.value >= views_.size()) return false;
  const ClientView& client = views_[action.client.value];
  return client.is_present && client.gate_is_open == opens;
}

void Arbiter::apply(const Action& action) {
  rules_.check(action, backend_.now());
  if (changes_nothing(action)) return;
  recorder_.on_decision(DecisionFact{backend_.now(), action});
  carry_out(action);
}

bool Arbiter::changes_nothing(const Action& action) const {
  if (is_control(action.kind)) return rules_.holds(action);
  const ClientView& client = views_[action.client.value];
  return (action.kind == Action::Kind::kAdmit && action.count == 0) ||
         (action.kind == Action::Kind::kSetQuality && action.count == client.quality_level) ||
         (action.kind == Action::Kind::kShadow && client.awaits_shadow) ||
         (action.kind == Action::Kind::kRefuse && is_refused_[action.client.value]);
}

void Arbiter::carry_out(const Action& action) {
  ClientView& client = change(action.client);
  switch (action.kind) {
    case Action::Kind::kOpen:
      client.gate_is_open = true;
      return launch_waiting(action.client, pending_[action.client.value].waiting().size());
    case Action::Kind::kClose:
      client.gate_is_open = false;
      return;
    case Action::Kind::kAdmit:
      return launch_waiting(action.client, action.count);
    case Action::Kind::kSetQuality:
      client.quality_level = action.count;
      return backend_.set_quality(action.client, action.count);
    case Action::Kind::kShadow:
      client.awaits_shadow = true;
      return backend_.shadow(action.client, action.count);
    case Action::Kind::kSnapshot:
      client.is_copying = true;
      kills_.begin_snapshot(action.client, backend_.device_time(action.client), backend_.now());
      return backend_.snapshot(action.client);
    case Action::Kind::kKill:
      return kill(action.client);
    case Action::Kind::kRefuse:
      return refuse_client(action.client);
    case Action::Kind::kPrefetch:
      return backend_.prefetch(action.client);
    case Action::Kind::kSetSlice:
    case Action::Kind::kSetPriority:
    case Action::Kind::kSetSmCap:
    case Action::Kind::kSetSmShare:
    case Action::Kind::kSetInstance:
      rules_.note(action);
      return backend_.control(action);
  }
}

void Arbiter::kill(ClientId client) {
  kills_.kill(client, backend_.device_time(client), backend_.now());
  views_[client.value].gate_is_open = false;
  views_[client.value].is_copying = true;
  backend_.kill(client);
}

void Arbiter::refuse_client(ClientId client) {
  const Hold* reason = holds_.stated(client);
  recorder_.on_refusal(RefusalFact{client, backend_.now(), reason != nullptr ? *reason : Hold{}});
  pending_[client.value].drop_waiting();
  show_waiting(client);
  is_refused_[client.value] = true;
  backend_.refuse(client);
}

void Arbiter::launch_waiting(ClientId client, std::size_t count) {
  std::vector<OpView> passing = std::exchange(passing_, {});
  pending_[client.value].let_pass(count, passing);
  show_waiting(client);
  for (const OpView& op : passing) launch(client, op);
  passing.clear();
  passing_ = std::move(passing);
}

}  // namespace corun
