#include "sim/solo/capped_rates.h"

#include <cmath>

namespace corun {

namespace {

constexpr double kMostBound = 2;
constexpr double kTolerance = 2e-3;  // rates are measured no better
constexpr int kMostTrials = 16;

/// The degree to which kernels are bound by one fraction of the SMs.
class BindingFit {
 public:
  BindingFit(const ClientSpec& client, const DeviceSpec& device, const CappedRate& rate)
      : client_(client), device_(device), rate_(rate), workload_(std::make_shared<Workload>(*client.workload)) {
    client_.context.sm_cap = rate.fraction;
    client_.workload = workload_;
  }

  /// Regula falsi; every third step halves the bracket.
  SmBinding find() {
    double low = 0, high = kMostBound, below = excess_at(low);
    if (below >= 0) return binding_;
    double above = excess_at(high);
    if (above <= 0) return binding_;
    for (int i = 0; i < kMostTrials; ++i) {
      const double degree = i % 3 == 2 ? (low + high) / 2 : low + (high - low) * below / (below - above);
      const double found = excess_at(degree);
      if (std::abs(found) < kTolerance) break;
      (found < 0 ? low : high) = degree;
      (found < 0 ? below : above) = found;
    }
    return binding_;
  }

  double reached_per_s() const { return reached_per_s_; }

 private:
  /// The logarithm of how much too long jobs take. `binding_` and `reached_per_s_` are of the last trial.
  double excess_at(double degree) {
    binding_ = {rate_.fraction, degree};
    add_sm_curves(*workload_, device_, {binding_});
    reached_per_s_ = solo_rate_near(client_, device_, rate_.jobs_per_s);
    return std::log(rate_.jobs_per_s / std::max(reached_per_s_, 1e-9 * rate_.jobs_per_s));
  }

  ClientSpec client_;
  const DeviceSpec& device_;
  const CappedRate rate_;
  std::shared_ptr<Workload> workload_;
  SmBinding binding_;
  double reached_per_s_ = 0;
};

}  // namespace

CappedFit fit_to_capped_rates(const ClientSpec& client, const DeviceSpec& device,
                              const std::vector<CappedRate>& rates) {
  CappedFit fit;
  std::vector<SmBinding> bindings;
  for (const CappedRate& rate : rates) {
    BindingFit one(client, device, rate);
    bindings.push_back(one.find());
    fit.reached.push_back({rate.fraction, one.reached_per_s()});
  }
  auto workload = std::make_shared<Workload>(*client.workload);
  add_sm_curves(*workload, device, bindings);
  fit.workload = std::move(workload);
  return fit;
}

}  // namespace corun
