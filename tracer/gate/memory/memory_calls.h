#pragma once

#include <cstdint>

/// What the arguments of the driver's functions for memory say. Functions go by CUPTI's numbers (driver_calls.h);
/// arguments are words of the machine, in order.
namespace corun::gate {

/// What a handle is of: numbers of one kind may be those of another.
enum class MemoryKind : std::uint8_t { kAddress, kMapping, kArray, kMipmappedArray };

/// A call that allocates device memory.
struct AllocationCall {
  const std::uint64_t* handle = nullptr;  ///< where its handle will be; nullptr: the driver refuses the call
  MemoryKind kind = MemoryKind::kAddress;
  std::uint64_t bytes = 0;      ///< asked for, without what the driver rounds up; of an array, its elements
  bool can_be_managed = false;  ///< managed memory serves as well
  bool is_managed = false;      ///< it asks for that
  bool is_elsewhere = false;    ///< memory of the host: not counted
};
AllocationCall read_allocation(std::uint32_t function, const std::uint64_t* words);

/// A call that frees device memory: the kind of its handle, which is its first argument.
MemoryKind freed_kind(std::uint32_t function);

}  // namespace corun::gate
