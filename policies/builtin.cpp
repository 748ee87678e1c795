#include "policies/builtin.h"

namespace corun {

void add_builtin_policies(PolicyRegistry& registry) {
  registry.add(passthrough_policy());
  registry.add(exclusive_policy());
  registry.add(busy_gate_policy());
  registry.add(constant_launches_policy());
  registry.add(fps_feedback_policy());
  registry.add(pilotfish_policy());
  registry.add(pilotfish_oracle_policy());
  registry.add(pilotfish_absolute_policy());
  registry.add(frame_lease_policy());
  registry.add(djay_policy());
  registry.add(static_quality_policy());
  registry.add(joint_harvest_policy());
  registry.add(stimpack_policy());
  registry.add(nvshare_policy());
  registry.add(nvshare_adaptive_policy());
  registry.add(gaiagpu_policy());
  registry.add(stream_priority_policy());
  registry.add(mps_percentage_policy());
  registry.add(green_contexts_policy());
  registry.add(mig_policy());
  registry.add(gpreempt_policy());
  registry.add(hami_policy());
  registry.add(block_time_limiter_policy());
  registry.add(orion_policy());
  registry.add(reef_policy());
  registry.add(tgs_policy());
  registry.add(serving_slack_policy());
  registry.add(gemini_policy());
  registry.add(xsched_fixed_priority_policy());
  registry.add(xsched_fair_policy());
  registry.add(xsched_lax_policy());
  registry.add(xsched_utilization_policy());
  registry.add(random_fit_policy());
  registry.add(spread_policy());
  registry.add(bin_pack_policy());
  registry.add(fragmentation_descent_policy());
  registry.add(hami_score_policy());
  registry.add(kubeshare_fit_policy());
  registry.add(gaiagpu_topology_policy());
}

PolicyRegistry builtin_policies() {
  PolicyRegistry policies;
  add_builtin_policies(policies);
  return policies;
}

}  // namespace corun
