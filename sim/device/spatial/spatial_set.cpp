#include "sim/device/spatial/spatial_set.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr double kNothing = 1e-9;  // of the device, less is rounding

Rate rate_on(SmShare share, SmShare demand) {
  CORUN_ASSERT(share >= 0 && share <= demand, "a share of {} for a demand of {}", share, demand);
  if (share == demand) return kFullRate;
  if (share == 0) return 0;
  return std::max<Rate>(1, static_cast<Rate>(static_cast<double>(share) / static_cast<double>(demand) * kFullRate));
}

/// The rate on a part of the device of an operation that has `rate` of what it asks for there.
Rate on_part(Rate rate, Rate speed, double gain) {
  if (rate == 0 || speed == 0) return 0;
  const double slowed = static_cast<double>(rate) * gain * static_cast<double>(speed) / kFullRate;
  return std::clamp<Rate>(static_cast<Rate>(std::llround(slowed)), 1, kFullRate);
}

}  // namespace

SpatialSet::SpatialSet(OpTable& ops, const DeviceSpec& spec)
    : RunSet(ops), exponent_(spec.sm_rate_exponent), gap_rate_(static_cast<Rate>(kFullRate / spec.mps_gap_scale)) {}

void SpatialSet::treat(std::span<const ContextControls> controls, double available) {
  SmDivision division;
  std::vector<double>& fractions = division.fractions;
  fractions[0] = available;
  for (const ContextControls& its : controls) {
    SmDivision::Client& client = division.clients.emplace_back();
    client.priority = its.priority;
    if (its.sm_share == 0 || its.instance > 0) continue;
    client.part = fractions.size();
    fractions.push_back(its.sm_share);
    fractions[0] -= its.sm_share;
  }
  if (fractions[0] < kNothing) fractions[0] = 0;
  for (std::size_t c = 0; c < controls.size(); ++c) {
    const SmDivision::Client& client = division.clients[c];
    const double fraction = fractions[client.part];
    const double cap = cap_on(fraction > 0 ? std::min(1.0, controls[c].sm_cap / fraction) : 1.0);
    division.caps.push_back(std::max<SmShare>(1, static_cast<SmShare>(cap * static_cast<double>(kAllSms))));
    if (division.caps.back() < kAllSms) division.has_caps = true;
    if (client.priority != division.clients[0].priority) division.has_priorities = true;
  }
  division.has_parts = fractions.size() > 1 || fractions[0] < 1.0;
  if (fractions != division_.fractions) {
    for (const OpIndex index : members_) {
      ops_[index].room = 0;
      ops_[index].placement = {};
    }
  }
  division_ = std::move(division);
}

void SpatialSet::assign_rates() {
  const auto gap_over = [&](OpIndex index) { return ops_[index].gap_left == 0; };
  const auto first_in_gap = std::stable_partition(members_.begin(), members_.end(), gap_over);
  kernels_.resize(static_cast<std::size_t>(first_in_gap - members_.begin()));
  for (std::size_t i = 0; i < kernels_.size(); ++i) kernels_[i] = &ops_[members_[i]];
  for (auto in_gap = first_in_gap; in_gap != members_.end(); ++in_gap) {
    ActiveOp& op = ops_[*in_gap];
    op.rate = has_other_client(op) ? gap_rate_ : kFullRate;
  }
  give_rates(divide(kernels_));
}

bool SpatialSet::has_other_client(const ActiveOp& in_gap) const {
  return std::ranges::any_of(kernels_, [&](const ActiveOp* kernel) { return kernel->client != in_gap.client; });
}

void SpatialSet::give_rates(const Throughput& throughput) {
  const double gain = division_.has_parts ? bandwidth_gain(throughput.given) : 1.0;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    ActiveOp& op = *kernels_[i];
    op.rate = rate_on(throughput.shares[i], op.occupancy.throughput_at(op.work_left));
    if (division_.has_parts) op.rate = on_part(op.rate, op.speed, op.sm_curve == nullptr ? gain : 1.0);
  }
}

/// Throughput of a part over its fraction of the device, while some parts leave their memory bandwidth to others.
double SpatialSet::bandwidth_gain(std::span<const SmShare> given) const {
  double all = 0, busy = 0;
  for (std::size_t part = 0; part < division_.fractions.size(); ++part) {
    all += division_.fractions[part];
    if (given[part] > 0) busy += division_.fractions[part];
  }
  return busy > 0 ? std::pow(busy / all, exponent_ - 1.0) : 1.0;
}

}  // namespace corun
