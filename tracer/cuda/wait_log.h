#pragma once

#include <cstdint>

#include "tracer/cuda/cupti_abi.h"
#include "tracer/cuda/event_table.h"
#include "tracer/guest/part_file.h"

namespace corun::cupti {

/// Whether such a call says in its parameters, and only there, what is waited for or could be.
constexpr bool needs_callback(part::CallRole role) {
  using enum part::CallRole;
  return role == kRecordEvent || role == kSynchronizeStream || role == kSynchronizeEvent || role == kStreamWaitEvent;
}

/// Writes down what waits wait for: a SyncRecord for each wait, an EventRecord for each record of an event.
///
/// CUPTI has activity records of the same, but they cost a launch-bound program a tenth of its time: instead, the few
/// functions that matter call back. What could not be found out (the stream of another context, an event beyond the
/// table) is left open, for the reader of the part to infer.
class WaitLog {
 public:
  /// `get_stream_id` may be null: then no stream is known. Waits that begin before `from_ns` are not written down.
  /// False where there is no memory.
  bool start(GetStreamId get_stream_id, std::int64_t from_ns);

  /// A callback from one of the driver's functions that needs_callback(), on the thread that called it.
  void on_call(std::uint32_t function, const CallbackSite& site, guest::PartFile& part);

 private:
  void add_record(const CallbackSite& site, const void* event, std::uint32_t stream, guest::PartFile& part);
  void add_wait(part::CallRole role, const CallbackSite& site, const void* event, std::uint32_t stream,
                guest::PartFile& part);
  std::uint32_t stream_of(std::uint32_t function, const CallbackSite& site, void* stream) const;

  GetStreamId get_stream_id_ = nullptr;
  std::int64_t from_ns_ = 0;
  EventTable events_;
};

}  // namespace corun::cupti
