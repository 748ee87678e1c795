#include "experiments/run/sm_cap_range.h"

#include <algorithm>
#include <cmath>

#include "sim/device/occupancy.h"

namespace corun {

namespace {

/// Kernels that only move memory keep their rate down to such a part of the SMs (studies/sm-rate, studies/sm-caps).
constexpr double kStreamingNeeds = 0.28;
constexpr double kNearlyOne = 1.05;

double cap_of(const ClientSpec& client, const PolicyChoice& policy) {
  if (policy.policy != "mps_percentage") return client.context.sm_cap;
  const ByClient& percentages = policy.parameters.by_client("percentages");
  const auto stated = percentages.find(client.name);
  return (stated != percentages.end() ? stated->second : policy.parameters.real("default_percentage")) / 100.0;
}

struct Slowdown {
  double if_memory_binds = 1, if_sms_bind = 1;
};

Slowdown slowdown_of(const Workload& workload, const DeviceSpec& device, double cap) {
  double alone = 0, fast = 0, slow = 0;
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    const WorkOp& shared = workload.ops.shared_by(i);
    const Duration duration = std::min(workload.ops.duration_of(i), kLongestOp);
    if (shared.kind != OpKind::kKernel || duration <= Duration{}) continue;
    const Rate rate = speed_on(device, shared.kind, shared.shape, work_of(duration), cap);
    const double longer = static_cast<double>(kFullRate) / static_cast<double>(std::max<Rate>(rate, 1));
    const auto ns = static_cast<double>(to_ns(duration));
    alone += ns;
    slow += ns * longer;
    fast += ns * std::min(longer, std::max(1.0, kStreamingNeeds / cap));
  }
  return alone > 0 ? Slowdown{fast / alone, slow / alone} : Slowdown{};
}

}  // namespace

std::vector<std::string> sm_cap_ranges(const Scenario& scenario, const PolicyChoice& policy,
                                       const std::vector<ClientSpec>& clients) {
  std::vector<std::string> warnings;
  const bool has_caps = scenario.device.sharing == Sharing::kConcurrent || policy.policy == "mps_percentage";
  if (!has_caps) return warnings;
  for (const ClientSpec& client : clients) {
    const double cap = cap_of(client, policy);
    if (cap >= 1 || !client.workload->sm_curves.empty()) continue;
    const Slowdown slowdown = slowdown_of(*client.workload, scenario.device, cap);
    if (slowdown.if_sms_bind < slowdown.if_memory_binds * kNearlyOne) continue;
    warnings.push_back(
        fmt::format("warning: {}: with {:.0f} % of the SMs the kernels of {} take {:.2f} to {:.2f} times as long, as "
                    "memory or SMs bind them, which their launches do not say; the figure takes the latter. Captures "
                    "under such percentages tell (`fewer_sms`, docs/mechanisms.md)",
                    policy.label, 100 * cap, client.name, slowdown.if_memory_binds, slowdown.if_sms_bind));
  }
  return warnings;
}

}  // namespace corun
