#pragma once

#include <string>
#include <string_view>

#include "traces/parts/part_reader.h"
#include "traces/timeline.h"

namespace corun {

/// Text of an id; "" where the part does not have it.
std::string_view text_of(const PartContent& part, std::uint32_t id);

/// "train (process 4242, CUDA)": the writer of a part.
std::string describe(const PartContent& part);

/// "GPU-01234567-89ab-cdef-0123-456789abcdef", as the driver writes it; "" where the part does not know.
std::string uuid_text(const part::DeviceRecord& device);

/// Why records were lost, as a reason of Provenance::skipped.
std::string_view to_string(part::LossReason reason);

/// Counts a record of the part ("kernel") that does not go into the timeline.
void leave_out(TimelineBuilder& builder, const PartContent& part, part::LossReason reason, std::string_view what);

/// One sentence on how the part ended, "" where it ended as it should.
std::string ending_of(const PartContent& part);

}  // namespace corun
