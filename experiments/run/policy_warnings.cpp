#include "experiments/run/policy_warnings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/run/caps.h"
#include "traces/base/units.h"

namespace corun {

namespace {

/// Policies whose mechanism no study compares with hardware.
constexpr std::array<std::string_view, 4> kNeverCompared = {"gpreempt", "green_contexts", "mig", "stream_priority"};

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
        static_cast<double>(to_ns(policy.parameters.duration("time_slice"))) * share_of(client) / sum;
    if (its == nullptr || static_cast<double>(to_ns(longest)) < kFelt * turn_ns) continue;
    warnings.push_back(
        fmt::format("warning: {}: a turn of {} is {}, and launches in flight of {} run on for up to {} after its own: "
                    "shares are blurred; the paper's case is missed by 13 % that way (XS2 of "
                    "experiments/reproduce/RESULTS.md)",
                    policy.label, client.name, format_duration(Duration{std::llround(turn_ns)}), its->name,
                    format_duration(longest)));
    return;
  }
}

}  // namespace

std::vector<std::string> policy_warnings(const Scenario& scenario, const PolicyChoice& policy,
                                         const std::vector<ClientSpec>& clients) {
  std::vector<std::string> warnings;
  if (std::ranges::find(kNeverCompared, policy.policy) != kNeverCompared.end())
    warnings.push_back(
        fmt::format("warning: {}: this mechanism was never compared with hardware (docs/mechanisms.md)", policy.label));
  for (const CapLimiter limiter : {CapLimiter::kGaiaGpu, CapLimiter::kBlockTime})
    if (to_string(limiter) == policy.policy) add_limits(scenario, policy, limiter, clients, warnings);
  if (policy.policy == "mig") add_idle_slices(scenario, policy, warnings);
  if (policy.policy == "xsched_utilization") add_overruns(policy, clients, warnings);
  return warnings;
}

}  // namespace corun
