#include "tracer/cuda/buffer_pool.h"

#include <string.h>
#include <sys/mman.h>

namespace corun::cupti {

bool BufferPool::map() {
  if (memory_ != nullptr) return true;
  void* memory = mmap(nullptr, (kBuffers + kSpares) * kBufferBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::uint8_t*>(memory);
  return true;
}

std::uint8_t* BufferPool::take() {
  for (std::size_t word = 0; word < kWords; ++word) {
    std::uint64_t taken = taken_[word].load(std::memory_order_relaxed);
    while (taken != UINT64_MAX) {
      const auto bit = static_cast<std::size_t>(__builtin_ctzll(~taken));
      if (taken_[word].compare_exchange_weak(taken, taken | std::uint64_t{1} << bit, std::memory_order_acquire)) {
        return memory_ + (word * 64 + bit) * kBufferBytes;
      }
    }
  }
  const std::size_t spare = spares_taken_.fetch_add(1, std::memory_order_relaxed) % kSpares;
  return memory_ + (kBuffers + spare) * kBufferBytes;
}

bool BufferPool::is_kept(const std::uint8_t* buffer) const {
  const auto offset = reinterpret_cast<std::uintptr_t>(buffer) - reinterpret_cast<std::uintptr_t>(memory_);
  return memory_ != nullptr && offset < kBuffers * kBufferBytes && offset % kBufferBytes == 0;
}

void BufferPool::give_back(std::uint8_t* buffer) {
  if (!is_kept(buffer)) return;
  memset(buffer, 0, kBufferBytes);
  const std::size_t index = static_cast<std::size_t>(buffer - memory_) / kBufferBytes;
  taken_[index / 64].fetch_and(~(std::uint64_t{1} << index % 64), std::memory_order_release);
}

}  // namespace corun::cupti
