#include "sim/device/spatial/fair_set.h"

#include <cmath>

#include "sim/device/max_min.h"

namespace corun {

SpatialSet::Throughput FairSet::divide(Kernels kernels) {
  caps_.restart(division());
  asked_.clear();
  for (const ActiveOp* op : kernels) asked_.push_back(caps_.take(*op, op->occupancy.throughput_at(op->work_left)));
  shares_.resize(kernels.size());
  given_.assign(division().fractions.size(), 0);
  for (std::size_t part = 0; part < given_.size(); ++part) divide_part(part, kernels);
  return {shares_, given_};
}

void FairSet::divide_part(std::size_t part, Kernels kernels) {
  const auto is_elsewhere = [&](std::size_t i) { return division().part_of(*kernels[i]) != part; };
  std::vector<SmShare> demands;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (!is_elsewhere(i)) demands.push_back(asked_[i]);
  const std::vector<SmShare> fair = max_min_shares(demands, kAllSms);
  auto next = fair.begin();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (is_elsewhere(i)) continue;
    shares_[i] = *next++;
    given_[part] += shares_[i];
  }
  CORUN_ASSERT(given_[part] <= kAllSms, "{} SM shares too many are given out", given_[part] - kAllSms);
}

/// A kernel on the fraction f of the SMs has f^sm_rate_exponent of the throughput.
double FairSet::cap_on(double sms) const { return std::pow(sms, exponent_); }

}  // namespace corun
