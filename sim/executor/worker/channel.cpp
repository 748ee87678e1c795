#include "sim/executor/worker/channel.h"

#include <new>

namespace corun::executor {

MappedChannel MappedChannel::create() {
  SharedMemory memory = SharedMemory::create("corun-channel", sizeof(Channel));
  auto* channel = new (memory.address()) Channel;
  return {std::move(memory), channel};
}

MappedChannel MappedChannel::open(int descriptor) {
  SharedMemory memory = SharedMemory::open(descriptor, sizeof(Channel));
  auto* channel = static_cast<Channel*>(memory.address());
  return {std::move(memory), channel};
}

}  // namespace corun::executor
