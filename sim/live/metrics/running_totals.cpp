#include "sim/live/metrics/running_totals.h"

#include <algorithm>

namespace corun::live {

RunningTotals::RunningTotals(Recorder& inner, const RunInput& input, std::uint64_t number)
    : inner_(inner), last_present_(input.clients.size()) {
  figures_.policy = input.policy_name;
  figures_.device = input.device.name;
  figures_.number = number;
  figures_.horizon = input.horizon;
  for (const ClientSpec& spec : input.clients) {
    ClientFigures& client = figures_.clients.emplace_back();
    client.name = spec.name;
    client.has_frames = spec.role == Role::kInteractive;
  }
}

void RunningTotals::on_op(const OpFact& op) {
  inner_.on_op(op);
  if (op.is_lost) return;
  of(op.client).gate_wait.add(op.launched - op.submitted);
  of(op.client).wait.add(op.begin - op.submitted);
}

void RunningTotals::on_job(const JobFact& job) {
  inner_.on_job(job);
  ClientFigures& client = of(job.client);
  ++client.jobs;
  client.job_time.add(job.end - job.arrival);
  client.recent_job_times.add(job.end - job.arrival);
}

void RunningTotals::on_frame(const FrameFact& frame) {
  inner_.on_frame(frame);
  ClientFigures& client = of(frame.client);
  client.has_frames = true;
  ++client.frames;
  client.missed_frames += frame.missed ? 1 : 0;
  std::optional<Time>& last = last_present_[frame.client.value];
  if (last) {
    const Duration time = std::max(frame.present - *last, Duration{0});
    client.frame_time.add(time);
    client.recent_frame_times.add(time);
  }
  last = frame.present;
}

void RunningTotals::on_decision(const DecisionFact& decision) {
  inner_.on_decision(decision);
  ++of(decision.action.client).actions[static_cast<std::size_t>(decision.action.kind)];
}

void RunningTotals::on_hold(const HoldFact& hold) {
  inner_.on_hold(hold);
  auto& held = of(hold.client).held;
  auto of_rule = held.find(hold.hold.rule);
  if (of_rule == held.end()) of_rule = held.emplace(hold.hold.rule, Duration{}).first;
  of_rule->second += hold.end - hold.begin;
}

void RunningTotals::on_refusal(const RefusalFact& refusal) {
  inner_.on_refusal(refusal);
  ++of(refusal.client).refused;
}

void RunningTotals::on_kill(const KillFact& kill) {
  inner_.on_kill(kill);
  of(kill.client).lost += kill.lost;
}

void RunningTotals::decided(Duration took) {
  ++figures_.decisions;
  figures_.decision_time += took;
}

}  // namespace corun::live
