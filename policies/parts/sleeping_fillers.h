#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "policies/parts/sleeping_launch.h"
#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// What a rule says of the next operation of a filler.
struct Verdict {
  Hold hold;            ///< why it has to wait; no rule = it passes
  Time again = kNever;  ///< when a refusal ends although nothing is heard until then
  Time until = kNever;  ///< when a pass ends although nothing is heard until then

  static Verdict pass(Time until = kNever) { return {{}, kNever, until}; }
  bool passes() const { return hold.rule.empty(); }
};

/// Which operations may pass in one decision. Between two calls of `take` it answers the same for the same operation,
/// and no `take` turns a refusal into a pass.
class AdmissionRule {
 public:
  virtual ~AdmissionRule() = default;
  virtual Verdict judge(const ClientView& filler, const OpView& op) const = 0;
  /// The operation passes in this decision: later ones are judged with it counted.
  virtual void take(const ClientView& filler, const OpView& op) = 0;
};

/// Best-effort clients at closed gates whose launches wait in a loop, as a hook's do: a kernel that was refused sleeps
/// and looks again every `retry` (0: at every event). Copies do not sleep. Several fillers take turns, one operation
/// each.
class SleepingFillers {
 public:
  explicit SleepingFillers(Duration retry) : retry_(retry) {}

  /// To be called on every launch of a filler: the next turn is another's.
  void on_launched(ClientId filler) { last_served_ = filler; }

  /// Finds the fillers whose operations wait. Without one there is nothing to admit, and no need to make a rule.
  bool find_waiting(const GpuView& view);
  /// Whether some of those found last were left waiting.
  bool leaves_waiting() const { return !waiting_.empty() && leaves_waiting_; }
  /// Of those just found, admits those that the rule lets pass, states why the others wait, and asks to be woken where
  /// time alone may change that.
  void admit(const GpuView& view, AdmissionRule& rule, Actions& actions);

 private:
  struct Filler {
    Verdict verdict;                        // as it was judged last ...
    std::uint64_t takes_then = UINT64_MAX;  // ... when `take` had been called so often
    SleepingLaunch sleeper;
    std::uint32_t admitted = 0;  // in this decision; else 0
  };

  bool admit_next(const GpuView& view, const ClientView& filler, AdmissionRule& rule);
  void explain(const GpuView& view, const ClientView& filler, const AdmissionRule& rule, Actions& actions);
  const Verdict& judge(const ClientView& filler, const OpView& op, const AdmissionRule& rule);

  const Duration retry_;
  ClientId last_served_{};
  std::uint64_t takes_ = 0;                                // a new decision counts as one, too
  std::vector<Filler> fillers_;                            // by client
  std::vector<const ClientView*> waiting_;                 // fillers with launches that wait, in turn
  bool leaves_waiting_ = false;                            // the newest decision that admitted
  std::vector<const ClientView*> contenders_;              // those that may be admitted yet, in this decision
  std::vector<std::pair<ClientId, std::uint32_t>> turns_;  // in order, one's operations in a row together
};

}  // namespace corun
