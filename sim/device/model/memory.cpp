#include "sim/device/model/memory.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

// In a round robin, another context ran at most one slice and one switch before the end of every visit; in a lease of
// seconds it did not, except at the very beginning. Four turns distinguish the two.
constexpr int kTurnsPerWindow = 4;

// Less than a byte is rounding, not memory.
constexpr double kNothing = 1.0;

// Nanoseconds; looking again earlier than needed does no harm.
constexpr double kLongWait = 1e15;

constexpr double kBlock = 2 << 20;  // of managed memory, bytes
constexpr double kBlocksOfSmallSet = 1000;

// A rate that falls with what is missing is constant over a step of this fraction of a working set.
constexpr double kSteps = 64;

double per_ns(double bytes_per_s) { return bytes_per_s * 1e-9; }

}  // namespace

FluidMemory::FluidMemory(const DeviceSpec& spec, HostLink& link)
    : memory_(static_cast<double>(spec.memory_bytes)),
      context_bytes_(static_cast<double>(spec.context_bytes)),
      handover_(per_ns(static_cast<double>(spec.handover_bandwidth_bytes_per_s))),
      thrash_(spec.thrash_bandwidth_bytes_per_s > 0 ? per_ns(static_cast<double>(spec.thrash_bandwidth_bytes_per_s))
                                                    : handover_),
      bulk_(spec.to_device_bytes_per_s > 0 ? per_ns(static_cast<double>(spec.to_device_bytes_per_s)) : handover_),
      time_slice_(spec.time_slice),
      switch_cost_(spec.switch_cost),
      link_(link) {}

void FluidMemory::join(const ContextSpec& context) {
  WorkingSet set;
  set.bytes = std::clamp(static_cast<double>(context.working_set_bytes), 0.0, std::max(0.0, memory_ - context_bytes_));
  set.access = context.access;
  if (context.touch_period > Duration{}) set.touch_rate = set.bytes / static_cast<double>(to_ns(context.touch_period));
  sets_.push_back(set);
  evict(-free());
}

void FluidMemory::begin_operation(ClientId client) {
  WorkingSet& set = sets_[client.value];
  set.begins_operation = true;
  if (!set.is_present) {
    set.is_present = true;
    evict(-free());
  }
  place(client);
}

void FluidMemory::place(ClientId client) {
  WorkingSet& set = sets_[client.value];
  if (set.is_placed || !set.is_present) return;
  load(client, std::clamp(free(), 0.0, set.bytes));
  set.is_placed = true;
}

void FluidMemory::free_memory(ClientId client) {
  WorkingSet& set = sets_[client.value];
  std::erase_if(by_fault_, [&](const Extent& extent) { return extent.client == client; });
  set.resident = set.owed = set.to_prefetch = 0;
  set.is_placed = set.is_present = set.has_run = false;
}

void FluidMemory::prefetch(ClientId client) {
  place(client);
  WorkingSet& set = sets_[client.value];
  if (set.missing() >= kNothing) set.to_prefetch = set.bytes;
}

void FluidMemory::set_time_slice(ClientId client, Duration slice) { sets_[client.value].time_slice = slice; }

void FluidMemory::run(const std::vector<ClientId>& clients, Time now) {
  running_ = clients;
  bandwidth_until_ = kNever;
  double sharers = 0;
  for (WorkingSet& set : sets_) {
    set.pace = kFullRate;
    set.paging_rate = is_prefetching(set) ? bulk_ : 0;
  }
  for (const ClientId client : running_) {
    begin_to_owe(sets_[client.value]);
    note_loss(sets_[client.value]);
    if (has_to_fault(sets_[client.value])) ++sharers;
  }
  for (const ClientId client : running_) {
    if (is_prefetching(sets_[client.value])) sets_[client.value].pace = 0;
    if (has_to_fault(sets_[client.value])) ask_for_faults(client, now, sharers);
  }
  share_host_link();
  find_next_change(now);
}

void FluidMemory::progress(Time from, Time to) {
  if (from == to) return;
  const auto elapsed = static_cast<double>(to_ns(to - from));
  for (const ClientId client : running_) {
    sets_[client.value].last_ran = to;
    sets_[client.value].has_run = true;
  }
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    WorkingSet& set = sets_[i];
    if (set.paging_rate == 0) continue;
    double bytes = std::min(elapsed * set.paging_rate, set.missing());
    const bool is_last = set.missing() - bytes < kNothing;
    if (is_last) bytes = set.missing();
    const bool is_fault = !is_prefetching(set);
    double& left = is_fault ? set.owed : set.to_prefetch;
    left = std::max(0.0, left - bytes);
    if (is_fault) set.faulted += bytes;
    // The last bytes may push out the set's own oldest; that is a loss of its own, not more of this one.
    if (is_last) set.is_faulting = false;
    if (is_last && !is_fault) set.to_prefetch = 0;
    load(ClientId{i}, bytes);
  }
}

MemoryUse FluidMemory::use(ClientId client) const {
  const WorkingSet& set = sets_[client.value];
  return {static_cast<std::uint64_t>(std::llround(set.resident)),
          static_cast<std::uint64_t>(std::llround(set.faulted))};
}

bool FluidMemory::is_prefetching(const WorkingSet& set) const {
  return set.to_prefetch >= kNothing && set.missing() >= kNothing;
}

