#include "sim/run/invariant_checker.h"

#include <algorithm>

#include "traces/base/error.h"

namespace corun {

InvariantChecker::Client& InvariantChecker::at(Time now, ClientId client) {
  CORUN_ASSERT(now >= now_, "a fact of {} ns after one of {} ns", to_ns(now), to_ns(now_));
  CORUN_ASSERT(client.value < clients_.size(), "at {} ns a fact of client {}, there are {}", to_ns(now), client.value,
               clients_.size());
  now_ = now;
  return clients_[client.value];
}

void InvariantChecker::submitted(ClientId client, std::uint64_t number, Time now) {
  Client& its = at(now, client);
  CORUN_ASSERT(number == its.submitted, "at {} ns client {} submits {} after {} operations", to_ns(now), client.value,
               number, its.submitted);
  ++its.submitted;
}

void InvariantChecker::launched(ClientId client, std::uint64_t number, Time now) {
  Client& its = at(now, client);
  CORUN_ASSERT(number == its.launched && number < its.submitted,
               "at {} ns client {} launches {}, submitted {}, launched {}", to_ns(now), client.value, number,
               its.submitted, its.launched);
  CORUN_ASSERT(its.gate_is_open || its.admitted > 0, "at {} ns client {} launches {} through a closed gate", to_ns(now),
               client.value, number);
  if (!its.gate_is_open) --its.admitted;
  ++its.launched;
  its.in_flight_sum += number;
}

void InvariantChecker::left(ClientId client, Time now) {
  Client& its = at(now, client);
  CORUN_ASSERT(its.in_flight() == 0 && (its.is_refused || its.launched == its.submitted),
               "at {} ns client {} leaves with {} operations submitted, {} launched, {} completed", to_ns(now),
               client.value, its.submitted, its.launched, its.completed);
  its.gate_is_open = false;
}

void InvariantChecker::compare(const DeviceModel& device, Time now) const {
  const DeviceUsage usage = device.usage();
  CORUN_ASSERT(usage.busy + usage.switching + usage.paging <= now - kRunStart,
               "busy {} + switching {} + paging {} ns at {} ns", to_ns(usage.busy), to_ns(usage.switching),
               to_ns(usage.paging), to_ns(now));
  Duration received{};
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    const Duration its = device.device_time(ClientId{i});
    received += its;
    CORUN_ASSERT(its <= usage.busy + usage.paging, "client {} received {} ns, busy {} + paging {}", i, to_ns(its),
                 to_ns(usage.busy), to_ns(usage.paging));
    CORUN_ASSERT(clients_[i].in_flight() > 0 || its <= clients_[i].device_time,
                 "client {} received {} ns, its operations {} ns", i, to_ns(its), to_ns(clients_[i].device_time));
  }
  CORUN_ASSERT(usage.busy <= received, "busy {} ns, clients received {} ns", to_ns(usage.busy), to_ns(received));
}

void InvariantChecker::on_op(const OpFact& op) {
  Client& its = at(op.end, op.client);
  ++its.completed;
  its.in_flight_sum -= op.number;
  its.device_time += op.device_time;
  its.lost_work |= op.is_lost;
  CORUN_ASSERT(
      op.number < its.launched && its.completed <= its.launched && (its.in_flight() > 0 || its.in_flight_sum == 0),
      "client {} completes {}; launched {}, completed {}, the numbers differ by {}", op.client.value, op.number,
      its.launched, its.completed, its.in_flight_sum);
  CORUN_ASSERT(op.submitted <= op.launched && op.launched <= op.begin && op.begin <= op.end,
               "client {}, operation {}: submitted {}, launched {}, begun {}, ended {} ns", op.client.value, op.number,
               to_ns(op.submitted), to_ns(op.launched), to_ns(op.begin), to_ns(op.end));
  CORUN_ASSERT(op.device_time >= Duration{} && op.device_time <= op.end - op.begin,
               "client {}, operation {}: {} ns of device time from {} to {} ns", op.client.value, op.number,
               to_ns(op.device_time), to_ns(op.begin), to_ns(op.end));
  next_.on_op(op);
}

void InvariantChecker::on_job(const JobFact& job) {
  Client& its = clients_[job.client.value];
  CORUN_ASSERT(job.number == its.jobs, "client {} ends job {} after {} jobs", job.client.value, job.number, its.jobs);
  CORUN_ASSERT(job.arrival <= job.begin && job.begin <= job.end, "client {}, job {}: due {}, begun {}, ended {} ns",
               job.client.value, job.number, to_ns(job.arrival), to_ns(job.begin), to_ns(job.end));
  ++its.jobs;
  next_.on_job(job);
}

void InvariantChecker::on_frame(const FrameFact& frame) {
  const Client& its = clients_[frame.client.value];
  const bool has_work = frame.submit != kNever && frame.gpu_begin != kNever && !its.lost_work;
  CORUN_ASSERT(!has_work || (frame.start <= frame.submit && frame.submit <= frame.gpu_begin &&
                             frame.gpu_begin <= frame.gpu_end && frame.gpu_end <= frame.present),
               "client {}, frame {}: begun {}, submitted {}, on the GPU {} to {}, shown {} ns", frame.client.value,
               frame.number, to_ns(frame.start), to_ns(frame.submit), to_ns(frame.gpu_begin), to_ns(frame.gpu_end),
               to_ns(frame.present));
  next_.on_frame(frame);
}

void InvariantChecker::on_request(const RequestFact& request) {
  CORUN_ASSERT(request.arrival < request.first_token && request.first_token <= request.end,
               "client {}, request {}: came {}, first token {}, last {} ns", request.client.value, request.number,
               to_ns(request.arrival), to_ns(request.first_token), to_ns(request.end));
  next_.on_request(request);
}

void InvariantChecker::on_server_step(const ServerStepFact& step) {
  Client& its = clients_[step.client.value];
  CORUN_ASSERT(its.last_step_end <= step.begin && step.begin < step.end,
               "client {}: a step from {} to {} ns after one that ended at {} ns", step.client.value, to_ns(step.begin),
               to_ns(step.end), to_ns(its.last_step_end));
  its.last_step_end = step.end;
  next_.on_server_step(step);
}

void InvariantChecker::on_decision(const DecisionFact& decision) {
  Client& its = at(decision.time, decision.action.client);
  CORUN_ASSERT(its.admitted == 0, "client {} was admitted {} operations that were not launched",
               decision.action.client.value, its.admitted);
  switch (decision.action.kind) {
    case Action::Kind::kOpen:
      its.gate_is_open = true;
      break;
    case Action::Kind::kClose:
    case Action::Kind::kKill:
      its.gate_is_open = false;
      break;
    case Action::Kind::kAdmit:
      its.admitted = decision.action.count;
      break;
    default:
      break;
  }
  next_.on_decision(decision);
}

void InvariantChecker::on_refusal(const RefusalFact& refusal) {
  at(refusal.time, refusal.client).is_refused = true;
  next_.on_refusal(refusal);
}

}  // namespace corun
