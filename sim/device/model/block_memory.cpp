#include "sim/device/model/block_memory.h"

#include <algorithm>
#include <cmath>

#include "traces/base/error.h"

namespace corun {

namespace {

// Of a touch, less is rounding.
constexpr double kRounding = 1e-9;

// Touches of a set that is in part in memory are looked at so many at a time, and within a pass.
constexpr std::uint64_t kMostHitsAhead = 256;

constexpr auto kBlockSize = static_cast<double>(BlockMemory::kBlockBytes);

double as_fraction(Rate rate) { return static_cast<double>(rate) / static_cast<double>(kFullRate); }

double as_ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

std::uint64_t blocks_of(std::uint64_t bytes) {
  return (bytes + BlockMemory::kBlockBytes - 1) / BlockMemory::kBlockBytes;
}

std::uint64_t room_for_blocks(std::uint64_t memory, std::uint64_t taken) {
  return memory > taken ? (memory - taken) / BlockMemory::kBlockBytes : 0;
}

}  // namespace

BlockMemory::BlockMemory(const DeviceSpec& spec, HostLink& link)
    : memory_(spec.memory_bytes),
      context_bytes_(spec.context_bytes),
      fault_(kGroupsPerBlock * as_ns(spec.fault_group)),
      eviction_(as_ns(spec.eviction)),
      bulk_(spec.to_device_bytes_per_s > 0 ? static_cast<double>(spec.to_device_bytes_per_s) * 1e-9 / kBlockSize
                                           : 1 / (fault_ + eviction_)),
      link_(link) {}

void BlockMemory::join(const ContextSpec& context) {
  const std::uint64_t blocks = std::min(blocks_of(context.working_set_bytes), room_for_blocks(memory_, context_bytes_));
  const auto count = static_cast<std::uint32_t>(blocks);
  const ClientId client{static_cast<std::uint32_t>(sets_.size())};
  sets_.push_back({.is_in = std::vector<bool>(count), .order = TouchOrder(context.access, count, client)});
  if (count > 0) sets_.back().compute = as_ns(context.touch_period) / count;
  evict_down_to(capacity());
}

void BlockMemory::begin_operation(ClientId client) {
  WorkingSet& set = sets_[client.value];
  if (!set.is_present) {
    set.is_present = true;
    evict_down_to(capacity());
  }
  place(client);
  if (set.compute == 0) set.owed = set.blocks();
}

void BlockMemory::place(ClientId client) {
  WorkingSet& set = sets_[client.value];
  if (set.is_placed || !set.is_present) return;
  set.is_placed = true;
  for (std::uint32_t block = 0; block < set.blocks() && by_fault_.size() < capacity(); ++block) bring(client, block);
}

void BlockMemory::free_memory(ClientId client) {
  WorkingSet& set = sets_[client.value];
  std::erase_if(by_fault_, [&](const Place& place) { return place.client == client; });
  set.is_in.assign(set.is_in.size(), false);
  set.resident = 0;
  set.touch = set.owed = 0;
  set.done = 0;
  set.has_begun = set.is_prefetching = set.is_placed = set.is_present = false;
}

void BlockMemory::prefetch(ClientId client) {
  place(client);
  WorkingSet& set = sets_[client.value];
  set.prefetched = 0;
  set.prefetch_done = 0;
  seek_missing(set);
}

void BlockMemory::run(const std::vector<ClientId>& clients, Time now) {
  running_ = clients;
  for (WorkingSet& set : sets_) {
    set.pace = kFullRate;
    set.speed = set.is_prefetching ? bulk_ : 0;
  }
  double sharers = 0;
  for (const ClientId client : running_) {
    WorkingSet& set = sets_[client.value];
    if (set.is_prefetching) set.pace = 0;
    if (set.is_prefetching || set.blocks() == 0) continue;
    begin_touch(client);
    if (set.is_faulting()) ++sharers;
  }
  for (const ClientId client : running_)
    if (!sets_[client.value].is_prefetching && sets_[client.value].blocks() > 0)
      set_speed(sets_[client.value], sharers);
  share_host_link();
  find_next_change(now);
}

/// Settles whether the present touch hits. One that does not has its block placed at once.
void BlockMemory::begin_touch(ClientId client) {
  WorkingSet& set = sets_[client.value];
  if (set.has_begun) return;
  if (set.compute == 0) pass_over_hits(set);
  if (set.compute == 0 && set.owed == 0) return;
  const std::uint32_t block = set.is_whole() ? 0 : set.order.block(set.touch);
  set.has_begun = true;
  set.stall = 0;
  if (set.is_in[block]) return;
  set.stall = fault_ + (bring(client, block) ? eviction_ : 0);
  ++set.faulted;
}

/// Those of an operation that goes through all blocks before it progresses take no time.
void BlockMemory::pass_over_hits(WorkingSet& set) const {
  if (set.is_whole()) set.touch += set.owed, set.owed = 0;
  for (; set.owed > 0 && set.is_in[set.order.block(set.touch)]; --set.owed) ++set.touch;
}

void BlockMemory::set_speed(WorkingSet& set, double sharers) const {
  if (!set.is_faulting()) {
    if (set.compute == 0) return;
    set.speed = 1 / set.compute;
    set.hits = hits_ahead(set);
    return;
  }
  const double stalled = set.stall * sharers;
  set.pace = set.compute > 0 ? rate_at(set.compute / (set.compute + stalled)) : 0;
  set.speed = set.compute > 0 ? as_fraction(set.pace) / set.compute : 1 / stalled;
}

std::uint64_t BlockMemory::hits_ahead(WorkingSet& set) const {
  if (set.is_whole()) return UINT64_MAX;
  const std::uint64_t end = std::min(kMostHitsAhead, set.blocks() - set.touch % set.blocks());
  std::uint64_t hits = 1;
  while (hits < end && set.is_in[set.order.block(set.touch + hits)]) ++hits;
  return hits;
}

void BlockMemory::share_host_link() {
  double wanted = 0;
  for (const WorkingSet& set : sets_)
    if (set.is_prefetching || (set.speed > 0 && set.is_faulting())) wanted += set.speed * kBlockSize;
  if (wanted == 0) return;
  const double granted = granted_to_paging(link_, wanted, by_fault_.size() >= capacity());
  if (granted == 1) return;
  for (WorkingSet& set : sets_) {
    if (set.is_prefetching || (set.is_faulting() && set.pace == 0)) set.speed *= granted;
    if (set.is_prefetching || !set.is_faulting() || set.pace == 0 || set.speed == 0) continue;
    set.pace = rate_at(granted * as_fraction(set.pace));
    set.speed = as_fraction(set.pace) / set.compute;
  }
}

void BlockMemory::find_next_change(Time now) {
  next_change_ = kNever;
  for (const WorkingSet& set : sets_) {
    if (set.speed == 0) continue;
    const bool is_free = !set.is_prefetching && !set.is_faulting();
    if (is_free && set.is_whole()) continue;
    const double touches = is_free ? static_cast<double>(set.hits) : 1;
    const double left = touches - (set.is_prefetching ? set.prefetch_done : set.done);
    const auto wait = static_cast<std::int64_t>(std::max(1.0, std::ceil(left / set.speed)));
    next_change_ = std::min(next_change_, now + Duration{wait});
  }
}

void BlockMemory::progress(Time from, Time to) {
  const auto elapsed = static_cast<double>(to_ns(to - from));
  if (elapsed == 0) return;
  for (const ClientId client : running_)
    if (!sets_[client.value].is_prefetching) progress_touches(sets_[client.value], elapsed);
  for (std::uint32_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].is_prefetching) progress_prefetch(ClientId{i}, elapsed);
}

