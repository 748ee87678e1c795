#include "sim/device/spatial/fair_set.h"

#include <cmath>

#include "sim/device/max_min.h"

namespace corun {

SpatialSet::Throughput FairSet::divide(Kernels kernels) {
  caps_.restart(division());
  std::vector<SmShare> asked;
  for (const ActiveOp* op : kernels) asked.push_back(caps_.take(*op, op->occupancy.throughput_at(op->work_left)));
  shares_.resize(kernels.size());
  left_.assign(division().fractions.size(), kAllSms);
  for (std::size_t part = 0; part < left_.size(); ++part) {
    std::vector<std::size_t> its_kernels;
    std::vector<SmShare> demands;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (division().part_of(*kernels[i]) != part) continue;
      its_kernels.push_back(i);
      demands.push_back(asked[i]);
    }
    const std::vector<SmShare> fair = max_min_shares(demands, kAllSms);
    for (std::size_t k = 0; k < fair.size(); ++k) {
      shares_[its_kernels[k]] = fair[k];
      left_[part] -= fair[k];
    }
  }
  return {shares_, left_};
}

/// A kernel on the fraction f of the SMs has f^sm_rate_exponent of the throughput.
double FairSet::cap_on(double sms) const { return std::pow(sms, exponent_); }

}  // namespace corun
