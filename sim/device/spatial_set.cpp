#include "sim/device/spatial_set.h"

#include <algorithm>
#include <cmath>

#include "sim/device/max_min.h"

namespace corun {

namespace {

Rate rate_on(SmShare share, SmShare demand) {
  CORUN_ASSERT(share >= 0 && share <= demand, "a share of {} for a demand of {}", share, demand);
  if (share == demand) return kFullRate;
  if (share == 0) return 0;
  return std::max<Rate>(1, static_cast<Rate>(static_cast<double>(share) / static_cast<double>(demand) * kFullRate));
}

}  // namespace

void SpatialSet::join(double sm_cap) {
  caps_.push_back(
      std::max<SmShare>(1, static_cast<SmShare>(std::pow(sm_cap, exponent_) * static_cast<double>(kAllSms))));
}

void SpatialSet::assign_rates() {
  const auto gap_over = [&](OpIndex index) { return ops_[index].gap_left == 0; };
  const auto first_in_gap = std::stable_partition(members_.begin(), members_.end(), gap_over);
  dispatched_ = static_cast<std::size_t>(first_in_gap - members_.begin());
  for (auto member = first_in_gap; member != members_.end(); ++member) ops_[*member].rate = kFullRate;

  find_wants();
  if (rule_ == SpatialRule::kMaxMin) {
    shares_ = max_min_shares(shares_, kAllSms);
  } else {
    share_in_dispatch_order();
  }
  SmShare given = 0;
  for (std::size_t i = 0; i < dispatched_; ++i) {
    ActiveOp& op = ops_[members_[i]];
    op.rate = rate_on(shares_[i], op.occupancy.demand(op.work_left));
    given += shares_[i];
  }
  CORUN_ASSERT(given <= kAllSms, "{} of {} SM shares are given out", given, kAllSms);
}

void SpatialSet::find_wants() {
  cap_left_ = caps_;
  shares_.clear();
  for (std::size_t i = 0; i < dispatched_; ++i) {
    const ActiveOp& op = ops_[members_[i]];
    SmShare& left = cap_left_[op.client.value];
    shares_.push_back(std::min(op.occupancy.demand(op.work_left), left));
    left -= shares_.back();
  }
}

void SpatialSet::share_in_dispatch_order() {
  SmShare left = kAllSms;
  for (SmShare& share : shares_) {
    share = std::min(share, left);
    left -= share;
  }
}

}  // namespace corun
