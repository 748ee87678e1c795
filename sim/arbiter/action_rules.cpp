#include "sim/arbiter/action_rules.h"

#include <algorithm>
#include <utility>

#include "traces/base/error.h"

namespace corun {

namespace {

constexpr double kWhole = 1.0 + 1e-9;

/// Its value as it stands in a message.
std::string value_of(const Action& action) {
  switch (form_of(action.kind).value) {
    case ActionForm::Value::kCount:
      return fmt::format(", {}", action.count);
    case ActionForm::Value::kDuration:
      return fmt::format(", {} ns", to_ns(action.duration));
    case ActionForm::Value::kLevel:
      return fmt::format(", {}", action.level);
    case ActionForm::Value::kFraction:
      return fmt::format(", {}", action.fraction);
    case ActionForm::Value::kNone:
      break;
  }
  return "";
}

}  // namespace

ActionRules::ActionRules(std::string policy_name, const GpuView& view)
    : policy_name_(std::move(policy_name)), view_(view), controls_(view.clients.size()) {}

void ActionRules::check(const Action& action, Time now) const {
  const std::string fault = fault_of(action);
  if (fault.empty()) return;
  throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.9f} s: {}(client {}{}) but {}", policy_name_,
                                              to_seconds(now - kRunStart), to_string(action.kind), action.client.value,
                                              value_of(action), fault));
}

void ActionRules::check_wake(Time when, Time now) const {
  if (when > now) return;
  throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.9f} s: wake_at({:.9f} s) is not in the future",
                                              policy_name_, to_seconds(now - kRunStart), to_seconds(when - kRunStart)));
}

/// Why it is illegal; "" where it is legal.
std::string ActionRules::fault_of(const Action& action) const {
  if (action.client.value >= view_.clients.size()) return fmt::format("there are {} clients", view_.clients.size());
  const ClientView& client = client_of(action);
  if (!client.is_present) return fmt::format("client '{}' is not present", client.name);
  switch (action.kind) {
    case Action::Kind::kOpen:
    case Action::Kind::kKill:
      return fault_of_copying(action);
    case Action::Kind::kAdmit:
      return action.count > 0 ? fault_of_admission(action) : std::string();
    case Action::Kind::kSnapshot:
      return fault_of_snapshot(action);
    case Action::Kind::kSetQuality:
    case Action::Kind::kShadow:
      if (action.count < client.quality_menu.size()) return "";
      return fmt::format("client '{}' has {} quality levels", client.name, client.quality_menu.size());
    case Action::Kind::kSetSlice:
      return action.duration < Duration::zero() ? "a slice is not negative" : "";
    case Action::Kind::kSetSmCap:
      return action.fraction > 0 && action.fraction <= 1 ? "" : "a cap is in (0, 1]";
    case Action::Kind::kSetSmShare:
      if (action.fraction >= 0 && sum_with_others(action) <= kWhole) return "";
      return "shares are in [0, 1] and sum to 1 at most";
    case Action::Kind::kSetInstance:
      if (action.fraction >= 0 && sum_with_others(action) <= kWhole) return "";
      return "instances are in [0, 1] and sum to 1 at most";
    case Action::Kind::kClose:
    case Action::Kind::kRefuse:
    case Action::Kind::kPrefetch:
    case Action::Kind::kSetPriority:
      break;
  }
  return "";
}

std::string ActionRules::fault_of_copying(const Action& action) const {
  const ClientView& client = client_of(action);
  return client.is_copying ? fmt::format("the memory of client '{}' is being copied", client.name) : "";
}

std::string ActionRules::fault_of_admission(const Action& action) const {
  const ClientView& client = client_of(action);
  const std::size_t waiting = client.waiting.size();
  if (client.is_copying) return fault_of_copying(action);
  if (client.gate_is_open) return fmt::format("the gate of client '{}' is open", client.name);
  if (action.count > waiting) return fmt::format("client '{}' has {} waiting operations", client.name, waiting);
  return {};
}

std::string ActionRules::fault_of_snapshot(const Action& action) const {
  const ClientView& client = client_of(action);
  if (client.is_copying) return fault_of_copying(action);
  if (client.gate_is_open) return fmt::format("the gate of client '{}' is open", client.name);
  if (client.in_flight > 0)
    return fmt::format("client '{}' has {} operations in flight", client.name, client.in_flight);
  if (client.snapshot_bytes == 0 || view_.device.from_device_bytes_per_s == 0)
    return fmt::format("client '{}' has no known memory to copy, or the device no host link", client.name);
  return "";
}

/// Of what this action and the other clients' newest ones reserve of the device, as shares or as instances.
double ActionRules::sum_with_others(const Action& action) const {
  const auto reserves = [](Action::Kind kind) {
    return kind == Action::Kind::kSetSmShare || kind == Action::Kind::kSetInstance;
  };
  double sum = action.fraction;
  for (const std::vector<Action>& controls : controls_)
    for (const Action& other : controls)
      if (reserves(other.kind) && other.client != action.client) sum += other.fraction;
  return sum;
}

bool ActionRules::holds(const Action& control) const {
  return std::ranges::any_of(controls_[control.client.value], [&](const Action& newest) {
    return newest.kind == control.kind && newest.duration == control.duration && newest.level == control.level &&
           newest.fraction == control.fraction;
  });
}

void ActionRules::note(const Action& control) {
  std::vector<Action>& controls = controls_[control.client.value];
  std::erase_if(controls, [&](const Action& older) { return older.kind == control.kind; });
  controls.push_back(control);
}

}  // namespace corun
