#pragma once

#include <cstdint>

#include "tracer/gate/driver/driver.h"
#include "tracer/gate/driver/driver_calls.h"
#include "tracer/gate/memory/memory_calls.h"
#include "tracer/gate/memory/memory_limit.h"

namespace corun::gate {

/// Calls for memory on their way to the driver. Where the limit of the client is none, and its memory is not managed,
/// the driver is called once with what the program gave, and its answer is the program's.
class MemoryCallPassing {
 public:
  using Result = Driver::Result;
  /// Both outlive this.
  MemoryCallPassing(MemoryLimit& limit, const Driver& driver) : limit_(limit), driver_(driver) {}

  /// `behind` makes the call as the program made it. A call beyond the limit is answered like one for which the device
  /// has no memory, and not made.
  template <class Behind>
  Result allocate(std::uint32_t function, const std::uint64_t* given, const void* context, const Behind& behind) {
    const AllocationCall call = read_allocation(function, given);
    if (call.handle == nullptr || call.is_elsewhere) return behind();
    if (!limit_.take(call.bytes)) return Driver::kOutOfMemory;
    const bool becomes_managed = limit_.makes_managed() && call.can_be_managed && driver_.allocate_managed != nullptr;
    const Result result = becomes_managed ? driver_.allocate_managed(const_cast<std::uint64_t*>(call.handle),
                                                                     call.bytes, Driver::kForAllStreams)
                                          : behind();
    if (result != Driver::kSuccess) {
      limit_.give_back(call.bytes);
      return result;
    }
    limit_.keep(call, *call.handle, context);
    if (limit_.makes_managed() && !becomes_managed && !call.is_managed) limit_.tell_unmanaged(call.bytes);
    return result;
  }

  template <class Behind>
  Result free(std::uint32_t function, const std::uint64_t* given, const Behind& behind) {
    const AllocationTable::Allocation freed = limit_.free(given[0], freed_kind(function));
    const Result result = behind();
    if (result != Driver::kSuccess) limit_.has_kept(freed);
    return result;
  }

  template <class Behind>
  Result tell(std::uint32_t function, const std::uint64_t* given, const Behind& behind) {
    const Result result = behind();
    if (result != Driver::kSuccess) return result;
    const bool is_total = function == cbid::cuDeviceTotalMem_v2;
    auto* free = is_total ? nullptr : reinterpret_cast<std::uint64_t*>(given[0]);
    auto* total = reinterpret_cast<std::uint64_t*>(is_total ? given[0] : given[1]);
    if (free != nullptr) *free = limit_.told_free(*free);
    if (total != nullptr) *total = limit_.told_total(*total);
    return result;
  }

 private:
  MemoryLimit& limit_;
  const Driver& driver_;
};

}  // namespace corun::gate
