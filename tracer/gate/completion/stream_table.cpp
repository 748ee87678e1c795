#include "tracer/gate/completion/stream_table.h"

#include "tracer/cuda/cupti_abi.h"

namespace corun::gate {
namespace {

bool is_default_of_thread(const void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) == cupti::kStreamPerThread;
}

}  // namespace

__thread StreamTable::Known StreamTable::known_ __attribute__((tls_model("initial-exec")));

bool TrackedStream::is_of_thread() const { return is_default_of_thread(stream); }

TrackedStream* StreamTable::find(void* context, void* stream) {
  const pthread_t thread = is_default_of_thread(stream) ? pthread_self() : pthread_t{};
  TrackedStream* free = nullptr;
  for (TrackedStream& each : *this) {
    if (each.context == context && each.stream == stream && each.thread == thread) return &each;
    if (free == nullptr && each.context == nullptr) free = &each;
  }
  if (free == nullptr && count_ == kMost) return nullptr;
  if (free == nullptr) free = &streams_[count_++];
  *free = {context, stream, thread, nullptr, nullptr};
  return free;
}

bool StreamTable::is_known(void* context, void* stream) const {
  return known_.context == context && known_.stream == stream &&
         known_.generation == generation_.load(std::memory_order_relaxed);
}

TrackedStream* StreamTable::learn(void* context, void* stream) {
  known_ = {context, stream, find(context, stream), generation_.load()};
  return known_.found;
}

std::uint32_t StreamTable::number_of(const TrackedStream* stream) const {
  return stream == nullptr ? kMost : static_cast<std::uint32_t>(stream - streams_);
}

void StreamTable::forget(TrackedStream& stream) {
  stream = {};
  ++generation_;
}

}  // namespace corun::gate
