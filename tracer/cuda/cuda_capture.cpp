#include "tracer/cuda/cuda_capture.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "tracer/cuda/cupti_functions.h"

namespace corun::cupti {
namespace {

struct Choice {
  Kind kind;
  bool is_needed;
  bool is_dumped;  // those that exist already are reported too: the library may come late
};

constexpr Choice kChoices[] = {
    {Kind::kDevice, false, true},           {Kind::kContext, false, true},   {Kind::kStream, false, true},
    {Kind::kConcurrentKernel, true, false}, {Kind::kMemcpy, true, false},    {Kind::kMemset, true, false},
    {Kind::kPeerCopy, false, false},        {Kind::kOverhead, false, false},
};

bool is_launch(part::CallRole role) { return role == part::CallRole::kLaunch || role == part::CallRole::kGraphLaunch; }

// The EventRecord of a callback says all that is asked about the recording of an event.
bool needs_record(part::CallRole role) { return role != part::CallRole::kRecordEvent; }

struct Switched {
  std::uint32_t accepted = 0;
  Result refusal = kSuccess;  // the last one
};

// CUPTI refuses numbers of functions that are newer than itself: what counts is that some were accepted.
template <class SwitchOne>
Switched switch_functions(bool (*is_wanted)(part::CallRole), SwitchOne switch_one) {
  Switched switched;
  for (const FunctionRange& range : driver_functions()) {
    if (!is_wanted(range.role)) continue;
    for (std::uint32_t function = range.first; function <= range.last; ++function) {
      const Result result = switch_one(function);
      if (result == kSuccess) ++switched.accepted;
      if (result != kSuccess) switched.refusal = result;
    }
  }
  return switched;
}

Switched switch_records(const Library& cupti, std::uint8_t to) {
  if (cupti.enable_driver_function == nullptr) return {};
  return switch_functions(&needs_record, [&](auto function) { return cupti.enable_driver_function(function, to); });
}

Switched switch_callbacks(const Library& cupti, Subscriber subscriber, bool (*is_wanted)(part::CallRole), bool to) {
  return switch_functions(is_wanted, [&](std::uint32_t function) {
    return cupti.enable_callback(to, subscriber, kDomainDriver, function);
  });
}

template <std::size_t kSize>
const char* without_numbers(const char* name, char (&out)[kSize]) {
  std::size_t length = 0;
  for (; *name != '\0' && length + 1 < kSize; ++name) {
    const bool is_digit = *name >= '0' && *name <= '9';
    if (!is_digit || length == 0 || out[length - 1] != '#') out[length++] = is_digit ? '#' : *name;
  }
  out[length] = '\0';
  return out;
}

std::uint64_t timestamp() { return static_cast<std::uint64_t>(guest::monotonic_ns()); }

void say_that_another_profiler_is_here() {
  constexpr char kLine[] = "corun: another profiler holds CUPTI in this program, its CUDA work is not recorded\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof(kLine) - 1);
}

}  // namespace

bool CudaCapture::start(const guest::Settings& settings, const Hooks& hooks) {
  const LoadResult loaded = load(settings.cupti_path, cupti_);
  if (!part_.open(settings, part::Source::kCuda, settings.cuda_detail, cupti_.version)) return false;
  if (loaded == LoadResult::kMissing) return stop(part::EndReason::kNoCupti, 0, nullptr);
  if (loaded == LoadResult::kWrongVersion) return stop(part::EndReason::kCuptiVersion, cupti_.version, nullptr);
  process_ = getpid();
  detail_ = settings.cuda_detail;
  from_ns_ = settings.from_ns;
  until_ns_ = settings.until_ns;
  if (!subscribe(hooks.call) || !prepare_buffers(hooks)) return false;
  is_recording_ = true;
  if (!enable()) return false;
  const std::int64_t first_ns = detail_ == part::Detail::kCount ? until_ns_ : guest::monotonic_ns() + kFlushEveryNs;
  if (flusher_.start(hooks.work, std::min(first_ns, until_ns_))) return true;
  return stop(part::EndReason::kOutOfMemory, 0, "no thread could be started");
}

// Only before the flush thread runs. Always false.
bool CudaCapture::stop(part::EndReason reason, std::uint32_t detail, const char* text) {
  is_recording_ = false;
  if (subscriber_ != nullptr) {
    disable();
    cupti_.unsubscribe(subscriber_);
  }
  part_.close(reason, detail, text);
  return false;
}

bool CudaCapture::need(Result result, const char* what) {
  return result == kSuccess || stop(part::EndReason::kCuptiFailed, static_cast<std::uint32_t>(result), what);
}

void CudaCapture::try_out(Result result, const char* what) {
  if (result == kSuccess || refused_[0] != '\0') return;
  snprintf(refused_, sizeof(refused_), "CUPTI refused %s: error %d", what, result);
}

bool CudaCapture::subscribe(Callback callback) {
  const Result result = cupti_.subscribe(&subscriber_, callback, nullptr);
  if (result != kSuccess) subscriber_ = nullptr;
  if (result != kOtherSubscriber) return need(result, "cuptiSubscribe");
  say_that_another_profiler_is_here();
  return stop(part::EndReason::kOtherSubscriber, static_cast<std::uint32_t>(result), nullptr);
}

bool CudaCapture::prepare_buffers(const Hooks& hooks) {
  if (!has_activities()) return true;
  if (!pool_.map()) return stop(part::EndReason::kOutOfMemory, 0, "no memory for buffers");
  if (!need(cupti_.register_timestamp(&timestamp), "cuptiActivityRegisterTimestampCallback")) return false;
  if (!need(cupti_.set_thread_id_type(kThreadIdSystem), "cuptiSetThreadIdType")) return false;
  std::uint8_t is_zeroed = 1;
  std::size_t size = sizeof(is_zeroed);
  if (cupti_.set_attribute != nullptr) {
    try_out(cupti_.set_attribute(kAttributeZeroedBuffers, &size, &is_zeroed), "cuptiActivitySetAttribute");
  }
  return need(cupti_.register_buffers(hooks.request_buffer, hooks.complete_buffer), "cuptiActivityRegisterCallbacks");
}

bool CudaCapture::enable() {
  if (detail_ == part::Detail::kNone) return true;
  return detail_ == part::Detail::kCount ? enable_launch_callbacks() : enable_activities();
}

bool CudaCapture::enable_activities() {
  for (const Choice& choice : kChoices) {
    if (!enable_kind(choice.kind, choice.is_needed, choice.is_dumped)) return false;
  }
  if (cupti_.version >= kFirstVersionWithContextSwitches) enable_kind(Kind::kContextSwitch, false, false);
  return detail_ != part::Detail::kCalls || enable_calls();
}

// The runtime calls the driver for all that it does: its own records would only cost.
bool CudaCapture::enable_calls() {
  if (!waits_.start(cupti_.get_stream_id, from_ns_))
    return stop(part::EndReason::kOutOfMemory, 0, "no memory for events");
  const Switched callbacks = switch_callbacks(cupti_, subscriber_, &needs_callback, true);
  if (callbacks.accepted == 0) try_out(callbacks.refusal, "cuptiEnableCallback");
  return switch_records(cupti_, 1).accepted > 0 || enable_kind(Kind::kDriver, true, false);
}

bool CudaCapture::enable_kind(Kind kind, bool is_needed, bool is_dumped) {
  if (is_dumped && cupti_.enable_and_dump != nullptr && cupti_.enable_and_dump(kind) == kSuccess) return true;
  const Result result = cupti_.enable(kind);
  char what[64];
  snprintf(what, sizeof(what), "cuptiActivityEnable of kind %u", static_cast<unsigned>(kind));
  if (is_needed) return need(result, what);
  try_out(result, what);
  return true;
}

bool CudaCapture::enable_launch_callbacks() {
  const Switched callbacks = switch_callbacks(cupti_, subscriber_, &is_launch, true);
  return callbacks.accepted > 0 || need(callbacks.refusal, "cuptiEnableCallback");
}

// What was never enabled is disabled without harm.
void CudaCapture::disable() {
  if (detail_ == part::Detail::kCount) switch_callbacks(cupti_, subscriber_, &is_launch, false);
  if (!has_activities()) return;
  if (detail_ == part::Detail::kCalls) {
    switch_callbacks(cupti_, subscriber_, &needs_callback, false);
    switch_records(cupti_, 0);
  }
  for (const Choice& choice : kChoices) cupti_.disable(choice.kind);
  for (const Kind kind : {Kind::kContextSwitch, Kind::kDriver}) cupti_.disable(kind);
}

void CudaCapture::on_call(std::uint32_t domain, std::uint32_t function, const CallbackSite& site) {
  if (domain != kDomainDriver || !is_recording_.load(std::memory_order_relaxed)) return;
  if (detail_ == part::Detail::kCalls) return log_wait(function, site);
  if (site.site == kSiteEnter) count_launch();
}

void CudaCapture::log_wait(std::uint32_t function, const CallbackSite& site) {
  const std::int64_t begin_ns = guest::monotonic_ns();
  waits_.on_call(function, site, part_);
  if (begin_ns >= from_ns_) own_ns_.fetch_add(guest::monotonic_ns() - begin_ns, std::memory_order_relaxed);
}

void CudaCapture::count_launch() {
  const std::uint64_t launches = launches_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (launches % part::kLaunchesPerCount != 0) return;
  part_.add(part::RecordType::kLaunchCount, part::LaunchCountRecord{{}, guest::monotonic_ns(), launches});
}

// Numbers of texts only grow: a higher one than any before is that of a new name.
std::uint32_t CudaCapture::range_name(const char* name) {
  char shortened[256];
  const std::uint32_t known = range_names_.load(std::memory_order_relaxed);
  if (known >= kMostRangeNames) {
    if (const std::uint32_t id = part_.known_range_name(name); id != 0) return id;
    name = without_numbers(name, shortened);
  }
  if (known >= 2 * kMostRangeNames) {
    if (const std::uint32_t id = part_.known_range_name(name); id != 0) return id;
    part_.lost(part::LossReason::kNoRoomForName, 1);
    return 0;
  }
  const std::uint32_t id = part_.range_name(name);
  std::uint32_t newest = newest_range_name_.load(std::memory_order_relaxed);
  while (id > newest && !newest_range_name_.compare_exchange_weak(newest, id)) continue;
  if (id > newest) range_names_.fetch_add(1, std::memory_order_relaxed);
  return id;
}

void CudaCapture::on_range(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t name) {
  if (start_ns < from_ns_ || start_ns > until_ns_) return;
  part_.add(part::RecordType::kMark, part::MarkRecord{{}, start_ns, end_ns, guest::thread_id(), name});
}

void CudaCapture::complete_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid) {
  if (is_recording_ && buffer != nullptr) {
    read(buffer, std::min(valid, BufferPool::kBufferBytes), pool_.is_kept(buffer));
    std::size_t dropped = 0;
    const bool is_known = cupti_.get_dropped(context, stream, &dropped) == kSuccess;
    if (is_known && dropped > 0) part_.lost(part::LossReason::kCuptiDropped, dropped);
  }
  pool_.give_back(buffer);
}

