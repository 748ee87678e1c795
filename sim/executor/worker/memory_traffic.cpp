#include "sim/executor/worker/memory_traffic.h"

#include <algorithm>
#include <bit>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr std::uint64_t kLeastBytes = 256 << 20;
constexpr std::uint64_t kTimesTheCache = 4;

}  // namespace

MemoryTraffic::MemoryTraffic(const CudaDriver& cuda, CudaDevice device, bool is_needed) : cuda_(cuda) {
  if (!is_needed) return;
  const auto attribute = [&](CudaAttribute which) {
    int value = 0;
    cuda.check(cuda.device_attribute(&value, which, device), "asking for the memory's bandwidth");
    return static_cast<std::uint64_t>(std::max(value, 0));
  };
  constexpr double kTransfersPerCycle = 2, kBitsPerByte = 8, kKhzToPerNs = 1e-6;
  bytes_per_ns_ = kTransfersPerCycle * static_cast<double>(attribute(kMemoryClockKhz)) * kKhzToPerNs *
                  static_cast<double>(attribute(kMemoryBusBits)) / kBitsPerByte;
  if (bytes_per_ns_ <= 0)
    throw Error(ErrorKind::kUnsupported, "the driver does not tell the bandwidth of this device's memory: no traffic");
  const std::uint64_t bytes = std::bit_ceil(std::max(kLeastBytes, kTimesTheCache * attribute(kCacheBytes)));
  cuda_.check(cuda_.memory_allocate(&address_, bytes), "taking memory for traffic");
  loads_ = bytes / kLoadBytes;
}

MemoryTraffic::~MemoryTraffic() {
  if (address_ != 0) cuda_.memory_free(address_);
}

std::uint64_t MemoryTraffic::begin(const Command& command) {
  if (command.iterations_per_load == 0) return 0;
  const std::uint64_t begin = next_;
  const std::uint64_t threads = static_cast<std::uint64_t>(command.blocks) * command.threads;
  next_ = (next_ + threads * (command.iterations / command.iterations_per_load)) & mask();
  return begin;
}

}  // namespace corun::executor
