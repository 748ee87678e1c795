#include "sim/executor/worker/stream_lanes.h"

#include <algorithm>
#include <utility>

namespace corun::executor {

namespace {

constexpr unsigned kStreamsOfTheirOwn = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned kEventsWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING

}  // namespace

StreamLanes::StreamLanes(const CudaDriver& cuda, std::uint32_t streams) : cuda_(cuda), streams_(streams) {
  cuda_.check(cuda_.context_priorities(&least_, &greatest_), "asking for the priorities of streams");
  for (Lanes& lanes : streams_) {
    lanes.by_level.resize(static_cast<std::size_t>(levels()));
    open(lanes, 0);
    cuda_.check(cuda_.event_create(&lanes.handover, kEventsWithoutTiming), "making an event");
  }
}

CudaHandle StreamLanes::open(Lanes& lanes, std::size_t level) const {
  CudaHandle& stream = lanes.by_level[level];
  if (stream != nullptr) return stream;
  cuda_.check(cuda_.stream_create(&stream, kStreamsOfTheirOwn, least_ - static_cast<int>(level)), "making a stream");
  return stream;
}

CudaHandle StreamLanes::lane(std::uint32_t stream, std::int32_t priority) {
  Lanes& lanes = streams_[stream];
  const auto level = static_cast<std::size_t>(std::clamp(priority, 0, levels() - 1));
  CudaHandle next = open(lanes, level);
  if (level == lanes.level) return next;
  CudaHandle before = lanes.by_level[std::exchange(lanes.level, level)];
  cuda_.check(cuda_.event_record(lanes.handover, before), "recording an event");
  cuda_.check(cuda_.stream_wait(next, lanes.handover, 0), "waiting for another priority");
  return next;
}

}  // namespace corun::executor
