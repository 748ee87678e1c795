#include "traces/parts/cuda_rows.h"

#include <fmt/format.h>

#include <array>

#include "traces/parts/part_words.h"
#include "traces/readable_name.h"

namespace corun {
namespace {

using part::CallRole;

constexpr std::uint32_t kNoStream = UINT32_MAX;

struct CopyDirection {
  OpKind kind;
  std::string_view name;
};

// By part::CopyKind.
constexpr auto kCopyDirections = std::to_array<CopyDirection>({
    {OpKind::kCopyDeviceToDevice, "Memcpy"},
    {OpKind::kCopyHostToDevice, "Memcpy HtoD"},
    {OpKind::kCopyDeviceToHost, "Memcpy DtoH"},
    {OpKind::kCopyDeviceToDevice, "Memcpy DtoD"},
    {OpKind::kCopyPeer, "Memcpy PtoP"},
    {OpKind::kCopyHostToDevice, "Memcpy HtoH"},
});

const CopyDirection& direction_of(part::CopyKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return kCopyDirections[index < kCopyDirections.size() ? index : 0];
}

// Empty: does not wait, and submits only where an operation names it.
std::optional<CallKind> kind_of(CallRole role) {
  switch (role) {
    case CallRole::kLaunch:
    case CallRole::kCopy:
      return CallKind::kLaunch;
    case CallRole::kGraphLaunch:
      return CallKind::kGraphLaunch;
    case CallRole::kSynchronizeDevice:
      return CallKind::kSynchronizeDevice;
    case CallRole::kSynchronizeStream:
      return CallKind::kSynchronizeStream;
    case CallRole::kSynchronizeEvent:
      return CallKind::kSynchronizeEvent;
    case CallRole::kStreamWaitEvent:
      return CallKind::kStreamWaitEvent;
    case CallRole::kRecordEvent:
    case CallRole::kOther:
      break;
  }
  return std::nullopt;
}

std::uint64_t id_of(std::uint32_t correlation) { return correlation == 0 ? kNoCorrelation : correlation; }

}  // namespace

CudaRows::CudaRows(const PartContent& part, PartTarget& target) : part_(part), target_(target) {
  for (const part::StreamRecord& stream : part.streams) priorities_[{stream.context, stream.stream}] = stream.priority;
  for (const part::ContextRecord& context : part.contexts) device_of_context_[context.context] = context.device;
}

std::uint64_t CudaRows::add() {
  add_kernels();
  add_copies();
  add_memsets();
  add_calls();
  index_events();
  add_waits();
  calls_.join(target_.builder);
  add_context_switches();
  add_marks();
  return without_time_;
}

void CudaRows::add_kernels() {
  for (const part::KernelRecord& kernel : part_.kernels) {
    if (!has_time(kernel.start_ns, kernel.end_ns, "kernel")) continue;
    OpRecord op{.kind = OpKind::kKernel, .name = name_of(kernel.name), .graph_node = kernel.graph_node};
    op.shape = target_.builder.shape({kernel.grid_x, kernel.grid_y, kernel.grid_z, kernel.block_x, kernel.block_y,
                                      kernel.block_z, kernel.registers_per_thread, kernel.shared_memory_bytes});
    submit(kernel, op);
  }
}

void CudaRows::add_copies() {
  for (const part::CopyRecord& copy : part_.copies) {
    if (!has_time(copy.start_ns, copy.end_ns, "copy")) continue;
    const CopyDirection& direction = direction_of(copy.kind);
    const OpRecord op{.kind = direction.kind,
                      .name = target_.builder.intern(direction.name),
                      .bytes = copy.bytes,
                      .graph_node = copy.graph_node};
    submit(copy, op, copy.is_async == 0);
  }
}

void CudaRows::add_memsets() {
  for (const part::MemsetRecord& memset : part_.memsets) {
    if (!has_time(memset.start_ns, memset.end_ns, "memset")) continue;
    const OpRecord op{.kind = OpKind::kMemset,
                      .name = target_.builder.intern("Memset"),
                      .bytes = memset.bytes,
                      .graph_node = memset.graph_node};
    submit(memset, op);
  }
}

// CUPTI says 0 to 0 where it could not collect the time.
bool CudaRows::has_time(std::int64_t start_ns, std::int64_t end_ns, const char* what) {
  if (start_ns == 0 && end_ns == 0) {
    leave_out(target_.builder, part_, part::LossReason::kNoTime, what);
    ++without_time_;
    return false;
  }
  if (!Window{}.holds(start_ns) || !Window{}.holds(end_ns) || end_ns < start_ns) {
    leave_out(target_.builder, part_, part::LossReason::kBadRecord, what);
    return false;
  }
  return target_.window.holds(start_ns);
}

template <class Record>
void CudaRows::submit(const Record& record, OpRecord op, bool blocks) {
  op.start_ns = record.start_ns;
  op.duration_ns = record.end_ns - record.start_ns;
  op.queue = queue_of(record.device, {record.context, record.stream});
  calls_.add_submission(target_.builder.add(op), target_.process, id_of(record.correlation), blocks);
  target_.activity.add(target_.process, record.context, target_.device(record.device), record.start_ns, record.end_ns);
}

std::uint32_t CudaRows::queue_of(std::uint32_t device, const Stream& stream) {
  const auto [queue, is_new] = queues_.try_emplace(stream);
  if (is_new) {
    const auto priority = priorities_.find(stream);
    queue->second = target_.builder.queue({.device = target_.device(device),
                                           .context = stream.first,
                                           .stream = stream.second,
                                           .process = target_.process,
                                           .priority = priority == priorities_.end() ? 0 : priority->second});
  }
  return queue->second;
}

StringId CudaRows::name_of(std::uint32_t text) {
  const auto [name, is_new] = names_.try_emplace(text, StringId::none());
  if (is_new && part_.texts.contains(text)) {
    name->second = target_.builder.intern(readable_name(text_of(part_, text)));
  }
  return name->second;
}

// Marks without length: whether a switch that begins takes a context up or puts it away, CUPTI does not say.
void CudaRows::add_context_switches() {
  for (const part::ContextSwitchRecord& one : part_.context_switches) {
    if (!has_time(one.at_ns, one.at_ns, "context switch")) continue;
    const char* const what = one.is_begin != 0 ? "begins" : "ends";
    target_.builder.add(
        MarkRecord{.start_ns = one.at_ns,
                   .name = target_.builder.intern(fmt::format("switch of context {} {}", one.context, what)),
                   .thread = target_.builder.thread({.process = target_.process, .thread = 0})});
  }
}

// A range that began before the window is no whole step.
void CudaRows::add_marks() {
  for (const part::MarkRecord& mark : part_.marks) {
    const bool is_in_order =
        Window{}.holds(mark.start_ns) && Window{}.holds(mark.end_ns) && mark.end_ns >= mark.start_ns;
    if (!is_in_order) {
      leave_out(target_.builder, part_, part::LossReason::kBadRecord, "range");
    } else if (target_.window.holds(mark.start_ns)) {
      target_.builder.add(
          MarkRecord{.start_ns = mark.start_ns,
                     .duration_ns = mark.end_ns - mark.start_ns,
                     .name = target_.builder.intern(text_of(part_, mark.name)),
                     .thread = target_.builder.thread({.process = target_.process, .thread = mark.thread})});
    }
  }
}

void CudaRows::add_calls() {
  for (const part::CallRecord& call : part_.calls) {
    if (!has_time(call.start_ns, call.end_ns, "call")) continue;
    calls_.add(LoggedCall{.start_ns = call.start_ns,
                          .duration_ns = call.end_ns - call.start_ns,
                          .thread = {.process = target_.process, .thread = call.thread},
                          .id_space = target_.process,
                          .correlation = id_of(call.correlation),
                          .kind = kind_of(call.role),
                          .is_driver = call.is_driver != 0});
  }
}

void CudaRows::index_events() {
  for (const part::EventRecord& event : part_.event_records) {
    if (event.event_sync != 0) by_sync_[{event.event_sync, event.event}] = &event;
    by_record_[{event.event, event.correlation}] = &event;
  }
}

// The record that the wait names, else the last one of that event before the wait: ids of calls count up.
const part::EventRecord* CudaRows::event_of(const part::SyncRecord& sync) const {
  if (sync.event_sync != 0) {
    const auto named = by_sync_.find({sync.event_sync, sync.event});
    return named == by_sync_.end() ? nullptr : named->second;
  }
  const auto after = by_record_.lower_bound({sync.event, sync.correlation});
  if (sync.event == 0 || after == by_record_.begin()) return nullptr;
  const auto before = std::prev(after);
  return before->first.first == sync.event ? before->second : nullptr;
}

void CudaRows::add_waits() {
  const auto known_queue = [&](std::uint32_t context, std::uint32_t stream) -> std::optional<std::uint32_t> {
    if (stream == kNoStream) return std::nullopt;
    const auto device = device_of_context_.find(context);
    return queue_of(device == device_of_context_.end() ? 0 : device->second, {context, stream});
  };
  for (const part::SyncRecord& sync : part_.syncs) {
    LoggedWait wait;
    wait.id_space = target_.process;
    wait.correlation = sync.correlation;
    const bool is_stream_wait = sync.role == CallRole::kStreamWaitEvent;
    if (is_stream_wait || sync.role == CallRole::kSynchronizeStream)
      wait.queue = known_queue(sync.context, sync.stream);
    if (is_stream_wait || sync.role == CallRole::kSynchronizeEvent) {
      if (const part::EventRecord* event = event_of(sync)) {
        wait.record_queue = known_queue(event->context, event->stream);
        wait.record_correlation = event->correlation;
      }
    }
    calls_.add(wait);
  }
}

}  // namespace corun
