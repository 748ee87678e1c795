#pragma once

#include <string.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// Memory that the scheduler of a live run shares with the guests in its clients' processes: one GateCommon, and a Lane
/// for each client, which the processes of that client alone have.
///
/// CORUN_GATE names the socket of the client's gate to the guests, which get the memory there (handover.h). Everything
/// here is fixed in size and zero at first; times are nanoseconds of CLOCK_MONOTONIC. What one side writes before it
/// stores an atomic, the other may read after it has loaded it.
///
/// A guest is in a program that may write anywhere: to the scheduler, what a guest writes is input, of which nothing
/// holds until it has been checked. What the scheduler alone writes it never reads back.
namespace corun::gate {

inline constexpr char kFileVariable[] = "CORUN_GATE";
inline constexpr std::uint64_t kMagic = 0x000c'4554'4147'4f43;  ///< changes with the layout

inline constexpr std::uint32_t kMostClients = 64;
inline constexpr std::uint32_t kMostProcesses = 32;  ///< of a client that are gated at a time
inline constexpr std::uint64_t kDepth = 8192;        ///< launches from the oldest that is not complete to the newest
inline constexpr std::uint64_t kFrameDepth = 256;    ///< frame events that the scheduler has not read
inline constexpr std::uint32_t kMostNames = 2048;
inline constexpr std::uint32_t kNameBytes = 1 << 20;  ///< of all names together
inline constexpr std::uint32_t kNoName = 0;

/// A scheduler that has shown no sign of life for so long has died if its socket answers no longer.
inline constexpr std::int64_t kDeadAfterNs = 60'000'000;
/// ... and hangs, or was stopped, if it does.
inline constexpr std::int64_t kHungAfterNs = 1'000'000'000;
inline constexpr std::int64_t kHeartbeatNs = 10'000'000;

/// How long a launch at a closed gate stays awake for the answer, and the scheduler for the next question, before they
/// sleep.
inline constexpr std::int64_t kAwakeForAnswerNs = 20'000;
inline constexpr std::int64_t kAwakeForQuestionNs = 50'000;

/// How the calls of a process come to its gate.
enum class Interception : std::uint32_t {
  kNone,
  kPreload,  ///< the process calls us in place of the driver
  kCupti,    ///< CUPTI calls us back
};

/// Why a process runs without a gate.
enum class Obstacle : std::uint32_t {
  kNone,
  kNoDriver,     ///< the driver lacks a function that a gate calls
  kNoSlot,       ///< all slots are taken
  kNoCupti,      ///< only CUPTI could report its calls, and there is none
  kCuptiTaken,   ///< ... and another profiler has it
  kNoScheduler,  ///< it has died
};

enum class LaunchKind : std::uint32_t { kKernel, kGraph, kCopyToDevice, kCopyFromDevice, kCopy, kMemset };

/// One call that gives the device work.
struct Launch {
  std::atomic<std::uint64_t> ready;  ///< 1 + its number: what is above `begin_ns` is valid
  std::int64_t submitted_ns;         ///< the program made the call
  LaunchKind kind;
  std::uint32_t name;     ///< of Lane::name(); kNoName = not known
  std::uint32_t stream;   ///< small numbers in order of appearance, from 0
  std::uint32_t threads;  ///< of a block
  std::uint64_t blocks;   ///< of the grid; of a graph, the sum of its kernels'
  std::uint64_t bytes;    ///< of copies and memsets
  std::uint32_t shared_bytes;
  std::uint32_t graph_nodes;  ///< kernels in it
  std::uint32_t slot;         ///< mark_of_slot() of the process
  std::int64_t begin_ns;      ///< on the device; valid once its number is among Slot::done
  std::int64_t end_ns;
  std::int64_t device_ns;
  std::uint32_t
      group;  ///< launches whose time is known together, and shared out equally here: neighbours in Slot::done
};

/// A moment in the life of a frame.
enum class FrameMoment : std::uint32_t {
  kBegin,    ///< the first GPU work of frame `number` is being submitted
  kPresent,  ///< it was handed over to be shown
  kEnd,      ///< its last GPU work has ended: seen at `at_ns`, ended at `gpu_end_ns`
};

/// Which library of a process reports its frames.
enum class FrameTeller : std::uint32_t { kGl = 1, kVulkan = 2 };

struct FrameRecord {
  std::atomic<std::uint64_t> ready;  ///< 1 + its place in the order
  std::uint64_t number;              ///< of the frame, from 0
  FrameMoment moment;
  std::uint32_t padding;
  std::int64_t at_ns;
  std::int64_t gpu_begin_ns, gpu_end_ns;  ///< kEnd: 0 where the GPU's times are not known
  std::int64_t gpu_busy_ns;               ///< kEnd
};

/// A process of a client that is at the gate, and what it reports of its own launches. It takes an empty one; the
/// scheduler empties it once the process has died.
struct Slot {
  alignas(64) std::atomic<std::uint32_t> process;  ///< its id, or one of process.h
  std::atomic<std::uint32_t> turn;                 ///< changes when it is emptied, which only the scheduler does
  std::atomic<std::uint32_t> in_flight;            ///< launches not known to be complete
  std::atomic<std::int64_t> typical_ns;            ///< mean device time of a launch, newer ones counting more
  std::atomic<std::uint64_t> allocated;            ///< bytes of device memory that it holds, managed memory included
  alignas(64) std::atomic<std::uint64_t> done_count;
  std::uint64_t done[kDepth];  ///< numbers, in the order of their ends
};

/// A holder of a slot, distinct from those before and after.
constexpr std::uint32_t mark_of_slot(std::uint32_t slot, std::uint32_t turn) { return turn * kMostProcesses + slot; }

/// What the scheduler and the processes of one client share: one gate and one order of launches for all.
///
/// A launch takes its number and learns whether it may pass by one addition to `gate` (word.h); those that may not
/// wait for `turn` to change.
struct Lane {
  alignas(64) std::atomic<std::uint64_t> gate;
  alignas(64) std::atomic<std::uint32_t> turn;  ///< futex
  std::atomic<std::uint32_t> sleepers;          ///< threads that wait for it, or were killed as they did
  std::atomic<std::uint32_t> is_over;           ///< the client has left, or the run has ended: everything passes
  std::atomic<std::uint32_t> bound;             ///< most launches not known to be complete; 0 = no bound
  std::atomic<std::uint64_t> bound_ns;        ///< most device time of those, as launches took lately; 0 = no such bound
  std::atomic<std::uint32_t> every;           ///< launches of a stream in a group, whose time is known together
  std::atomic<std::uint32_t> tells;           ///< whether completions and frames wake the scheduler
  std::atomic<std::uint64_t> memory_limit;    ///< most bytes that its processes may have allocated; 0 = no limit
  std::atomic<std::uint64_t> told_memory;     ///< bytes that they are told the device has; 0 = as it is
  std::atomic<std::uint32_t> is_managed;      ///< whether what they allocate becomes managed memory
  std::atomic<std::uint64_t> most_allocated;  ///< bytes at a time so far
  std::atomic<std::uint64_t> refused_allocations;  ///< for the limit
  std::atomic<std::uint64_t> refused_bytes;        ///< of the smallest of these; 0 = there is none
  std::atomic<std::uint64_t> never_managed;        ///< bytes that could not be made so: pools, arrays, mappings
  std::atomic<std::uint64_t> uncounted;            ///< allocations that there was no room to remember
  std::atomic<std::uint32_t> by_preload;           ///< processes that have been gated in this way so far
  std::atomic<std::uint32_t> by_cupti;
  std::atomic<Obstacle> obstacle;                     ///< of the last process that met one
  std::atomic<std::uint32_t> processes_without_slot;  ///< processes that came while all slots were taken
  std::atomic<std::uint32_t> slots_used;              ///< no slot from here on has been taken yet
  std::atomic<std::uint64_t> unobserved;              ///< launches whose end was not seen: said to be complete at once
  std::atomic<std::uint64_t> let_through;             ///< launches beyond the bound, since nothing ended for long
  std::atomic<std::uint64_t> captured;  ///< launches into a graph that is being captured: not among the launches
  alignas(64) std::atomic<std::uint64_t> retired;  ///< all launches below are complete, and the scheduler knows
  Launch launches[kDepth];
  Slot slots[kMostProcesses];

