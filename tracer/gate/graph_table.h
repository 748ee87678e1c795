#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "tracer/gate/driver/driver.h"

namespace corun::gate {

/// What the graphs of a program hold, counted when they are made ready to be launched. Any thread.
class GraphTable {
 public:
  struct Sum {
    std::uint32_t kernels = 0;
    std::uint64_t blocks = 0;  ///< of all of them
  };
  bool load() { return driver_.load(); }
  /// `executable` has been made of `graph`. Of more nodes than kMostNodes the first are counted, and scaled.
  void made(const void* executable, void* graph);
  void destroyed(const void* executable);
  Sum sum_of(const void* executable);

  static constexpr std::size_t kMostNodes = 8192;

 private:
  static constexpr std::uint32_t kMostGraphs = 2048;
  struct Entry {
    const void* executable;
    Sum sum;
  };
  Sum count(void* graph);
  Entry* find(const void* executable);

  Driver driver_;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  Entry entries_[kMostGraphs] = {};
  std::uint32_t used_ = 0;  // entries before it may be taken
  void* nodes_[kMostNodes] = {};
};

}  // namespace corun::gate
