#include "sim/device/run_set.h"

#include <algorithm>
#include <iterator>

namespace corun {

namespace {

bool finished(const ActiveOp& op) { return op.rate > 0 && op.gap_left == 0 && op.work_left == 0; }

/// Of an operation that has all it asks for. A dispatch gap takes as long on a part of the device as on the whole.
Rate own_rate(const ActiveOp& op) { return op.gap_left > 0 ? kFullRate : op.speed; }

Work work_to_change(const ActiveOp& op) {
  if (op.gap_left > 0) return op.gap_left;
  return op.occupancy.until_change(op.work_left);
}

void begin_after_gap(ActiveOp& op, Time gap_end) {
  op.gap_left = 0;
  op.rate = op.speed;
  op.begin = gap_end;
}

bool gap_ends_unseen(const ActiveOp& op) {
  return op.gap_left > 0 && op.work_left > 0 && op.speed > 0 && !op.begin_is_watched;
}

}  // namespace

void RunSet::running_clients(std::vector<ClientId>& clients) const {
  for (const OpIndex index : members_) {
    const ActiveOp& op = ops_[index];
    if (op.rate == 0 || std::find(clients.begin(), clients.end(), op.client) != clients.end()) continue;
    clients.push_back(op.client);
  }
}

bool RunSet::has_more_queued() const {
  return std::ranges::any_of(members_, [&](OpIndex index) { return ops_[index].next_in_stream != kNoOp; });
}

void RunSet::note_begins(Time now) {
  for (const OpIndex index : members_) {
    ActiveOp& op = ops_[index];
    if (op.begin == kNever && op.rate > 0 && op.gap_left == 0) op.begin = now;
  }
}

Duration RunSet::until_change() const {
  Duration least = Duration::max();
  for (const OpIndex index : members_) {
    const ActiveOp& op = ops_[index];
    if (op.rate > 0) least = std::min(least, time_for(work_to_change(op), op.rate));
  }
  return least;
}

Duration RunSet::settle(Time now) {
  assign_rates();
  note_begins(now);
  return until_change();
}

Duration RunSet::progress(Time from, Time to, ClientLedger* ledger) {
  const Duration elapsed = to - from;
  if (elapsed == Duration{}) return elapsed;
  Duration longest{};
  const ActiveOp* after_gap = nullptr;  // of a set of one client: counted after those that progressed all the time
  for (const OpIndex index : members_) {
    ActiveOp& op = ops_[index];
    if (op.rate == 0) continue;
    Duration run = elapsed;
    if (op.gap_left > 0) {
      const Time gap_end = from + time_for(op.gap_left, kFullRate);
      if (gap_end > passed_) {
        op.gap_left = std::max<Work>(0, op.gap_left - op.rate * to_ns(elapsed));
        continue;
      }
      begin_after_gap(op, gap_end);
      run = to - gap_end;
      after_gap = &op;
    } else if (ledger != nullptr) {
      ledger->count(op.client, from, to);
    }
    op.work_left = std::max<Work>(0, op.work_left - op.rate * to_ns(run));
    op.device_time += run;
    longest = std::max(longest, run);
  }
  if (after_gap != nullptr && ledger != nullptr) ledger->count(after_gap->client, to - longest, to);
  return longest;
}

Duration RunSet::pass_gaps(Time, Time) {
  CORUN_ASSERT(false, "gaps of a set whose changes are all seen, {} members", members_.size());
  return Duration::max();
}

void RunSet::take_finished(std::vector<OpIndex>& done) {
  auto kept = members_.begin();
  for (const OpIndex index : members_) {
    if (finished(ops_[index])) {
      done.push_back(index);
    } else {
      *kept++ = index;
    }
  }
  members_.erase(kept, members_.end());
}

void RunSet::take_client(ClientId client, std::vector<OpIndex>& taken) {
  const auto is_its = [&](OpIndex index) { return ops_[index].client == client; };
  std::ranges::copy_if(members_, std::back_inserter(taken), is_its);
  std::erase_if(members_, is_its);
}

void TogetherSet::assign_rates() {
  for (const OpIndex index : members_) ops_[index].rate = own_rate(ops_[index]);
}

Duration TogetherSet::settle(Time now) {
  NextChange next;
  for (const OpIndex index : members_) {
    ActiveOp& op = ops_[index];
    op.rate = own_rate(op);
    if (op.rate == 0) continue;
    if (op.gap_left == 0 && op.begin == kNever) op.begin = now;
    next.consider(time_for(work_to_change(op), op.rate), gap_ends_unseen(op));
  }
  next_is_unseen_ = next.is_unseen;
  return next.until;
}

Duration TogetherSet::pass_gaps(Time from, Time at) {
  passed_ = at;
  NextChange next;
  for (const OpIndex index : members_) {
    const ActiveOp& op = ops_[index];
    if (op.rate == 0) continue;
    const Duration gap = time_for(op.gap_left, kFullRate);
    if (op.gap_left > 0 && from + gap <= at) {
      next.consider(gap + time_for(op.occupancy.until_change(op.work_left), op.speed), false);
    } else {
      next.consider(time_for(work_to_change(op), op.rate), gap_ends_unseen(op));
    }
  }
  next_is_unseen_ = next.is_unseen;
  return next.until;
}

void FirstComeSet::add(OpIndex op) {
  if (order_ == Order::kAsFreed) return members_.push_back(op);
  const auto comes_before = [&](OpIndex a, OpIndex b) {
    if (ops_[a].started != ops_[b].started) return ops_[a].started;
    return std::pair(ops_[a].ready_at, ops_[a].sequence) < std::pair(ops_[b].ready_at, ops_[b].sequence);
  };
  members_.insert(std::upper_bound(members_.begin(), members_.end(), op, comes_before), op);
}

void FirstComeSet::assign_rates() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    ActiveOp& op = ops_[members_[i]];
    op.started = i < servers_;
    op.rate = op.started ? own_rate(op) : 0;
  }
}

}  // namespace corun
