#include "sim/executor/device_time/device_times.h"

#include <algorithm>

namespace corun::executor {

DeviceTimes::DeviceTimes(std::size_t clients, bool take_turns)
    : take_turns_(take_turns), shares_(take_turns ? clients : 0), spans_(clients), told_(clients) {}

void DeviceTimes::worked(ClientId client, Time begin, Time end) {
  if (begin >= end) return;
  busy_.add(begin, end);
  if (take_turns_) {
    shares_.add(client, begin, end);
  } else {
    spans_[client.value].add(begin, end);
  }
}

Duration DeviceTimes::received(ClientId client) const {
  const Duration so_far = take_turns_ ? shares_.received(client) : spans_[client.value].total();
  return told_[client.value] = std::max(told_[client.value], so_far);
}

Duration DeviceTimes::received(const Completion& done) const {
  return take_turns_ ? shares_.received(done.client, done.begin, done.end) : done.device_time;
}

}  // namespace corun::executor
