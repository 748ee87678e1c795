#include "experiments/run/clients/client_builder.h"

#include "experiments/question/device_choice.h"
#include "experiments/run/clients/server_builder.h"
#include "experiments/run/clients/serving_files.h"
#include "sim/workload/capture/frame_draws.h"
#include "sim/workload/power_draw.h"

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

/// A GPU plays the draws of frames as they were captured: `draw` is what a prediction assumes.
ClientChoice played(const ClientChoice& choice, const Scenario& scenario) {
  ClientChoice its = choice;
  if (scenario.backend == kSurrogates) its.options.draw = FrameDraws::as_captured_or(choice.options.draw);
  return its;
}

}  // namespace

ClientSpec ClientBuilder::as_captured(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  ClientSpec spec{choice};
  spec.workload = workloads_.of(played(choice, scenario), scenario.horizon, seed);
  const bool has_frames = spec.workload->job_kind == JobKind::kFrame;
  spec.role = choice.role.value_or(has_frames ? Role::kInteractive : Role::kBestEffort);
  spec.replay = choice.replay_or_default();
  spec.pacing = pacing_of(choice, *spec.workload);
  const bool comes_once = choice.draws_requests() && spec.replay == Replay::kOpen;
  spec.repeat = choice.repeat == 0 && comes_once ? 1 : choice.repeat;
  spec.random_phase = choice.random_phase;
  spec.random_first_job = choice.random_first_job;
  if (choice.server) {
    spec.promised_ttft = choice.server->level.ttft;
    spec.promised_tpot = choice.server->level.tpot;
  }
  if (choice.server && replays_) {
    spec.server = server_of(choice, spec.captured_steps(), scenario.horizon, seed);
    spec.random_phase = false;
  }
  spec.host_jitter = choice.host_jitter.value_or(spec.workload->untraced_jitter);
  return spec;
}

namespace {

/// What decides the replay of a capture as it was recorded.
ClientChoice only_captured(const ClientChoice& choice) {
  ClientChoice own;
  own.name = choice.name;
  own.where = choice.where;
  own.trace = choice.trace;
  own.trace_where = choice.trace_where;
  own.options = choice.options;
  own.queued_ahead = choice.queued_ahead;
  own.repeat = 1;
  own.replay = Replay::kClosed;
  own.random_phase = false;
  own.host_jitter = 0.0;
  return own;
}

}  // namespace

ClientSpec ClientBuilder::as_recorded(const Scenario& scenario, const ClientChoice& choice) {
  return as_captured(scenario, only_captured(choice), scenario.seeds.front());
}

RecordedReplay ClientBuilder::replay_alone(const Scenario& scenario, const ClientChoice& choice) {
  ClientChoice own = only_captured(choice);
  own.name.clear();  // equal clients are replayed once
  return replays_alone_.get({device_text(scenario.device), canonical_client(own, hashes_)},
                            [&] { return replay_as_recorded(as_recorded(scenario, choice), scenario.device); });
}

ClientSpec ClientBuilder::client(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  ClientSpec spec = as_captured(scenario, choice, seed);
  const bool has_rate = solo_rate(choice, *spec.workload).has_value();
  if (has_rate) fit(scenario, choice, spec).apply_to(spec, scenario.device);
  if (!choice.capped_rates.empty() && replays_) spec.workload = capped_fit(scenario, choice).workload;
  if (spec.server && !choice.server->step_times.path.empty())
    spec.workload = step_times_fit(scenario, choice, spec).workload;
  spec.context.power = power_draw(spec, choice.power, solo_rate(choice, *spec.workload).value_or(0.0), scenario.device);
  if (!has_rate && choice.host_gaps == HostGaps::kNone) spec.host_gap_scale = 0;
  spec.host_gap_scale /= choice.host_speed;
  return spec;
}

namespace {

/// Divides a server's SMs: the loop that reads its prompts is a program with a context of its own.
ClientSpec prompt_reader_of(ClientSpec& server, std::uint32_t number, double share) {
  ClientSpec reader = server;
  reader.name += ".prefill";
  reader.server = nullptr;
  reader.reads_prompts_of = number;
  reader.promised_ttft = reader.promised_tpot = Duration{0};
  reader.context.working_set_bytes = 0;
  reader.resizes.clear();
  reader.context.sm_cap *= share;
  server.context.sm_cap *= 1 - share;
  return reader;
}

void refuse_turns(const Scenario& scenario, const ClientChoice& client) {
  if (scenario.device.sharing == Sharing::kConcurrent) return;
  throw Error(
      ErrorKind::kInput, client.server->where,
      fmt::format("client `{}`: `prefill_share` divides SMs, and programs take turns on this device", client.name),
      "state `device: { model: ..., sharing: concurrent }`");
}

}  // namespace

std::vector<ClientSpec> ClientBuilder::clients(const Scenario& scenario, std::span<const ClientChoice> choices,
                                               std::uint64_t seed) {
  std::vector<ClientSpec> specs;
  for (const ClientChoice& choice : choices) specs.push_back(client(scenario, choice, seed));
  for (std::uint32_t i = 0; i < choices.size(); ++i) {
    if (!specs[i].server || choices[i].server->prefill_share == 0) continue;
    refuse_turns(scenario, choices[i]);
    specs.push_back(prompt_reader_of(specs[i], i, choices[i].server->prefill_share));
  }
  return specs;
}

std::optional<double> ClientBuilder::solo_rate(const ClientChoice& choice, const Workload& workload) const {
  if (!replays_ || choice.server) return std::nullopt;
  if (choice.solo_rate) return choice.solo_rate;
  return workload.untraced_jobs_per_s > 0 ? std::optional(workload.untraced_jobs_per_s) : std::nullopt;
}

CappedFit ClientBuilder::capped_fit(const Scenario& scenario, const ClientChoice& choice) {
  Scenario under_mps = scenario;
  under_mps.device.sharing = Sharing::kConcurrent;
  return memo_->capped_fits.get({device_text(under_mps.device), canonical_client(choice, hashes_)}, [&] {
    ClientSpec spec = as_captured(under_mps, choice, under_mps.seeds.front());
    if (!solo_rate(choice, *spec.workload))
      throw Error(
          ErrorKind::kInput, choice.where,
          fmt::format("client `{}`: rates with fewer SMs tell nothing without the rate with all of them", choice.name),
          "state `solo_rate`, the program's steps per second alone and untraced");
    fit(under_mps, choice, spec).apply_to(spec, under_mps.device);
    return fit_to_capped_rates(spec, under_mps.device, choice.capped_rates);
  });
}

StepTimesFit ClientBuilder::step_times_fit(const Scenario& scenario, const ClientChoice& choice,
                                           const ClientSpec& captured) {
  ClientChoice own = choice;
  own.name.clear();
  own.server->requests.path.clear();
  own.server->load = {};
  return memo_->step_times_fits.get({device_text(scenario.device), canonical_client(own, hashes_)}, [&] {
    return fit_to_step_times(captured, scenario.device, read_step_times(choice.server->step_times.path));
  });
}

SoloFit ClientBuilder::fit(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& captured) {
  ClientChoice own = choice;
  if (!own.trace.empty()) own.name.clear();  // equal programs are fitted once
  return memo_->fits.get({device_text(scenario.device), canonical_client(own, hashes_)}, [&] {
    return fit_to_solo_rate(captured, scenario.device, *solo_rate(choice, *captured.workload));
  });
}

}  // namespace corun
