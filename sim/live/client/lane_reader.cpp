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

std::optional<LaneReader::LaunchEntry> LaneReader::read_launch(std::uint64_t retired) {
  if (checks_.has_fault()) return std::nullopt;
  const std::uint64_t number = launches_read_, taken = gate::launches_of(lane_.gate.load());
  if (!checks_.expect(taken <= number + gate::kDepth + kMostWaiting, "{} launches have been made, of {} that were told",
                      taken, number))
    return std::nullopt;
  const bool is_ready = launch(number).ready.load(std::memory_order_acquire) == number + 1;
  if (!is_ready) {
    const bool is_taken = number < taken && number - retired < gate::kDepth;
    if (!is_taken || !empty_launch_.is_abandoned(number, clock_.now())) return std::nullopt;
  }
  if (!checks_.expect(number - retired < gate::kDepth, "launch {} is in the place of one that has not ended", number))
    return std::nullopt;
  const std::optional<Said> said = is_ready ? read_said(number) : std::nullopt;
  if (checks_.has_fault()) return std::nullopt;
  ++launches_read_;
  return LaunchEntry{number, said && is_present(said->slot_mark) ? said : std::nullopt};
}

/// A grid or a copy may be as large as a program likes, which its driver then refuses.
std::optional<LaneReader::Said> LaneReader::read_said(std::uint64_t number) {
  constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 40, kMostBytes = std::uint64_t{1} << 50;
  const gate::Launch& entry = launch(number);
  const auto kind = read_once(entry.kind);
  const std::uint32_t name = read_once(entry.name);
  const auto submitted = checks_.instant(read_once(entry.submitted_ns), "the call of a launch");
  checks_.expect(kind <= gate::LaunchKind::kMemset, "launch {} is of kind {}", number,
                 static_cast<std::uint32_t>(kind));
  checks_.expect(name < gate::kMostNames, "launch {} has name {} of {}", number, name, gate::kMostNames);
  if (checks_.has_fault()) return std::nullopt;
  return Said{kind,
              *submitted,
              name,
              read_once(entry.stream),
              read_once(entry.slot),
              std::min(read_once(entry.blocks), kMostBlocks),
              std::min(read_once(entry.bytes), kMostBytes)};
}

std::uint64_t LaneReader::skip_launches() { return launches_read_ = gate::launches_of(lane_.gate.load()); }

std::optional<LaneReader::FrameMark> LaneReader::read_frame() {
  while (!checks_.has_fault()) {
    const std::uint64_t place = frames_read_;
    const gate::FrameRecord& record = lane_.frames[place % gate::kFrameDepth];
    const bool is_ready = record.ready.load(std::memory_order_acquire) == place + 1;
    const bool is_taken = place < lane_.frame_count.load();
    if (!is_ready && !(is_taken && empty_frame_.is_abandoned(place, clock_.now()))) return std::nullopt;
    const std::optional<FrameMark> mark = is_ready ? read_mark(record) : std::nullopt;
    lane_.frames_read.store(++frames_read_, std::memory_order_release);
    if (is_ready) return mark;
    lane_.frames_lost.fetch_add(1);
  }
  return std::nullopt;
}

std::optional<LaneReader::FrameMark> LaneReader::read_mark(const gate::FrameRecord& record) {
  constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 48;
  const std::uint64_t number = read_once(record.number);
  const auto moment = read_once(record.moment);
  const auto at = checks_.instant(read_once(record.at_ns), "a moment of a frame");
  const auto gpu_end = end_of(record);
  const auto gpu_busy = checks_.length(read_once(record.gpu_busy_ns), "a frame");
  checks_.expect(moment <= gate::FrameMoment::kEnd, "a frame has a moment {}", static_cast<std::uint32_t>(moment));
  checks_.expect(number < kMostFrames, "a frame has number {}", number);
  if (checks_.has_fault()) return std::nullopt;
  return FrameMark{moment, number, *at, *gpu_end, *gpu_busy};
}

std::optional<Time> LaneReader::end_of(const gate::FrameRecord& record) {
  const std::int64_t gpu_end_ns = read_once(record.gpu_end_ns), at_ns = read_once(record.at_ns);
  return checks_.instant(gpu_end_ns != 0 ? gpu_end_ns : at_ns, "the end of a frame");
}

std::optional<Time> LaneReader::next_frame_end() {
  for (std::uint64_t place = frames_read_; place < frames_read_ + gate::kFrameDepth; ++place) {
    const gate::FrameRecord& record = lane_.frames[place % gate::kFrameDepth];
    if (record.ready.load(std::memory_order_acquire) != place + 1) break;
    if (read_once(record.moment) == gate::FrameMoment::kEnd) return end_of(record);
  }
  return std::nullopt;
}

std::uint32_t LaneReader::slots_used() const { return std::min(lane_.slots_used.load(), gate::kMostProcesses); }

std::uint64_t LaneReader::ends_written(std::uint32_t slot) const {
  return lane_.slots[slot].done_count.load(std::memory_order_acquire);
}

std::optional<LaneReader::EndGroup> LaneReader::next_ends(std::uint32_t slot, std::uint64_t written) {
  const std::uint64_t begin = ends_read_[slot];
  if (checks_.has_fault() || begin >= written) return std::nullopt;
  if (!checks_.expect(written - begin <= gate::kDepth, "{} launches have ended at once", written - begin))
    return std::nullopt;
  const auto number_at = [&](std::uint64_t place) { return read_once(lane_.slots[slot].done[place % gate::kDepth]); };
  const std::uint32_t count = std::max(read_once(launch(number_at(begin)).group), 1U);
  if (!checks_.expect(count <= gate::kDepth, "{} launches are of one group", count)) return std::nullopt;
  if (begin + count > written) return std::nullopt;
  EndGroup group{slot, {}};
  for (std::uint64_t place = begin; place < begin + count; ++place) {
    const std::uint64_t number = number_at(place);
    const auto at = checks_.instant(read_once(launch(number).end_ns), "the end of a launch");
    const auto took = checks_.length(read_once(launch(number).device_ns), "a launch");
    checks_.expect(number < launches_read_ + gate::kDepth, "launch {} has ended, {} were told", number, launches_read_);
    if (checks_.has_fault()) return std::nullopt;
    group.ends.push_back({number, *at, *took});
  }
  return group;
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
  its.allocated.store(0);  // the driver has freed it
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
  if (number >= gate::kMostNames) return {};
  if (names_.size() <= number) names_.resize(number + 1);
  if (!names_[number].empty() || checks_.has_fault()) return names_[number];
  const std::string copied(lane_.name(number));
  name_bytes_ += copied.size();
  if (checks_.expect(name_bytes_ <= gate::kNameBytes, "names overlap")) names_[number] = readable_name(copied);
  return names_[number];
}

}  // namespace corun::live
