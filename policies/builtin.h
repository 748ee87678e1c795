#pragma once

#include "sim/policy/descriptor.h"

namespace corun {

/// The policies of this folder, one function each; their rules, sources and departures are described in the file of
/// the same name and in README.md.
PolicyDescriptor passthrough_policy();
PolicyDescriptor exclusive_policy();
PolicyDescriptor busy_gate_policy();
PolicyDescriptor constant_launches_policy();
PolicyDescriptor fps_feedback_policy();
PolicyDescriptor pilotfish_policy();
PolicyDescriptor pilotfish_oracle_policy();
PolicyDescriptor pilotfish_absolute_policy();
PolicyDescriptor frame_lease_policy();
PolicyDescriptor djay_policy();
PolicyDescriptor static_quality_policy();
PolicyDescriptor joint_harvest_policy();
PolicyDescriptor stimpack_policy();
PolicyDescriptor nvshare_policy();
PolicyDescriptor nvshare_adaptive_policy();
PolicyDescriptor gaiagpu_policy();
PolicyDescriptor stream_priority_policy();
PolicyDescriptor mps_percentage_policy();
PolicyDescriptor green_contexts_policy();
PolicyDescriptor mig_policy();
PolicyDescriptor gpreempt_policy();
PolicyDescriptor hami_policy();
PolicyDescriptor block_time_limiter_policy();
PolicyDescriptor orion_policy();
PolicyDescriptor reef_policy();
PolicyDescriptor tgs_policy();
PolicyDescriptor serving_slack_policy();
PolicyDescriptor gemini_policy();
PolicyDescriptor xsched_fixed_priority_policy();
PolicyDescriptor xsched_fair_policy();
PolicyDescriptor xsched_lax_policy();
PolicyDescriptor xsched_utilization_policy();

// Placement of pods on clusters.
PolicyDescriptor bin_pack_policy();
PolicyDescriptor spread_policy();
PolicyDescriptor random_fit_policy();
PolicyDescriptor fragmentation_descent_policy();
PolicyDescriptor hami_score_policy();
PolicyDescriptor kubeshare_fit_policy();
PolicyDescriptor gaiagpu_topology_policy();

/// Adds them all. Throws Error(kInput) if the registry already has a policy of one of these names.
void add_builtin_policies(PolicyRegistry& registry);
/// A registry of them all.
PolicyRegistry builtin_policies();

}  // namespace corun
