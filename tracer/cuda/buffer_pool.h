#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace corun::cupti {

/// The buffers that CUPTI writes records into: one mapping, made once and never given back, touched only where it is
/// used. Any thread, no locks.
///
/// Buffers are handed out full of zeros. When all are with CUPTI, spares are handed out, the same ones again and
/// again: their records are only counted, but CUPTI is never refused a buffer, which some of its versions crash on.
class BufferPool {
 public:
  /// False where there is no memory for it.
  bool map();

  std::uint8_t* take();
  /// Whether what CUPTI wrote there may be read: false for spares and for anything that is not from here.
  bool is_kept(const std::uint8_t* buffer) const;
  /// Takes a buffer back, from which CUPTI's records have been read.
  void give_back(std::uint8_t* buffer);

  /// Every buffer's size. With the records of calls it holds fewer than 1,024 launches, so that is what a process
  /// killed under steady load can lose.
  static constexpr std::size_t kBufferBytes = 240 * 1024;
  static constexpr std::size_t kBuffers = 256;
  static constexpr std::size_t kSpares = 16;

 private:
  static constexpr std::size_t kWords = kBuffers / 64;

  std::uint8_t* memory_ = nullptr;
  std::atomic<std::uint64_t> taken_[kWords]{};  // one bit a buffer
  std::atomic<std::uint32_t> spares_taken_{0};
};

}  // namespace corun::cupti
