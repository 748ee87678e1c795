#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace corun::executor {

inline constexpr std::uint32_t kMostStreams = 64;

/// What a kernel tells the host when it has run: in memory that device and host both see.
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
  std::uint64_t number = 0;      ///< of the client's submissions
  std::uint64_t iterations = 0;  ///< kernels: of each thread; rendering: of each pixel
  std::uint32_t blocks = 1, threads = 1, shared_bytes = 0;
  std::uint64_t bytes = 0;                  ///< copies
  std::uint64_t awaits[kMostStreams] = {};  ///< by stream: 1 + the newest submission there that it waits for; 0 = none
};

/// When the worker's host called the driver for a submission, on CLOCK_MONOTONIC.
struct CallTimes {
  std::int64_t begin_ns, end_ns;
};

/// What a launch shape costs on this device, alone: time = fixed + iterations * per_iteration, by least squares.
struct ShapeLaw {
  std::uint32_t blocks = 1, threads = 1, shared_bytes = 0;
  double fixed_ns = 0.0;
  double ns_per_iteration = 0.0;
  double worst_error = 0.0;  ///< of the fit over the measured points, relative
};

enum class WorkerState : std::uint32_t { kStarting, kReady, kFailed, kEnded };

/// What a worker is to be. Written before it starts.
struct WorkerSetup {
  char library[256] = "libcuda.so.1";
  std::int32_t device = 0;
  std::int32_t scheduler = 0;                 ///< process that it must not outlive
  bool is_graphics = false;                   ///< renders; else kernels and copies
  std::uint32_t width = 1920, height = 1080;  ///< of what it renders
  std::uint32_t streams = 1;
  std::int32_t priorities[kMostStreams] = {};  ///< CUDA's: smaller goes first
  std::uint64_t memory_bytes = 0;              ///< device memory that it takes and keeps
  std::uint64_t largest_copy = 0;
  std::uint32_t shapes = 0;  ///< of Channel::shapes that are used
};

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
  ShapeLaw shapes[kMostShapes];      ///< laws are filled in by the worker
  std::int64_t clock_offset_ns = 0;  ///< CLOCK_MONOTONIC less the device's clock; the scheduler follows its drift
  std::int64_t clock_error_ns = 0;   ///< half of the shortest round trip by which that is known

  alignas(64) std::atomic<std::uint64_t> posted{0};  ///< commands by the scheduler so far
  alignas(64) std::atomic<std::uint64_t> taken{0};   ///< of these, by the worker
  alignas(64) Command commands[kDepth];
  CallTimes calls[kDepth];
  alignas(4096) Stamp stamps[kDepth];

  Command& command(std::uint64_t number) { return commands[number % kDepth]; }
  Stamp& stamp(std::uint64_t number) { return stamps[number % kDepth]; }
};

/// Owns a mapping of a channel. Movable.
class MappedChannel {
 public:
  /// A new one, zeroed but for its defaults, that programs started later do not inherit. Throws Error(kDevice).
  static MappedChannel create();
  /// The one behind a file descriptor that was inherited. Throws Error(kDevice).
  static MappedChannel open(int descriptor);

  MappedChannel(MappedChannel&& other) noexcept
      : channel_(std::exchange(other.channel_, nullptr)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  MappedChannel& operator=(MappedChannel&& other) noexcept {
    std::swap(channel_, other.channel_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~MappedChannel();

  Channel* operator->() const { return channel_; }
  Channel& operator*() const { return *channel_; }
  int descriptor() const { return descriptor_; }

 private:
  MappedChannel(Channel* channel, int descriptor) : channel_(channel), descriptor_(descriptor) {}
  Channel* channel_ = nullptr;
  int descriptor_ = -1;
};

/// Copies as much of `text` as fits, with a final zero.
template <std::size_t size>
void set_text(char (&field)[size], std::string_view text) {
  const std::size_t count = text.copy(field, size - 1);
  field[count] = '\0';
}

}  // namespace corun::executor
