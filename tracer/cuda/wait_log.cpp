#include "tracer/cuda/wait_log.h"

#include "tracer/cuda/cupti_functions.h"

namespace corun::cupti {
namespace {

using part::CallRole;

constexpr std::uint32_t kNoStream = UINT32_MAX;  // of a part's SyncRecord

struct Handles {
  void* event;
  void* stream;
};

Handles handles_of(CallRole role, const void* parameters) {
  switch (role) {
    case CallRole::kRecordEvent: {
      const auto* const record = static_cast<const RecordEventParameters*>(parameters);
      return {record->event, record->stream};
    }
    case CallRole::kStreamWaitEvent: {
      const auto* const wait = static_cast<const StreamWaitEventParameters*>(parameters);
      return {wait->event, wait->stream};
    }
    case CallRole::kSynchronizeStream:
      return {nullptr, static_cast<const SynchronizeStreamParameters*>(parameters)->stream};
    default:
      return {static_cast<const SynchronizeEventParameters*>(parameters)->event, nullptr};
  }
}

bool has_succeeded(const CallbackSite& site) { return site.result == nullptr || *site.result == 0; }

}  // namespace

bool WaitLog::start(GetStreamId get_stream_id, std::int64_t from_ns) {
  get_stream_id_ = get_stream_id;
  from_ns_ = from_ns;
  return events_.map();
}

void WaitLog::on_call(std::uint32_t function, const CallbackSite& site, guest::PartFile& part) {
  const CallRole role = role_of(driver_functions(), function);
  const bool is_record = role == CallRole::kRecordEvent;
  if (!needs_callback(role) || site.parameters == nullptr) return;
  // A wait is for what was recorded when it began; what is recorded while it lasts is not its concern.
  if (site.site != (is_record ? kSiteExit : kSiteEnter)) return;
  const Handles handles = handles_of(role, site.parameters);
  const bool has_stream = role != CallRole::kSynchronizeEvent;
  const std::uint32_t stream = has_stream ? stream_of(function, site, handles.stream) : kNoStream;
  if (is_record) {
    add_record(site, handles.event, stream, part);
  } else {
    add_wait(role, site, handles.event, stream, part);
  }
}

void WaitLog::add_record(const CallbackSite& site, const void* event, std::uint32_t stream, guest::PartFile& part) {
  if (!has_succeeded(site)) return;
  if (stream == kNoStream) return events_.forget(event);
  const EventMark mark = events_.record(event);
  if (mark.event == 0) return;
  part.add(part::RecordType::kEventRecord, part::EventRecord{
                                               .head = {},
                                               .event = mark.event,
                                               .correlation = site.correlation,
                                               .context = site.context_id,
                                               .stream = stream,
                                               .event_sync = mark.sync,
                                           });
}

// The times are in the record of the call.
void WaitLog::add_wait(CallRole role, const CallbackSite& site, const void* event, std::uint32_t stream,
                       guest::PartFile& part) {
  if (guest::monotonic_ns() < from_ns_) return;
  const EventMark mark = events_.last(event);
  part.add(part::RecordType::kSync, part::SyncRecord{
                                        .head = {},
                                        .start_ns = 0,
                                        .end_ns = 0,
                                        .role = role,
                                        .reserved = 0,
                                        .correlation = site.correlation,
                                        .context = site.context_id,
                                        .stream = stream,
                                        .event = mark.event,
                                        .reserved2 = 0,
                                        .event_sync = mark.sync,
                                    });
}

std::uint32_t WaitLog::stream_of(std::uint32_t function, const CallbackSite& site, void* stream) const {
  if (get_stream_id_ == nullptr) return kNoStream;
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  const bool is_default = handle <= kStreamPerThread;
  const bool is_of_thread = handle == kStreamPerThread || (handle != kStreamLegacy && has_thread_stream(function));
  std::uint32_t id = kNoStream;
  const Result result = get_stream_id_(site.context, is_default ? nullptr : stream, is_of_thread, &id);
  return result == kSuccess ? id : kNoStream;
}

}  // namespace corun::cupti
