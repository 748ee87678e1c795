/// MPS percentage - each client's kernels get at most a given part of the SMs, which is not reserved for them.
/// Source:      NVIDIA Multi-Process Service documentation, active thread percentage.
/// Hears:       clients joining and leaving.      Needs: a shared context.
/// Decides:     each client is capped at its percentage when it joins. Every gate is open. What a client leaves of its
///              percentage the others use; percentages may sum to more than 100.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/mechanisms/device_setting.h"

namespace corun {

namespace {

class MpsPercentage : public DeviceSetting {
 public:
  explicit MpsPercentage(const Parameters& parameters)
      : percentages_(parameters.by_client("percentages")), others_(parameters.real("default_percentage")) {}

 private:
  void set(const ClientView& client, Actions& actions) const override {
    const auto named = percentages_.find(client.name);
    actions.set_sm_cap(client.id, (named != percentages_.end() ? named->second : others_) / 100.0);
  }

  const ByClient percentages_;
  const double others_;
};

}  // namespace

PolicyDescriptor mps_percentage_policy() {
  PolicyDescriptor policy;
  policy.name = "mps_percentage";
  policy.summary = "Kernels of all clients share the SMs as under MPS, each client's at most a percentage of them.";
  policy.source = "NVIDIA Multi-Process Service documentation: active thread percentage";
  policy.deviations = {
      "Which kernels the memory binds a launch does not say: without captures or rates under such percentages "
      "(`fewer_sms`) all are taken as bound by the SMs.",
      "Percentages are not rounded to whole SMs.",
  };
  policy.parameters.by_client("percentages")
      .range(1, 100, "%")
      .means("Most of the SMs that a client's kernels get together.")
      .from("ours: no client is named");
  policy.parameters.real("default_percentage", 100.0)
      .range(1, 100, "%")
      .means("Percentage of clients that are not named.")
      .from("MPS documentation: the control daemon's default");
  policy.needs.shared_context = true;
  policy.create = [](const Parameters& values) { return std::make_unique<MpsPercentage>(values); };
  return policy;
}

}  // namespace corun
