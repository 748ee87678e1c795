#include <algorithm>
#include <vector>

#include "sim/executor/driver/cuda_context.h"
#include "sim/executor/driver/cuda_driver.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/executor/worker/client_memory.h"
#include "sim/executor/worker/device_clock.h"
#include "sim/executor/worker/device_context.h"
#include "sim/executor/worker/memory_traffic.h"
#include "sim/executor/worker/stream_sets.h"
#include "sim/executor/worker/surrogate_ptx.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr unsigned kEventsWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING
constexpr unsigned kSeenByDevice = 2;         // CU_MEMHOSTREGISTER_DEVICEMAP
constexpr std::int64_t kLongestTrial = 30'000'000'000;

bool is_complete(Stamp& stamp, std::uint64_t ticket) {
  return std::atomic_ref(stamp.ticket).load(std::memory_order_acquire) == ticket;
}

/// Device memory that goes with a context.
class DeviceMemory {
 public:
  DeviceMemory(const CudaDriver& cuda, std::size_t bytes, const char* what) : cuda_(cuda) {
    if (bytes > 0) cuda_.check(cuda_.memory_allocate(&address_, bytes), what);
  }
  ~DeviceMemory() {
    if (address_ != 0) cuda_.memory_free(address_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  CudaPointer address() const { return address_; }

 private:
  const CudaDriver& cuda_;
  CudaPointer address_ = 0;
};

CudaDevice device_of(const CudaDriver& cuda, int number) {
  CudaDevice device = 0;
  cuda.check(cuda.device_get(&device, number), "taking the device");
  return device;
}

/// One context on the device with everything that commands need of it.
class ComputeContext : public DeviceContext {
 public:
  explicit ComputeContext(Channel& channel)
      : channel_(channel),
        cuda_(channel.setup.library),
        device_(device_of(cuda_, channel.setup.device)),
        context_(cuda_, device_, channel.setup.sm_cap),
        counters_(cuda_, kCountersBytes, "taking memory for counters"),
        traffic_(cuda_, device_, channel.setup.traffic > 0),
        memory_(cuda_, channel.setup),
        copied_(cuda_, channel.setup.largest_copy, "taking memory for copies"),
        streams_(cuda_, channel.setup.streams) {
    channel_.capped_sms = context_.capped_sms();
    channel_.priority_levels = streams_.levels();
    load_kernels();
    share_memory();
    make_events();
  }
  ~ComputeContext() override {
    if (host_ != nullptr) cuda_.host_free(host_);
    if (stamps_ != 0) cuda_.host_unregister(channel_.stamps);
  }
  ComputeContext(const ComputeContext&) = delete;
  ComputeContext& operator=(const ComputeContext&) = delete;

  void describe(Channel& channel) override {
    cuda_.check(cuda_.device_name(channel.device_name, sizeof(channel.device_name), device_), "naming the device");
    int is_under_mps = 0;
    if (cuda_.device_attribute(&is_under_mps, kIsUnderMps, device_) == kCudaSuccess)
      channel.mps = is_under_mps != 0 ? MpsState::kYes : MpsState::kNo;
    std::uint64_t ticket = 0;
    const ClockOffset offset = measure_clock([&] { return ask_clock(++ticket); });
    channel.clock_offset_ns = offset.ns;
    channel.clock_error_ns = offset.error_ns;
  }

  double memory_bytes_per_ns() const override { return traffic_.bytes_per_ns(); }

  double trial_ns(const ShapeLaw& shape, std::uint64_t iterations) override {
    launch_trial(shape, iterations);
    const Stamp& stamp = await(trials_);
    return static_cast<double>(stamp.end_ns - stamp.begin_ns);
  }

  /// A disturbance makes a gap longer, so the shortest of some rows counts.
  double gap_ns(const ShapeLaw& shape) override {
    constexpr int kRows = 5;
    double shortest = gap_in_row_ns(shape);
    for (int row = 1; row < kRows; ++row) shortest = std::min(shortest, gap_in_row_ns(shape));
    return shortest;
  }

  void carry_out(const Command& command) override {
    CudaHandle stream = streams_.stream(command.stream, command.priority);
    for (std::size_t other = 0; other < channel_.setup.streams; ++other)
      if (command.awaits[other] > 0)
        cuda_.check(cuda_.stream_wait(stream, event_of(command.awaits[other] - 1), 0), "waiting for another stream");
    if (command.kind == CommandKind::kKernel) {
      launch(command, stream);
    } else {
      copy(command, stream);
    }
    if (!events_.empty()) cuda_.check(cuda_.event_record(event_of(command.number), stream), "recording an event");
  }

  void answer(const Request& request) override {
    const auto is_to_stop = [this] { return channel_.is_to_end.load(std::memory_order_acquire); };
    if (request.kind == RequestKind::kSnapshot) return memory_.save(streams_.stream(0, 0), is_to_stop);
    if (request.kind == RequestKind::kRestore) return memory_.restore(streams_.stream(0, 0), is_to_stop);
    channel_.setup.memory_bytes = request.bytes;
    memory_.hold(request.bytes);
  }

  void drain() override { cuda_.check(cuda_.context_synchronize(), "waiting for the last operations"); }

 private:
  void load_kernels() {
    CudaHandle module = nullptr;
    cuda_.check(cuda_.module_load(&module, kSurrogatePtx), "compiling the surrogate kernels");
    cuda_.check(cuda_.module_function(&surrogate_, module, "corun_surrogate"), "finding the surrogate kernel");
    cuda_.check(cuda_.module_function(&clock_, module, "corun_clock"), "finding the clock kernel");
    // Kernels that want another carve-out would wait until an SM is empty.
    cuda_.check(cuda_.function_attribute(surrogate_, kSharedCarveout, 100), "asking for shared memory");
    std::uint32_t most_shared = 0;
    for (std::uint32_t i = 0; i < channel_.setup.shapes; ++i)
      most_shared = std::max(most_shared, channel_.shapes[i].shared_bytes);
    constexpr std::uint32_t kWithoutAsking = 48 << 10;
    if (most_shared <= kWithoutAsking) return;
    int limit = 0;
    cuda_.check(cuda_.device_attribute(&limit, kMostSharedBytesPerBlock, device_), "asking for the device's limits");
    if (most_shared > static_cast<std::uint32_t>(limit))
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("a surrogate needs {} bytes of shared memory a block, for itself or in place of registers; this "
                      "device has {}",
                      most_shared, limit));
    cuda_.check(cuda_.function_attribute(surrogate_, kMostDynamicShared, static_cast<int>(most_shared)),
                "asking for shared memory");
  }

  void share_memory() {
    cuda_.check(cuda_.host_register(channel_.stamps, sizeof(channel_.stamps), kSeenByDevice), "sharing the stamps");
    cuda_.check(cuda_.host_device_pointer(&stamps_, channel_.stamps, 0), "finding the stamps");
    cuda_.check(cuda_.memory_set(counters_.address(), 0, kCountersBytes), "clearing the counters");
    cuda_.check(cuda_.context_synchronize(), "clearing the counters");  // our streams do not wait for the default one
    if (channel_.setup.largest_copy > 0)
      cuda_.check(cuda_.host_allocate(&host_, channel_.setup.largest_copy, 0), "taking host memory for copies");
  }

  void make_events() {
    events_.resize(channel_.setup.streams > 1 ? Channel::kDepth : 0);
    for (CudaHandle& event : events_) cuda_.check(cuda_.event_create(&event, kEventsWithoutTiming), "making an event");
  }

  CudaPointer stamp_address(std::uint64_t number) const { return stamps_ + (number % Channel::kDepth) * sizeof(Stamp); }

  /// The event behind a submission: its entry of the ring, used again only when it has completed.
  CudaHandle event_of(std::uint64_t number) const { return events_[number % Channel::kDepth]; }

  void launch(const Command& command, CudaHandle stream) {
    CudaPointer stamp = stamp_address(command.number);
    std::uint64_t ticket = command.number + 1;
    CudaPointer arrived = counters_.address() + (command.number % Channel::kDepth) * 8, left = arrived + 4;
    std::uint64_t iterations = command.iterations, iterations_per_load = command.iterations_per_load;
    CudaPointer traffic = traffic_.address(), sink = counters_.address() + Channel::kDepth * 8;
    std::uint64_t mask = traffic_.mask(), begin = traffic_.begin(command);
    void* parameters[] = {&stamp,   &ticket, &arrived, &left, &iterations, &iterations_per_load,
                          &traffic, &mask,   &begin,   &sink};
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
                    ? cuda_.copy_to_device(copied_.address(), host_, command.bytes, stream)
                    : cuda_.copy_from_device(host_, copied_.address(), command.bytes, stream),
                "copying");
    cuda_.check(cuda_.stream_write(stream, stamp + offsetof(Stamp, ticket), ticket, 0), "marking a copy");
  }

