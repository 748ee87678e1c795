#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/cuda/cupti_abi.h"
#include "traces/parts/part_record.h"

namespace corun::cupti {

/// What one activity record of CUPTI says, in the words of a part.
struct Decoded {
  enum class Verdict : std::uint8_t {
    kRecord,   ///< `head` and the member of its type are filled in
    kForeign,  ///< of a kind, or of an overhead, that this project does not read
    kBad,      ///< cut off, or not what CUPTI writes: an end before the start, a size below 0, no kind
  };

  Verdict verdict = Verdict::kBad;
  std::int64_t start_ns = 0;  ///< 0 with end 0: no place in time (devices, contexts, streams), or CUPTI knows none
  std::int64_t end_ns = 0;
  const char* name = nullptr;  ///< of a kernel or device, still CUPTI's own: the record's `name` is 0

  union {
    part::RecordHead head{};
    part::DeviceRecord device;
    part::ContextRecord context;
    part::StreamRecord stream;
    part::KernelRecord kernel;
    part::CopyRecord copy;
    part::MemsetRecord memset;
    part::CallRecord call;
    part::OverheadRecord overhead;
    part::ContextSwitchRecord context_switch;
  };
};

/// Decodes the record at `record`, of which at most `available` bytes may be read. A pure function; pointers inside
/// the record are passed on and not followed.
Decoded decode(const Activity* record, std::size_t available);

}  // namespace corun::cupti
