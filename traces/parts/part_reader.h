#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/parts/part_record.h"

namespace corun {

/// One part as it was read: its records by type, in the order in which they were written.
///
/// A part of a process that was killed has no `end`; what is there is good. A torn or damaged tail is left out and said
/// in `damage`. Names that records give by id are in `texts`.
struct PartContent {
  std::string path;  ///< for messages
  part::ProcessRecord process{};
  std::map<std::uint32_t, std::string> texts;
  std::vector<part::DeviceRecord> devices;
  std::vector<part::ContextRecord> contexts;
  std::vector<part::StreamRecord> streams;
  std::vector<part::KernelRecord> kernels;
  std::vector<part::CopyRecord> copies;
  std::vector<part::MemsetRecord> memsets;
  std::vector<part::CallRecord> calls;
  std::vector<part::SyncRecord> syncs;
  std::vector<part::EventRecord> event_records;
  std::vector<part::OverheadRecord> overheads;
  std::vector<part::ContextSwitchRecord> context_switches;
  std::vector<part::MarkRecord> marks;
  std::vector<part::SwapchainRecord> swapchains;
  std::vector<part::VisitRecord> visits;
  std::vector<part::FrameRecord> frames;
  std::vector<part::DrawRecord> draws;
  std::vector<part::LaunchCountRecord> launch_counts;
  std::map<part::LossReason, std::uint64_t> lost;
  std::optional<part::EndRecord> end;
  std::uint64_t unknown_records = 0;  ///< of types this version does not know
  std::string damage;                 ///< "" or "chunk N, byte B: found, expected"
};

/// True if the bytes begin like a part.
bool is_part(std::string_view bytes);

/// Reads a part. Throws Error(kInput), located, where not even the ProcessRecord can be read, kUnsupported for a newer
/// version of the records.
PartContent read_part(std::string_view bytes, const std::string& path);

}  // namespace corun
