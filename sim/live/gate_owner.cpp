#include "sim/live/gate_owner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sim/executor/wall_clock.h"
#include "tracer/gate/futex.h"
#include "traces/base/error.h"

namespace corun::live {

namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Error(ErrorKind::kDevice, fmt::format("cannot {} the gate file {}: {}", what, path, std::strerror(errno)));
}

constexpr char kPrefix[] = "corun-gate-";

/// In memory where there is such a place: a mapped file on a disk makes those wait who write to it.
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
  folder_ = folder_pattern();
  if (mkdtemp(folder_.data()) == nullptr) fail("make a folder for", folder_);
  remove_dead_folders(std::filesystem::path(folder_).parent_path());
  path_ = folder_ + "/gate.new";  // until it is locked, it is nobody's
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail("make", path_);
  if (ftruncate(descriptor_, sizeof(gate::GateFile)) != 0) fail("size", path_);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) fail("lock", path_);
  const std::string locked = folder_ + "/gate";
  if (rename(path_.c_str(), locked.c_str()) != 0) fail("name", path_);
  path_ = locked;
  void* memory = mmap(nullptr, sizeof(gate::GateFile), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) fail("map", path_);
  file_ = static_cast<gate::GateFile*>(memory);
  file_->clients = clients;
  for (std::uint32_t i = 0; i < clients; ++i) lane(i).gate = gate::Lane::kClosed;
  beat();
  file_->magic.store(gate::kMagic, std::memory_order_release);
}

GateOwner::~GateOwner() {
  open_for_good();
  munmap(file_, sizeof(gate::GateFile));
  close(descriptor_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void GateOwner::beat() { file_->heartbeat_ns.store(executor::WallClock::monotonic_ns(), std::memory_order_relaxed); }

void GateOwner::await_bell(std::uint32_t seen, std::int64_t most_ns) {
  if (most_ns <= 0) return;
  file_->is_asleep.store(1);
  gate::futex_wait(file_->bell, seen, most_ns);
  file_->is_asleep.store(0);
}

void GateOwner::open_for_good() {
  file_->is_over.store(1);
  for (std::uint32_t i = 0; i < file_->clients.load(); ++i) {
    lane(i).gate.fetch_and(~gate::Lane::kClosed);
    lane(i).bound = 0;
    gate::announce(lane(i).turn);
  }
}

}  // namespace corun::live
