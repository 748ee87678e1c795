#include "policies/parts/sleeping_fillers.h"

#include "policies/parts/rendering.h"

namespace corun {

void SleepingFillers::admit(const GpuView& view, AdmissionRule& rule, Actions& actions) {
  fillers_.resize(view.clients.size());
  ++takes_;
  turns_.clear();
  contenders_ = waiting_;
  while (!contenders_.empty()) {
    std::size_t kept = 0;
    for (const ClientView* filler : contenders_)
      if (admit_next(view, *filler, rule)) contenders_[kept++] = filler;
    contenders_.resize(kept);
  }
  for (const auto& [client, operations] : turns_) actions.admit(client, operations);
  leaves_waiting_ = false;
  for (const ClientView* filler : waiting_) {
    if (fillers_[filler->id.value].admitted == filler->waiting.size()) continue;
    leaves_waiting_ = true;
    explain(view, *filler, rule, actions);
  }
  for (const auto& [client, operations] : turns_) fillers_[client.value].admitted = 0;
}

/// The filler after the one that was served last is first.
bool SleepingFillers::find_waiting(const GpuView& view) {
  waiting_.clear();
  const auto take = [&](std::span<const ClientView> clients) {
    for (const ClientView& client : clients)
      if (!client.waiting.empty() && is_filler(client)) waiting_.push_back(&client);
  };
  const std::size_t next = std::min<std::size_t>(last_served_.value + 1, view.clients.size());
  take(view.clients.subspan(next));
  take(view.clients.first(next));
  return !waiting_.empty();
}

/// A filler that is refused once stays refused for the rest of the decision.
bool SleepingFillers::admit_next(const GpuView& view, const ClientView& filler, AdmissionRule& rule) {
  Filler& its = fillers_[filler.id.value];
  if (its.admitted == filler.waiting.size()) return false;
  const OpView& op = filler.waiting[its.admitted];
  if (!judge(filler, op, rule).passes()) return false;
  if (op.is_kernel() && !its.sleeper.looks(op.number, view.now, retry_)) return false;
  rule.take(filler, op);
  ++takes_;
  ++its.admitted;
  if (turns_.empty() || turns_.back().first != filler.id) turns_.emplace_back(filler.id, 0);
  ++turns_.back().second;
  return true;
}

/// The rule is not asked again while its answer is the same.
const Verdict& SleepingFillers::judge(const ClientView& filler, const OpView& op, const AdmissionRule& rule) {
  Filler& its = fillers_[filler.id.value];
  if (its.takes_then != takes_) its.verdict = rule.judge(filler, op);
  its.takes_then = takes_;
  return its.verdict;
}

/// Only what holds at the end of a decision is said: a room that another filler took later is no reason to wake up.
void SleepingFillers::explain(const GpuView& view, const ClientView& filler, const AdmissionRule& rule,
                              Actions& actions) {
  Filler& its = fillers_[filler.id.value];
  const OpView& op = filler.waiting[its.admitted];
  const Verdict& verdict = judge(filler, op, rule);
  if (verdict.passes()) {
    const Time look = its.sleeper.next_look(view.now, retry_);
    actions.hold(filler.id, {"asleep", static_cast<double>(to_ns(look - view.now)), 0, "ns"});
    if (look <= verdict.until) actions.wake_at(look);
    return;
  }
  if (op.is_kernel()) its.sleeper.sleep(op.number, view.now);
  actions.hold(filler.id, verdict.hold);
  if (verdict.again != kNever) actions.wake_at(verdict.again);
}

}  // namespace corun