  void launch_trial(const ShapeLaw& shape, std::uint64_t iterations) {
    Command command;
    command.number = ++trials_;
    command.iterations = iterations;
    command.iterations_per_load = shape.iterations_per_load;
    command.blocks = shape.blocks;
    command.threads = shape.threads;
    command.shared_bytes = shape.shared_bytes;
    launch(command, streams_.stream(0, 0));
  }

  /// In the second half, where the host is ahead; of gaps that differ, a short one.
  double gap_in_row_ns(const ShapeLaw& shape) {
    constexpr std::uint64_t kInARow = 64;
    constexpr double kLongerThanALaunch = 20'000.0;
    const std::uint64_t first = trials_ + 1;
    for (std::uint64_t i = 0; i < kInARow; ++i) launch_trial(shape, shape.iterations_in(kLongerThanALaunch));
    await(trials_);
    std::vector<double> gaps;
    for (std::uint64_t number = first + kInARow / 2; number <= trials_; ++number)
      gaps.push_back(static_cast<double>(channel_.stamp(number).begin_ns) -
                     static_cast<double>(channel_.stamp(number - 1).end_ns));
    std::ranges::sort(gaps);
    return std::max(0.0, gaps[gaps.size() / 4]);
  }

  const Stamp& await(std::uint64_t number) const {
    Stamp& stamp = channel_.stamp(number);
    await(stamp, number + 1);
    return stamp;
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

  std::uint64_t ask_clock(std::uint64_t ticket) {
    CudaPointer address = stamps_;
    void* parameters[] = {&address, &ticket};
    cuda_.check(cuda_.launch(clock_, 1, 1, 1, 1, 1, 1, 0, streams_.stream(0, 0), parameters, nullptr),
                "asking for the time");
    await(channel_.stamps[0], ticket);
    return channel_.stamps[0].end_ns;
  }

  static constexpr std::size_t kCountersBytes = Channel::kDepth * 8 + 64;

  Channel& channel_;
  const CudaDriver cuda_;
  const CudaDevice device_;
  CudaContext context_;  // before what is in it
  DeviceMemory counters_;
  MemoryTraffic traffic_;
  ClientMemory memory_;
  DeviceMemory copied_;
  StreamSets streams_;
  CudaHandle surrogate_ = nullptr, clock_ = nullptr;
  std::vector<CudaHandle> events_;
  CudaPointer stamps_ = 0;
  void* host_ = nullptr;
  std::uint64_t trials_ = 0;
};

}  // namespace

std::unique_ptr<DeviceContext> make_compute_context(Channel& channel) {
  return std::make_unique<ComputeContext>(channel);
}

}  // namespace corun::executor