void CudaCapture::read(std::uint8_t* buffer, std::size_t valid, bool is_kept) {
  const std::uint8_t* const end = buffer + valid;
  Activity* record = nullptr;
  for (const std::uint8_t* next = buffer; next < end;) {
    const Result result = cupti_.get_next_record(buffer, valid, &record);
    if (result == kEndOfBuffer) return;
    const auto* const at = reinterpret_cast<const std::uint8_t*>(record);
    if (result != kSuccess || at < next || at >= end) {
      part_.lost(part::LossReason::kBadRecord, 1);
      return;
    }
    next = at + 1;
    if (!is_kept) {
      part_.lost(part::LossReason::kCuptiDropped, 1);
      continue;
    }
    Decoded decoded = decode(record, static_cast<std::size_t>(end - at));
    keep(decoded);
  }
}

void CudaCapture::keep(Decoded& decoded) {
  if (decoded.verdict == Decoded::Verdict::kBad) part_.lost(part::LossReason::kBadRecord, 1);
  if (decoded.verdict != Decoded::Verdict::kRecord) return;
  if (decoded.end_ns != 0 && (decoded.end_ns < from_ns_ || decoded.start_ns > until_ns_)) return;
  if (decoded.name != nullptr) {
    const bool is_kernel = decoded.head.type == part::RecordType::kKernel;
    if (is_kernel) decoded.kernel.name = part_.kernel_name(decoded.name);
    if (!is_kernel) decoded.device.name = part_.text(decoded.name);
  }
  part_.append(decoded.head);
}

