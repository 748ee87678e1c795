#include "tracer/gate/name_table.h"

#include <string.h>

namespace corun::gate {

std::uint32_t NameTable::number_of(const char* name, Lane& lane) {
  if (name == nullptr || name[0] == '\0') return kNoName;
  pthread_mutex_lock(&lock_);
  Slot& slot = slots_[(reinterpret_cast<std::uintptr_t>(name) >> 4) % kSlots];
  // Another module's name may have come to lie in the same place.
  const bool is_known = slot.name == name && strcmp(lane.name(slot.number), name) == 0;
  if (!is_known) slot = {name, find_or_add(name, lane)};
  const std::uint32_t number = slot.number;
  pthread_mutex_unlock(&lock_);
  return number;
}

std::uint32_t NameTable::find_or_add(const char* name, Lane& lane) {
  const std::uint32_t count = lane.name_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 1; i <= count; ++i)
    if (strcmp(lane.name(i), name) == 0) return i;
  const std::size_t bytes = strlen(name) + 1;
  if (count + 1 >= kMostNames || bytes > kNameBytes - lane.name_end) return kNoName;
  memcpy(lane.name_text + lane.name_end, name, bytes);
  lane.name_at[count + 1] = lane.name_end;
  lane.name_end += static_cast<std::uint32_t>(bytes);
  lane.name_count.store(count + 1, std::memory_order_release);
  return count + 1;
}

}  // namespace corun::gate
