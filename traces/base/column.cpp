#include "traces/base/column.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace corun {

void prefer_large_pages(void* memory, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t last = (begin + bytes) / kLargePage * kLargePage;
  // A system without such pages says so, and nothing is lost.
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

std::shared_ptr<std::byte[]> returnable_memory(std::size_t bytes) {
  constexpr std::size_t kFewPages = 16 * 4096;  // the usual allocator keeps small pieces without a loss
  if (bytes < kFewPages) return std::make_shared_for_overwrite<std::byte[]>(bytes);
  const std::size_t mapped = bytes % kLargePage == 0 ? bytes + kLargePage : bytes;
  void* const memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  prefer_large_pages(memory, mapped);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % kLargePage;
  const std::size_t skipped = mapped == bytes ? 0 : kLargePage - past;
  const auto release = [memory, mapped](std::byte*) { munmap(memory, mapped); };
  return {static_cast<std::byte*>(memory) + skipped, release};
}

}  // namespace corun
