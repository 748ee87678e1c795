#include <algorithm>
#include <vector>

#include "sim/executor/cuda_driver.h"
#include "sim/executor/device_context.h"
#include "sim/executor/surrogate_ptx.h"
#include "sim/executor/wall_clock.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr unsigned kEventsWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING
constexpr unsigned kStreamsOfTheirOwn = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned kSeenByDevice = 2;         // CU_MEMHOSTREGISTER_DEVICEMAP
constexpr int kDynamicShared = 8;             // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kMostShared = 97;               // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
constexpr int kClockTrials = 64;
constexpr std::uint64_t kTrafficValues = 1 << 22;  // 64 MiB
constexpr std::int64_t kLongestTrial = 30'000'000'000;

bool is_complete(Stamp& stamp, std::uint64_t ticket) {
  return std::atomic_ref(stamp.ticket).load(std::memory_order_acquire) == ticket;
}

/// One context on the device with everything that commands need of it.
class ComputeContext : public DeviceContext {
 public:
  explicit ComputeContext(Channel& channel) : channel_(channel), cuda_(channel.setup.library) {
    open_device();
    load_kernels();
    take_memory();
    open_streams();
  }
  ~ComputeContext() override { cuda_.context_release(device_); }
  ComputeContext(const ComputeContext&) = delete;
  ComputeContext& operator=(const ComputeContext&) = delete;

  void describe(Channel& channel) override {
    cuda_.check(cuda_.device_name(channel.device_name, sizeof(channel.device_name), device_), "naming the device");
    measure_clock(channel);
  }

  double trial_ns(const ShapeLaw& shape, std::uint64_t iterations) override {
    Command command;
    command.number = ++trials_;
    command.iterations = iterations;
    command.blocks = shape.blocks;
    command.threads = shape.threads;
    command.shared_bytes = shape.shared_bytes;
    launch(command, streams_[0]);
    Stamp& stamp = channel_.stamp(command.number);
    await(stamp, command.number + 1);
    return static_cast<double>(stamp.end_ns - stamp.begin_ns);
  }

  void carry_out(const Command& command) override {
    CudaHandle stream = streams_[command.stream];
    for (std::size_t other = 0; other < streams_.size(); ++other)
      if (command.awaits[other] > 0)
        cuda_.check(cuda_.stream_wait(stream, event_of(command.awaits[other] - 1), 0), "waiting for another stream");
    command.kind == CommandKind::kKernel ? launch(command, stream) : copy(command, stream);
    if (streams_.size() > 1) cuda_.check(cuda_.event_record(event_of(command.number), stream), "recording an event");
  }

  void drain() override { cuda_.check(cuda_.context_synchronize(), "waiting for the last operations"); }

 private:
  void open_device() {
    cuda_.check(cuda_.device_get(&device_, channel_.setup.device), "taking the device");
    cuda_.check(cuda_.context_retain(&context_, device_), "making a context");
    cuda_.check(cuda_.context_set(context_), "entering the context");
  }

