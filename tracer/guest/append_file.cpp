#include "tracer/guest/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tracer/guest/chunk_frame.h"

namespace corun::guest {
namespace {

constexpr int kMostTries = 99;
constexpr int kLowestDescriptor = 200;  // out of the way of programs that expect small numbers
constexpr std::uint64_t kRoomForLastWords = 512;

int make_new(int folder, const char* stem) {
  for (int i = 1; i <= kMostTries; ++i) {
    char name[256];
    const int length =
        i == 1 ? snprintf(name, sizeof(name), "%s.part", stem) : snprintf(name, sizeof(name), "%s-%d.part", stem, i);
    if (length >= static_cast<int>(sizeof(name))) return -1;
    const int made = openat(folder, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

int move_up(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return descriptor;
  ::close(descriptor);
  return high;
}

}  // namespace

bool AppendFile::make(const char* directory, const char* stem, std::uint64_t max_bytes) {
  const int folder = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  const int made = make_new(folder, stem);
  ::close(folder);
  if (made < 0) return false;
  descriptor_ = move_up(made);
  struct stat status {};
  fstat(descriptor_, &status);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  max_bytes_ = max_bytes;
  return true;
}

bool AppendFile::is_still_ours() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool AppendFile::fail(part::EndReason reason, int error) {
  if (!has_failed_) {
    failure_ = reason;
    detail_ = static_cast<std::uint32_t>(error);
  }
  has_failed_ = true;
  return false;
}

bool AppendFile::write_whole(const unsigned char* frame, std::size_t frame_bytes, const unsigned char* payload,
                             std::size_t payload_bytes) {
  const std::size_t whole = frame_bytes + payload_bytes;
  for (std::size_t written = 0; written < whole;) {
    const std::size_t of_frame = written < frame_bytes ? written : frame_bytes;
    const std::size_t of_payload = written - of_frame;
    const iovec rest[2] = {{const_cast<unsigned char*>(frame) + of_frame, frame_bytes - of_frame},
                           {const_cast<unsigned char*>(payload) + of_payload, payload_bytes - of_payload}};
    const ssize_t step = writev(descriptor_, rest, 2);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) return false;
    written += static_cast<std::size_t>(step);
  }
  return true;
}

bool AppendFile::append(const unsigned char* payload, std::size_t payload_bytes, std::uint32_t rows, bool is_last) {
  if (has_failed_ && !is_last) return false;
  const ChunkFrame frame = make_chunk_frame(sequence_, rows, payload, payload_bytes);
  const std::uint64_t room = is_last ? max_bytes_ + kRoomForLastWords : max_bytes_;
  if (bytes_ + frame.size + payload_bytes > room) return fail(part::EndReason::kMaxSize, 0);
  if (!is_still_ours()) return fail(part::EndReason::kWriteFailed, EBADF);
  if (!write_whole(frame.bytes, frame.size, payload, payload_bytes)) {
    const int error = errno;
    [[maybe_unused]] const int cut = ftruncate(descriptor_, static_cast<off_t>(bytes_));
    return fail(part::EndReason::kWriteFailed, error);
  }
  bytes_ += frame.size + payload_bytes;
  ++sequence_;
  return true;
}

void AppendFile::close() {
  if (is_still_ours()) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace corun::guest
