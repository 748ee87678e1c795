#pragma once

#include <string>
#include <thread>
#include <vector>

#include "tracer/gate/channel/handover.h"

namespace corun::live {

/// Gives the memory of a client's gate to every process that asks at the client's socket, from a thread of its own.
class GateDoor {
 public:
  /// Makes a socket at each path, for this memory, whose descriptors outlive this. Throws Error(kDevice) where that
  /// fails.
  GateDoor(const std::vector<std::string>& paths, const std::vector<gate::Memory>& memory);
  ~GateDoor();
  GateDoor(const GateDoor&) = delete;
  GateDoor& operator=(const GateDoor&) = delete;

 private:
  void close_all() const;
  void serve() const;

  const std::vector<gate::Memory> memory_;  // by client
  std::vector<int> listeners_;              // by client
  int end_ = -1;                            // an event: the thread is to end
  std::thread thread_;
};

}  // namespace corun::live
