#pragma once

#include <string>
#include <vector>

#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// What a policy may ask for (the list of illegal actions stands at Actions), and which controls hold.
class ActionRules {
 public:
  /// `view` must outlive it and be up to date at each call but for its time and what is measured.
  ActionRules(std::string policy_name, const GpuView& view);

  /// Throws Error(kPolicy) naming policy, action, client and time if the action is illegal.
  void check(const Action& action, Time now) const;
  /// Throws Error(kPolicy) if `when` is not in the future.
  void check_wake(Time when, Time now) const;

  /// Whether the control states what holds already.
  bool holds(const Action& control) const;
  void note(const Action& control);
  /// The client has left: its controls no longer hold.
  void forget(ClientId client) { controls_[client.value].clear(); }

 private:
  std::string fault_of(const Action& action) const;
  std::string fault_of_admission(const Action& action) const;
  std::string fault_of_snapshot(const Action& action) const;
  std::string fault_of_copying(const Action& action) const;
  double sum_with_others(const Action& action) const;
  const ClientView& client_of(const Action& action) const { return view_.clients[action.client.value]; }

  const std::string policy_name_;
  const GpuView& view_;
  std::vector<std::vector<Action>> controls_;  ///< by client: the newest of each kind
};

}  // namespace corun