  void load_kernels() {
    CudaHandle module = nullptr;
    cuda_.check(cuda_.module_load(&module, kSurrogatePtx), "compiling the surrogate kernels");
    cuda_.check(cuda_.module_function(&surrogate_, module, "corun_surrogate"), "finding the surrogate kernel");
    cuda_.check(cuda_.module_function(&clock_, module, "corun_clock"), "finding the clock kernel");
    std::uint32_t most_shared = 0;
    for (std::uint32_t i = 0; i < channel_.setup.shapes; ++i)
      most_shared = std::max(most_shared, channel_.shapes[i].shared_bytes);
    constexpr std::uint32_t kWithoutAsking = 48 << 10;
    if (most_shared <= kWithoutAsking) return;
    int limit = 0;
    cuda_.check(cuda_.device_attribute(&limit, kMostShared, device_), "asking for the device's limits");
    if (most_shared > static_cast<std::uint32_t>(limit))
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("a kernel has {} bytes of shared memory a block; this device has {}", most_shared, limit));
    cuda_.check(cuda_.function_attribute(surrogate_, kDynamicShared, static_cast<int>(most_shared)),
                "asking for shared memory");
  }

  CudaPointer allocate(std::size_t bytes, const char* what) {
    CudaPointer memory = 0;
    cuda_.check(cuda_.memory_allocate(&memory, bytes), what);
    return memory;
  }

  void take_memory() {
    cuda_.check(cuda_.host_register(channel_.stamps, sizeof(channel_.stamps), kSeenByDevice), "sharing the stamps");
    cuda_.check(cuda_.host_device_pointer(&stamps_, channel_.stamps, 0), "finding the stamps");
    counters_ = allocate(kCountersBytes, "taking memory for counters");
    cuda_.check(cuda_.memory_set(counters_, 0, kCountersBytes), "clearing the counters");
    cuda_.check(cuda_.context_synchronize(), "clearing the counters");  // our streams do not wait for the default one
    traffic_ = allocate(kTrafficValues * 16, "taking memory for traffic");
    if (channel_.setup.memory_bytes > 0) allocate(channel_.setup.memory_bytes, "taking the client's memory");
    if (channel_.setup.largest_copy == 0) return;
    copied_ = allocate(channel_.setup.largest_copy, "taking memory for copies");
    cuda_.check(cuda_.host_allocate(&host_, channel_.setup.largest_copy, 0), "taking host memory for copies");
  }

  void open_streams() {
    streams_.resize(channel_.setup.streams);
    for (std::size_t i = 0; i < streams_.size(); ++i)
      cuda_.check(cuda_.stream_create(&streams_[i], kStreamsOfTheirOwn, channel_.setup.priorities[i]),
                  "making a stream");
    events_.resize(streams_.size() > 1 ? Channel::kDepth : 0);
    for (CudaHandle& event : events_) cuda_.check(cuda_.event_create(&event, kEventsWithoutTiming), "making an event");
  }

  CudaPointer stamp_address(std::uint64_t number) const { return stamps_ + (number % Channel::kDepth) * sizeof(Stamp); }

  /// The event behind a submission: its entry of the ring, used again only when it has completed.
  CudaHandle event_of(std::uint64_t number) const { return events_[number % Channel::kDepth]; }

  void launch(const Command& command, CudaHandle stream) {
    CudaPointer stamp = stamp_address(command.number);
    std::uint64_t ticket = command.number + 1;
    CudaPointer arrived = counters_ + (command.number % Channel::kDepth) * 8, left = arrived + 4;
    std::uint64_t iterations = command.iterations, loads = 0, mask = kTrafficValues - 1;
    CudaPointer traffic = traffic_, sink = counters_ + Channel::kDepth * 8;
    void* parameters[] = {&stamp, &ticket, &arrived, &left, &iterations, &loads, &traffic, &mask, &sink};
    cuda_.check(cuda_.launch(surrogate_, command.blocks, 1, 1, command.threads, 1, 1, command.shared_bytes, stream,
                             parameters, nullptr),
                "launching a kernel");
  }

  /// The host sees when the engine writes these: before the copy and after it.
  void copy(const Command& command, CudaHandle stream) {
    const CudaPointer stamp = stamp_address(command.number);
    const std::uint64_t ticket = command.number + 1;
    cuda_.check(cuda_.stream_write(stream, stamp + offsetof(Stamp, begin_ns), ticket, 0), "marking a copy");
    cuda_.check(command.kind == CommandKind::kCopyToDevice
                    ? cuda_.copy_to_device(copied_, host_, command.bytes, stream)
                    : cuda_.copy_from_device(host_, copied_, command.bytes, stream),
                "copying");
    cuda_.check(cuda_.stream_write(stream, stamp + offsetof(Stamp, ticket), ticket, 0), "marking a copy");
  }

  void await(Stamp& stamp, std::uint64_t ticket) const {
    const std::int64_t begin = WallClock::monotonic_ns();
    while (!is_complete(stamp, ticket)) {
      rest();
      if (WallClock::monotonic_ns() - begin < kLongestTrial) continue;
      cuda_.check(cuda_.context_synchronize(), "running a trial kernel");
      if (!is_complete(stamp, ticket)) throw Error(ErrorKind::kDevice, "a trial kernel ended and left no stamp");
    }
  }

  void measure_clock(Channel& channel) {
    channel.clock_error_ns = INT64_MAX;
    for (int trial = 1; trial <= kClockTrials; ++trial) {
      Stamp& stamp = channel.stamps[0];
      CudaPointer address = stamps_;
      auto ticket = static_cast<std::uint64_t>(trial);
      void* parameters[] = {&address, &ticket};
      const std::int64_t before = WallClock::monotonic_ns();
      cuda_.check(cuda_.launch(clock_, 1, 1, 1, 1, 1, 1, 0, streams_[0], parameters, nullptr), "asking for the time");
      await(stamp, ticket);
      const std::int64_t after = WallClock::monotonic_ns();
      if ((after - before) / 2 >= channel.clock_error_ns) continue;
      channel.clock_error_ns = (after - before) / 2;
      channel.clock_offset_ns = before + channel.clock_error_ns - static_cast<std::int64_t>(stamp.end_ns);
    }
  }

  static constexpr std::size_t kCountersBytes = Channel::kDepth * 8 + 64;

  Channel& channel_;
  const CudaDriver cuda_;
  CudaDevice device_ = 0;
  CudaHandle context_ = nullptr, surrogate_ = nullptr, clock_ = nullptr;
  std::vector<CudaHandle> streams_, events_;
  CudaPointer stamps_ = 0, counters_ = 0, traffic_ = 0, copied_ = 0;
  void* host_ = nullptr;
  std::uint64_t trials_ = 0;
};

}  // namespace

std::unique_ptr<DeviceContext> make_compute_context(Channel& channel) {
  return std::make_unique<ComputeContext>(channel);
}

}  // namespace corun::executor
