#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sim/executor/host/shared_memory.h"

namespace corun::executor {

inline constexpr std::uint32_t kMostStreams = 64;

/// What a kernel reports to the host when it has run: in memory that device and host both see.
struct Stamp {
  std::uint64_t begin_ns;  ///< the device's own clock
  std::uint64_t end_ns;
  std::uint64_t ticket;  ///< written last: 1 + number of the submission
};

enum class CommandKind : std::uint32_t { kKernel, kCopyToDevice, kCopyFromDevice, kRender };

/// One operation for a worker to hand to the device.
struct Command {
  CommandKind kind = CommandKind::kKernel;
  std::uint32_t stream = 0;
  std::uint64_t number = 0;               ///< of the client's submissions
  std::uint64_t iterations = 0;           ///< kernels: of each thread; rendering: of each pixel
  std::uint64_t iterations_per_load = 0;  ///< kernels: between two reads of memory by a thread; 0 = it reads none
  std::uint32_t blocks = 1, threads = 1, shared_bytes = 0;
  std::int32_t priority = 0;                ///< higher goes first; the device has as many levels as it has
  std::uint64_t bytes = 0;                  ///< copies
  std::uint64_t awaits[kMostStreams] = {};  ///< by stream: 1 + the newest submission there that it waits for; 0 = none
};

/// When the worker's host called the driver for a submission, on CLOCK_MONOTONIC.
struct CallTimes {
  std::int64_t begin_ns, end_ns;
};

/// What a launch shape costs on this device, alone: measured at some counts of iterations, the first of them 0; linear
/// between these and beyond the last.
struct ShapeLaw {
  static constexpr std::uint32_t kMostPoints = 32;
  struct Point {
    std::uint64_t iterations;
    double ns;
  };

  std::uint32_t blocks = 1, threads = 1, shared_bytes = 0;
  std::uint64_t iterations_per_load = 0;  ///< as Command's
  double traffic = 0.0;                   ///< part of the memory's bandwidth that it draws so
  std::uint32_t points = 0;               ///< of `point` that are used: at least two once it is measured
  Point point[kMostPoints] = {};          ///< ascending in both
  double worst_error = 0.0;               ///< between points, where that was measured, relative

  double shortest_ns() const { return point[0].ns; }
  double ns_per_iteration() const;  ///< beyond the last point, as from half of its iterations on
  double ns_of(std::uint64_t iterations) const;
  std::uint64_t iterations_in(double ns) const;  ///< 0 where even none take longer
};

enum class WorkerState : std::uint32_t { kStarting, kReady, kFailed, kEnded };

/// The settings of a worker. Written before it starts.
struct WorkerSetup {
  char library[256] = "libcuda.so.1";
  std::int32_t device = 0;
  std::int32_t scheduler = 0;           ///< process that it must not outlive
  bool is_graphics = false;             ///< renders; else kernels and copies
  std::uint32_t width = 0, height = 0;  ///< of what it renders
  std::uint32_t streams = 1;
  std::uint64_t memory_bytes = 0;  ///< device memory that it takes and keeps
  std::uint64_t largest_copy = 0;
  std::uint64_t snapshot_bytes = 0;       ///< of that memory, what a snapshot copies
  std::int32_t snapshot_descriptor = -1;  ///< of host memory of that size, shared and inherited
  double traffic = 0.0;                   ///< part of the memory's bandwidth that surrogates are to draw, [0, 1]
  double sm_cap = 1.0;                    ///< as RequestKind::kSmCap, from the start
  std::uint64_t first_number = 0;         ///< of the client's submissions, the first that it is given
  bool is_measured = false;               ///< the channel has its laws and clock already
  std::uint32_t shapes = 0;               ///< of Channel::shapes that are used
};

/// What is asked of a worker besides operations.
enum class RequestKind : std::uint32_t {
  kSnapshot,  ///< copy the client's memory to the host
  kRestore,   ///< copy it back
  kSmCap,     ///< from now on its kernels get this part of the SMs together
  kMemory,    ///< from now on it holds this much device memory
};
struct Request {
  RequestKind kind = RequestKind::kSnapshot;
  double fraction = 1.0;    ///< kSmCap: (0, 1]
  std::uint64_t bytes = 0;  ///< kMemory
  std::uint64_t after = 0;  ///< number of the first operation that comes after it
};

enum class MpsState : std::int32_t { kUnknown, kNo, kYes };

/// Memory that the scheduler shares with the worker process of one client, and the worker with its device: commands one
/// way, stamps the other. A ring entry is used again only after the worker is done with it and its operation has
/// completed.
struct Channel {
  static constexpr std::uint64_t kDepth = 4096;  ///< from the oldest operation in flight to the newest; a power of two
  static constexpr std::uint32_t kMostShapes = 2048;

  WorkerSetup setup;
  std::atomic<WorkerState> state{WorkerState::kStarting};
  std::atomic<bool> is_to_end{false};
  char error[512] = {};         ///< why it failed
  std::int32_t error_kind = 0;  ///< ErrorKind of that
  char device_name[128] = {};
  ShapeLaw shapes[kMostShapes];       ///< laws are filled in by the worker
  std::int64_t clock_offset_ns = 0;   ///< CLOCK_MONOTONIC less the device's clock; the scheduler follows its drift
  std::int64_t clock_error_ns = 0;    ///< half of the shortest round trip by which that is known
  double gap_ns = 0.0;                ///< from the end of a surrogate to the start of the next one in its stream
  MpsState mps = MpsState::kUnknown;  ///< whether its context belongs to an MPS server
  std::uint32_t capped_sms = 0;       ///< that the driver gave for a cap; 0 = it has none
  std::int32_t priority_levels = 0;   ///< that the device has for kernels, 0 the lowest

  Request request;                         ///< the newest
  std::atomic<std::uint64_t> asked{0};     ///< requests by the scheduler so far
  std::atomic<std::uint64_t> answered{0};  ///< of these, by the worker
  CallTimes answer;                        ///< of the newest that is answered: when the worker was at it

  alignas(64) std::atomic<std::uint64_t> posted{0};  ///< commands by the scheduler so far
  alignas(64) std::atomic<std::uint64_t> taken{0};   ///< of these, by the worker
  alignas(64) Command commands[kDepth];
  CallTimes calls[kDepth];
  alignas(4096) Stamp stamps[kDepth];

  Command& command(std::uint64_t number) { return commands[number % kDepth]; }
  Stamp& stamp(std::uint64_t number) { return stamps[number % kDepth]; }
};

/// A channel in memory that two processes share. Movable.
class MappedChannel {
 public:
  /// A new one, zeroed but for its defaults, that programs started later do not inherit. Throws Error(kDevice).
  static MappedChannel create();
  /// The one behind a file descriptor that was inherited. Throws Error(kDevice).
  static MappedChannel open(int descriptor);

  Channel* operator->() const { return channel_; }
  Channel& operator*() const { return *channel_; }
  int descriptor() const { return memory_.descriptor(); }

 private:
  MappedChannel(SharedMemory memory, Channel* channel) : memory_(std::move(memory)), channel_(channel) {}
  SharedMemory memory_;
  Channel* channel_;
};

/// Copies as much of `text` as fits, with a final zero.
template <std::size_t size>
void set_text(char (&field)[size], std::string_view text) {
  const std::size_t count = text.copy(field, size - 1);
  field[count] = '\0';
}

}  // namespace corun::executor
