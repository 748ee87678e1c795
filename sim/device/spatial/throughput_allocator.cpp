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

}  // namespace

std::span<const SmShare> ThroughputAllocator::allocate(Kernels kernels, ServiceOrder order) {
  shares_.resize(kernels.size());
  given_.assign(division_.fractions.size(), 0);
  free_sms_.assign(given_.size(), kAllSms);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::size_t i = served_at(order, k);
    const ActiveOp& op = *kernels[i];
    const std::size_t part = division_.part_of(op);
    const SmShare cap = division_.caps[op.client.value];
    const SmShare asked = at_pace(throughput_in(op, op.room, cap, exponent_), op.placement.pace);
    SmShare least = free_sms_[part];
    if (division_.has_caps) least = on_free_sms(op, asked, free_sms_[part], cap, exponent_);
    shares_[i] = std::min(asked, std::max(kAllSms - given_[part], least));
    given_[part] += shares_[i];
    free_sms_[part] = std::max<SmShare>(0, free_sms_[part] - std::min(cap, op.occupancy.kept_by(op.room)));
  }
  scale_to_whole(kernels);
  return shares_;
}

void ThroughputAllocator::scale_to_whole(Kernels kernels) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const SmShare given = given_[division_.part_of(*kernels[i])];
    if (given > kAllSms)
      shares_[i] = part_of_share(shares_[i], static_cast<double>(kAllSms) / static_cast<double>(given));
  }
}

}  // namespace corun
