#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace corun::gate {

/// Names of the kernels whose handles a program has been given, where the driver keeps them. Any thread; no lock to
/// find one.
///
/// A handle is that of a function or of a kernel, which a launch takes alike and whose names are asked for by different
/// calls; so they are asked for where the handle is made. One that comes again is of something new, and replaces.
class KernelTable {
 public:
  /// Of more than there is room for, some are left out.
  void learn(const void* handle, const char* name);
  /// nullptr: not known.
  const char* name_of(const void* handle) const;

 private:
  static constexpr std::uint32_t kEntries = 1 << 16, kProbes = 64;
  struct Entry {
    std::atomic<const void*> handle;
    std::atomic<const char*> name;
  };
  static std::uint32_t first_entry(const void* handle);

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  Entry entries_[kEntries] = {};
};

}  // namespace corun::gate