void BlockMemory::progress_touches(WorkingSet& set, double elapsed) const {
  if (set.speed == 0) return;
  set.done += elapsed * set.speed;
  if (!set.is_faulting()) {
    const std::uint64_t passed = std::min(set.hits, static_cast<std::uint64_t>(set.done + kRounding));
    set.touch += passed;
    set.hits -= passed;
    set.done = std::max(0.0, set.done - static_cast<double>(passed));
    set.has_begun = set.hits > 0 && set.done > kRounding;
  } else if (set.done >= 1 - kRounding) {
    ++set.touch;
    set.done = 0;
    set.has_begun = false;
    if (set.owed > 0) --set.owed;
  }
}

void BlockMemory::progress_prefetch(ClientId client, double elapsed) {
  WorkingSet& set = sets_[client.value];
  set.prefetch_done += elapsed * set.speed;
  for (; set.is_prefetching && set.prefetch_done >= 1 - kRounding; --set.prefetch_done) {
    bring(client, set.prefetched);
    seek_missing(set);
  }
}

void BlockMemory::seek_missing(WorkingSet& set) const {
  const auto next = std::find(set.is_in.begin() + set.prefetched, set.is_in.end(), false);
  set.prefetched = static_cast<std::uint32_t>(next - set.is_in.begin());
  set.is_prefetching = next != set.is_in.end();
}

MemoryUse BlockMemory::use(ClientId client) const {
  const WorkingSet& set = sets_[client.value];
  return {set.resident * kBlockBytes, set.faulted * kBlockBytes};
}

/// Gives the block a place. Returns whether another one had to leave.
bool BlockMemory::bring(ClientId client, std::uint32_t block) {
  const std::uint64_t room = capacity();
  if (room == 0) return false;
  const bool is_full = by_fault_.size() >= room;
  evict_down_to(room - 1);
  WorkingSet& set = sets_[client.value];
  CORUN_ASSERT(!set.is_in[block], "block {} of client {} is in already", block, client.value);
  set.is_in[block] = true;
  ++set.resident;
  by_fault_.push_back({client, block});
  return is_full;
}

void BlockMemory::evict_down_to(std::uint64_t blocks) {
  for (; by_fault_.size() > blocks; by_fault_.pop_front()) {
    const Place& oldest = by_fault_.front();
    sets_[oldest.client.value].is_in[oldest.block] = false;
    --sets_[oldest.client.value].resident;
  }
}

std::uint64_t BlockMemory::capacity() const {
  const auto contexts = std::ranges::count_if(sets_, [](const WorkingSet& set) { return set.is_present; });
  return room_for_blocks(memory_, static_cast<std::uint64_t>(contexts) * context_bytes_);
}

}  // namespace corun
