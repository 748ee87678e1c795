#include "tracer/gate/name_table.h"

#include <string.h>

#include "tracer/guest/lock.h"

namespace corun::gate {

std::uint32_t NameTable::number_of(const char* name, Lane& lane) {
  if (name == nullptr || name[0] == '\0') return kNoName;
  const auto address = reinterpret_cast<std::uint64_t>(name);
  std::atomic<std::uint64_t>& slot = slots_[(address >> 4) % kSlots];
  const std::uint64_t seen = slot.load(std::memory_order_acquire);
  const auto known = static_cast<std::uint32_t>(seen >> kNumberShift);
  // Another module's name may have come to lie in the same place.
  const bool is_same_place = (seen ^ address) << (64 - kNumberShift) == 0;
  if (seen != 0 && is_same_place && lane.name(known) == name) return known;
  const guest::Lock locked(lock_);
  const std::uint32_t number = find_or_add(name, lane);
  slot.store(address | std::uint64_t{number} << kNumberShift, std::memory_order_release);
  return number;
}

// Other processes of the client add names, too: two that do at once may have one of them twice.
std::uint32_t NameTable::find_or_add(const char* name, Lane& lane) {
  std::uint64_t taken = lane.names_taken.load();
  const std::size_t bytes = strlen(name) + 1;
  std::uint32_t count = 0, end = 0;
  do {
    count = static_cast<std::uint32_t>(taken >> 32);
    end = static_cast<std::uint32_t>(taken);
    for (std::uint32_t i = 1; i <= count && i < kMostNames; ++i)
      if (lane.name(i) == name) return i;
    if (count >= kMostNames - 1 || end > kNameBytes || bytes > kNameBytes - end) return kNoName;
  } while (!lane.names_taken.compare_exchange_weak(taken, std::uint64_t{count + 1} << 32 | (end + bytes)));
  memcpy(lane.name_text + end, name, bytes);
  lane.name_at[count + 1].store(end + 1, std::memory_order_release);
  return count + 1;
}

}  // namespace corun::gate
