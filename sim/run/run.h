#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/arbiter/gate_delays.h"
#include "sim/device/device_model.h"
#include "sim/facts/recorder.h"
#include "sim/policy/adjustable.h"
#include "sim/policy/policy.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// One run, ready to go: live objects, no names of files and no policy by name.
struct RunInput {
  DeviceSpec device;
  std::vector<ClientSpec> clients;
  Policy* policy = nullptr;  ///< a fresh one; not owned; used by this run alone
  std::string policy_name;   ///< for messages
  Duration horizon{};        ///< the run covers [0, horizon)
  Duration warmup{};         ///< facts of jobs that end before it are not counted in metrics
  std::uint64_t seed = 1;
  bool tells_exact_durations = false;            ///< fills OpView::exact, for policies that need an oracle
  GateDelays gate{};                             ///< of a simulation: worlds of real gates have their own
  std::vector<Adjustment> adjustments{};         ///< of the policy's parameters, in order of time
  AdjustableParameters adjustable{};             ///< what may change from outside, in a live run
  const std::atomic<bool>* interrupt = nullptr;  ///< true ends a simulation early
};

/// What a run reports in addition to the facts that it recorded.
struct RunResult {
  std::uint64_t events = 0;
  Time end;                                  ///< horizon, or when everything had finished
  DeviceUsage usage;                         ///< over [warmup, end)
  std::vector<Duration> device_time;         ///< per client, over [warmup, end)
  std::vector<double> energy_j;              ///< per client, above the idle power, over [warmup, end)
  std::vector<std::uint64_t> jobs_finished;  ///< per client, over the whole run
  /// Per client: its jobs are not what its trace calls one, so nothing is known of their rate. Empty: of no client.
  std::vector<bool> has_unknown_rate;
};

/// Runs it on the simulated device. A pure function: same input, same facts. Throws Error(kPolicy) where the policy
/// does something illegal, Error(kUnsupported) where a client cannot be replayed as asked, and Interrupted.
RunResult simulate(const RunInput& input, Recorder& recorder);

}  // namespace corun
