#include "sim/device/spatial/room_allocator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corun {

namespace {

/// Whether it has blocks that began earlier and have not ended.
bool runs_blocks(const ActiveOp& op) {
  if (op.room == 0 || op.device_time == Duration{}) return false;
  return op.occupancy.wave == Duration{} || op.device_time % op.occupancy.wave != Duration{};
}

}  // namespace

std::span<const SmShare> RoomAllocator::allocate(Kernels kernels, ServiceOrder order) {
  kernels_ = kernels;
  if (kernels.size() == 1 && !division_.has_priorities) return room_of_lone();
  rooms_.assign(kernels.size(), 0);
  left_.assign(division_.fractions.size(), kAllSms);
  find_wants();
  if (division_.has_priorities) keep_running_blocks();
  for (std::size_t k = 0; k < kernels.size(); ++k) give_room(served_at(order, k));
  for (const SmShare left : left_) CORUN_ASSERT(left >= 0, "{} SM shares too many are given out", -left);
  return rooms_;
}

/// The same for a kernel with nothing next to it, which is most of what programs do.
std::span<const SmShare> RoomAllocator::room_of_lone() {
  ActiveOp& op = *kernels_[0];
  const SmShare room = std::min(op.occupancy.room_at(op.work_left), cap_of(0));
  if (room > 0) op.placement.sms = std::min(op.occupancy.sms_for(room), cap_of(0));
  rooms_.assign(1, room);
  return rooms_;
}

void RoomAllocator::find_wants() {
  caps_.restart(division_);
  wants_.resize(kernels_.size());
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    wants_[i] = caps_.take(*kernels_[i], kernels_[i]->occupancy.room_at(kernels_[i]->work_left));
}

void RoomAllocator::keep_running_blocks() {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (!runs_blocks(*kernels_[i])) continue;
    rooms_[i] = std::min(kernels_[i]->room, wants_[i]);
    left_for(i) -= rooms_[i];
  }
}

/// More room for the blocks of `i`, of what is left and open to it.
void RoomAllocator::give_room(std::size_t i) {
  const ActiveOp& op = *kernels_[i];
  SmShare& left = left_for(i);
  const SmShare wanted = std::min(wants_[i] - rooms_[i], left);
  if (wanted <= 0) return;
  const SmShare open = sms_open_to(i);
  const SmShare had = op.placement.sms > 0 ? op.room : 0;
  const SmShare more = std::max<SmShare>(0, std::min(rooms_[i] + wanted, std::max(had, open)) - rooms_[i]);
  rooms_[i] += more;
  left -= more;
  if (rooms_[i] > 0) place(i, open);
}

/// Notes where its blocks lie, and from the first ones on how fast they are.
void RoomAllocator::place(std::size_t i, SmShare open) {
  const ActiveOp& op = *kernels_[i];
  BlockPlacement& at = kernels_[i]->placement;
  const SmShare whole = op.occupancy.room_at(op.work_left), spread = op.occupancy.sms_for(whole);
  if (at.sms == 0 && open < spread) {
    const double alone = static_cast<double>(whole) / static_cast<double>(spread);
    const double here = std::min(1.0, static_cast<double>(whole) / static_cast<double>(open));
    at.pace = part_of_share(kAllSms, std::pow(alone / here, 1.0 - fill_exponent_));
  }
  for (std::size_t k = 0; at.sms == 0 && has_carveouts_ && k < kernels_.size(); ++k) {
    const ActiveOp& other = *kernels_[k];
    if (other.placement.sms <= at.large_sms || other.carveout.most_bytes <= op.carveout.most_bytes) continue;
    if (!share_sms(i, k)) continue;
    at.large_sms = other.placement.sms;
    at.large_bytes = other.carveout.most_bytes;
  }
  at.sms = std::min({op.occupancy.sms_for(rooms_[i]), cap_of(i), std::max(open, at.sms)});
}

/// SMs that others' blocks do not fill, and that have or can get the carve-out which blocks of `i` need.
SmShare RoomAllocator::sms_open_to(std::size_t i) const {
  const std::uint32_t needed = kernels_[i]->carveout.needed_bytes;
  SmShare not_full = kAllSms, large_enough = kAllSms;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    if (!share_sms(i, k)) continue;
    const ActiveOp& other = *kernels_[k];
    not_full = std::min(not_full, kAllSms - cap_of(k) + other.occupancy.sms_for(cap_of(k) - rooms_[k]));
    if (!has_carveouts_ || other.carveout.most_bytes >= needed) continue;
    const BlockPlacement& at = other.placement;
    large_enough -= at.large_bytes >= needed ? std::max<SmShare>(0, at.sms - at.large_sms) : at.sms;
  }
  return std::clamp<SmShare>(large_enough, 0, not_full);
}

/// Whether `other` is a kernel of another client that has blocks in the same part.
bool RoomAllocator::share_sms(std::size_t i, std::size_t other) const {
  const ActiveOp& its = *kernels_[i];
  const ActiveOp& others = *kernels_[other];
  if (others.client == its.client || division_.part_of(others) != division_.part_of(its)) return false;
  return rooms_[other] > 0 || others.room > 0;
}

std::vector<std::size_t> RoomAllocator::yielding() const {
  std::vector<std::size_t> yielding;
  constexpr auto kNone = std::numeric_limits<std::int32_t>::min();
  std::vector<std::int32_t> wanting(left_.size(), kNone);  // by part: the highest priority that wants more room
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (rooms_[i] == wants_[i]) continue;
    const SmDivision::Client& client = division_.client_of(*kernels_[i]);
    wanting[client.part] = std::max(wanting[client.part], client.priority);
  }
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (rooms_[i] == 0 || kernels_[i]->occupancy.wave == Duration{}) continue;
    const SmDivision::Client& client = division_.client_of(*kernels_[i]);
    if (client.priority < wanting[client.part]) yielding.push_back(i);
  }
  return yielding;
}

}  // namespace corun