void CudaCapture::flush(std::uint32_t flags) {
  if (has_activities() && is_recording_) cupti_.flush_all(flags);
}

std::int64_t CudaCapture::work(bool is_last) {
  const std::int64_t now = guest::monotonic_ns();
  if (!is_last && now >= until_ns_) return close_window();
  if (!part_.is_open()) return give_up();
  flush(kFlushComplete);
  if (is_last) flush(kFlushForced);
  add_own_time();
  part_.push();
  return std::min(now + kFlushEveryNs, until_ns_);
}

void CudaCapture::add_own_time() {
  const std::int64_t spent_ns = own_ns_.exchange(0, std::memory_order_relaxed);
  const std::int64_t now = std::min(guest::monotonic_ns(), until_ns_);
  if (spent_ns == 0) return;
  part_.add(part::RecordType::kOverhead, part::OverheadRecord{{}, now - spent_ns, now, 0, part::kInCallbacks});
}

// The part has ended by itself: the disk is full, or the part as large as it may become.
std::int64_t CudaCapture::give_up() {
  is_recording_ = false;
  disable();
  return INT64_MAX;
}

std::int64_t CudaCapture::close_window() {
  disable();
  if (has_activities() && is_recording_) {
    const timespec tail{0, kTailNs};
    nanosleep(&tail, nullptr);
    flush(kFlushComplete);
    flush(kFlushForced);
    add_own_time();
  }
  end(part::EndReason::kWindow);
  return INT64_MAX;
}

void CudaCapture::end(part::EndReason reason) {
  is_recording_ = false;
  part_.close(reason, 0, refused_[0] == '\0' ? nullptr : refused_);
}

void CudaCapture::finish() {
  if (getpid() != process_) return;  // a child that came about without fork() runs its parent's exit handlers too
  flusher_.finish(kPatienceNs);
  end(part::EndReason::kExit);
}

void CudaCapture::abandon() {
  process_ = 0;
  is_recording_ = false;
  part_.abandon();
}

}  // namespace corun::cupti
