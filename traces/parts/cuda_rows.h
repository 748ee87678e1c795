#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "traces/call_log.h"
#include "traces/parts/part_reader.h"
#include "traces/parts/part_target.h"

namespace corun {

/// The CUDA rows of one part: kernels, copies and memsets with the calls that submitted them, and what waits waited
/// for.
class CudaRows {
 public:
  CudaRows(const PartContent& part, PartTarget& target);

  /// Adds the rows. Once. Returns how many operations had no time and were left out.
  std::uint64_t add();

 private:
  using Stream = std::pair<std::uint32_t, std::uint32_t>;  // context, stream

  void add_kernels();
  void add_copies();
  void add_memsets();
  void add_calls();
  void add_context_switches();
  void add_marks();
  void index_events();
  void add_waits();
  template <class Record>
  void submit(const Record& record, OpRecord op, bool blocks = false);
  bool has_time(std::int64_t start_ns, std::int64_t end_ns, const char* what);
  std::uint32_t queue_of(std::uint32_t device, const Stream& stream);
  StringId name_of(std::uint32_t text);
  const part::EventRecord* event_of(const part::SyncRecord& sync) const;

  const PartContent& part_;
  PartTarget& target_;
  CallLog calls_;
  std::map<Stream, std::int32_t> priorities_;
  std::map<Stream, std::uint32_t> queues_;
  std::map<std::uint32_t, std::uint32_t> device_of_context_;
  std::unordered_map<std::uint32_t, StringId> names_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, const part::EventRecord*> by_sync_;    // sync id, event
  std::map<std::pair<std::uint32_t, std::uint32_t>, const part::EventRecord*> by_record_;  // event, correlation
  std::uint64_t without_time_ = 0;
};

}  // namespace corun
