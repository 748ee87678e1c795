#include "tracer/cuda/cupti_decode.h"

#include <string.h>

#include "tracer/cuda/cupti_functions.h"

namespace corun::cupti {
namespace {

using part::CopyKind;
using part::RecordType;

constexpr std::uint32_t kMostKinds = 1024;  // CUPTI 13 has 60: far more is no kind but garbage

template <class Record>
constexpr part::RecordHead head_of(RecordType type) {
  return {type, sizeof(Record), 0};
}

std::uint32_t size_of(std::int32_t value) { return static_cast<std::uint32_t>(value); }

bool are_sizes(const Kernel& in) {
  return in.grid_x > 0 && in.grid_y > 0 && in.grid_z > 0 && in.block_x > 0 && in.block_y > 0 && in.block_z > 0 &&
         in.static_shared_memory >= 0 && in.dynamic_shared_memory >= 0;
}

// Takes over begin and end. False where they contradict each other; both 0 where either is not known.
template <class In>
bool take_time(const In& in, Decoded& out) {
  if (in.start == 0 || in.end == 0) return true;
  if (in.start > in.end || in.end > INT64_MAX) return false;
  out.start_ns = static_cast<std::int64_t>(in.start);
  out.end_ns = static_cast<std::int64_t>(in.end);
  return true;
}

bool translate(const Kernel& in, Decoded& out) {
  if (!are_sizes(in) || !take_time(in, out)) return false;
  out.name = in.name;
  out.kernel = {
      .head = head_of<part::KernelRecord>(RecordType::kKernel),
      .start_ns = out.start_ns,
      .end_ns = out.end_ns,
      .graph_node = in.graph_node,
      .correlation = in.correlation,
      .device = in.device,
      .context = in.context,
      .stream = in.stream,
      .name = 0,
      .grid_x = size_of(in.grid_x),
      .grid_y = size_of(in.grid_y),
      .grid_z = size_of(in.grid_z),
      .block_x = size_of(in.block_x),
      .block_y = size_of(in.block_y),
      .block_z = size_of(in.block_z),
      .registers_per_thread = in.registers_per_thread,
      .shared_memory_bytes = size_of(in.static_shared_memory) + size_of(in.dynamic_shared_memory),
      .graph = in.graph,
  };
  return true;
}

CopyKind kind_of(std::uint8_t copy_kind) {
  switch (copy_kind) {
    case 0:
      return CopyKind::kUnknown;
    case kCopyHostToDevice:
    case kCopyHostToArray:
      return CopyKind::kHostToDevice;
    case kCopyDeviceToHost:
    case kCopyArrayToHost:
      return CopyKind::kDeviceToHost;
    case kCopyHostToHost:
      return CopyKind::kHostToHost;
    case kCopyPeer:
      return CopyKind::kPeer;
    default:
      return CopyKind::kDeviceToDevice;
  }
}

/// What copies and memsets say alike.
template <class Record, class In>
Record memory_record(RecordType type, const In& in, const Decoded& out) {
  Record record{};
  record.head = head_of<Record>(type);
  record.start_ns = out.start_ns;
  record.end_ns = out.end_ns;
  record.bytes = in.bytes;
  record.graph_node = in.graph_node;
  record.correlation = in.correlation;
  record.device = in.device;
  record.context = in.context;
  record.stream = in.stream;
  return record;
}

template <class In>
bool translate_copy(const In& in, Decoded& out) {
  if (in.copy_kind > kCopyPeer || !take_time(in, out)) return false;
  out.copy = memory_record<part::CopyRecord>(RecordType::kCopy, in, out);
  out.copy.kind = kind_of(in.copy_kind);
  out.copy.is_async = (in.flags & kCopyIsAsync) != 0;
  return true;
}

bool translate(const Memcpy& in, Decoded& out) { return translate_copy(in, out); }

bool translate(const PeerCopy& in, Decoded& out) {
  if (!translate_copy(in, out)) return false;
  out.copy.kind = CopyKind::kPeer;
  return true;
}

bool translate(const Memset& in, Decoded& out) {
  if (!take_time(in, out)) return false;
  out.memset = memory_record<part::MemsetRecord>(RecordType::kMemset, in, out);
  return true;
}

bool translate(const Call& in, Decoded& out) {
  if (!take_time(in, out)) return false;
  const bool is_driver = in.kind == Kind::kDriver;
  out.call = {
      .head = head_of<part::CallRecord>(RecordType::kCall),
      .start_ns = out.start_ns,
      .end_ns = out.end_ns,
      .thread = in.thread,
      .correlation = in.correlation,
      .role = role_of(is_driver ? driver_functions() : runtime_functions(), in.function),
      .is_driver = is_driver,
      .function = in.function,
  };
  return true;
}

bool translate(const Device& in, Decoded& out) {
  out.name = in.name;
  out.device = {
      .head = head_of<part::DeviceRecord>(RecordType::kDevice),
      .device = in.id,
      .name = 0,
      .memory_bytes = in.memory_bytes,
      .sm_count = in.sm_count,
      .max_threads_per_sm = in.warps_per_sm * in.threads_per_warp,
      .registers_per_sm = in.registers_per_sm,
      .shared_memory_per_sm_bytes = in.shared_memory_per_sm,
      .uuid = {},
  };
  memcpy(out.device.uuid, in.uuid, sizeof(in.uuid));
  return true;
}

bool translate(const Context& in, Decoded& out) {
  out.context = {
      .head = head_of<part::ContextRecord>(RecordType::kContext),
      .device = in.device,
      .context = in.context,
      .is_mps = in.api == kApiMps,
      .sm_count = in.is_green != 0 ? in.sm_count : 0u,
  };
  return true;
}

bool translate(const Stream& in, Decoded& out) {
  out.stream = {
      .head = head_of<part::StreamRecord>(RecordType::kStream),
      .context = in.context,
      .stream = in.stream,
      .priority = static_cast<std::int32_t>(in.priority),
      .is_default = in.flag == kStreamIsDefault,
  };
  return true;
}

// The others (compiling, loading of modules, a launch queue that is full) would be there without us.
bool is_own(std::uint32_t overhead_kind) {
  return overhead_kind == kOverheadFlush || overhead_kind == kOverheadInstrumentation ||
         overhead_kind == kOverheadResource || overhead_kind == kOverheadBufferRequest;
}

bool translate(const Overhead& in, Decoded& out) {
  if (!take_time(in, out)) return false;
  out.overhead = {
      .head = head_of<part::OverheadRecord>(RecordType::kOverhead),
      .start_ns = out.start_ns,
      .end_ns = out.end_ns,
      .thread = in.object_kind == kObjectThread ? in.thread : 0,
      .kind = in.overhead_kind,
  };
  return true;
}

bool translate(const ContextSwitch& in, Decoded& out) {
  if (in.time > INT64_MAX || (in.operation != kSwitchBegins && in.operation != kSwitchEnds)) return false;
  out.start_ns = out.end_ns = static_cast<std::int64_t>(in.time);
  out.context_switch = {
      .head = head_of<part::ContextSwitchRecord>(RecordType::kContextSwitch),
      .at_ns = out.start_ns,
      .context = in.context,
      .is_begin = in.operation == kSwitchBegins,
  };
  return true;
}

template <class In>
Decoded decode_as(const Activity* record, std::size_t available) {
  Decoded out;
  if (available < sizeof(In)) return out;
  In in;
  memcpy(&in, record, sizeof(in));
  if (translate(in, out)) out.verdict = Decoded::Verdict::kRecord;
  return out;
}

}  // namespace

Decoded decode(const Activity* record, std::size_t available) {
  Decoded out;
  if (available < sizeof(Activity)) return out;
  switch (record->kind) {
    case Kind::kInvalid:
      return out;
    case Kind::kConcurrentKernel:
      return decode_as<Kernel>(record, available);
    case Kind::kMemcpy:
      return decode_as<Memcpy>(record, available);
    case Kind::kPeerCopy:
      return decode_as<PeerCopy>(record, available);
    case Kind::kMemset:
      return decode_as<Memset>(record, available);
    case Kind::kRuntime:
    case Kind::kDriver:
      return decode_as<Call>(record, available);
    case Kind::kDevice:
      return decode_as<Device>(record, available);
    case Kind::kContext:
      return decode_as<Context>(record, available);
    case Kind::kStream:
      return decode_as<Stream>(record, available);
    case Kind::kOverhead:
      out = decode_as<Overhead>(record, available);
      if (out.verdict == Decoded::Verdict::kRecord && !is_own(out.overhead.kind)) {
        out.verdict = Decoded::Verdict::kForeign;
      }
      return out;
    case Kind::kContextSwitch:
      return decode_as<ContextSwitch>(record, available);
  }
  if (static_cast<std::uint32_t>(record->kind) < kMostKinds) out.verdict = Decoded::Verdict::kForeign;
  return out;
}

}  // namespace corun::cupti