bool FluidMemory::has_to_fault(const WorkingSet& set) const {
  if (set.missing() < kNothing || is_prefetching(set)) return false;
  return set.touch_rate > 0 ? set.is_faulting : set.owed >= kNothing;
}

/// Memory moves in blocks: a client that has lost less than one has lost nothing yet, and a fault goes on until all
/// is in. Without the first, a set that pushes out its own last byte would fault it in again every nanosecond.
void FluidMemory::note_loss(WorkingSet& set) const {
  const double block = std::min(kBlock, set.bytes / kBlocksOfSmallSet);
  if (set.missing() >= std::max(block, kNothing)) set.is_faulting = true;
  if (set.missing() < kNothing) set.is_faulting = false;
}

/// An operation that goes through the whole set in order evicts what is in before it gets there.
void FluidMemory::begin_to_owe(WorkingSet& set) const {
  if (set.begins_operation) set.owed = set.access == Access::kSequential ? set.bytes : set.missing();
  if (set.missing() < kNothing) set.owed = 0;
  set.begins_operation = false;
}

void FluidMemory::ask_for_faults(ClientId client, Time now, double sharers) {
  WorkingSet& set = sets_[client.value];
  const double available = handover_or_thrash(client, now) / sharers;
  set.pace = 0;
  set.paging_rate = available;
  if (set.touch_rate == 0) return;
  const double steps = std::ceil(set.missing() / set.bytes * kSteps);
  const double faulted = set.touch_rate * (set.access == Access::kSequential ? 1.0 : steps / kSteps);
  const double speed = available / (available + faulted);
  set.pace = rate_at(speed);
  set.paging_rate = faulted * speed;
}

double FluidMemory::handover_or_thrash(ClientId client, Time now) {
  Time alternating_until = now;
  for (std::size_t other = 0; other < sets_.size(); ++other) {
    if (other == client.value || sets_[other].bytes == 0 || !sets_[other].has_run) continue;
    alternating_until = std::max(alternating_until, sets_[other].last_ran + alternation_window());
  }
  if (alternating_until == now) return handover_;
  bandwidth_until_ = std::min(bandwidth_until_, alternating_until);
  return thrash_;
}

/// Slows all paging down by what the link grants it, at each direction. What comes in displaces as much, once memory is
/// full.
void FluidMemory::share_host_link() {
  double wanted = 0;
  for (const WorkingSet& set : sets_) wanted += set.paging_rate;
  if (wanted == 0) return;
  const double granted = granted_to_paging(link_, wanted, free() < kNothing);
  if (granted == 1) return;
  for (WorkingSet& set : sets_) {
    const bool is_slower = set.paging_rate > 0 && set.pace > 0 && !is_prefetching(set);
    if (is_slower) set.pace = rate_at(granted * static_cast<double>(set.pace) / static_cast<double>(kFullRate));
    set.paging_rate *= granted;
  }
}

void FluidMemory::find_next_change(Time now) {
  next_change_ = bandwidth_until_;
  double all = 0;
  const auto look_after = [&](double bytes, double rate) {
    const double wait = std::clamp(std::ceil(bytes / rate), 1.0, kLongWait);
    next_change_ = std::min(next_change_, now + Duration{static_cast<std::int64_t>(wait)});
  };
  for (const WorkingSet& set : sets_) {
    all += set.paging_rate;
    if (set.paging_rate > 0) look_after(bytes_to_change(set), set.paging_rate);
  }
  // A client that runs while another one pages in may lose memory any time; and the link's way out begins to be used.
  if (all > 0) look_after(free() >= kNothing ? free() : memory_ / kSteps, all);
}

double FluidMemory::bytes_to_change(const WorkingSet& set) const {
  const double missing = set.missing();
  if (is_prefetching(set)) return std::min(missing, set.to_prefetch);
  if (set.touch_rate == 0) return std::min(missing, set.owed);
  if (set.access == Access::kSequential) return missing;
  const double step = set.bytes / kSteps;
  return missing - step * (std::ceil(missing / step) - 1);
}

void FluidMemory::load(ClientId client, double bytes) {
  if (bytes <= 0) return;
  sets_[client.value].resident += bytes;
  if (by_fault_.empty() || by_fault_.back().client != client) by_fault_.push_back({client, 0});
  by_fault_.back().bytes += bytes;
  evict(-free());
}

void FluidMemory::evict(double excess) {
  while (excess > 0 && !by_fault_.empty()) {
    Extent& oldest = by_fault_.front();
    const double taken = std::min(excess, oldest.bytes);
    WorkingSet& victim = sets_[oldest.client.value];
    victim.resident = std::max(0.0, victim.resident - taken);
    oldest.bytes -= taken;
    excess -= taken;
    if (oldest.bytes <= 0) by_fault_.pop_front();
  }
}

double FluidMemory::usable() const {
  double bytes = memory_;
  for (const WorkingSet& set : sets_) bytes -= set.is_present ? context_bytes_ : 0;
  return std::max(0.0, bytes);
}

double FluidMemory::free() const {
  double bytes = usable();
  for (const WorkingSet& set : sets_) bytes -= set.resident;
  return bytes;
}

Duration FluidMemory::alternation_window() const {
  Duration longest = time_slice_;
  for (const WorkingSet& set : sets_) longest = std::max(longest, set.time_slice);
  return kTurnsPerWindow * (longest + switch_cost_);
}

}  // namespace corun
