#include "sim/live/gate_owner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "sim/executor/host/wall_clock.h"
#include "tracer/gate/channel/futex.h"
#include "tracer/gate/channel/process.h"
#include "tracer/gate/channel/word.h"
#include "traces/base/error.h"

namespace corun::live {

namespace {

constexpr char kPrefix[] = "corun-gate-";

/// In memory where there is such a place: writers to a mapped file on a disk may wait for the disk.
std::string folder_pattern() {
  constexpr const char* kInMemory = "/dev/shm";
  const bool is_usable = access(kInMemory, W_OK | X_OK) == 0;
  return (is_usable ? std::filesystem::path(kInMemory) : std::filesystem::temp_directory_path()) /
         (std::string(kPrefix) + "XXXXXX");
}

/// A scheduler that was killed leaves its folder behind, and its lock does not outlive it.
void remove_dead_folders(const std::filesystem::path& place) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(place, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const int descriptor = open((entry.path() / "gate").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(entry.path(), ignored);
    close(descriptor);
  }
}

}  // namespace

GateOwner::GateOwner(std::uint32_t clients) {
  if (clients > gate::kMostClients)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} clients: a live run takes at most {}", clients, gate::kMostClients));
  path_ = folder_ = folder_pattern();
  if (mkdtemp(folder_.data()) == nullptr) fail("make a folder for");
  remove_dead_folders(std::filesystem::path(folder_).parent_path());
  path_ = folder_ + "/gate.new";  // not a gate until it is locked
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail("make");
  if (ftruncate(descriptor_, sizeof(gate::GateFile)) != 0) fail("size");
  errno = posix_fallocate(descriptor_, 0,
                          static_cast<off_t>(offsetof(gate::GateFile, lanes) + clients * sizeof(gate::Lane)));
  if (errno != 0) fail("find memory for");
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) fail("lock");
  const std::string locked = folder_ + "/gate";
  if (rename(path_.c_str(), locked.c_str()) != 0) fail("name");
  path_ = locked;
  void* memory = mmap(nullptr, sizeof(gate::GateFile), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) fail("map");
  file_ = static_cast<gate::GateFile*>(memory);
  file_->clients = clients;
  file_->pid_namespace = gate::pid_namespace();
  for (std::uint32_t i = 0; i < clients; ++i) lane(i).gate = gate::closed_word(0, 0);
  beat();
  file_->magic.store(gate::kMagic, std::memory_order_release);
}

GateOwner::~GateOwner() {
  for (std::uint32_t i = 0; i < file_->clients.load(); ++i) open_for_good(i);
  munmap(file_, sizeof(gate::GateFile));
  remove();
}

void GateOwner::fail(const char* what) const {
  const Error error(ErrorKind::kDevice,
                    fmt::format("cannot {} the gate file {}: {}", what, path_, std::strerror(errno)));
  remove();
  throw error;
}

void GateOwner::remove() const {
  if (descriptor_ >= 0) close(descriptor_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void GateOwner::beat() { file_->heartbeat_ns.store(executor::WallClock::monotonic_ns(), std::memory_order_relaxed); }

void GateOwner::await_bell(std::uint32_t seen, std::int64_t most_ns, bool is_near) {
  if (most_ns <= 0) return;
  if (is_near && awake_.wait(file_->bell, seen, std::min(most_ns, gate::kAwakeForQuestionNs))) return;
  file_->is_asleep.store(1);
  gate::futex_wait(file_->bell, seen, most_ns);
  file_->is_asleep.store(0);
}

void GateOwner::open_for_good(std::uint32_t client) {
  gate::Lane& lane = file_->lanes[client];
  lane.is_over.store(1);
  lane.gate.fetch_and(~gate::kClosed);
  lane.bound = 0;
  lane.bound_ns = 0;
  gate::announce(lane.turn);
}

}  // namespace corun::live
