#include "sim/device/spatial/throughput_allocator.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

SmShare at_pace(SmShare throughput, SmShare pace) {
  return pace == kAllSms ? throughput : part_of_share(throughput, static_cast<double>(pace) / kAllSms);
}

/// Throughput that an operation asks for within its client's cap, and where it has only `room` for its blocks: they lie
/// on fewer SMs.
SmShare throughput_in(const ActiveOp& op, SmShare room, SmShare cap, double exponent) {
  const SmShare whole = std::min(op.occupancy.room_at(op.work_left), cap);
  const SmShare throughput = at_pace(op.occupancy.throughput_at(op.work_left), op.capped);
  if (room == 0 || room == whole) return room == 0 ? 0 : throughput;
  return part_of_share(throughput, std::pow(static_cast<double>(room) / static_cast<double>(whole), exponent));
}

/// What it has of `asked` on the SMs that are free.
SmShare on_free_sms(const ActiveOp& op, SmShare asked, SmShare free, SmShare cap, double exponent) {
  const SmShare touched = std::min(cap, op.occupancy.sms_for(op.room));
  if (free >= touched || touched == 0) return asked;
  return part_of_share(asked, std::pow(static_cast<double>(free) / static_cast<double>(touched), exponent));
}

/// Room as throughput; a kernel that was captured with fewer SMs has what it keeps on as many, if that is more.
SmShare throughput_of_room(const ActiveOp& op) {
  if (op.sm_curve == nullptr || op.occupancy.is_one_wave) return op.room;
  const double part = static_cast<double>(op.room) / static_cast<double>(kAllSms);
  return std::max(op.room, part_of_share(op.occupancy.throughput, 1.0 / op.sm_curve->time_on(part)));
}

}  // namespace

std::span<const SmShare> ThroughputAllocator::allocate(Kernels kernels, ServiceOrder order) {
  shares_.resize(kernels.size());
  given_.assign(division_.fractions.size(), 0);
  free_sms_.assign(given_.size(), kAllSms);
  find_floors(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::size_t i = served_at(order, k);
    const ActiveOp& op = *kernels[i];
    const std::size_t part = division_.part_of(op);
    const SmShare cap = division_.caps[op.client.value];
    const SmShare asked = at_pace(throughput_in(op, op.room, cap, exponent_), op.placement.pace);
    SmShare least = free_sms_[part];
    if (division_.has_caps) least = on_free_sms(op, asked, free_sms_[part], cap, exponent_);
    shares_[i] = std::min(asked, std::max({kAllSms - given_[part], least, floors_[i]}));
    given_[part] += shares_[i];
    free_sms_[part] = std::max<SmShare>(0, free_sms_[part] - std::min(cap, op.occupancy.kept_by(op.room)));
  }
  take_back(kernels, order);
  scale_to_whole(kernels);
  return shares_;
}

void ThroughputAllocator::find_floors(Kernels kernels) {
  floors_.assign(kernels.size(), 0);
  wholes_.assign(given_.size(), 0);
  const bool has_thin = std::ranges::any_of(kernels, [](const ActiveOp* op) { return op->occupancy.lies_thin(); });
  for (std::size_t i = 0; has_thin && i < kernels.size(); ++i) {
    if (!shares_sms(kernels, i)) continue;
    floors_[i] = throughput_of_room(*kernels[i]);
    wholes_[division_.part_of(*kernels[i])] += floors_[i];
  }
  for (SmShare& whole : wholes_) whole = std::max(whole, kAllSms);
}

/// Whether it lies thin and another client's kernel has blocks that wait, or the other way round.
bool ThroughputAllocator::shares_sms(Kernels kernels, std::size_t i) const {
  const ActiveOp& op = *kernels[i];
  const bool is_thin = op.occupancy.lies_thin();
  if (op.room == 0 || (op.occupancy.is_one_wave && !is_thin)) return false;
  const SmShare cap = division_.caps[op.client.value];
  return std::ranges::any_of(kernels, [&](const ActiveOp* other) {
    if (other->room == 0 || other->client == op.client || division_.part_of(*other) != division_.part_of(op))
      return false;
    if (cap + division_.caps[other->client.value] <= kAllSms) return false;  // each has SMs of its own
    return is_thin ? !other->occupancy.is_one_wave : other->occupancy.lies_thin();
  });
}

void ThroughputAllocator::take_back(Kernels kernels, ServiceOrder order) {
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::size_t i = served_at(order, k);
    SmShare& given = given_[division_.part_of(*kernels[i])];
    if (floors_[i] == 0 || given <= kAllSms) continue;
    const SmShare kept = std::min(shares_[i], std::max(floors_[i], shares_[i] - (given - kAllSms)));
    given -= shares_[i] - kept;
    shares_[i] = kept;
  }
}

void ThroughputAllocator::scale_to_whole(Kernels kernels) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::size_t part = division_.part_of(*kernels[i]);
    if (given_[part] > wholes_[part])
      shares_[i] = part_of_share(shares_[i], static_cast<double>(wholes_[part]) / static_cast<double>(given_[part]));
  }
}

}  // namespace corun
