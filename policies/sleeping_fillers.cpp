#include "policies/sleeping_fillers.h"

#include "policies/rendering.h"

namespace corun {

void SleepingFillers::admit(const GpuView& view, AdmissionRule& rule, Actions& actions) {
  const std::size_t count = view.clients.size();
  sleepers_.resize(count);
  judged_.resize(count);
  ++takes_;
  admitted_.resize(count);
  turns_.clear();
  find_waiting(view);
  contenders_ = waiting_;
  while (!contenders_.empty()) {
    std::size_t kept = 0;
    for (const ClientView* filler : contenders_)
      if (admit_next(view, *filler, rule)) contenders_[kept++] = filler;
    contenders_.resize(kept);
  }
  for (const auto& [client, operations] : turns_) actions.admit(client, operations);
  for (const ClientView* filler : waiting_)
    if (admitted_[filler->id.value] < filler->waiting.size()) explain(view, *filler, rule, actions);
  for (const auto& [client, operations] : turns_) admitted_[client.value] = 0;
}

/// Whoever comes after the one served last is first.
void SleepingFillers::find_waiting(const GpuView& view) {
  waiting_.clear();
  const auto take = [&](std::span<const ClientView> clients) {
    for (const ClientView& client : clients)
      if (!client.waiting.empty() && is_filler(client)) waiting_.push_back(&client);
  };
  const std::size_t next = std::min<std::size_t>(last_served_.value + 1, view.clients.size());
  take(view.clients.subspan(next));
  take(view.clients.first(next));
}

/// Who is refused once is so for the rest of the decision.
bool SleepingFillers::admit_next(const GpuView& view, const ClientView& filler, AdmissionRule& rule) {
  std::uint32_t& admitted = admitted_[filler.id.value];
  if (admitted == filler.waiting.size()) return false;
  const OpView& op = filler.waiting[admitted];
  if (!judge(filler, op, rule).passes()) return false;
  if (op.is_kernel() && !sleepers_[filler.id.value].looks(op.number, view.now, retry_)) return false;
  rule.take(filler, op);
  ++takes_;
  ++admitted;
  if (turns_.empty() || turns_.back().first != filler.id) turns_.emplace_back(filler.id, 0);
  ++turns_.back().second;
  return true;
}

/// The rule is not asked again while its answer is the same.
const Verdict& SleepingFillers::judge(const ClientView& filler, const OpView& op, const AdmissionRule& rule) {
  Judged& last = judged_[filler.id.value];
  if (last.takes != takes_) last = {rule.judge(filler, op), takes_};
  return last.verdict;
}

/// Only what holds at the end of a decision is said: a room that another filler took later is no reason to wake up.
void SleepingFillers::explain(const GpuView& view, const ClientView& filler, const AdmissionRule& rule,
                              Actions& actions) {
  const OpView& op = filler.waiting[admitted_[filler.id.value]];
  SleepingLaunch& sleeper = sleepers_[filler.id.value];
  const Verdict& verdict = judge(filler, op, rule);
  if (verdict.passes()) {
    const Time look = sleeper.next_look(view.now, retry_);
    actions.hold(filler.id, {"asleep", static_cast<double>(to_ns(look - view.now)), 0, "ns"});
    if (look <= verdict.until) actions.wake_at(look);
    return;
  }
  if (op.is_kernel()) sleeper.sleep(op.number, view.now);
  actions.hold(filler.id, verdict.hold);
  if (verdict.again != kNever) actions.wake_at(verdict.again);
}

}  // namespace corun
