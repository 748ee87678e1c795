#include "sim/device/context_ring.h"

#include <algorithm>

namespace corun {

ContextRing::ContextRing(const DeviceSpec& spec, OpTable& ops, ClientLedger& ledger, Residency& residency)
    : graphics_(spec.graphics),
      time_slice_(spec.time_slice),
      switch_cost_(spec.switch_cost),
      ops_(ops),
      ledger_(ledger),
      residency_(residency) {
  CORUN_ASSERT(time_slice_ > Duration{} && switch_cost_ >= Duration{}, "time slice {} ns, switch cost {} ns",
               to_ns(time_slice_), to_ns(switch_cost_));
}

ContextIndex ContextRing::add_context(bool graphics, std::unique_ptr<RunSet> runs) {
  contexts_.push_back({graphics, false, std::move(runs)});
  return static_cast<ContextIndex>(contexts_.size() - 1);
}

void ContextRing::add(ContextIndex context, OpIndex op) {
  contexts_[context].runs->add(op);
  const bool on_device = state_ != State::kIdle && current_ == context;
  if (!on_device && !contexts_[context].waiting) join_tail(context);
}

Time ContextRing::next_change() const {
  if (state_ == State::kIdle) return kNever;
  if (state_ == State::kSwitching) return entered_;
  const Context& context = contexts_[current_];
  const Duration until = context.runs->until_change();
  Time change = until == Duration::max() ? kNever : now_ + until;
  if (residency_.modelled()) change = std::min(change, residency_.next_change());
  return !ring_.empty() && sliced(context) ? std::min(change, slice_end()) : change;
}

void ContextRing::progress(Time to) {
  if (state_ == State::kSwitching) usage_.switching += to - now_;
  if (state_ == State::kResident) {
    const Duration stalled{((to - now_).count() * (kFullRate - pace_)) >> kRateBits};
    usage_.paging += stalled;
    if (contexts_[current_].runs->progress(now_, to, &ledger_)) usage_.busy += to - now_ - stalled;
    if (residency_.modelled()) residency_.progress(now_, to);
  }
  now_ = to;
}

void ContextRing::take_finished(std::vector<OpIndex>& finished) {
  if (state_ != State::kResident) return;
  const std::size_t before = finished.size();
  contexts_[current_].runs->take_finished(finished);
  if (finished.size() > before) visit_over_ = true;
}

void ContextRing::decide() {
  if (state_ == State::kSwitching && now_ >= entered_) state_ = State::kResident;
  if (preempted() || (state_ == State::kResident && visit_ends())) leave();
  if (state_ == State::kIdle && !ring_.empty()) enter_next();
  if (state_ == State::kResident) contexts_[current_].runs->assign_rates();
  if (residency_.modelled()) slow_down_for_paging();
  if (state_ == State::kResident) contexts_[current_].runs->note_begins(now_);
  visit_over_ = false;
}

bool ContextRing::sliced(const Context& context) const {
  return !context.graphics || graphics_ == GraphicsScheduling::kSliced;
}

bool ContextRing::visit_ends() const {
  const Context& context = contexts_[current_];
  if (context.runs->empty()) return true;
  if (ring_.empty()) return false;
  if (!sliced(context)) return visit_over_ && graphics_ == GraphicsScheduling::kToCompletion;
  return now_ > entered_ && (now_ - entered_) % time_slice_ == Duration{};
}

bool ContextRing::preempted() const {
  if (graphics_ != GraphicsScheduling::kFirst || state_ == State::kIdle || contexts_[current_].graphics) return false;
  return std::any_of(ring_.begin(), ring_.end(), [&](ContextIndex waiting) { return contexts_[waiting].graphics; });
}

void ContextRing::join_tail(ContextIndex context) {
  contexts_[context].waiting = true;
  ring_.push_back(context);
}

void ContextRing::leave() {
  if (!contexts_[current_].runs->empty()) join_tail(current_);
  state_ = State::kIdle;
}

void ContextRing::enter_next() {
  const auto next = next_in_ring();
  current_ = *next;
  ring_.erase(next);
  contexts_[current_].waiting = false;
  const bool same = loaded_ == current_ || switch_cost_ == Duration{};
  // The first context of a run finds an empty device: there is nothing to switch from.
  const bool free_of_charge = same || loaded_ == kNoContext;
  loaded_ = current_;
  entered_ = free_of_charge ? now_ : now_ + switch_cost_;
  state_ = free_of_charge ? State::kResident : State::kSwitching;
}

void ContextRing::slow_down_for_paging() {
  pace_ = kFullRate;
  running_.clear();
  if (state_ == State::kResident) contexts_[current_].runs->running_clients(running_);
  residency_.run(running_, now_);
  if (running_.empty()) return;
  pace_ = 0;
  for (const ClientId client : running_) pace_ = std::max(pace_, residency_.pace(client));
  contexts_[current_].runs->slow_down([&](ClientId client) { return residency_.pace(client); });
}

std::deque<ContextIndex>::iterator ContextRing::next_in_ring() {
  if (graphics_ == GraphicsScheduling::kFirst) {
    const auto first = std::find_if(ring_.begin(), ring_.end(), [&](ContextIndex c) { return contexts_[c].graphics; });
    if (first != ring_.end()) return first;
  }
  return ring_.begin();
}

Time ContextRing::slice_end() const {
  const std::int64_t slices = (now_ - entered_) / time_slice_ + 1;
  return entered_ + slices * time_slice_;
}

}  // namespace corun
