#include "sim/arbiter/arbiter.h"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::size_t kInitialRing = 8;  // grows with what is in flight, so that a short queue stays in the cache

Duration known(Duration predicted) { return std::max(predicted, Duration{0}); }

/// Rules are literals: the same one is mostly at the same place.
bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.data() == b.data() || a == b);
}

}  // namespace

Arbiter::Arbiter(Policy& policy, std::string policy_name, const DeviceView& device, std::vector<ArbiterClient> clients,
                 Backend& backend, Recorder& recorder)
    : policy_(policy),
      policy_name_(std::move(policy_name)),
      hears_(policy.hears()),
      clients_(std::move(clients)),
      views_(clients_.size()),
      view_{{}, device, views_},
      pending_(clients_.size()),
      holdings_(clients_.size()),
      kills_(clients_.size()),
      is_refused_(clients_.size()),
      controls_(clients_.size()),
      backend_(backend),
      recorder_(recorder) {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    ClientView& view = views_[i];
    view.id = ClientId{i};
    view.name = clients_[i].name;
    view.role = clients_[i].role;
    view.frame_period = clients_[i].frame_period;
    view.quality_menu = clients_[i].quality_menu;
    view.quality_level = clients_[i].quality_level;
    view.requested_share = clients_[i].requested_share;
    view.requested_bytes = clients_[i].requested_bytes;
    view.working_set_bytes = clients_[i].working_set_bytes;
    view.allocated_bytes = clients_[i].allocated_bytes;
    view.snapshot_bytes = clients_[i].snapshot_bytes;
    view.priority = clients_[i].priority;
    pending_[i].predicted.resize(kInitialRing);
    if (hears_.completed) pending_[i].told.resize(kInitialRing);
  }
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

void Arbiter::join(ClientId client) {
  views_[client.value].is_present = true;
  is_refused_[client.value] = false;
  tell([&] { policy_.on_joined(view(), client); });
  heard(true);
}

void Arbiter::leave(ClientId client) {
  ClientView& left = views_[client.value];
  CORUN_ASSERT(pending_[client.value].waiting().empty() && left.in_flight == 0, "client '{}' left with work pending",
               left.name);
  left.is_present = false;
  left.gate_is_open = false;
  left.is_copying = false;
  left.awaits_shadow = false;
  controls_[client.value].clear();
  end_restore(client, kNever);
  tell([&] { policy_.on_left(view(), client); });
  heard(true);
}

bool Arbiter::submit(ClientId client, const OpView& op) {
  ClientView& submitter = views_[client.value];
  Pending& pending = pending_[client.value];
  submitter.last_submitted = backend_.now();
  if (is_refused_[client.value]) return false;  // the error is on its way
  const bool passes = submitter.gate_is_open && pending.waiting().empty();
  if (!passes) {
    pending.held.push_back(op);
    show_waiting(client);
    note_hold(submitter, holdings_[client.value], submitter.last_submitted);
  }
  if (hears_.submitted) tell([&] { policy_.on_submitted(view(), client, op); });
  if (passes) launch(client, op);
  heard(hears_.submitted);
  return passes;
}

bool Arbiter::passes_unheard(ClientId client) const {
  const bool is_heard = hears_.submitted || hears_.launched || hears_.completed;
  return !is_heard && views_[client.value].gate_is_open && pending_[client.value].waiting().empty() &&
         !is_refused_[client.value];
}

void Arbiter::pass(ClientId client, std::uint64_t number, Duration predicted_by_name) {
  views_[client.value].last_submitted = backend_.now();
  take_in(client, number, predicted_by_name);
  backend_.launch(client, number);
}

void Arbiter::slipped(ClientId client, std::uint32_t count) {
  CORUN_ASSERT(count <= pending_[client.value].waiting().size(), "{} operations of client '{}' slipped, {} wait", count,
               views_[client.value].name, pending_[client.value].waiting().size());
  launch_waiting(client, count);
  note_hold(views_[client.value], holdings_[client.value], backend_.now());
}

std::uint32_t Arbiter::admits_ahead(ClientId client) {
  const ClientView& its = views_[client.value];
  const bool may_ask = has_decided_ && its.is_present && !its.gate_is_open && pending_[client.value].waiting().empty();
  if (!may_ask) return 0;
  return policy_.admits_ahead(view(), its);
}

void Arbiter::abandon(ClientId client) {
  pending_[client.value].held.clear();
  pending_[client.value].passed = 0;
  show_waiting(client);
  end_hold(client);
}

/// Lets the first `count` of those that wait pass, into `passing`, which is empty.
void Arbiter::Pending::let_pass(std::size_t count, std::vector<OpView>& passing) {
  if (passed == 0 && count == held.size()) return passing.swap(held);
  const std::span<const OpView> first = waiting().first(count);
  passing.assign(first.begin(), first.end());
  passed += count;
  // Dropping them only when they are half of what is held keeps a long backlog linear.
  if (2 * passed < held.size()) return;
  held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(passed));
  passed = 0;
}

