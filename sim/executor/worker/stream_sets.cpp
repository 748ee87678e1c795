#include "sim/executor/worker/stream_sets.h"

#include <algorithm>
#include <utility>

namespace corun::executor {

namespace {

constexpr unsigned kStreamsOfTheirOwn = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned kEventsWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING

}  // namespace

StreamSets::StreamSets(const CudaDriver& cuda, std::uint32_t streams) : cuda_(cuda), sets_(streams) {
  cuda_.check(cuda_.context_priorities(&least_, &greatest_), "asking for the priorities of streams");
  for (StreamSet& set : sets_) {
    set.by_level.resize(static_cast<std::size_t>(levels()));
    open(set, 0);
    cuda_.check(cuda_.event_create(&set.handover, kEventsWithoutTiming), "making an event");
  }
}

CudaHandle StreamSets::open(StreamSet& set, std::size_t level) const {
  CudaHandle& stream = set.by_level[level];
  if (stream != nullptr) return stream;
  cuda_.check(cuda_.stream_create(&stream, kStreamsOfTheirOwn, least_ - static_cast<int>(level)), "making a stream");
  return stream;
}

CudaHandle StreamSets::stream(std::uint32_t of_client, std::int32_t priority) {
  StreamSet& set = sets_[of_client];
  const auto level = static_cast<std::size_t>(std::clamp(priority, 0, levels() - 1));
  CudaHandle next = open(set, level);
  if (level == set.level) return next;
  CudaHandle before = set.by_level[std::exchange(set.level, level)];
  cuda_.check(cuda_.event_record(set.handover, before), "recording an event");
  cuda_.check(cuda_.stream_wait(next, set.handover, 0), "waiting for another priority");
  return next;
}

}  // namespace corun::executor
