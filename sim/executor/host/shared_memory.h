#pragma once

#include <cstddef>
#include <utility>

namespace corun::executor {

/// Memory that processes share, behind a file descriptor without a name. Pages that were never written take no memory.
/// Movable.
class SharedMemory {
 public:
  /// New, zeroed, and not inherited by programs that are started later. Throws Error(kDevice).
  static SharedMemory create(const char* label, std::size_t bytes);
  /// What is behind a descriptor that was inherited, and owns it from now on. Throws Error(kDevice).
  static SharedMemory open(int descriptor, std::size_t bytes);

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~SharedMemory();

  void* address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }  ///< -1 = it has no memory

  /// Takes all of its pages now. Throws Error(kDevice) where the machine has no room for them.
  void fill() const;

 private:
  SharedMemory(void* address, std::size_t bytes, int descriptor)
      : address_(address), bytes_(bytes), descriptor_(descriptor) {}
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace corun::executor
