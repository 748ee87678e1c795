#include "sim/arbiter/arbiter.h"

#include <algorithm>

#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::size_t kInitialRing = 64;

Duration known(Duration predicted) { return std::max(predicted, Duration{0}); }

}  // namespace

Arbiter::Arbiter(Policy& policy, std::string policy_name, const DeviceView& device, std::vector<ArbiterClient> clients,
                 Backend& backend, Recorder& recorder)
    : policy_(policy),
      policy_name_(std::move(policy_name)),
      hears_(policy.hears()),
      device_(device),
      clients_(std::move(clients)),
      views_(clients_.size()),
      pending_(clients_.size()),
      backend_(backend),
      recorder_(recorder) {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    ClientView& view = views_[i];
    view.id = ClientId{i};
    view.name = clients_[i].name;
    view.role = clients_[i].role;
    view.frame_period = clients_[i].frame_period;
    view.quality_menu = clients_[i].quality_menu;
    view.working_set_bytes = clients_[i].working_set_bytes;
    pending_[i].in_flight.resize(kInitialRing);
  }
}

GpuView Arbiter::view() {
  device_.busy = backend_.device_busy();
  for (ClientView& client : views_) {
    client.waiting = pending_[client.id.value].waiting();
    client.device_time = backend_.device_time(client.id);
  }
  return GpuView{backend_.now(), device_, views_};
}

void Arbiter::heard(bool wants) {
  if (wants) backend_.request_decision();
}

void Arbiter::join(ClientId client) {
  views_[client.value].is_present = true;
  policy_.on_joined(view(), client);
  heard(true);
}

void Arbiter::leave(ClientId client) {
  ClientView& left = views_[client.value];
  CORUN_ASSERT(pending_[client.value].waiting().empty() && left.in_flight == 0, "client '{}' left with work pending",
               left.name);
  left.is_present = false;
  left.gate_is_open = false;
  policy_.on_left(view(), client);
  heard(true);
}

bool Arbiter::submit(ClientId client, const OpView& op) {
  ClientView& submitter = views_[client.value];
  Pending& pending = pending_[client.value];
  submitter.last_submitted = backend_.now();
  const bool passes = submitter.gate_is_open && pending.waiting().empty();
  if (!passes) pending.held.push_back(op);
  if (hears_.submitted) policy_.on_submitted(view(), client, op);
  if (passes) launch(client, op);
  heard(hears_.submitted);
  return passes;
}

void Arbiter::launch(ClientId client, const OpView& op) {
  ClientView& launcher = views_[client.value];
  Pending& pending = pending_[client.value];
  CORUN_ASSERT(op.number == pending.next, "client '{}' launches {} after {}", launcher.name, op.number, pending.next);
  if (pending.next - pending.oldest == pending.in_flight.size()) {
    std::vector<OpView> larger(pending.in_flight.size() * 2);
    for (std::uint64_t n = pending.oldest; n < pending.next; ++n)
      larger[n % larger.size()] = pending.in_flight[n % pending.in_flight.size()];
    pending.in_flight = std::move(larger);
  }
  pending.in_flight[op.number % pending.in_flight.size()] = op;
  ++pending.next;
  ++launcher.in_flight;
  launcher.in_flight_predicted += known(op.predicted_by_name);
  backend_.launch(client, op.number);
  if (hears_.launched) policy_.on_launched(view(), client, op);
  heard(hears_.launched);
}

void Arbiter::complete(ClientId client, std::uint64_t number, Duration device_time) {
  ClientView& completer = views_[client.value];
  Pending& pending = pending_[client.value];
  CORUN_ASSERT(number >= pending.oldest && number < pending.next, "client '{}' completes {}", completer.name, number);
  OpView& slot = pending.in_flight[number % pending.in_flight.size()];
  const OpView op = slot;
  slot.number = UINT64_MAX;
  while (pending.oldest < pending.next &&
         pending.in_flight[pending.oldest % pending.in_flight.size()].number == UINT64_MAX)
    ++pending.oldest;
  --completer.in_flight;
  completer.in_flight_predicted -= known(op.predicted_by_name);
  if (hears_.completed) policy_.on_completed(view(), client, op, device_time);
  heard(hears_.completed);
}

void Arbiter::frame(ClientId client, FrameEvent event, std::uint64_t number, Duration gpu_busy) {
  FrameView& frame = views_[client.value].frame;
  if (event == FrameEvent::kBegin) {
    frame = FrameView{number, backend_.now(), kNever, Duration{0}};
  } else {
    frame.end = backend_.now();
    frame.gpu_busy = gpu_busy;
  }
  if (hears_.frames) policy_.on_frame(view(), client, event);
  heard(hears_.frames);
}

void Arbiter::decide() {
  actions_.clear();
  policy_.decide(view(), actions_);
  for (const Action& action : actions_.list()) apply(action);
  if (actions_.wake() != kNever && actions_.wake() <= backend_.now())
    throw Error(ErrorKind::kPolicy,
                fmt::format("policy '{}' at t={:.9f} s: wake_at({:.9f} s) is not in the future", policy_name_,
                            to_seconds(backend_.now() - kRunStart), to_seconds(actions_.wake() - kRunStart)));
  backend_.wake_at(actions_.wake());
}

void Arbiter::refuse(const Action& action, const std::string& why) const {
  throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.9f} s: {}(client {}, {}) but {}", policy_name_,
                                              to_seconds(backend_.now() - kRunStart), to_string(action.kind),
                                              action.client.value, action.count, why));
}

void Arbiter::apply(const Action& action) {
  if (action.client.value >= views_.size()) refuse(action, fmt::format("there are {} clients", views_.size()));
  ClientView& client = views_[action.client.value];
  Pending& pending = pending_[action.client.value];
  if (!client.is_present) refuse(action, fmt::format("client '{}' is not present", client.name));
  switch (action.kind) {
    case Action::Kind::kOpen:
      if (client.gate_is_open) return;
      client.gate_is_open = true;
      break;
    case Action::Kind::kClose:
      if (!client.gate_is_open) return;
      client.gate_is_open = false;
      break;
    case Action::Kind::kAdmit:
      if (action.count == 0) return;
      if (client.gate_is_open) refuse(action, fmt::format("the gate of client '{}' is open", client.name));
      if (action.count > pending.waiting().size())
        refuse(action, fmt::format("client '{}' has {} waiting operations", client.name, pending.waiting().size()));
      break;
    case Action::Kind::kSetQuality:
      if (action.count >= client.quality_menu.size())
        refuse(action, fmt::format("client '{}' has {} quality levels", client.name, client.quality_menu.size()));
      if (client.quality_level == action.count) return;
      client.quality_level = action.count;
      backend_.set_quality(action.client, action.count);
      break;
  }
  recorder_.on_decision(DecisionFact{backend_.now(), action});
  if (action.kind == Action::Kind::kOpen) launch_waiting(action.client, pending.waiting().size());
  if (action.kind == Action::Kind::kAdmit) launch_waiting(action.client, action.count);
}

void Arbiter::launch_waiting(ClientId client, std::size_t count) {
  Pending& pending = pending_[client.value];
  const std::span<const OpView> first = pending.waiting().first(count);
  const std::vector<OpView> passing(first.begin(), first.end());
  pending.passed += count;
  // Dropping them only when they are half of what is held keeps a long backlog linear.
  if (2 * pending.passed >= pending.held.size()) {
    pending.held.erase(pending.held.begin(), pending.held.begin() + static_cast<std::ptrdiff_t>(pending.passed));
    pending.passed = 0;
  }
  for (const OpView& op : passing) launch(client, op);
}

}  // namespace corun
