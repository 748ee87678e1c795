#include "tracer/gate/channel/link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/gate/channel/futex.h"
#include "tracer/gate/channel/handover.h"
#include "tracer/gate/channel/process.h"
#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

constexpr std::int64_t kPatienceNs = 1'000'000'000, kLittlePatienceNs = 50'000'000;
constexpr char kUnreachable[] = "corun: the gate cannot be reached, this program runs on without one\n";
constexpr int kClaims = 40;
constexpr useconds_t kBetweenClaimsUs = 5000;

/// nullptr: it cannot be had, or has another size. Closes the descriptor.
void* map_memory(int descriptor, std::size_t size) {
  struct stat found {};
  const bool has_size = fstat(descriptor, &found) == 0 && found.st_size == static_cast<off_t>(size);
  void* memory = has_size ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

bool GateLink::open() {
  const Found found = find(kPatienceNs);
  if (found == Found::kFailed) [[maybe_unused]]
    const ssize_t written = write(STDERR_FILENO, kUnreachable, sizeof(kUnreachable) - 1);
  return found == Found::kGate;
}

bool GateLink::open_at_once() { return find(kLittlePatienceNs) == Found::kGate; }

GateLink::Found GateLink::find(std::int64_t patience_ns) {
  const char* path = secure_getenv(kFileVariable);
  if (path == nullptr) return Found::kNone;
  if (strlen(path) >= sizeof(path_)) return Found::kFailed;
  strcpy(path_, path);
  const Found found = map(patience_ns);
  if (found != Found::kGate) return found;
  const bool is_ours = common_->magic.load(std::memory_order_acquire) == kMagic;
  if (is_ours && !is_over()) return Found::kGate;
  close();
  return is_ours ? Found::kNone : Found::kFailed;
}

// Memory of another layout is no gate.
GateLink::Found GateLink::map(std::int64_t patience_ns) {
  Memory memory;
  const Receipt receipt = receive(path_, memory, patience_ns);
  if (receipt != Receipt::kReceived) return receipt == Receipt::kNothingThere ? Found::kNone : Found::kFailed;
  common_ = static_cast<GateCommon*>(map_memory(memory.common, sizeof(GateCommon)));
  lane_ = static_cast<Lane*>(map_memory(memory.lane, sizeof(Lane)));
  if (common_ != nullptr && lane_ != nullptr) return Found::kGate;
  close();
  return Found::kFailed;
}

void GateLink::close() {
  if (common_ != nullptr) munmap(common_, sizeof(GateCommon));
  if (lane_ != nullptr) munmap(lane_, sizeof(Lane));
  common_ = nullptr;
  lane_ = nullptr;
}

bool GateLink::has_scheduler() const {
  const std::int64_t silent_ns = guest::monotonic_ns() - common_->heartbeat_ns.load(std::memory_order_relaxed);
  if (silent_ns < kDeadAfterNs) return true;
  return silent_ns < kHungAfterNs && is_answered(path_);
}

void GateLink::ring() const {
  common_->bell.fetch_add(1);
  if (common_->is_asleep.load() != 0) futex_wake_all(common_->bell);
}

void GateLink::tell_frame(FrameMoment moment, std::uint64_t frame, std::int64_t at_ns,
                          std::int64_t gpu_begin_ns) const {
  if (!has_frames(moment)) return;
  Lane& its = lane();
  std::uint64_t place = its.frame_count.load();
  do {
    if (place - its.frames_read.load(std::memory_order_acquire) < kFrameDepth) continue;
    its.frames_lost.fetch_add(1);
    return;
  } while (!its.frame_count.compare_exchange_weak(place, place + 1));
  FrameRecord& record = its.frames[place % kFrameDepth];
  record.number = frame;
  record.moment = moment;
  record.at_ns = at_ns;
  record.gpu_begin_ns = gpu_begin_ns;
  record.gpu_end_ns = gpu_begin_ns == 0 ? 0 : at_ns;
  record.gpu_busy_ns = gpu_begin_ns == 0 ? 0 : at_ns - gpu_begin_ns;
  record.ready.store(place + 1, std::memory_order_release);
  if (its.tells.load(std::memory_order_relaxed) != 0) ring();
}

// Both libraries of a program see it, and one that takes its place (exec) has another.
static std::uint32_t mark_of_program() {
  std::uint32_t mark = 0;
  const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM));
  if (random != nullptr) memcpy(&mark, random, sizeof mark);
  return mark | 1;
}

bool GateLink::claim_frames(FrameTeller teller) {
  const std::uint64_t own = std::uint64_t{mark_of_program()} << 32;
  std::uint64_t known = lane().frame_teller.load();
  const std::uint64_t wanted = own | static_cast<std::uint32_t>(teller);
  do {
    if (known >> 32 == own >> 32) return known == wanted;
  } while (!lane().frame_teller.compare_exchange_weak(known, wanted));
  frame_mark_ = wanted;
  lane().frame_process = own_process(common_->pid_namespace);
  return true;
}

// A launcher whose game has ended shows frames again.
bool GateLink::has_frames(FrameMoment moment) const {
  Lane& its = lane();
  if (frame_mark_ == 0 || its.frame_teller.load(std::memory_order_relaxed) == frame_mark_) return true;
  std::uint32_t holder = kNoProcess;
  if (moment != FrameMoment::kBegin || its.frame_process.load(std::memory_order_relaxed) != kNoProcess) return false;
  if (!its.frame_process.compare_exchange_strong(holder, own_process(common_->pid_namespace))) return false;
  its.frame_teller = frame_mark_;
  return true;
}

bool GateLink::take_empty_slot(std::uint32_t own) {
  for (std::uint32_t i = 0; i < kMostProcesses; ++i) {
    std::uint32_t holder = kNoProcess;
    if (!lane().slots[i].process.compare_exchange_strong(holder, own)) continue;
    slot_ = i;
    mark_ = mark_of_slot(i, lane().slots[i].turn.load());
    std::uint32_t used = lane().slots_used.load();
    while (used <= i && !lane().slots_used.compare_exchange_weak(used, i + 1)) {
    }
    return true;
  }
  return false;
}

void GateLink::leave_former_slots() const {
  const std::uint32_t own = own_process(common_->pid_namespace);
  for (Slot& slot : lane().slots) {
    std::uint32_t former = own;
    slot.process.compare_exchange_strong(former, kFormerProcess);
  }
}

// A process that has died is noticed by the scheduler, which then empties its slot.
bool GateLink::take_slot() {
  const std::uint32_t own = own_process(common_->pid_namespace);
  leave_former_slots();
  for (int i = 0; i < kClaims; ++i) {
    if (take_empty_slot(own)) return true;
    bool has_dead = false;
    for (const Slot& slot : lane().slots) has_dead = has_dead || has_died(slot.process.load());
    if (!has_dead || !has_scheduler()) break;
    usleep(kBetweenClaimsUs);
  }
  lane().processes_without_slot.fetch_add(1);
  return false;
}

}  // namespace corun::gate
