#include "sim/device/model/context_ring.h"

#include <algorithm>
#include <cmath>

namespace corun {

ContextRing::ContextRing(const DeviceSpec& spec, OpTable& ops, ClientLedger& ledger, Residency* residency)
    : spec_(spec),
      graphics_(spec.graphics),
      lone_slice_(spec.lone_slice),
      turn_order_(spec.turn_order),
      graphics_slice_(spec.graphics_slice),
      time_slice_(spec.time_slice),
      switch_cost_(spec.switch_cost),
      state_cost_(std::llround(static_cast<double>(to_ns(spec.switch_cost)) * spec.switch_state)),
      ops_(ops),
      ledger_(ledger),
      residency_(residency) {
  CORUN_ASSERT(time_slice_ > Duration{} && switch_cost_ >= Duration{}, "time slice {} ns, switch cost {} ns",
               to_ns(time_slice_), to_ns(switch_cost_));
}

ContextIndex ContextRing::add_context(bool graphics, std::unique_ptr<RunSet> runs) {
  contexts_.push_back({graphics, false, 0, time_slice_, std::move(runs)});
  return static_cast<ContextIndex>(contexts_.size() - 1);
}

void ContextRing::set_time_slice(ContextIndex context, Duration time_slice) {
  const Duration length = time_slice > Duration{} ? time_slice : time_slice_;
  if (length == contexts_[context].time_slice) return;
  contexts_[context].time_slice = length;
  if (state_ == State::kIdle || current_ != context) return;
  if (now_ <= entered_) {
    slices_begin_at(entered_, length);
  } else {
    slices_begin_at(slice_ends() ? now_ : slice_end(), length);
  }
}

void ContextRing::add(ContextIndex context, OpIndex op) {
  contexts_[context].runs->add(op);
  const bool on_device = state_ != State::kIdle && current_ == context;
  if (!on_device && !contexts_[context].waiting) join_tail(context);
}

void ContextRing::take_client(ContextIndex context, ClientId client, std::vector<OpIndex>& taken) {
  Context& its = contexts_[context];
  its.runs->take_client(client, taken);
  if (!its.waiting || !its.runs->empty()) return;
  its.waiting = false;
  its.saved = 0;
  std::erase(ring_, context);
}

std::optional<ContextIndex> ContextRing::last_context() const {
  if (state_ != State::kIdle || !ring_.empty() || loaded_ == kNoContext) return std::nullopt;
  return contexts_[loaded_].saved == 0 ? std::optional(loaded_) : std::nullopt;
}

DeviceUsage ContextRing::progress(Time to) {
  DeviceUsage usage;
  if (state_ == State::kSwitching) usage.switching = to - now_;
  if (state_ == State::kResident) {
    usage.paging = Duration{((to - now_).count() * (kFullRate - pace_)) >> kRateBits};
    const Duration run = contexts_[current_].runs->progress(now_, to, &ledger_);
    if (run > Duration{}) usage.busy = run - usage.paging;
  }
  now_ = to;
  return usage;
}

void ContextRing::take_finished(std::vector<OpIndex>& finished) {
  if (state_ != State::kResident) return;
  const std::size_t before = finished.size();
  contexts_[current_].runs->take_finished(finished);
  if (finished.size() > before) visit_over_ = true;
}

void ContextRing::decide() {
  if (state_ == State::kSwitching && now_ >= entered_) begin_turn();
  if (preempted() || (state_ == State::kResident && visit_ends())) leave();
  if (state_ == State::kIdle && !ring_.empty()) enter_next();
  if (state_ == State::kResident && settles_) settle_successor();
  visit_over_ = false;
  const Duration until = settle_runs();
  turn_end_ = kNever;
  if (state_ == State::kResident) {
    if (!ring_.empty() && sliced(contexts_[current_])) turn_end_ = slice_end();
    change_after(until);
  } else {
    next_change_ = state_ == State::kSwitching ? entered_ : kNever;
    next_is_unseen_ = false;
  }
}

/// Where only gaps end, decide() would find what it found last: no context has got work since, and the slice has not
/// ended. Where slices depend on what is queued, that may be different then.
void ContextRing::change_after(Duration until) {
  const bool slices_may_differ = turn_end_ != kNever && lone_slice_ == LoneSlice::kRollsWhileQueued;
  next_change_ = until == Duration::max() ? kNever : now_ + until;
  next_is_unseen_ = contexts_[current_].runs->next_is_unseen() && next_change_ < turn_end_ && !slices_may_differ;
  next_change_ = std::min(next_change_, turn_end_);
}

void ContextRing::pass_change() { change_after(contexts_[current_].runs->pass_gaps(now_, next_change_)); }

/// Decides which operations progress from now on, and returns for how long that stays so.
Duration ContextRing::settle_runs() {
  RunSet* const resident = state_ == State::kResident ? contexts_[current_].runs.get() : nullptr;
  if (residency_ == nullptr) return resident != nullptr ? resident->settle(now_) : Duration::max();
  if (resident != nullptr) resident->assign_rates();
  slow_down_for_paging();
  if (resident == nullptr) return Duration::max();
  resident->note_begins(now_);
  return resident->until_change();
}

bool ContextRing::sliced(const Context& context) const {
  return !context.graphics || graphics_ == GraphicsScheduling::kSliced;
}

bool ContextRing::visit_ends() {
  const Context& context = contexts_[current_];
  if (context.runs->empty()) return true;
  if (ring_.empty()) return false;
  if (!sliced(context))
    return visit_over_ && graphics_ == GraphicsScheduling::kToCompletion && now_ >= entered_ + graphics_slice_;
  return now_ > entered_ && slice_ends();
}

void ContextRing::slices_begin_at(Time when, Duration slice) {
  slices_from_ = slice_begin_ = when;
  slice_ = slice;
}

/// Goes on to the rolling slice that the present instant is in or begins.
void ContextRing::roll() {
  if (now_ >= slice_begin_ + slice_) slice_begin_ += (now_ - slice_begin_) / slice_ * slice_;
}

bool ContextRing::slice_ends() {
  if (!rolls()) return now_ >= slice_end();
  roll();
  return now_ == slice_begin_;
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
  Context& left = contexts_[current_];
  if (state_cost_ > Duration{}) left.saved = state_of(*left.runs);
  if (!left.runs->empty()) join_tail(current_);
  state_ = State::kIdle;
}

SmShare ContextRing::state_of(const RunSet& runs) const {
  SmShare threads = 0;
  for (const OpIndex index : runs.members()) {
    const ActiveOp& op = ops_[index];
    if (op.rate > 0 && op.begin != kNever) threads += resident_threads(spec_, op.kind, op.shape);
  }
  return saved_state(std::min(threads, kAllSms));
}

Duration ContextRing::cost_of_switch(const Context& from, const Context& to) const {
  return switch_cost_ - state_cost_ + (from.saved + to.saved) * state_cost_ / (2 * kAllSms);
}

void ContextRing::enter_next() {
  const auto next = next_in_ring();
  current_ = *next;
  ring_.erase(next);
  contexts_[current_].waiting = false;
  successor_ = kNoContext;
  const bool same = loaded_ == current_ || switch_cost_ == Duration{};
  // The first context of a run finds an empty device: there is nothing to switch from.
  const bool free_of_charge = same || loaded_ == kNoContext;
  entered_ = free_of_charge ? now_ : now_ + cost_of_switch(contexts_[loaded_], contexts_[current_]);
  loaded_ = current_;
  slices_begin_at(entered_, contexts_[current_].time_slice);
  state_ = State::kSwitching;
  if (free_of_charge) begin_turn();
}

void ContextRing::begin_turn() {
  state_ = State::kResident;
  settles_ = turn_order_ == TurnOrder::kFixed && !contexts_[current_].runs->has_more_queued();
}

bool ContextRing::rolls() const {
  if (lone_slice_ == LoneSlice::kRollsWhileQueued) return contexts_[current_].runs->has_more_queued();
  return lone_slice_ == LoneSlice::kRolls;
}

void ContextRing::slow_down_for_paging() {
  pace_ = kFullRate;
  running_.clear();
  if (state_ == State::kResident) contexts_[current_].runs->running_clients(running_);
  residency_->run(running_, now_);
  if (running_.empty()) return;
  pace_ = 0;
  for (const ClientId client : running_) pace_ = std::max(pace_, residency_->pace(client));
  contexts_[current_].runs->slow_down([&](ClientId client) { return residency_->pace(client); });
}

std::deque<ContextIndex>::iterator ContextRing::next_in_ring() {
  if (graphics_ == GraphicsScheduling::kFirst) {
    const auto first = std::find_if(ring_.begin(), ring_.end(), [&](ContextIndex c) { return contexts_[c].graphics; });
    if (first != ring_.end()) return first;
  }
  if (turn_order_ == TurnOrder::kAsWoken) return ring_.begin();
  const auto settled = std::ranges::find(ring_, successor_);
  return settled != ring_.end() ? settled : next_in_order();
}

std::deque<ContextIndex>::iterator ContextRing::next_in_order() {
  const auto turns_away = [&](ContextIndex context) {
    return context > current_ ? context - current_ : context + static_cast<ContextIndex>(contexts_.size()) - current_;
  };
  return std::ranges::min_element(ring_, {}, turns_away);
}

void ContextRing::settle_successor() {
  if (successor_ != kNoContext && contexts_[successor_].waiting) return;
  successor_ = ring_.empty() ? kNoContext : *next_in_order();
}

Time ContextRing::slice_end() {
  if (!rolls()) return slices_from_ > entered_ ? slices_from_ : entered_ + slice_;
  roll();
  return now_ < slice_begin_ ? slice_begin_ : slice_begin_ + slice_;
}

}  // namespace corun