  alignas(64) std::atomic<std::uint64_t> frame_teller;  ///< program << 32 | FrameTeller: of the newest that began
  std::atomic<std::uint32_t> frame_process;             ///< its id; 0 = it has died, and another may take its place
  std::atomic<std::uint64_t> frame_count;
  std::atomic<std::uint64_t> frames_read;
  std::atomic<std::uint64_t> frames_lost;
  FrameRecord frames[kFrameDepth];

  std::atomic<std::uint64_t> names_taken;          ///< names << 32 | bytes of `name_text`
  std::atomic<std::uint32_t> name_at[kMostNames];  ///< 1 + its place in `name_text`; 0 = not written
  char name_text[kNameBytes];                      ///< as the compiler wrote them, whole, each with a zero behind it

  /// "" for one that is not written, or is none: its process may have died meanwhile. It ends in front of a zero, or
  /// with the memory.
  std::string_view name(std::uint32_t number) const {
    const std::uint32_t at =
        number == kNoName || number >= kMostNames ? 0 : name_at[number].load(std::memory_order_acquire);
    if (at == 0 || at > kNameBytes) return {};
    return {name_text + (at - 1), strnlen(name_text + (at - 1), kNameBytes - (at - 1))};
  }
};

/// What all clients share.
struct GateCommon {
  std::atomic<std::uint64_t> magic;          ///< written last
  std::atomic<std::uint64_t> pid_namespace;  ///< the scheduler's; 0 = not known
  alignas(64) std::atomic<std::int64_t> heartbeat_ns;
  alignas(64) std::atomic<std::uint32_t> bell;  ///< futex: changes when there is something for the scheduler to see
  std::atomic<std::uint32_t> is_asleep;         ///< the scheduler waits for the bell
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace corun::gate
