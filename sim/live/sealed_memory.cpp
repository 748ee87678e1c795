#include "sim/live/sealed_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "traces/base/error.h"

namespace corun::live {

SealedMemory::SealedMemory(const char* what, std::size_t size)
    : size_(size), descriptor_(memfd_create(what, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  const auto has_failed = [&] {
    if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return true;
    errno = posix_fallocate(descriptor_, 0, static_cast<off_t>(size));
    if (errno != 0 || fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return true;
    memory_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    return memory_ == MAP_FAILED;
  }();
  if (!has_failed) return;
  const int failure = errno;
  if (descriptor_ >= 0) close(descriptor_);
  throw Error(ErrorKind::kDevice, fmt::format("cannot have memory for {}: {}", what, std::strerror(failure)));
}

SealedMemory::~SealedMemory() {
  munmap(memory_, size_);
  close(descriptor_);
}

}  // namespace corun::live
