#include "sim/live/client/lane_reader.h"

#include <algorithm>

#include "tracer/gate/channel/word.h"
#include "traces/readable_name.h"

namespace corun::live {

namespace {

constexpr Duration kMostFilling = std::chrono::milliseconds{100};  // of an entry, which takes nanoseconds

}  // namespace

bool LaneReader::EmptyEntry::is_abandoned(std::uint64_t entry, Time now) {
  if (entry_ != entry) {
    entry_ = entry;
    since_ = now;
  }
  return now - since_ > kMostFilling;
}

std::optional<LaneReader::LaunchEntry> LaneReader::read_launch() {
  const std::uint64_t number = launches_read_;
  const gate::Launch& entry = launch(number);
  const bool is_ready = entry.ready.load(std::memory_order_acquire) == number + 1;
  if (!is_ready) {
    const bool is_taken = number < gate::launches_of(lane_.gate.load()) && number - lane_.retired.load() < gate::kDepth;
    if (!is_taken || !empty_launch_.is_abandoned(number, clock_.now())) return std::nullopt;
  }
  ++launches_read_;
  return LaunchEntry{number, is_ready && is_present(entry.slot) ? &entry : nullptr};
}

std::uint64_t LaneReader::skip_launches() { return launches_read_ = gate::launches_of(lane_.gate.load()); }

std::optional<LaneReader::FrameMark> LaneReader::read_frame() {
  for (;;) {
    const std::uint64_t place = frames_read_;
    const gate::FrameRecord& record = lane_.frames[place % gate::kFrameDepth];
    const bool is_ready = record.ready.load(std::memory_order_acquire) == place + 1;
    const bool is_taken = place < lane_.frame_count.load();
    if (!is_ready && !(is_taken && empty_frame_.is_abandoned(place, clock_.now()))) return std::nullopt;
    const FrameMark mark{record.moment, record.number, clock_.at(record.at_ns),
                         clock_.at(record.gpu_end_ns != 0 ? record.gpu_end_ns : record.at_ns),
                         Duration{record.gpu_busy_ns}};
    lane_.frames_read.store(++frames_read_, std::memory_order_release);
    if (is_ready) return mark;
    lane_.frames_lost.fetch_add(1);
  }
}

std::uint32_t LaneReader::slots_used() const { return std::min(lane_.slots_used.load(), gate::kMostProcesses); }

std::uint64_t LaneReader::ends_written(std::uint32_t slot) const {
  return lane_.slots[slot].done_count.load(std::memory_order_acquire);
}

std::uint64_t LaneReader::ended(std::uint32_t slot, std::uint64_t place) const {
  return lane_.slots[slot].done[place % gate::kDepth];
}

std::optional<LaneReader::EndGroup> LaneReader::next_ends(std::uint32_t slot, std::uint64_t written) const {
  const std::uint64_t begin = ends_read_[slot];
  if (begin >= written) return std::nullopt;
  const std::uint64_t end = begin + std::max(launch(ended(slot, begin)).group, 1U);
  if (end > written) return std::nullopt;
  return EndGroup{slot, begin, end};
}

bool LaneReader::is_present(std::uint32_t slot_mark) const {
  const std::uint32_t slot = slot_mark % gate::kMostProcesses;
  return gate::mark_of_slot(slot, lane_.slots[slot].turn.load()) == slot_mark;
}

std::vector<std::uint32_t> LaneReader::dead_slots() const {
  std::vector<std::uint32_t> dead;
  for (std::uint32_t slot = 0; slot < slots_used(); ++slot) {
    const std::uint32_t process = lane_.slots[slot].process.load();
    if (process != gate::kNoProcess && gate::has_died(process)) dead.push_back(slot);
  }
  return dead;
}

void LaneReader::forget_process(std::uint32_t slot) {
  gate::Slot& its = lane_.slots[slot];
  its.in_flight.store(0);
  its.turn.fetch_add(1);
  ends_read_[slot] = its.done_count.load(std::memory_order_acquire);
}

std::optional<std::uint32_t> LaneReader::dead_frame_process() const {
  const std::uint32_t process = lane_.frame_process.load();
  if (process == gate::kNoProcess || !gate::has_died(process)) return std::nullopt;
  return process;
}

/// One before it may not have been written yet.
std::string_view LaneReader::name(std::uint32_t number) {
  if (names_.size() <= number) names_.resize(number + 1);
  if (names_[number].empty()) names_[number] = readable_name(lane_.name(number));
  return names_[number];
}

}  // namespace corun::live
