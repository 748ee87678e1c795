#include "experiments/run/clients/client_builder.h"

#include "experiments/question/device_choice.h"

namespace corun {

namespace {

Pacing pacing_of(const ClientChoice& choice, const Workload& workload) {
  Pacing pacing;
  if (choice.pacing) {
    pacing = *choice.pacing;
  } else if (workload.limiter_period > Duration::zero()) {
    pacing.mode = Pacing::Mode::kLimited;
    pacing.period = workload.limiter_period;
  } else if (workload.present_period > Duration::zero()) {
    pacing.mode = Pacing::Mode::kVsync;
    pacing.period = workload.present_period;
  }
  pacing.queued_ahead = choice.queued_ahead.value_or(workload.queued_ahead);
  return pacing;
}

}  // namespace

ClientSpec ClientBuilder::as_captured(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  ClientSpec spec{choice};
  spec.workload = workloads_.of(choice, scenario.horizon, seed);
  const bool has_frames = spec.workload->job_kind == JobKind::kFrame;
  spec.role = choice.role.value_or(has_frames ? Role::kInteractive : Role::kBestEffort);
  spec.replay = choice.replay_or_default();
  spec.pacing = pacing_of(choice, *spec.workload);
  spec.repeat = choice.repeat == 0 && choice.draws_requests() ? 1 : choice.repeat;
  spec.random_phase = choice.random_phase;
  spec.host_jitter = choice.host_jitter.value_or(spec.workload->untraced_jitter);
  return spec;
}

ClientSpec ClientBuilder::client(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  ClientSpec spec = as_captured(scenario, choice, seed);
  if (solo_rate(choice, *spec.workload)) fit(scenario, choice, spec).apply_to(spec, scenario.device);
  spec.host_gap_scale /= choice.host_speed;
  return spec;
}

std::vector<ClientSpec> ClientBuilder::clients(const Scenario& scenario, std::uint64_t seed) {
  std::vector<ClientSpec> specs;
  for (const ClientChoice& choice : scenario.clients) specs.push_back(client(scenario, choice, seed));
  return specs;
}

std::optional<double> ClientBuilder::solo_rate(const ClientChoice& choice, const Workload& workload) const {
  if (!replays_) return std::nullopt;
  if (choice.solo_rate) return choice.solo_rate;
  return workload.untraced_jobs_per_s > 0 ? std::optional(workload.untraced_jobs_per_s) : std::nullopt;
}

SoloFit ClientBuilder::fit(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& captured) {
  return fits_.get({device_text(scenario.device), canonical_client(choice, hashes_)},
                   [&] { return fit_to_solo_rate(captured, scenario.device, *solo_rate(choice, *captured.workload)); });
}

}  // namespace corun