void Arbiter::Pending::grow() {
  const auto enlarge = [this](auto& ring) {
    auto larger = std::remove_reference_t<decltype(ring)>(2 * ring.size());
    for (std::uint64_t n = oldest; n < next; ++n) larger[n & (larger.size() - 1)] = ring[slot(n)];
    return larger;
  };
  if (!told.empty()) told = enlarge(told);
  predicted = enlarge(predicted);
}

void Arbiter::launch(ClientId client, const OpView& op) {
  take_in(client, op.number, op.predicted_by_name);
  Pending& pending = pending_[client.value];
  if (hears_.completed) pending.told[pending.slot(op.number)] = op;
  backend_.launch(client, op.number);
  if (hears_.launched) tell([&] { policy_.on_launched(view(), client, op); });
  heard(hears_.launched);
}

/// It is in flight from now on.
void Arbiter::take_in(ClientId client, std::uint64_t number, Duration predicted_by_name) {
  ClientView& launcher = views_[client.value];
  Pending& pending = pending_[client.value];
  CORUN_ASSERT(number == pending.next, "client '{}' launches {} after {}", launcher.name, number, pending.next);
  if (pending.next - pending.oldest == pending.predicted.size()) pending.grow();
  const Duration predicted = known(predicted_by_name);
  pending.predicted[pending.slot(number)] = predicted;
  ++pending.next;
  ++launcher.in_flight;
  launcher.in_flight_predicted += predicted;
}

void Arbiter::complete(ClientId client, std::uint64_t number, Duration device_time) {
  ClientView& completer = views_[client.value];
  Pending& pending = pending_[client.value];
  CORUN_ASSERT(number >= pending.oldest && number < pending.next, "client '{}' completes {}", completer.name, number);
  const std::size_t slot = pending.slot(number);
  completer.in_flight_predicted -= std::exchange(pending.predicted[slot], kCompleted);
  while (pending.oldest < pending.next && pending.predicted[pending.slot(pending.oldest)] == kCompleted) ++pending.oldest;
  --completer.in_flight;
  if (hears_.completed) tell([&] { policy_.on_completed(view(), client, pending.told[slot], device_time); });
  heard(hears_.completed);
}

void Arbiter::frame(ClientId client, FrameEvent event, const FrameView& reported) {
  FrameView& frame = views_[client.value].frame;
  const bool begins = event == FrameEvent::kBegin;
  const Time begin = begins ? backend_.now() : frame.begin;
  frame = reported;
  frame.begin = begin;
  frame.end = begins ? kNever : backend_.now();
  if (hears_.frames) tell([&] { policy_.on_frame(view(), client, event); });
  heard(hears_.frames);
}

void Arbiter::shadow(ClientId client, const ShadowFrame& shadow) {
  ClientView& its = views_[client.value];
  if (!its.is_present) return;
  its.awaits_shadow = false;
  tell([&] { policy_.on_shadow(view(), client, shadow); });
  heard(true);
}

void Arbiter::resize(ClientId client, double requested_share, std::uint64_t requested_bytes) {
  ClientView& its = views_[client.value];
  its.requested_share = requested_share;
  its.requested_bytes = requested_bytes;
  if (!its.is_present) return;
  tell([&] { policy_.on_resized(view(), client); });
  heard(true);
}

void Arbiter::copied(ClientId client, CopyEvent event) {
  ClientView& its = views_[client.value];
  if (!its.is_present) return;
  its.is_copying = false;
  if (event == CopyEvent::kSnapshot) its.last_snapshot = backend_.now();
  if (event == CopyEvent::kRestored) end_restore(client, backend_.now());
  tell([&] { policy_.on_copied(view(), client, event); });
  heard(true);
}

void Arbiter::decide() {
  for (const auto& [client, hold] : actions_.holds())
    if (client.value < holdings_.size()) holdings_[client.value].stated = nullptr;
  actions_.clear();
  tell([&] { policy_.decide(view(), actions_); });
  has_decided_ = true;
  for (const auto& [client, hold] : actions_.holds())
    if (client.value < holdings_.size()) holdings_[client.value].stated = &hold;
  for (const Action& action : actions_.list())
    if (!repeats(action)) apply(action);
  note_holds();
  const Time now = backend_.now();
  if (actions_.wake() != kNever && actions_.wake() <= now)
    throw Error(ErrorKind::kPolicy,
                fmt::format("policy '{}' at t={:.9f} s: wake_at({:.9f} s) is not in the future", policy_name_,
                            to_seconds(now - kRunStart), to_seconds(actions_.wake() - kRunStart)));
  backend_.wake_at(actions_.wake());
}

