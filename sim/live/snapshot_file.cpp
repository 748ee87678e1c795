#include "sim/live/snapshot_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "traces/base/error.h"

namespace corun::live {

namespace {

namespace fs = std::filesystem;

fs::path place_for(const std::string& folder, std::uint64_t bytes) {
  std::error_code ignored;
  const fs::space_info space = fs::space(folder, ignored);
  return !ignored && space.available / 2 >= bytes ? fs::path(folder) : fs::temp_directory_path();
}

}  // namespace

SnapshotFile::SnapshotFile(const std::string& folder, const std::string& name, std::uint64_t bytes)
    : path_(place_for(folder, bytes) / fmt::format("{}-{}", fs::path(folder).filename().string(), name)) {}

SnapshotFile::~SnapshotFile() {
  for (const std::string& path : {path_, wanted(), unfinished()}) unlink(path.c_str());
}

void SnapshotFile::ask() {
  const int descriptor = open(wanted().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    throw Error(ErrorKind::kDevice,
                fmt::format("cannot make the request for a snapshot {}: {}", wanted(), std::strerror(errno)));
  close(descriptor);
  is_asked_ = true;
  has_begun_ = false;
}

SnapshotFile::Progress SnapshotFile::look() {
  if (!is_asked_ || access(wanted().c_str(), F_OK) == 0) return Progress::kNone;
  if (const std::uint64_t now = identity(); now != saved_) {
    saved_ = now;
    is_asked_ = false;
    return Progress::kSaved;
  }
  return std::exchange(has_begun_, true) ? Progress::kNone : Progress::kBegun;
}

void SnapshotFile::forget_request() {
  unlink(wanted().c_str());
  unlink(unfinished().c_str());
  saved_ = identity();
  is_asked_ = false;
}

std::uint64_t SnapshotFile::identity() const {
  struct stat found {};
  if (stat(path_.c_str(), &found) != 0) return 0;
  const auto changed = static_cast<std::uint64_t>(found.st_ctim.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(found.st_ctim.tv_nsec);
  return (found.st_ino << 1 | 1) ^ changed << 8;
}

}  // namespace corun::live
