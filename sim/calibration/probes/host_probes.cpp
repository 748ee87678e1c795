#include <unistd.h>

#include <algorithm>

#include "sim/calibration/probes/probe_context.h"
#include "sim/executor/host/wall_clock.h"

namespace corun::calibration {

namespace {

using executor::CudaHandle;
using executor::CudaPointer;
using executor::WallClock;

constexpr std::int64_t kUs = 1'000;

constexpr std::pair<const char*, executor::CudaAttribute> kAttributes[] = {
    {"sm_count", executor::kSmCount},
    {"max_threads_per_sm", executor::kMostThreadsPerSm},
    {"max_blocks_per_sm", executor::kMostBlocksPerSm},
    {"registers_per_sm", executor::kRegistersPerSm},
    {"shared_memory_per_sm_bytes", executor::kSharedBytesPerSm},
    {"cache_bytes", executor::kCacheBytes},
    {"copy_engines", executor::kCopyEngines},
    {"top_khz", executor::kTopClockKhz},
    {"memory_khz", executor::kMemoryClockKhz},
    {"bus_bits", executor::kMemoryBusBits},
    {"capability_major", executor::kCapabilityMajor},
    {"capability_minor", executor::kCapabilityMinor}};

}  // namespace

Sample probe_properties(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  Sample sample = context.sample();
  await_start();
  for (const auto& [name, attribute] : kAttributes) sample.series[name] = {context.attribute(attribute)};
  sample.series["memory_bytes"] = {static_cast<std::int64_t>(context.total_bytes())};
  return sample;
}

/// Copies of `bytes` between pinned host memory and the device: up, down, and one of each at once.
Sample probe_copy(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  Sample sample = context.sample();
  const auto bytes = static_cast<std::size_t>(request.setting("bytes", 256 << 20));
  CudaPointer to = 0, from = 0;
  void *up = nullptr, *down = nullptr;
  context.cuda.check(context.cuda.memory_allocate(&to, bytes), "taking device memory");
  context.cuda.check(context.cuda.memory_allocate(&from, bytes), "taking device memory");
  context.cuda.check(context.cuda.host_allocate(&up, bytes, 0), "taking host memory");
  context.cuda.check(context.cuda.host_allocate(&down, bytes, 0), "taking host memory");
  const CudaHandle first = context.make_stream(), second = context.make_stream();
  const auto time = [&](bool goes_up, bool goes_down) {
    const std::int64_t begin = WallClock::monotonic_ns();
    if (goes_up) context.cuda.check(context.cuda.copy_to_device(to, up, bytes, first), "copying");
    if (goes_down) context.cuda.check(context.cuda.copy_from_device(down, from, bytes, second), "copying");
    context.synchronize();
    return WallClock::monotonic_ns() - begin;
  };
  time(true, true);
  const std::int64_t start = await_start();
  sample.series["bytes"] = {static_cast<std::int64_t>(bytes)};
  for (std::int64_t i = 0; i < request.setting("repetitions", 8); ++i) {
    sample.series["to_device_ns"].push_back(time(true, false));
    sample.series["from_device_ns"].push_back(time(false, true));
    sample.series["both_ns"].push_back(time(true, true));
  }
  sample.series["end_ns"] = {WallClock::monotonic_ns() - start};
  return sample;
}

/// What a launch costs the host, a kernel the device, a round trip both; and how many launches fit behind a long
/// kernel.
Sample probe_launch(const ProbeRequest& request, const AwaitStart& await_start) {
  constexpr int kRound = 200;
  constexpr std::int64_t kBlocked = 20'000 * kUs;
  ProbeContext context(request);
  Sample sample = context.sample();
  const Work nothing{WorkKind::kCompute, 1, 32, 1};
  Work lasting = context.work_of_length(WorkKind::kCompute, 1'000 * kUs, 1, 0.0);
  lasting.iterations *= static_cast<std::uint64_t>(request.setting("length_ms", 300));
  await_start();
  for (std::int64_t round = 0; round < request.setting("repetitions", 20); ++round) {
    const std::int64_t begin = WallClock::monotonic_ns();
    for (int i = 0; i < kRound; ++i) context.launch(nothing, context.stream);
    sample.series["launch_ns"].push_back((WallClock::monotonic_ns() - begin) / kRound);
    context.synchronize();
    sample.series["kernel_ns"].push_back((WallClock::monotonic_ns() - begin) / kRound);
    const std::int64_t trip = WallClock::monotonic_ns();
    context.run(nothing);
    sample.series["round_trip_ns"].push_back(WallClock::monotonic_ns() - trip);
  }
  for (std::int64_t i = 0; i < request.setting("depths", 2); ++i) {
    context.launch(lasting, context.stream);
    std::int64_t launches = 0;
    for (std::int64_t took = 0; took < kBlocked && launches < (1 << 16);) {
      const std::int64_t begin = WallClock::monotonic_ns();
      // Its stamp is of no use: the ring may be shorter than the queue. Launches of one stream do not overtake.
      context.launch(nothing, context.stream);
      took = WallClock::monotonic_ns() - begin;
      if (took < kBlocked) ++launches;
    }
    context.synchronize();
    sample.series["queue_depth"].push_back(launches + 1);
  }
  return sample;
}

/// Makes its context anew, `repetitions` times; what others see of its memory is what it lives for.
Sample probe_context(const ProbeRequest& request, const AwaitStart& await_start) {
  executor::CudaDriver driver(request.library);
  await_start();
  usleep(150'000);
  ProbeContext context(request);
  Sample sample = context.sample();
  usleep(100'000);
  for (std::int64_t i = 0; i < request.setting("repetitions", 3); ++i)
    sample.series["made_again_ns"].push_back(context.make_again());
  return sample;
}

/// The device's free memory, every two milliseconds.
Sample probe_memory(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  Sample sample = context.sample();
  const std::int64_t start = await_start(), end = start + request.setting("duration_ns", 1'500'000 * kUs);
  while (WallClock::monotonic_ns() < end) {
    sample.series["at_ns"].push_back(WallClock::monotonic_ns() - start);
    sample.series["free_bytes"].push_back(static_cast<std::int64_t>(context.free_bytes()));
    usleep(2'000);
  }
  return sample;
}

}  // namespace corun::calibration
