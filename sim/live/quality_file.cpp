#include "sim/live/quality_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "traces/base/error.h"

namespace corun::live {

static_assert(std::endian::native == std::endian::little);

QualityFile::QualityFile(std::string path, std::uint32_t level)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0)
    throw Error(ErrorKind::kDevice,
                fmt::format("cannot make the file of quality levels {}: {}", path_, std::strerror(errno)));
  set(level);
}

QualityFile::~QualityFile() {
  close(descriptor_);
  unlink(path_.c_str());
}

/// In one piece, as far as a game that maps it can see: the kernel copies so few bytes at once.
void QualityFile::set(std::uint32_t level) {
  [[maybe_unused]] const ssize_t written = pwrite(descriptor_, &level, sizeof(level), 0);
}

}  // namespace corun::live
