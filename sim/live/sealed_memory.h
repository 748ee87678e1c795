#pragma once

#include <cstddef>

namespace corun::live {

/// Memory to be shared with other processes by its descriptor, full of zeros. It is taken at once, so that no write
/// into it can find that there is none, and sealed: no process can make it shorter or longer.
class SealedMemory {
 public:
  /// Throws Error(kDevice) where there is none; `what` names it.
  SealedMemory(const char* what, std::size_t size);
  ~SealedMemory();
  SealedMemory(const SealedMemory&) = delete;
  SealedMemory& operator=(const SealedMemory&) = delete;

  int descriptor() const { return descriptor_; }
  void* get() const { return memory_; }

 private:
  std::size_t size_;
  int descriptor_ = -1;
  void* memory_ = nullptr;
};

}  // namespace corun::live