void Arbiter::finish() {
  for (const ClientView& client : views_) {
    end_hold(client.id);
    end_restore(client.id, kNever);
  }
}

/// Reports the client's newest kill, if that is not done yet.
void Arbiter::end_restore(ClientId client, Time restored) {
  Kill& kill = kills_[client.value];
  if (kill.is_restoring) recorder_.on_kill(KillFact{client, kill.time, kill.lost, restored});
  kill.is_restoring = false;
}

void Arbiter::reject(const Action& action, const std::string& why) const {
  std::string value;
  switch (action.kind) {
    case Action::Kind::kAdmit:
    case Action::Kind::kSetQuality:
    case Action::Kind::kShadow:
      value = fmt::format(", {}", action.count);
      break;
    case Action::Kind::kSetSlice:
      value = fmt::format(", {} ns", to_ns(action.duration));
      break;
    case Action::Kind::kSetPriority:
      value = fmt::format(", {}", action.level);
      break;
    case Action::Kind::kSetSmCap:
    case Action::Kind::kSetSmShare:
    case Action::Kind::kSetInstance:
      value = fmt::format(", {}", action.fraction);
      break;
    default:
      break;
  }
  throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.9f} s: {}(client {}{}) but {}", policy_name_,
                                              to_seconds(backend_.now() - kRunStart), to_string(action.kind),
                                              action.client.value, value, why));
}

/// Whether the gate of a client that is present stands as the action says. Most of what policies state is of this kind.
bool Arbiter::repeats(const Action& action) const {
  const bool opens = action.kind == Action::Kind::kOpen;
  if ((!opens && action.kind != Action::Kind::kClose) || action.client.value >= views_.size()) return false;
  const ClientView& client = views_[action.client.value];
  return client.is_present && client.gate_is_open == opens;
}

void Arbiter::apply(const Action& action) {
  check(action);
  if (changes_nothing(action)) return;
  recorder_.on_decision(DecisionFact{backend_.now(), action});
  carry_out(action);
}

void Arbiter::check(const Action& action) const {
  if (action.client.value >= views_.size()) reject(action, fmt::format("there are {} clients", views_.size()));
  const ClientView& client = views_[action.client.value];
  const std::size_t waiting = pending_[action.client.value].waiting().size();
  if (!client.is_present) reject(action, fmt::format("client '{}' is not present", client.name));
  check_copies(action);
  check_controls(action);
  switch (action.kind) {
    case Action::Kind::kAdmit:
      if (action.count == 0) return;
      if (client.gate_is_open) reject(action, fmt::format("the gate of client '{}' is open", client.name));
      if (action.count > waiting)
        reject(action, fmt::format("client '{}' has {} waiting operations", client.name, waiting));
      return;
    case Action::Kind::kSetQuality:
    case Action::Kind::kShadow:
      if (action.count >= client.quality_menu.size())
        reject(action, fmt::format("client '{}' has {} quality levels", client.name, client.quality_menu.size()));
      return;
    default:
      return;
  }
}

/// What must not be asked of a client whose memory is being copied, and what a copy needs.
void Arbiter::check_copies(const Action& action) const {
  const ClientView& client = views_[action.client.value];
  const bool is_snapshot = action.kind == Action::Kind::kSnapshot;
  const bool uses_context = is_snapshot || action.kind == Action::Kind::kOpen || action.kind == Action::Kind::kKill ||
                            (action.kind == Action::Kind::kAdmit && action.count > 0);
  if (client.is_copying && uses_context)
    reject(action, fmt::format("the memory of client '{}' is being copied", client.name));
  if (!is_snapshot) return;
  if (client.gate_is_open) reject(action, fmt::format("the gate of client '{}' is open", client.name));
  if (client.in_flight > 0)
    reject(action, fmt::format("client '{}' has {} operations in flight", client.name, client.in_flight));
  if (client.snapshot_bytes == 0 || view_.device.from_device_bytes_per_s == 0)
    reject(action, fmt::format("client '{}' has no known memory to copy, or the device no host link", client.name));
}

void Arbiter::check_controls(const Action& action) const {
  constexpr double kWhole = 1.0 + 1e-9;
  switch (action.kind) {
    case Action::Kind::kSetSlice:
      if (action.duration < Duration::zero()) reject(action, "a slice is not negative");
      return;
    case Action::Kind::kSetSmCap:
      if (!(action.fraction > 0 && action.fraction <= 1)) reject(action, "a cap is in (0, 1]");
      return;
    case Action::Kind::kSetSmShare:
      if (!(action.fraction >= 0 && sum_with_others(action) <= kWhole))
        reject(action, "shares are in [0, 1] and sum to 1 at most");
      return;
    case Action::Kind::kSetInstance:
      if (!(action.fraction >= 0 && sum_with_others(action) <= kWhole))
        reject(action, "instances are in [0, 1] and sum to 1 at most");
      return;
    default:
      return;
  }
}

