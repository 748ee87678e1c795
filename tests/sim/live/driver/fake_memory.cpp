// Memory of the fake driver: addresses that lead nowhere, counted in each process for itself.
#include <map>
#include <mutex>

#include "tests/sim/live/driver/fake_cuda.h"

namespace {

constexpr int kOk = 0, kInvalidValue = 1, kOutOfMemory = 2;

struct Allocation {
  std::size_t bytes;
  bool is_managed;
};
std::mutex mutex;
std::map<std::uint64_t, Allocation> allocations;

std::size_t free_bytes() {
  std::size_t left = kDeviceBytes;
  for (const auto& [address, allocation] : allocations) left -= allocation.is_managed ? 0 : allocation.bytes;
  return left;
}

int allocate(std::uint64_t* address, std::size_t bytes, bool is_managed) {
  const std::lock_guard lock(mutex);
  if (address == nullptr || bytes == 0) return kInvalidValue;
  if (!is_managed && bytes > free_bytes()) return kOutOfMemory;
  std::uint64_t place = 0x7000'0000'0000;  // the lowest that is free, so that addresses come again
  while (allocations.contains(place)) place += std::uint64_t{1} << 32;
  allocations[place] = {bytes, is_managed};
  *address = place;
  return kOk;
}

}  // namespace

extern "C" {

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(mutex);
  *free = free_bytes();
  *total = kDeviceBytes;
  return kOk;
}

int cuDeviceTotalMem_v2(std::size_t* total, int) { return *total = kDeviceBytes, kOk; }

int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) { return allocate(address, bytes, false); }
int cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void*) { return allocate(address, bytes, false); }
int cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned) { return allocate(address, bytes, true); }

int cuMemFree_v2(std::uint64_t address) {
  const std::lock_guard lock(mutex);
  return allocations.erase(address) == 1 ? kOk : kInvalidValue;
}
int cuMemFreeAsync(std::uint64_t address, void*) { return cuMemFree_v2(address); }

int cuMemoryIsManaged(std::uint64_t address) {
  const std::lock_guard lock(mutex);
  const auto found = allocations.find(address);
  return found != allocations.end() && found->second.is_managed ? 1 : 0;
}
}
