#include "sim/device/device.h"

#include <algorithm>

namespace corun {

namespace {

constexpr std::size_t kNoDirection = SIZE_MAX;

std::size_t direction_of(OpKind kind) {
  switch (kind) {
    case OpKind::kCopyHostToDevice: return 0;
    case OpKind::kCopyDeviceToHost: return 1;
    case OpKind::kCopyPeer: return 2;
    default: return kNoDirection;
  }
}

}  // namespace

Device::Device(const DeviceSpec& spec)
    : spec_(spec),
      residency_(spec),
      ring_(spec, ops_, ledger_, residency_),
      copies_{FirstComeSet(ops_, spec.copy_engines_per_direction, FirstComeSet::Order::kAsFreed),
              FirstComeSet(ops_, spec.copy_engines_per_direction, FirstComeSet::Order::kAsFreed),
              FirstComeSet(ops_, spec.copy_engines_per_direction, FirstComeSet::Order::kAsFreed)} {
  CORUN_ASSERT(spec.copy_engines_per_direction > 0, "a device without copy engines");
  CORUN_ASSERT(spec.sm_rate_exponent > 0 && spec.sm_rate_exponent <= 1, "sm_rate_exponent {}", spec.sm_rate_exponent);
  if (spec.sharing != Sharing::kTimeSliced) ring_.add_context(false, compute_set());
}

void Device::join(ClientId client, const ContextSpec& context) {
  CORUN_ASSERT(client.value == clients_.size(), "client {} joined as number {}", client.value, clients_.size());
  CORUN_ASSERT(context.sm_cap > 0 && context.sm_cap <= 1, "client {} has the SM cap {}", client.value, context.sm_cap);
  Client joined{0, 0};
  if (spec_.sharing == Sharing::kTimeSliced) joined.compute = ring_.add_context(false, compute_set());
  if (spec_.sharing != Sharing::kExclusive) joined.graphics = ring_.add_context(true, graphics_set());
  clients_.push_back(joined);
  ledger_.join();
  residency_.join(context);
  if (shared_ != nullptr) shared_->join(context.sm_cap);
}

void Device::submit(const DeviceOp& op, Time now) {
  CORUN_ASSERT(now == now_, "ticket {} was submitted at {} ns to a device that is at {} ns", op.ticket, to_ns(now),
               to_ns(now_));
  CORUN_ASSERT(op.client.value < clients_.size(), "ticket {} of client {}, which has not joined", op.ticket,
               op.client.value);
  const OpIndex index = ops_.insert(op);
  if (shared_ != nullptr) ops_[index].occupancy = occupancy_of(spec_, op.kind, op.shape, ops_[index].work_left);
  if (ops_[index].unmet > 0) return;
  free_op(index);
  settle();
}

Time Device::find_next_change() const {
  Time change = ring_.next_change();
  for (const FirstComeSet& engine : copies_) {
    const Duration until = engine.until_change();
    if (until != Duration::max()) change = std::min(change, now_ + until);
  }
  return wakes_.empty() ? change : std::min(change, wakes_.top().time);
}

void Device::advance(Time to, std::vector<Completion>& completions) {
  CORUN_ASSERT(to >= now_ && to <= next_change_, "the device at {} ns, next change at {} ns, was moved to {} ns",
               to_ns(now_), to_ns(next_change_), to_ns(to));
  ring_.progress(to);
  for (FirstComeSet& engine : copies_) engine.progress(now_, to, nullptr);
  now_ = to;
  do {
    do {
      start_due();
    } while (complete_finished(completions));
    settle();
  } while (next_change_ == now_);
  check_usage();
}

Time Device::begin_of(Ticket ticket) const {
  const OpIndex index = ops_.find(ticket);
  return index == kNoOp ? kNever : ops_[index].begin;
}

std::unique_ptr<RunSet> Device::compute_set() {
  if (spec_.sharing == Sharing::kExclusive) {
    return std::make_unique<FirstComeSet>(ops_, 1, FirstComeSet::Order::kByReadyTime);
  }
  if (spec_.sharing == Sharing::kTimeSliced) return std::make_unique<TogetherSet>(ops_);
  auto shared = std::make_unique<SpatialSet>(ops_, spec_);
  shared_ = shared.get();
  return shared;
}

std::unique_ptr<RunSet> Device::graphics_set() {
  if (spec_.graphics == GraphicsScheduling::kSliced) return std::make_unique<TogetherSet>(ops_);
  return std::make_unique<FirstComeSet>(ops_, 1, FirstComeSet::Order::kByReadyTime);
}

// A copy engine serves other streams while a copy's gap passes, so the gap delays the copy and not the engine.
void Device::free_op(OpIndex index) {
  ActiveOp& op = ops_[index];
  Time visible = std::max(op.ready_at, now_);
  if (op.predecessor_end != kNever)
    op.gap_left = std::max<Work>(0, op.gap_left - work_of(std::min(visible - op.predecessor_end, kLongestOp)));
  if (direction_of(op.kind) != kNoDirection) {
    visible += time_for(op.gap_left, kFullRate);
    op.gap_left = 0;
  }
  if (visible > now_) {
    wakes_.push({visible, op.sequence, index});
  } else {
    start(index);
  }
}

void Device::start(OpIndex index) {
  const ActiveOp& op = ops_[index];
  const std::size_t direction = direction_of(op.kind);
  if (direction != kNoDirection) return copies_[direction].add(index);
  const Client& client = clients_[op.client.value];
  if (residency_.modelled()) residency_.place(op.client);
  ring_.add(op.kind == OpKind::kRender ? client.graphics : client.compute, index);
}

void Device::start_due() {
  while (!wakes_.empty() && wakes_.top().time <= now_) {
    const OpIndex due = wakes_.top().op;
    wakes_.pop();
    start(due);
  }
}

void Device::settle() {
  ring_.decide();
  for (FirstComeSet& engine : copies_) {
    engine.assign_rates();
    engine.note_begins(now_);
  }
  next_change_ = find_next_change();
}

bool Device::complete_finished(std::vector<Completion>& completions) {
  finished_.clear();
  ring_.take_finished(finished_);
  for (FirstComeSet& engine : copies_) engine.take_finished(finished_);
  for (const OpIndex op : finished_) complete(op, completions);
  return !finished_.empty();
}

void Device::complete(OpIndex index, std::vector<Completion>& completions) {
  const ActiveOp& op = ops_[index];
  completions.push_back({op.ticket, op.client, op.begin == kNever ? now_ : op.begin, now_, op.device_time});
  freed_.clear();
  ops_.remove(index, now_, freed_);
  for (const OpIndex freed : freed_) free_op(freed);
}

void Device::check_usage() const {
  const DeviceUsage& usage = ring_.usage();
  CORUN_ASSERT(usage.busy + usage.switching + usage.paging <= now_ - kRunStart,
               "busy {} + switching {} + paging {} exceed the elapsed {} ns", to_ns(usage.busy),
               to_ns(usage.switching), to_ns(usage.paging), to_ns(now_));
}

std::unique_ptr<DeviceModel> make_device(const DeviceSpec& spec) { return std::make_unique<Device>(spec); }

}  // namespace corun