/// Of what this action and the other clients' newest ones reserve of the device, as shares or as instances.
double Arbiter::sum_with_others(const Action& action) const {
  const auto reserves = [](Action::Kind kind) {
    return kind == Action::Kind::kSetSmShare || kind == Action::Kind::kSetInstance;
  };
  double sum = action.fraction;
  for (const std::vector<Action>& controls : controls_)
    for (const Action& other : controls)
      if (reserves(other.kind) && other.client != action.client) sum += other.fraction;
  return sum;
}

bool Arbiter::changes_nothing(const Action& action) const {
  const ClientView& client = views_[action.client.value];
  switch (action.kind) {
    case Action::Kind::kAdmit:
      return action.count == 0;
    case Action::Kind::kSetQuality:
      return client.quality_level == action.count;
    case Action::Kind::kShadow:
      return client.awaits_shadow;
    case Action::Kind::kRefuse:
      return is_refused_[action.client.value];
    case Action::Kind::kOpen:  // see repeats
    case Action::Kind::kClose:
    case Action::Kind::kSnapshot:
    case Action::Kind::kKill:
    case Action::Kind::kPrefetch:
      return false;
    default:
      break;
  }
  return std::ranges::any_of(controls_[action.client.value], [&](const Action& newest) {
    return newest.kind == action.kind && newest.duration == action.duration && newest.level == action.level &&
           newest.fraction == action.fraction;
  });
}

void Arbiter::carry_out(const Action& action) {
  ClientView& client = views_[action.client.value];
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
      kills_[action.client.value].device_time_kept = backend_.device_time(action.client);
      return backend_.snapshot(action.client);
    case Action::Kind::kKill:
      return kill(action.client);
    case Action::Kind::kRefuse:
      return refuse_client(action.client);
    case Action::Kind::kPrefetch:
      return backend_.prefetch(action.client);
    default:
      return control(action);
  }
}

void Arbiter::control(const Action& action) {
  std::vector<Action>& controls = controls_[action.client.value];
  std::erase_if(controls, [&](const Action& older) { return older.kind == action.kind; });
  controls.push_back(action);
  backend_.control(action);
}

void Arbiter::kill(ClientId client) {
  Kill& kill = kills_[client.value];
  const Duration received = backend_.device_time(client);
  kill = Kill{true, backend_.now(), received - kill.device_time_kept, received};
  views_[client.value].gate_is_open = false;
  views_[client.value].is_copying = true;
  backend_.kill(client);
}

void Arbiter::refuse_client(ClientId client) {
  Pending& pending = pending_[client.value];
  const Hold* reason = holdings_[client.value].stated;
  recorder_.on_refusal(RefusalFact{client, backend_.now(), reason != nullptr ? *reason : Hold{}});
  pending.held.clear();
  pending.passed = 0;
  show_waiting(client);
  is_refused_[client.value] = true;
  backend_.refuse(client);
}

void Arbiter::note_holds() {
  if (held_ == 0 && actions_.holds().empty()) return;
  const Time now = backend_.now();
  Holding* holding = holdings_.data();
  for (const ClientView& client : views_) note_hold(client, *holding++, now);
}

/// Begins, goes on with, or ends the stretch of time in which the client's operations wait for one reason.
inline void Arbiter::note_hold(const ClientView& client, Holding& holding, Time now) {
  const Hold* reason = holding.stated;
  if (reason == nullptr && !holding.is_held) return;
  if (reason != nullptr && (client.gate_is_open || client.waiting.empty() || reason->rule.empty())) reason = nullptr;
  const bool goes_on =
      reason == nullptr ? !holding.is_held : holding.is_held && is_same(holding.hold.rule, reason->rule);
  if (!goes_on) return change_hold(client.id, reason, now);
  // What begins now began with the reason of the decision before, whose numbers are another operation's.
  if (reason != nullptr && holding.since == now) holding.hold = *reason;
}

[[gnu::noinline]] void Arbiter::change_hold(ClientId client, const Hold* reason, Time now) {
  end_hold(client);
  if (reason == nullptr) return;
  Holding& begun = holdings_[client.value];
  begun.is_held = true;
  begun.hold = *reason;
  begun.since = now;
  ++held_;
}

void Arbiter::end_hold(ClientId client) {
  Holding& holding = holdings_[client.value];
  if (!holding.is_held) return;
  if (holding.since < backend_.now()) recorder_.on_hold(HoldFact{client, holding.since, backend_.now(), holding.hold});
  holding.is_held = false;
  --held_;
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
