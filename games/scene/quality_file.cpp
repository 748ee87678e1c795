#include "games/scene/quality_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "games/scene/world/failure.h"

namespace scene {

static_assert(std::endian::native == std::endian::little);

QualityFile::QualityFile(const std::string& path) : path_(path) {
  const std::string file = "CORUN_QUALITY=" + path;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Failure(kWrongUsage, file + ": " + std::strerror(errno));
  struct stat status {};
  const bool is_long_enough = fstat(descriptor, &status) == 0 && status.st_size >= std::int64_t{sizeof *wanted_};
  void* mapped = is_long_enough ? mmap(nullptr, sizeof *wanted_, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  if (!is_long_enough)
    throw Failure(kWrongUsage, file + ": found " + std::to_string(status.st_size) +
                                   " bytes, expected a level: one little-endian 32-bit integer");
  if (mapped == MAP_FAILED) throw Failure(kWrongUsage, file + ": cannot be mapped: " + std::strerror(errno));
  wanted_ = static_cast<std::int32_t*>(mapped);
}

QualityFile::~QualityFile() { munmap(wanted_, sizeof *wanted_); }

std::optional<std::size_t> QualityFile::level(std::size_t levels) {
  const std::int32_t found = std::atomic_ref(*wanted_).load(std::memory_order_relaxed);
  if (found >= 0 && static_cast<std::size_t>(found) < levels) return static_cast<std::size_t>(found);
  if (!std::exchange(has_complained_, true))
    std::fprintf(stderr, "scene: %s: found level %d, expected 0 (best) to %zu; the last good one stays\n",
                 path_.c_str(), found, levels - 1);
  return std::nullopt;
}

}  // namespace scene
