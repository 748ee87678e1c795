#include "sim/live/gate_owner.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sim/executor/host/wall_clock.h"
#include "tracer/gate/channel/handover.h"
#include "tracer/gate/channel/process.h"
#include "tracer/gate/channel/word.h"
#include "traces/base/error.h"

namespace corun::live {

namespace {

constexpr char kPrefix[] = "corun-gate-", kFirst[] = "gate-0";

/// In memory where there is such a place: games map files of it, and writers to one on a disk may wait for the disk.
std::string folder_pattern() {
  constexpr const char* kInMemory = "/dev/shm";
  const bool is_usable = access(kInMemory, W_OK | X_OK) == 0;
  return (is_usable ? std::filesystem::path(kInMemory) : std::filesystem::temp_directory_path()) /
         (std::string(kPrefix) + "XXXXXX");
}

/// A scheduler that was killed leaves its folder behind, and its sockets answer no longer.
void remove_dead_folders(const std::filesystem::path& place) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(place, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    struct stat folder {};
    const bool is_ours =
        lstat(entry.path().c_str(), &folder) == 0 && S_ISDIR(folder.st_mode) && folder.st_uid == geteuid();
    const std::string first = entry.path() / kFirst;
    struct stat socket {};
    const bool is_finished = is_ours && lstat(first.c_str(), &socket) == 0 && S_ISSOCK(socket.st_mode);
    if (is_finished && !gate::is_answered(first.c_str())) std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

GateOwner::GateOwner(std::uint32_t clients)
    : shared_("corun-gate", sizeof(gate::GateCommon)), common_(static_cast<gate::GateCommon*>(shared_.get())) {
  if (clients > gate::kMostClients)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} clients: a live run takes at most {}", clients, gate::kMostClients));
  for (std::uint32_t i = 0; i < clients; ++i) {
    lanes_.push_back(std::make_unique<SealedMemory>("corun-lane", sizeof(gate::Lane)));
    lane(i).gate = gate::closed_word(0, 0);
  }
  common_->pid_namespace = gate::pid_namespace();
  beat();
  common_->magic.store(gate::kMagic, std::memory_order_release);
  make_folder(clients);
}

void GateOwner::make_folder(std::uint32_t clients) {
  folder_ = folder_pattern();
  if (mkdtemp(folder_.data()) == nullptr)
    throw Error(ErrorKind::kDevice,
                fmt::format("cannot make a folder for gates {}: {}", folder_, std::strerror(errno)));
  remove_dead_folders(std::filesystem::path(folder_).parent_path());
  std::vector<gate::Memory> memory;
  for (std::uint32_t i = 0; i < clients; ++i) {
    paths_.push_back(fmt::format("{}/gate-{}", folder_, i));
    memory.push_back({shared_.descriptor(), lanes_[i]->descriptor()});
  }
  try {
    door_ = std::make_unique<GateDoor>(paths_, memory);
  } catch (const Error&) {
    remove();
    throw;
  }
}

GateOwner::~GateOwner() {
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) open_for_good(i);
  remove();
}

void GateOwner::remove() const {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void GateOwner::beat() { common_->heartbeat_ns.store(executor::WallClock::monotonic_ns(), std::memory_order_relaxed); }

void GateOwner::await_bell(std::uint32_t seen, std::int64_t most_ns, bool is_near) {
  if (most_ns <= 0) return;
  if (is_near && awake_.wait(common_->bell, seen, std::min(most_ns, gate::kAwakeForQuestionNs))) return;
  common_->is_asleep.store(1);
  gate::futex_wait(common_->bell, seen, most_ns);
  common_->is_asleep.store(0);
}

void GateOwner::open_for_good(std::uint32_t client) {
  gate::Lane& lane = this->lane(client);
  lane.is_over.store(1);
  lane.gate.fetch_and(~gate::kClosed);
  lane.bound = 0;
  lane.bound_ns = 0;
  gate::announce(lane.turn);
}

}  // namespace corun::live
