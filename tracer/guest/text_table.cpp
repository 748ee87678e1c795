#include "tracer/guest/text_table.h"

#include <string.h>

namespace corun::guest {
namespace {

// Word by word: names of templated kernels have thousands of characters, and each kernel record asks.
std::uint64_t hash_of(const char* text, std::uint32_t length) {
  std::uint64_t hash = length * 0x9E3779B97F4A7C15ULL;
  for (; length >= 8; text += 8, length -= 8) {
    std::uint64_t word;
    memcpy(&word, text, sizeof(word));
    hash = (hash ^ word) * 0xC2B2AE3D27D4EB4FULL;
    hash ^= hash >> 29;
  }
  std::uint64_t tail = 0;
  memcpy(&tail, text, length);
  hash = (hash ^ tail) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 32);
}

}  // namespace

std::uint32_t TextTable::slot_of(const char* text, std::uint32_t length, std::uint64_t hash) const {
  std::uint32_t slot = static_cast<std::uint32_t>(hash) % kSlots;
  for (; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
    const Entry& entry = entries_[slots_[slot] - 1];
    const bool may_be = entry.hash == hash && entry.length == length;
    if (may_be && memcmp(arena_ + entry.offset, text, length) == 0) break;
  }
  return slot;
}

std::uint32_t TextTable::find(const char* text, std::uint32_t length) const {
  return slots_[slot_of(text, length, hash_of(text, length))];
}

std::uint32_t TextTable::keep(const char* text, std::uint32_t length) {
  if (!has_room(length)) return 0;
  const std::uint64_t hash = hash_of(text, length);
  const std::uint32_t slot = slot_of(text, length, hash);
  memcpy(arena_ + bytes_, text, length);
  entries_[count_] = {hash, static_cast<std::uint32_t>(bytes_), length};
  bytes_ += length;
  return slots_[slot] = ++count_;
}

}  // namespace corun::guest
