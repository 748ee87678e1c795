#include "tracer/gate/gate_link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/gate/futex.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

constexpr int kClaims = 40;
constexpr useconds_t kBetweenClaimsUs = 5000;

bool has_died(std::uint32_t process) { return kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH; }

}  // namespace

bool GateLink::open() {
  const char* path = secure_getenv(kFileVariable);
  const char* client = secure_getenv(kClientVariable);
  if (path == nullptr || client == nullptr || strlen(path) >= sizeof(path_)) return false;
  char* end = nullptr;
  const unsigned long number = strtoul(client, &end, 10);
  if (end == client || *end != '\0' || number >= kMostClients || !map(path)) return false;
  client_ = static_cast<std::uint32_t>(number);
  strcpy(path_, path);
  if (number < file_->clients.load() && !is_over()) return true;
  file_ = nullptr;
  return false;
}

// A file of somebody else's, or of another layout, is none of ours.
bool GateLink::map(const char* path) {
  const int descriptor = ::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  struct stat found {};
  const bool is_ours = fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
                       found.st_size == static_cast<off_t>(sizeof(GateFile));
  void* memory =
      is_ours ? mmap(nullptr, sizeof(GateFile), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  if (memory == MAP_FAILED) return false;
  file_ = static_cast<GateFile*>(memory);
  if (file_->magic.load(std::memory_order_acquire) == kMagic) return true;
  munmap(memory, sizeof(GateFile));
  file_ = nullptr;
  return false;
}

bool GateLink::is_locked() const {
  const int descriptor = ::open(path_, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool is_held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return is_held;
}

bool GateLink::has_scheduler() const {
  const std::int64_t silent_ns = guest::monotonic_ns() - file_->heartbeat_ns.load(std::memory_order_relaxed);
  if (silent_ns < kDeadAfterNs) return true;
  return silent_ns < kHungAfterNs && is_locked();
}

void GateLink::ring() const {
  file_->bell.fetch_add(1);
  if (file_->is_asleep.load() != 0) futex_wake_all(file_->bell);
}

// One that has died is noticed by the scheduler, which then frees its place.
bool GateLink::claim_launches() const {
  const auto own = static_cast<std::uint32_t>(getpid());
  for (int i = 0; i < kClaims; ++i) {
    std::uint32_t holder = 0;
    if (lane().process.compare_exchange_strong(holder, own)) return true;
    if (!has_died(holder) || !has_scheduler()) break;
    usleep(kBetweenClaimsUs);
  }
  lane().strangers.fetch_add(1);
  return false;
}

}  // namespace corun::gate
