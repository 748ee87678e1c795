#include "policies/sleeping_fillers.h"

#include "policies/rendering.h"

namespace corun {

void SleepingFillers::admit(const GpuView& view, AdmissionRule& rule, Actions& actions) {
  const std::size_t count = view.clients.size();
  sleepers_.resize(count);
  judged_.resize(count);
  ++takes_;
  admitted_.assign(count, 0);
  turns_.clear();
  find_contenders(view);
  while (!contenders_.empty()) {
    std::size_t kept = 0;
    for (const ClientView* filler : contenders_)
      if (admit_next(view, *filler, rule)) contenders_[kept++] = filler;
    contenders_.resize(kept);
  }
  for (const auto& [client, operations] : turns_) actions.admit(client, operations);
  for (const ClientView& client : view.clients)
    if (is_filler(client) && admitted_[client.id.value] < client.waiting.size()) explain(view, client, rule, actions);
}

/// Fillers with launches that wait, in turn. Who is refused once is so for the rest of the decision.
void SleepingFillers::find_contenders(const GpuView& view) {
  contenders_.clear();
  std::size_t turn = last_served_.value;
  for (std::size_t turns = 0; turns < view.clients.size(); ++turns) {
    turn = turn + 1 < view.clients.size() ? turn + 1 : 0;
    const ClientView& client = view.clients[turn];
    if (is_filler(client) && !client.waiting.empty()) contenders_.push_back(&client);
  }
}

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
