#include "sim/executor/device_time/in_flight.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace corun::executor {

namespace {

std::uint64_t load(std::uint64_t& value) { return std::atomic_ref(value).load(std::memory_order_acquire); }

/// The device's clock as the run's.
Time device_time(std::uint64_t shown_ns, const Channel& channel, const WallClock& clock) {
  return clock.at(static_cast<std::int64_t>(shown_ns) + channel.clock_offset_ns);
}

/// A kernel begins after the call that launches it and has ended when that is seen; clocks drift.
void correct_clock(Channel& channel, const Stamp& stamp, std::int64_t called_ns, std::int64_t seen_ns) {
  std::int64_t& offset = channel.clock_offset_ns;
  offset = std::max(offset, called_ns - static_cast<std::int64_t>(stamp.begin_ns));
  offset = std::min(offset, seen_ns - static_cast<std::int64_t>(stamp.end_ns));
}

}  // namespace

void InFlight::launch(const Command& command, Time launched, Channel& channel) {
  unposted_.push_back({command, launched});
  ++unposted_of_[command.stream];
  next_number_ = command.number + 1;
  post_what_fits(channel);
}

void InFlight::release(Channel& channel) {
  is_held_ = false;
  post_what_fits(channel);
}

bool InFlight::has_room_for(std::uint64_t number) const {
  return std::ranges::all_of(by_stream_, [number](const std::deque<Op>& stream) {
    return stream.empty() || number - stream.front().number < Channel::kDepth;
  });
}

bool InFlight::is_in_flight(std::uint64_t number, std::size_t stream) const {
  return !by_stream_[stream].empty() && by_stream_[stream].front().number <= number;
}

void InFlight::post_what_fits(Channel& channel) {
  for (; !is_held_ && !unposted_.empty() && has_room_for(unposted_.front().command.number); unposted_.pop_front())
    post(unposted_.front(), channel);
}

void InFlight::post(const Unposted& next, Channel& channel) {
  const std::uint64_t number = next.command.number;
  Command& command = channel.command(number);
  command = next.command;
  for (std::size_t stream = 0; stream < by_stream_.size(); ++stream)
    if (command.awaits[stream] > 0 && !is_in_flight(command.awaits[stream] - 1, stream)) command.awaits[stream] = 0;
  channel.stamp(number) = Stamp{};
  const bool is_copy = command.kind == CommandKind::kCopyToDevice || command.kind == CommandKind::kCopyFromDevice;
  --unposted_of_[command.stream];
  by_stream_[command.stream].push_back({number, is_copy, next.launched, kNever});
  ++count_;
  channel.posted.store(number + 1, std::memory_order_release);
}

std::optional<Ended> InFlight::take_completed(Channel& channel, const WallClock& clock) {
  for (std::size_t i = 0; i < by_stream_.size(); ++i) {
    std::deque<Op>& stream = by_stream_[i];
    if (stream.empty()) continue;
    Op& op = stream.front();
    Stamp& stamp = channel.stamp(op.number);
    if (op.is_copy && op.seen_begin == kNever && load(stamp.begin_ns) != 0) op.seen_begin = clock.now();
    const bool has_returned = channel.taken.load(std::memory_order_acquire) > op.number;
    if (!has_returned || load(stamp.ticket) != op.number + 1) continue;
    const Ended done = ended(op, i, channel, clock);
    stream.pop_front();
    --count_;
    post_what_fits(channel);
    return done;
  }
  return std::nullopt;
}

std::vector<Ended> InFlight::abort(Time now, Channel& channel, const WallClock& clock) {
  std::vector<Ended> all;
  for (std::size_t i = 0; i < by_stream_.size(); ++i) {
    for (const Op& op : by_stream_[i]) {
      const bool is_complete = load(channel.stamp(op.number).ticket) == op.number + 1;
      const Time begun = is_complete ? kNever : begin_of(op, channel, clock);
      const Time begin = std::min({begun, op.seen_begin, now});
      all.push_back(is_complete ? ended(op, i, channel, clock)
                                : Ended{{op.number, client_, begin, now, now - begin, true}, begin});
    }
    by_stream_[i].clear();
  }
  for (const Unposted& op : unposted_) all.push_back({{op.command.number, client_, now, now, {}, true}, now});
  std::ranges::sort(all, {}, &Completion::ticket);
  unposted_.clear();
  std::ranges::fill(unposted_of_, 0);
  count_ = 0;
  return all;
}

/// What has ended is returned by take_completed().
Time InFlight::running_since(Channel& channel, const WallClock& clock) const {
  Time begin = kNever;
  for (const std::deque<Op>& stream : by_stream_) {
    const bool has_ended = !stream.empty() && load(channel.stamp(stream.front().number).ticket) != 0;
    if (!stream.empty() && !has_ended) begin = std::min(begin, begin_of(stream.front(), channel, clock));
  }
  return begin;
}

Ended InFlight::ended(const Op& op, std::size_t stream, Channel& channel, const WallClock& clock) {
  const std::int64_t seen_ns = WallClock::monotonic_ns();
  last_end_ = clock.at(seen_ns);
  Ended done;
  done.ticket = op.number;
  done.client = client_;
  done.end = last_end_;
  done.begin = std::min(op.seen_begin, done.end);
  done.device_time = done.end - done.begin;
  done.at_work_since = done.begin;
  const Time before = std::exchange(last_end_of_[stream], done.end);
  if (op.is_copy) return done;
  const Stamp& stamp = channel.stamp(op.number);
  const CallTimes& call = channel.calls[op.number % Channel::kDepth];
  correct_clock(channel, stamp, call.begin_ns, seen_ns);
  done.end = device_time(stamp.end_ns, channel, clock);
  done.begin = std::clamp(device_time(stamp.begin_ns, channel, clock), std::min(op.launched, done.end), done.end);
  done.device_time = Duration{static_cast<std::int64_t>(stamp.end_ns - std::min(stamp.begin_ns, stamp.end_ns))};
  const bool was_queued = clock.at(call.end_ns) <= before;
  done.at_work_since = was_queued ? std::min(before, done.begin) : done.begin;
  last_end_of_[stream] = done.end;
  return done;
}

Time InFlight::begin_of(const Op& op, Channel& channel, const WallClock& clock) {
  const std::uint64_t begin_ns = load(channel.stamp(op.number).begin_ns);
  if (op.is_copy || begin_ns == 0) return kNever;
  const Time now = clock.now();
  return std::clamp(device_time(begin_ns, channel, clock), std::min(op.launched, now), now);
}

Time InFlight::begin_of(std::uint64_t number, Channel& channel, const WallClock& clock) const {
  for (const std::deque<Op>& stream : by_stream_)
    for (const Op& op : stream)
      if (op.number == number) return begin_of(op, channel, clock);
  return kNever;
}

Time InFlight::oldest_launch() const {
  Time oldest = kNever;
  for (const std::deque<Op>& stream : by_stream_)
    if (!stream.empty()) oldest = std::min(oldest, stream.front().launched);
  return oldest;
}

Time InFlight::waiting_since() const { return count_ == 0 ? kNever : std::max(oldest_launch(), last_end_); }

}  // namespace corun::executor
