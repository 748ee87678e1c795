#include "tests/reference/memory/managed_memory.h"

#include <algorithm>
#include <cmath>

#include "traces/base/error.h"

namespace corun {

namespace {

Duration transfer_time(std::uint64_t bytes, double bytes_per_s) {
  return Duration{std::llround(static_cast<double>(bytes) / bytes_per_s * 1e9)};
}

}  // namespace

ManagedMemory::ManagedMemory(const PagingCosts& costs, std::uint64_t memory_bytes, std::uint64_t context_bytes)
    : costs_(costs), memory_bytes_(memory_bytes), context_bytes_(context_bytes) {}

void ManagedMemory::join(ClientId client, std::uint64_t bytes) {
  CORUN_ASSERT(client.value == clients_.size(), "client {} joined as number {}", client.value, clients_.size());
  const auto count = static_cast<BlockIndex>((bytes + FaultRegion::kBytes - 1) / FaultRegion::kBytes);
  clients_.push_back({static_cast<BlockIndex>(blocks_.size()), count, {}, true});
  blocks_.resize(blocks_.size() + count, Block{client, {}, false, {}});
  ++present_clients_;
  CORUN_ASSERT(capacity_blocks() > 0, "{} contexts leave no memory", present_clients_);
  while (by_fault_.size() > capacity_blocks()) evict_oldest();
}

void ManagedMemory::leave(ClientId client) {
  CORUN_ASSERT(clients_[client.value].is_present, "client {} left twice", client.value);
  for_blocks(client, 0, clients_[client.value].count * FaultRegion::kBytes, [&](BlockIndex index, auto, auto) {
    Block& block = blocks_[index];
    if (block.is_placed) by_fault_.erase(block.position);
    block.is_placed = false;
    block.pages.evict();
  });
  clients_[client.value].is_present = false;
  --present_clients_;
}

Duration ManagedMemory::touch(ClientId client, std::uint64_t begin, std::uint64_t bytes) {
  Duration stall{};
  for_blocks(client, begin, bytes, [&](BlockIndex index, std::uint32_t from_page, std::uint32_t to_page) {
    stall += touch_block(index, from_page, to_page);
  });
  return stall;
}

Duration ManagedMemory::prefetch(ClientId client, std::uint64_t begin, std::uint64_t bytes) {
  std::uint64_t in = 0, out = 0;
  for_blocks(client, begin, bytes, [&](BlockIndex index, auto, auto) {
    if (blocks_[index].pages.resident_bytes() == FaultRegion::kBytes) return;
    out += place(index);
    in += blocks_[index].pages.fill();
  });
  clients_[client.value].counts.bytes_in += in;
  return std::max(transfer_time(in, costs_.bulk_to_device_bytes_per_s),
                  transfer_time(out, costs_.bulk_from_device_bytes_per_s));
}

void ManagedMemory::populate(ClientId client, std::uint64_t begin, std::uint64_t bytes) {
  for_blocks(client, begin, bytes, [&](BlockIndex index, auto, auto) {
    if (blocks_[index].pages.resident_bytes() == FaultRegion::kBytes) return;
    place(index);
    blocks_[index].pages.fill();
  });
}

std::uint64_t ManagedMemory::resident_bytes(ClientId client) const {
  std::uint64_t bytes = 0;
  const Client& owner = clients_[client.value];
  for (BlockIndex index = owner.first; index < owner.first + owner.count; ++index)
    bytes += blocks_[index].pages.resident_bytes();
  return bytes;
}

/// Calls visit(block, first page, one past the last page) for each block that the range touches, in order.
template <class Visit>
void ManagedMemory::for_blocks(ClientId client, std::uint64_t begin, std::uint64_t bytes, Visit visit) {
  const Client& owner = clients_[client.value];
  const std::uint64_t end = begin + bytes;
  CORUN_ASSERT(owner.is_present && end <= owner.count * FaultRegion::kBytes, "client {} has no byte {}", client.value,
               end);
  while (begin < end) {
    const std::uint64_t number = begin / FaultRegion::kBytes, offset = begin % FaultRegion::kBytes;
    const std::uint64_t here = std::min(end - begin, FaultRegion::kBytes - offset);
    visit(static_cast<BlockIndex>(owner.first + number), static_cast<std::uint32_t>(offset / FaultRegion::kPageBytes),
          static_cast<std::uint32_t>((offset + here + FaultRegion::kPageBytes - 1) / FaultRegion::kPageBytes));
    begin += here;
  }
}

Duration ManagedMemory::touch_block(BlockIndex index, std::uint32_t from_page, std::uint32_t to_page) {
  Block& block = blocks_[index];
  PagingCounts& counts = clients_[block.owner.value].counts;
  Duration stall{};
  for (std::uint32_t page = from_page; page < to_page; ++page) {
    if (block.pages.has(page)) continue;
    const std::uint64_t evicted = place(index);
    counts.bytes_in += block.pages.fault(page);
    ++counts.fault_groups;
    stall += costs_.fault_group + (evicted > 0 ? costs_.eviction : Duration{});
  }
  return stall;
}

/// Puts the block at the end of the list, in room that is taken from the oldest one if there is no other. Returns the
/// bytes that had to leave.
std::uint64_t ManagedMemory::place(BlockIndex index) {
  Block& block = blocks_[index];
  if (block.is_placed) {
    by_fault_.splice(by_fault_.end(), by_fault_, block.position);
    return 0;
  }
  const std::uint64_t evicted = by_fault_.size() < capacity_blocks() ? 0 : evict_oldest();
  block.position = by_fault_.insert(by_fault_.end(), index);
  block.is_placed = true;
  return evicted;
}

std::uint64_t ManagedMemory::evict_oldest() {
  Block& victim = blocks_[by_fault_.front()];
  by_fault_.pop_front();
  victim.is_placed = false;
  const std::uint64_t bytes = victim.pages.evict();
  clients_[victim.owner.value].counts.bytes_out += bytes;
  return bytes;
}

std::uint64_t ManagedMemory::capacity_blocks() const {
  const std::uint64_t reserved = present_clients_ * context_bytes_;
  return reserved < memory_bytes_ ? (memory_bytes_ - reserved) / FaultRegion::kBytes : 0;
}

}  // namespace corun
