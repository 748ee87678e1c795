#include "experiments/run/policy_warnings.h"

#include <algorithm>
#include <cmath>

#include "experiments/run/caps.h"
#include "sim/device/occupancy.h"
#include "traces/base/units.h"

namespace corun {

namespace {

LaunchProfile profile_of(const ClientSpec& client) { return profile_launches(*client.workload, 0.0); }

/// Limits that the limiter's own arithmetic does not hold, as it would not on hardware.
void add_limits(const Scenario& scenario, const PolicyChoice& policy, CapLimiter limiter,
                const std::vector<ClientSpec>& clients, std::vector<std::string>& warnings) {
  const bool may_grow = policy.parameters.values().contains("mode") && policy.parameters.choice("mode") != "hard";
  if (may_grow) return;
  const ByClient& limits = policy.parameters.by_client("limits");
  for (const ClientSpec& client : clients) {
    const auto stated = limits.find(client.name);
    const double limit = stated != limits.end() ? stated->second : client.requested_share;
    if (limit <= 0 || limit >= 1) continue;
    const LaunchProfile profile = profile_of(client);
    if (profile.launches == 0) continue;
    const int percent = std::max(1, static_cast<int>(std::lround(100 * limit)));
    const CapVerdict verdict = judge_cap(limiter, scenario.device, profile, percent);
    if (verdict.is_held) continue;
    warnings.push_back(fmt::format(
        "warning: {}: its limit of {} % does not hold {}, which alone would use {:.0f} % ({}); the limiter's own "
        "arithmetic does that, on hardware too (docs/controllability.md)",
        policy.label, percent, client.name, verdict.predicted, verdict.reason));
  }
}

/// Instances of one slice, the default, leave most of a device idle.
void add_idle_slices(const Scenario& scenario, const PolicyChoice& policy, std::vector<std::string>& warnings) {
  constexpr double kAll = 7, kMostIdle = 1;
  const ByClient& instances = policy.parameters.by_client("instances");
  double used = 0;
  for (const ClientChoice& client : scenario.clients) {
    const auto stated = instances.find(client.name);
    used +=
        stated != instances.end() ? stated->second : static_cast<double>(policy.parameters.integer("default_instance"));
  }
  if (kAll - used <= kMostIdle) return;
  warnings.push_back(fmt::format(
      "warning: {}: {:.0f} of 7 compute slices are in no instance: `instances` gives clients larger ones (`{}: {{ "
      "instances: {{ {}: 3 }} }}`)",
      policy.label, kAll - used, policy.policy, scenario.clients.front().name));
}

/// What was launched in a turn runs on after it.
void add_overruns(const PolicyChoice& policy, const std::vector<ClientSpec>& clients,
                  std::vector<std::string>& warnings) {
  constexpr double kFelt = 0.1;  // of a turn
  const ByClient& shares = policy.parameters.by_client("utilizations");
  const auto share_of = [&](const ClientSpec& client) {
    const auto stated = shares.find(client.name);
    return stated == shares.end() ? 1.0 : stated->second;
  };
  double sum = 0;
  for (const ClientSpec& client : clients) sum += share_of(client);
  Duration longest{0};
  const ClientSpec* its = nullptr;
  for (const ClientSpec& client : clients) {
    const Duration overrun = profile_of(client).mean_launch * policy.parameters.integer("threshold");
    if (overrun > longest) its = &client;
    longest = std::max(longest, overrun);
  }
  for (const ClientSpec& client : clients) {
    const double turn_ns =
        static_cast<double>(to_ns(policy.parameters.duration("time_slice") * clients.size())) * share_of(client) / sum;
    if (its == nullptr || static_cast<double>(to_ns(longest)) < kFelt * turn_ns) continue;
    warnings.push_back(
        fmt::format("warning: {}: a turn of {} is {}, and launches in flight of {} run on for up to {} after its own: "
                    "shares are blurred",
                    policy.label, client.name, format_duration(Duration{std::llround(turn_ns)}), its->name,
                    format_duration(longest)));
    return;
  }
}

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

/// How far the rate of a client with a cap on its SMs may be from the figure: between kernels that the SMs bind, as the
/// figure has them, and kernels that the memory binds. Captures with fewer SMs settle it.
void add_sm_cap_ranges(const Scenario& scenario, const PolicyChoice& policy, const std::vector<ClientSpec>& clients,
                       std::vector<std::string>& warnings) {
  const bool has_caps = scenario.device.sharing == Sharing::kConcurrent || policy.policy == "mps_percentage";
  if (!has_caps) return;
  for (const ClientSpec& client : clients) {
    const double cap = cap_of(client, policy);
    if (cap >= 1 || !client.workload->sm_curves.empty()) continue;
    const Slowdown slowdown = slowdown_of(*client.workload, scenario.device, cap);
    if (slowdown.if_sms_bind < slowdown.if_memory_binds * kNearlyOne) continue;
    warnings.push_back(
        fmt::format("warning: {}: with {:.0f} % of the SMs the kernels of {} take {:.2f} to {:.2f} times as long, as "
                    "memory or SMs bind them, which their launches do not say; the figure takes the latter. Captures "
                    "or rates under such percentages tell (`fewer_sms`, docs/mechanisms.md)",
                    policy.label, 100 * cap, client.name, slowdown.if_memory_binds, slowdown.if_sms_bind));
  }
}

/// Part of a workload's kernel time in kernels that fill half of the SMs twice and yet do not need more of them, as
/// captures with fewer SMs show: what they move binds them.
double streaming_part(const Workload& workload, const DeviceSpec& device) {
  constexpr double kHalf = 0.5, kWouldBe = 1.5, kYetIs = 1.15;
  double all = 0, streaming = 0;
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    const WorkOp& shared = workload.ops.shared_by(i);
    const Duration duration = std::min(workload.ops.duration_of(i), kLongestOp);
    if (shared.kind != OpKind::kKernel || duration <= Duration{}) continue;
    const auto ns = static_cast<double>(to_ns(duration));
    all += ns;
    if (shared.sm_curve == 0) continue;
    const Rate by_sms = speed_on(device, shared.kind, shared.shape, work_of(duration), kHalf);
    const bool would_be = by_sms * kWouldBe <= kFullRate;
    if (would_be && workload.sm_curves[shared.sm_curve - 1].time_on(kHalf) <= kYetIs) streaming += ns;
  }
  return all > 0 ? streaming / all : 0;
}

/// Caps divide SMs, and no memory: what that costs others is not simulated.
void add_streams(const Scenario& scenario, const PolicyChoice& policy, const std::vector<ClientSpec>& clients,
                 std::vector<std::string>& warnings) {
  constexpr double kFelt = 0.5;
  const auto is_capped = [&](const ClientSpec& client) { return cap_of(client, policy) < 1; };
  if (clients.size() < 2 || std::ranges::none_of(clients, is_capped)) return;
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    const Workload& workload = *clients[i].workload;
    const bool is_captured = !workload.sm_curves.empty() && scenario.clients[i].capped_rates.empty();
    const double part = is_captured ? streaming_part(workload, scenario.device) : 0;
    if (part < kFelt) continue;
    warnings.push_back(fmt::format(
        "warning: {}: {:.0f} % of the kernel time of {} is in kernels that half of the SMs do not slow down: they "
        "stream memory, which caps do not divide. Next to such kernels programs took 1.0 to 3.4 times as long, which "
        "is not simulated (studies/memory-in-company)",
        policy.label, 100 * part, clients[i].name));
  }
}

