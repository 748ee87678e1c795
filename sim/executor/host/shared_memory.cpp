#include "sim/executor/host/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

[[noreturn]] void fail(const char* what, std::size_t bytes, int error) {
  throw Error(ErrorKind::kDevice,
              fmt::format("cannot {} {} bytes of memory for a worker: {}", what, bytes, std::strerror(error)));
}

}  // namespace

SharedMemory SharedMemory::create(const char* label, std::size_t bytes) {
  const int descriptor = memfd_create(label, MFD_CLOEXEC);
  if (descriptor < 0) fail("make", bytes, errno);
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) return open(descriptor, bytes);
  const int error = errno;
  close(descriptor);
  fail("size", bytes, error);
}

SharedMemory SharedMemory::open(int descriptor, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory != MAP_FAILED) return {memory, bytes, descriptor};
  const int error = errno;
  close(descriptor);
  fail("map", bytes, error);
}

SharedMemory::~SharedMemory() {
  if (address_ != nullptr) munmap(address_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

void SharedMemory::fill() const {
  if (const int error = posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes_)); error != 0)
    fail("take", bytes_, error);
}

}  // namespace corun::executor
