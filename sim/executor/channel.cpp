#include "sim/executor/channel.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorKind::kDevice, fmt::format("cannot {} memory for a worker: {}", what, std::strerror(errno)));
}

Channel* map(int descriptor) {
  void* memory = mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) fail("map");
  return static_cast<Channel*>(memory);
}

}  // namespace

MappedChannel MappedChannel::create() {
  const int descriptor = memfd_create("corun-channel", MFD_CLOEXEC);
  if (descriptor < 0) fail("make");
  MappedChannel made(nullptr, descriptor);
  if (ftruncate(descriptor, sizeof(Channel)) != 0) fail("size");
  made.channel_ = new (map(descriptor)) Channel;
  return made;
}

MappedChannel MappedChannel::open(int descriptor) { return {map(descriptor), descriptor}; }

MappedChannel::~MappedChannel() {
  if (channel_ != nullptr) munmap(channel_, sizeof(Channel));
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace corun::executor
