#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace corun {

/// Bytes of a large page, of which the usual ones are a small part.
inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Asks the system to back memory of millions of bytes with pages of 2 MiB, where it has such: a column that is written
/// once from front to back costs more in pages of 4 KiB than in instructions.
void prefer_large_pages(void* memory, std::size_t bytes);

/// Memory that goes back to the system when its last owner lets go of it. Throws std::bad_alloc if there is none.
std::shared_ptr<std::byte[]> returnable_memory(std::size_t bytes);

/// The usual allocator, for what may be long.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}

  T* allocate(std::size_t count) {
    T* const memory = std::allocator<T>().allocate(count);
    prefer_large_pages(memory, count * sizeof(T));
    return memory;
  }
  void deallocate(T* memory, std::size_t count) { std::allocator<T>().deallocate(memory, count); }
  friend bool operator==(const LargePages&, const LargePages&) = default;
};

/// One number of each row of a capture, or of each operation of a workload.
template <class T>
using Column = std::vector<T, LargePages<T>>;

}  // namespace corun
