#include "sim/device/model/device.h"

#include <algorithm>
#include <utility>

#include "sim/device/spatial/dispatch_order_set.h"
#include "sim/device/spatial/fair_set.h"

namespace corun {

namespace {

constexpr std::size_t kNoDirection = SIZE_MAX;
constexpr double kRounding = 1e-9;  // of the device, less is rounding

/// A copy to the device of up to so many bytes waits for its context's turn among the kernels: the driver puts its data
/// into the channel. So from pageable memory; from pinned memory it is so up to 4 KiB and not from 32 KiB on, which a
/// capture does not tell. Source: studies/copy-turns.
constexpr std::uint64_t kMostBytesInLine = 65536;

std::size_t direction_of(OpKind kind) {
  switch (kind) {
    case OpKind::kCopyHostToDevice:
      return 0;
    case OpKind::kCopyDeviceToHost:
      return 1;
    case OpKind::kCopyPeer:
      return 2;
    default:
      return kNoDirection;
  }
}

/// Where the time of one step went, in a part of the device or in another: what some part did, the whole did.
DeviceUsage together(const DeviceUsage& a, const DeviceUsage& b, Duration elapsed) {
  DeviceUsage usage;
  usage.busy = std::max(a.busy, b.busy);
  usage.paging = std::min(std::max(a.paging, b.paging), elapsed - usage.busy);
  usage.switching = std::min(std::max(a.switching, b.switching), elapsed - usage.busy - usage.paging);
  return usage;
}

}  // namespace

Device::Device(const DeviceSpec& spec)
    : spec_(spec),
      power_(spec),
      link_(spec),
      residency_(make_residency(spec, link_)),
      ring_(spec_, ops_, ledger_, residency_.get()),
      copies_{FirstComeSet(ops_, spec.copy_engines_per_direction, FirstComeSet::Order::kAsFreed),
              FirstComeSet(ops_, spec.copy_engines_per_direction, FirstComeSet::Order::kAsFreed),
              FirstComeSet(ops_, spec.copy_engines_per_direction, FirstComeSet::Order::kAsFreed)} {
  CORUN_ASSERT(spec.copy_engines_per_direction > 0, "a device without copy engines");
  CORUN_ASSERT(spec.sm_rate_exponent > 0 && spec.sm_rate_exponent <= 1, "sm_rate_exponent {}", spec.sm_rate_exponent);
  CORUN_ASSERT(spec.sm_fill_exponent >= 0 && spec.sm_fill_exponent <= 1, "sm_fill_exponent {}", spec.sm_fill_exponent);
  if (spec.sharing != Sharing::kTimeSliced) ring_.add_context(false, compute_set());
}

void Device::join(ClientId client, const ContextSpec& context) {
  CORUN_ASSERT(client.value == clients_.size(), "client {} joined as number {}", client.value, clients_.size());
  CORUN_ASSERT(context.sm_cap > 0 && context.sm_cap <= 1, "client {} has the SM cap {}", client.value, context.sm_cap);
  Place place{&ring_, 0, 0};
  if (spec_.sharing == Sharing::kTimeSliced) place.compute = ring_.add_context(false, compute_set());
  if (spec_.sharing != Sharing::kExclusive) place.graphics = ring_.add_context(true, graphics_set());
  clients_.push_back({place, place});
  controls_.push_back({.sm_cap = context.sm_cap});
  ledger_.join();
  power_.join(context.power);
  if (residency_) residency_->join(context);
  if (shared_ != nullptr) shared_->treat(controls_, without_instances_);
}

void Device::submit(const DeviceOp& op, Time now) {
  CORUN_ASSERT(now == now_ || (is_steady() && now > now_ && now < next_change_),
               "ticket {} was submitted at {} ns to a device that is at {} ns", op.ticket, to_ns(now), to_ns(now_));
  CORUN_ASSERT(op.client.value < clients_.size(), "ticket {} of client {}, which has not joined", op.ticket,
               op.client.value);
  const OpIndex index = ops_.insert(op);
  if (power_.is_on() && direction_of(op.kind) == kNoDirection) {
    Work& work = ops_[index].work;
    ops_[index].work_left = work = work_of(power_.duration_now(op.client, op.duration));
  }
  if (spec_.sharing == Sharing::kTimeSliced && op.kind == OpKind::kCopyHostToDevice && op.bytes > 0 &&
      op.bytes <= kMostBytesInLine)
    ops_[index].kind = OpKind::kMemset;  // which takes no SMs here
  if (shared_ != nullptr || without_instances_ < 1.0) fit(ops_[index]);
  if (ops_[index].unmet > 0) return;
  if (now > now_) progress(now);
  const std::size_t wakes = wakes_.size();
  free_op(index);
  if (wakes_.size() > wakes) {
    next_change_ = std::min(next_change_, wakes_.top().time);  // all else is settled
  } else {
    settle();
  }
}

/// When the first of the operations that run ends, or something else changes that is not a wake.
Time Device::next_end() const {
  Time change = ring_.next_change();
  for (const auto& instance : instances_) change = std::min(change, instance->next_change());
  if (residency_) change = std::min(change, residency_->next_change());
  if (is_copying()) {
    for (const FirstComeSet& engine : copies_) {
      const Duration until = engine.until_change();
      if (until != Duration::max()) change = std::min(change, now_ + until);
    }
  }
  return change;
}

void Device::advance(Time to, std::vector<Completion>& completions) {
  CORUN_ASSERT(to >= now_ && to <= next_change_, "the device at {} ns, next change at {} ns, was moved to {} ns",
               to_ns(now_), to_ns(next_change_), to_ns(to));
  if (to == now_ && next_change_ > now_) return;  // this instant is settled
  const bool is_change = to == next_change_;
  progress(to);
  // Between changes there is nothing to settle. Memory moves all the time, and shares in space follow what kernels ask.
  if (!is_change && is_steady()) return check_usage();
  do {
    start_due();
    if (next_end_ <= now_) complete_finished(completions);  // what this frees cannot finish before settle()
    settle();
  } while (next_change_ == now_);
  check_usage();
}

bool Device::pass_change() {
  if (!ring_.next_is_unseen() || !is_steady() || is_copying() || !instances_.empty()) return false;
  const Time change = ring_.next_change();
  if (change != next_change_ || (!wakes_.empty() && wakes_.top().time == change)) return false;
  ring_.pass_change();
  next_end_ = ring_.next_change();
  next_change_ = wakes_.empty() ? next_end_ : std::min(next_end_, wakes_.top().time);
  return true;
}

/// Moves to `to`, before which nothing changes but what was passed.
void Device::progress(Time to) {
  DeviceUsage step = ring_.progress(to);
  for (const auto& instance : instances_) step = together(step, instance->progress(to), to - now_);
  usage_.busy += step.busy;
  usage_.switching += step.switching;
  usage_.paging += step.paging;
  if (residency_) residency_->progress(now_, to);
  if (is_copying())
    for (FirstComeSet& engine : copies_) engine.progress(now_, to, nullptr);
  now_ = to;
}

DeviceUsage Device::usage() const {
  DeviceUsage usage = usage_;
  usage.clocked = power_.is_on() ? power_.clocked(now_) : now_ - kRunStart;
  return usage;
}

std::optional<LastTurn> Device::last_turn() const {
  if (!is_steady() || is_copying() || !instances_.empty() || power_.draws()) return std::nullopt;
  const auto last = ring_.last_context();
  for (std::uint32_t client = 0; last && client < clients_.size(); ++client) {
    const Place& place = clients_[client].place;
    if (place.compute == *last || place.graphics == *last) return LastTurn{ClientId{client}, place.compute != *last};
  }
  return std::nullopt;
}

void Device::go_on_after(const LastTurn& turn) {
  const Place& place = clients_[turn.client.value].place;
  ring_.go_on_after(turn.is_graphics ? place.graphics : place.compute);
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
  std::unique_ptr<SpatialSet> shared;
  if (spec_.spatial_rule == SpatialRule::kMaxMin) {
    shared = std::make_unique<FairSet>(ops_, spec_);
  } else {
    shared = std::make_unique<DispatchOrderSet>(ops_, spec_);
  }
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
  if (direction != kNoDirection) {
    ++copying_;
    return copies_[direction].add(index);
  }
  const Place& place = clients_[op.client.value].place;
  if (residency_ && place.ring == &ring_) residency_->begin_operation(op.client);
  place.ring->add(place.context_of(op.kind), index);
}

void Device::start_due() {
  while (!wakes_.empty() && wakes_.top().time <= now_) {
    const OpIndex due = wakes_.top().op;
    wakes_.pop();
    start(due);
  }
}

void Device::settle() {
  const bool copies = is_copying();
  if (copies)
    for (FirstComeSet& engine : copies_) engine.assign_rates();
  if (copies || residency_) ask_for_host_link();
  ring_.decide();  // memory asks for the link, too
  for (const auto& instance : instances_) instance->decide();
  if (copies) {
    share_host_link();
    for (FirstComeSet& engine : copies_) engine.note_begins(now_);
  }
  next_end_ = next_end();
  next_change_ = wakes_.empty() ? next_end_ : std::min(next_end_, wakes_.top().time);
}

// A copy that was recorded faster than the link is said to be takes its recorded time where it is alone.
void Device::ask_for_host_link() {
  link_.forget_asks();
  for (const auto direction : {HostLink::kToDevice, HostLink::kFromDevice}) {
    if (!link_.is_limited(direction)) continue;
    for (const OpIndex copy : copies_[direction].members())
      if (ops_[copy].rate > 0) link_.ask(direction, link_.within(direction, ops_[copy].bytes_per_s));
  }
}

void Device::share_host_link() {
  for (const auto direction : {HostLink::kToDevice, HostLink::kFromDevice}) {
    if (!link_.is_limited(direction) || copies_[direction].empty()) continue;
    std::size_t asked = 0;
    const std::vector<double> granted = link_.granted(direction);
    for (const OpIndex copy : copies_[direction].members())
      if (ops_[copy].rate > 0) ops_[copy].rate = rate_at(granted[asked++]);
  }
}

void Device::complete_finished(std::vector<Completion>& completions) {
  finished_.clear();
  ring_.take_finished(finished_);
  for (const auto& instance : instances_) instance->take_finished(finished_);
  if (is_copying())
    for (FirstComeSet& engine : copies_) engine.take_finished(finished_);
  for (const OpIndex op : finished_) complete(op, completions);
}

void Device::complete(OpIndex index, std::vector<Completion>& completions) {
  const ActiveOp& op = ops_[index];
  completions.push_back({op.ticket, op.client, op.begin == kNever ? now_ : op.begin, now_, op.device_time});
  if (power_.is_on()) power_.ended(op.client, time_for(op.work, kFullRate), now_);
  if (direction_of(op.kind) != kNoDirection) --copying_;
  freed_.clear();
  ops_.remove(index, now_, freed_);
  for (const OpIndex freed : freed_) free_op(freed);
}

void Device::check_usage() const {
  CORUN_ASSERT(usage_.busy + usage_.switching + usage_.paging <= now_ - kRunStart,
               "busy {} + switching {} + paging {} exceed the elapsed {} ns", to_ns(usage_.busy),
               to_ns(usage_.switching), to_ns(usage_.paging), to_ns(now_));
}

void Device::check_controls(ClientId client, const ContextControls& controls) const {
  CORUN_ASSERT(controls.time_slice >= Duration{}, "client {} has slices of {} ns", client.value,
               to_ns(controls.time_slice));
  CORUN_ASSERT(controls.sm_cap > 0 && controls.sm_cap <= 1, "client {} has the SM cap {}", client.value,
               controls.sm_cap);
  double reserved = 0;
  for (std::uint32_t c = 0; c < controls_.size(); ++c) {
    const ContextControls& its = ClientId{c} == client ? controls : controls_[c];
    CORUN_ASSERT(its.sm_share >= 0 && its.instance >= 0, "client {} has the share {} and the instance {}", c,
                 its.sm_share, its.instance);
    reserved += its.instance > 0 ? its.instance : its.sm_share;
  }
  CORUN_ASSERT(reserved <= 1.0 + kRounding, "{} of the device is reserved", reserved);
}

void Device::control(ClientId client, const ContextControls& controls, Time now) {
  CORUN_ASSERT(now == now_, "controls changed at {} ns on a device that is at {} ns", to_ns(now), to_ns(now_));
  check_controls(client, controls);
  const ContextControls before = std::exchange(controls_[client.value], controls);
  if (spec_.sharing == Sharing::kExclusive) return;
  const bool had_instance = before.instance > 0;
  const bool has_instance = controls.instance > 0;
  if (has_instance != had_instance) move_to(client, has_instance ? instance_of(client) : clients_[client.value].shared);
  const Place& place = clients_[client.value].place;
  if (spec_.sharing == Sharing::kTimeSliced || has_instance)
    place.ring->set_time_slice(place.compute, controls.time_slice);
  if (residency_ && spec_.sharing == Sharing::kTimeSliced) residency_->set_time_slice(client, controls.time_slice);
  if (before.instance != controls.instance || before.sm_share != controls.sm_share ||
      (shared_ != nullptr && before.sm_cap != controls.sm_cap)) {
    divide();
  } else if (shared_ != nullptr) {
    shared_->treat(controls_, without_instances_);
  }
  settle();
}

/// Gives every client its fraction of the device again, and fits what is in flight to it.
void Device::divide() {
  without_instances_ = unreserved_ = 1.0;
  for (const ContextControls& controls : controls_) {
    without_instances_ -= controls.instance;
    unreserved_ -= controls.instance > 0 ? controls.instance : controls.sm_share;
  }
  if (without_instances_ < kRounding) without_instances_ = 0;
  if (unreserved_ < kRounding) unreserved_ = 0;
  if (shared_ != nullptr) shared_->treat(controls_, without_instances_);
  for (const OpIndex index : ops_.in_flight()) fit(ops_[index]);
}

double Device::fraction_for(const ActiveOp& op) const {
  const ContextControls& controls = controls_[op.client.value];
  if (direction_of(op.kind) != kNoDirection) return 1.0;
  if (controls.instance > 0) return controls.instance;
  if (shared_ == nullptr || op.kind == OpKind::kRender) return without_instances_;
  return controls.sm_share > 0 ? controls.sm_share : unreserved_;
}

/// Alone on so much of the device; an instance has no more of the memory's bandwidth than of the SMs.
Rate Device::speed_of(const ActiveOp& op, double fraction) const {
  const bool has_all_bandwidth = controls_[op.client.value].instance == 0;
  if (op.sm_curve != nullptr && has_all_bandwidth && fraction > 0) return op.sm_curve->rate_on(fraction);
  return speed_on(spec_, op.kind, op.shape, op.work, fraction);
}

void Device::fit(ActiveOp& op) const {
  const double fraction = fraction_for(op);
  op.speed = speed_of(op, fraction);
  if (shared_ == nullptr) return;
  const double cap = std::min(controls_[op.client.value].sm_cap, fraction);
  op.capped = cap < fraction && op.speed > 0 ? speed_of(op, cap) * kFullRate / op.speed : kFullRate;
  op.occupancy = occupancy_of(spec_, op.kind, op.shape, op.work, fraction);
  const bool is_bound = op.kind == OpKind::kKernel && spec_.carveout_change == CarveoutChange::kWhenIdle;
  op.carveout = is_bound ? carveout_of(spec_, op.shape) : Carveout{};
}

Device::Place Device::instance_of(ClientId client) {
  ContextRing*& instance = clients_[client.value].instance;
  if (instance == nullptr) {
    instances_.push_back(std::make_unique<ContextRing>(spec_, ops_, ledger_, nullptr));
    instance = instances_.back().get();
    instance->progress(now_);
    instance->add_context(false, std::make_unique<TogetherSet>(ops_));
    instance->add_context(true, graphics_set());
  }
  return {instance, 0, 1};
}

void Device::move_to(ClientId client, const Place& place) {
  Place& from = clients_[client.value].place;
  std::vector<OpIndex> moving;
  from.ring->take_client(from.compute, client, moving);
  from.ring->take_client(from.graphics, client, moving);
  from = place;
  for (const OpIndex index : moving) place.ring->add(place.context_of(ops_[index].kind), index);
}

void Device::abort(ClientId client, Time now, std::vector<Completion>& completions) {
  CORUN_ASSERT(now == now_, "client {} was aborted at {} ns on a device that is at {} ns", client.value, to_ns(now),
               to_ns(now_));
  const Place& place = clients_[client.value].place;
  std::vector<OpIndex> running;
  place.ring->take_client(place.compute, client, running);
  if (place.graphics != place.compute) place.ring->take_client(place.graphics, client, running);
  const std::size_t computing = running.size();
  for (FirstComeSet& engine : copies_) engine.take_client(client, running);
  copying_ -= running.size() - computing;
  forget_wakes(client);
  if (residency_) residency_->free_memory(client);
  const std::vector<OpIndex> in_flight = ops_.in_flight();
  const auto is_its = [&](OpIndex index) { return ops_[index].client == client; };
  for (const OpIndex index : in_flight) std::erase_if(ops_[index].dependents, is_its);
  freed_.clear();
  for (const OpIndex index : in_flight) {
    const ActiveOp& op = ops_[index];
    if (op.client != client) continue;
    completions.push_back({op.ticket, client, op.begin == kNever ? now_ : op.begin, now_, op.device_time, true});
    ops_.remove(index, now_, freed_);
  }
  std::erase_if(freed_, is_its);
  for (const OpIndex freed : freed_) free_op(freed);
  settle();
}

void Device::forget_wakes(ClientId client) {
  std::vector<Wake> kept;
  for (; !wakes_.empty(); wakes_.pop())
    if (ops_[wakes_.top().op].client != client) kept.push_back(wakes_.top());
  for (const Wake& wake : kept) wakes_.push(wake);
}

void Device::leave(ClientId client, Time now) {
  CORUN_ASSERT(now == now_, "client {} left at {} ns a device that is at {} ns", client.value, to_ns(now), to_ns(now_));
  if (controls_[client.value] != ContextControls{}) control(client, {}, now);
  if (!residency_) return;
  residency_->free_memory(client);
  settle();
}

void Device::prefetch(ClientId client, Time now) {
  CORUN_ASSERT(now == now_, "a prefetch at {} ns on a device that is at {} ns", to_ns(now), to_ns(now_));
  if (!residency_) return;
  residency_->prefetch(client);
  settle();
}

MemoryUse Device::memory(ClientId client) const { return residency_ ? residency_->use(client) : MemoryUse{}; }

std::unique_ptr<DeviceModel> make_device(const DeviceSpec& spec) { return std::make_unique<Device>(spec); }

}  // namespace corun