/// What a policy does to one program at a time it does to either loop of a divided server.
void add_divided_servers(const Scenario& scenario, const PolicyChoice& policy, std::vector<std::string>& warnings) {
  if (policy.policy == "passthrough") return;
  for (const ClientChoice& client : scenario.clients)
    if (client.server && client.server->prefill_share > 0)
      warnings.push_back(fmt::format(
          "warning: {0}: it takes {1} and {1}.prefill for two programs and may let one wait for the other; on a GPU "
          "they are one process (docs/serving.md)",
          policy.label, client.name));
}

}  // namespace

std::vector<std::string> policy_warnings(const Scenario& scenario, const PolicyChoice& policy,
                                         const std::vector<ClientSpec>& clients) {
  std::vector<std::string> warnings;
  add_divided_servers(scenario, policy, warnings);
  for (const Adjustment& adjustment : policy.adjustments)
    if (adjustment.at >= scenario.horizon)
      warnings.push_back(fmt::format("warning: {}: {} comes at {}, when the run is over", policy.label,
                                     to_text(adjustment), format_duration(adjustment.at)));
  for (const CapLimiter limiter : {CapLimiter::kGaiaGpu, CapLimiter::kBlockTime})
    if (to_string(limiter) == policy.policy) add_limits(scenario, policy, limiter, clients, warnings);
  add_sm_cap_ranges(scenario, policy, clients, warnings);
  add_streams(scenario, policy, clients, warnings);
  if (policy.policy == "mig") add_idle_slices(scenario, policy, warnings);
  if (policy.policy == "xsched_utilization") add_overruns(policy, clients, warnings);
  return warnings;
}

std::vector<std::string> mix_warnings(const PolicyChoice& policy, const CardSharing& sharing, const MixUse& use) {
  if (use.mixes == 0) return {};
  std::vector<std::string> warnings = {fmt::format(
      "warning: {}: times of pods are estimates (`progress: by_mix`): each pod has its rate in the mix of pods on its "
      "card. Mixes that cards had: {}, simulated twice for {} each. In halves of these windows a rate is up to "
      "{:.1f} % higher than in others; ranges are by that, and leave out what it changes in waits",
      policy.label, use.mixes, format_duration(use.window), 100 * (use.widest - 1))};
  if (!use.parts.empty())
    warnings.push_back(
        fmt::format("warning: {}: `mix_window` is shorter than a pass over the jobs of {}: their rates, and those of "
                    "others in their mixes, are of a part of these jobs",
                    policy.label, fmt::join(use.parts, ", ")));
  if (!sharing.forgets)
    warnings.push_back(
        fmt::format("warning: {}: policy {} may remember pods that have gone, or tell pods by their names; in mixes it "
                    "cannot",
                    policy.label, sharing.policy_name));
  return warnings;
}

}  // namespace corun
