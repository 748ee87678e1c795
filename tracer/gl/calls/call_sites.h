#pragma once

#include <cstddef>
#include <cstdint>

namespace corun::gl {

/// The functions to which calls lead where callers get different ones: by the place of the call (its return address)
/// and the name that it calls. An entry stays. Any thread, without locks.
class CallSites {
 public:
  /// Null: not known.
  void* find(const void* caller, std::size_t name) const {
    const std::uint64_t key = key_of(caller, name);
    for (std::size_t i = 0; i < kProbes; ++i) {
      const Entry& entry = entries_[(key % kPrime + i) % kEntries];
      if (__atomic_load_n(&entry.key, __ATOMIC_ACQUIRE) != key) continue;
      return __atomic_load_n(&entry.function, __ATOMIC_ACQUIRE);
    }
    return nullptr;
  }

  /// Where there is no room, nothing happens.
  void add(const void* caller, std::size_t name, void* function) {
    const std::uint64_t key = key_of(caller, name);
    for (std::size_t i = 0; i < kProbes; ++i) {
      Entry& entry = entries_[(key % kPrime + i) % kEntries];
      std::uint64_t holder = 0;
      const bool is_free =
          __atomic_compare_exchange_n(&entry.key, &holder, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
      if (is_free || holder == key) return __atomic_store_n(&entry.function, function, __ATOMIC_RELEASE);
    }
  }

 private:
  struct Entry {
    std::uint64_t key;
    void* function;
  };

  // Addresses of programs take 47 bits.
  static std::uint64_t key_of(const void* caller, std::size_t name) {
    return reinterpret_cast<std::uint64_t>(caller) | std::uint64_t{name} << 48;
  }

  static constexpr std::size_t kEntries = 4096, kPrime = 4093, kProbes = 8;
  Entry entries_[kEntries] = {};
};

}  // namespace corun::gl
