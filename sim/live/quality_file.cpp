#include "sim/live/quality_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "traces/base/error.h"

namespace corun::live {

static_assert(std::endian::native == std::endian::little && std::atomic<std::uint32_t>::is_always_lock_free);

QualityFile::QualityFile(std::string path, std::uint32_t level) : path_(std::move(path)) {
  const int descriptor = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool is_made = descriptor >= 0 && ftruncate(descriptor, sizeof(level)) == 0;
  void* memory = is_made ? mmap(nullptr, sizeof(level), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  const int failure = errno;
  if (descriptor >= 0) close(descriptor);
  if (memory == MAP_FAILED)
    throw Error(ErrorKind::kDevice,
                fmt::format("cannot make the file of quality levels {}: {}", path_, std::strerror(failure)));
  level_ = static_cast<std::atomic<std::uint32_t>*>(memory);
  set(level);
}

QualityFile::~QualityFile() {
  munmap(level_, sizeof(*level_));
  unlink(path_.c_str());
}

void QualityFile::set(std::uint32_t level) { level_->store(level); }

}  // namespace corun::live
