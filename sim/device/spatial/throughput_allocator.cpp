#include "sim/device/spatial/throughput_allocator.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

/// Throughput that an operation asks for where it has only `room` for its blocks: they lie on fewer SMs.
SmShare throughput_in(const ActiveOp& op, SmShare room, double exponent) {
  const SmShare whole = op.occupancy.room_at(op.work_left), throughput = op.occupancy.throughput_at(op.work_left);
  if (room == 0 || room == whole) return room == 0 ? 0 : throughput;
  return part_of_share(throughput, std::pow(static_cast<double>(room) / static_cast<double>(whole), exponent));
}

SmShare at_pace(SmShare throughput, SmShare pace) {
  return pace == kAllSms ? throughput : part_of_share(throughput, static_cast<double>(pace) / kAllSms);
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
    const SmShare asked = at_pace(throughput_in(op, op.room, exponent_), op.placement.pace);
    shares_[i] = std::min(asked, std::max(kAllSms - given_[part], free_sms_[part]));
    given_[part] += shares_[i];
    free_sms_[part] = std::max<SmShare>(0, free_sms_[part] - op.occupancy.kept_by(op.room));
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
