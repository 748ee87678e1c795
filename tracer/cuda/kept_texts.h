#pragma once

#include <string.h>

#include <atomic>
#include <cstddef>

namespace corun::nvtx {

/// Copies of texts, at places that stay. Bounded; zeroed memory holds none. Any thread, without locks.
class KeptTexts {
 public:
  /// nullptr where there is no room.
  const char* keep(const char* text) {
    const std::size_t size = strlen(text) + 1;
    std::size_t at = used_.load(std::memory_order_relaxed);
    do {
      if (size > kMostBytes - at) return nullptr;
    } while (!used_.compare_exchange_weak(at, at + size, std::memory_order_relaxed));
    return static_cast<const char*>(memcpy(bytes_ + at, text, size));
  }
  /// Whether it is what keep() has returned. Any address in it is that of a text with an end.
  bool has(const void* address) const {
    const auto* const at = static_cast<const char*>(address);
    return at >= bytes_ && at < bytes_ + kMostBytes;
  }

  static constexpr std::size_t kMostBytes = 64 << 10;

 private:
  std::atomic<std::size_t> used_{0};
  char bytes_[kMostBytes + 1]{};  // the last one stays 0
};

}  // namespace corun::nvtx
