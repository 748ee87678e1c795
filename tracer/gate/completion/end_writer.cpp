#include "tracer/gate/completion/end_writer.h"

#include <algorithm>

#include "tracer/guest/part_file.h"

namespace corun::gate {
namespace {

constexpr std::int64_t kUsualNs = 50'000;  // of a launch, before any has been seen to end
constexpr std::int64_t kNewestWeighs = 8;  // an eighth

}  // namespace

void EndWriter::start(const GateLink& link) {
  link_ = &link;
  link.slot().typical_ns = kUsualNs;
}

void EndWriter::write_group(const LaunchGroup& group, std::int64_t took_ns) {
  std::atomic<std::int64_t>& typical_ns = link_->slot().typical_ns;
  if (took_ns != kUnknownNs) typical_ns = typical_ns + (took_ns / group.count - typical_ns) / kNewestWeighs;
  write_each(group, std::max(took_ns, std::int64_t{0}));
}

void EndWriter::write_unobserved(const LaunchGroup& group) {
  lane().unobserved.fetch_add(group.count);
  write_each(group, 0);
}

void EndWriter::write_each(const LaunchGroup& group, std::int64_t took_ns) {
  const std::int64_t now = guest::monotonic_ns(), each = took_ns / group.count;
  for (std::uint32_t i = 0; i < group.count; ++i) {
    const std::int64_t begin = now - took_ns + each * i;
    write(group.numbers[i], begin, begin + each, each, group.count);
  }
  last_end_ns_ = now;
  ring();
}

void EndWriter::write_unobserved(std::uint64_t number) {
  lane().unobserved.fetch_add(1);
  const std::int64_t now = guest::monotonic_ns();
  write(number, now, now, 0, 1);
  ring();
}

void EndWriter::write_ended_now(std::uint64_t number) {
  const std::int64_t now = guest::monotonic_ns();
  const std::int64_t begin = std::clamp(last_end_ns_, std::min(submitted_ns(number), now), now);
  write(number, begin, now, now - begin, 1);
  ring();
}

void EndWriter::write(std::uint64_t number, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t device_ns,
                      std::uint32_t group) {
  Slot& slot = link_->slot();
  Launch& launch = lane().launches[number % kDepth];
  launch.begin_ns = std::max(begin_ns, launch.submitted_ns);
  launch.end_ns = std::max(end_ns, launch.begin_ns);
  launch.device_ns = device_ns;
  launch.group = group;
  const std::uint64_t place = slot.done_count.load(std::memory_order_relaxed);
  slot.done[place % kDepth] = number;
  slot.done_count.store(place + 1, std::memory_order_release);
  slot.in_flight.fetch_sub(1);
}

void EndWriter::ring() {
  if (lane().tells.load(std::memory_order_relaxed) != 0) link_->ring();
}

}  // namespace corun::gate
