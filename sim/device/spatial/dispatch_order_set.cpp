#include "sim/device/spatial/dispatch_order_set.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace corun {

void DispatchOrderSet::assign_rates() {
  SpatialSet::assign_rates();
  if (stall_ > Duration{}) stall_running_kernels();
}

SpatialSet::Throughput DispatchOrderSet::divide(Kernels kernels) {
  order_.clear();
  if (division().has_priorities) sort_by_priority(kernels);
  const std::span<const SmShare> rooms = rooms_.allocate(kernels, order_);
  yielding_.clear();
  if (division().has_priorities)
    for (const std::size_t i : rooms_.yielding()) yielding_.push_back(members_[i]);
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i]->room = rooms[i];
  const std::span<const SmShare> shares = throughput_.allocate(kernels, order_);
  return {shares, throughput_.given()};
}

void DispatchOrderSet::sort_by_priority(Kernels kernels) {
  order_.resize(kernels.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const auto priority_of = [&](std::size_t i) { return division().client_of(*kernels[i]).priority; };
  std::ranges::stable_sort(order_, std::greater{}, priority_of);
}

Duration DispatchOrderSet::until_change() const {
  Duration least = RunSet::until_change();
  for (const OpIndex index : yielding_) {
    const ActiveOp& op = ops_[index];
    if (op.rate > 0) least = std::min(least, op.occupancy.wave - op.device_time % op.occupancy.wave);
  }
  return least;
}

void DispatchOrderSet::stall_running_kernels() {
  for (ActiveOp* beginning : kernels()) {
    if (beginning->started || beginning->rate == 0) continue;
    beginning->started = true;
    for (ActiveOp* other : kernels()) {
      if (other->client == beginning->client || !other->started || other->room == 0) continue;
      const Work lost = other->rate * to_ns(stall_);
      other->work_left = std::min(other->work_left + lost, other->occupancy.most_left(other->work_left));
    }
  }
}

}  // namespace corun
