#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "experiments/question/experiment.h"
#include "experiments/run/clients/workload_cache.h"
#include "sim/solo/capped_rates.h"
#include "sim/solo/recorded.h"
#include "sim/solo/solo.h"
#include "sim/solo/step_times.h"

namespace corun {

/// A client on a device, both in canonical form: what decides how it replays alone.
struct FitKey {
  std::string device, client;
  auto operator<=>(const FitKey&) const = default;
};

/// Found once for all experiments that share it: fits take longer than short runs. Any number of threads.
struct FitMemo {
  Memo<FitKey, SoloFit> fits;
  Memo<FitKey, CappedFit> capped_fits;
  Memo<FitKey, StepTimesFit> step_times_fits;
};

/// Makes the clients of runs out of an experiment's. Any number of threads may ask.
class ClientBuilder {
 public:
  /// `hashes` must outlive it. `replays`: runs replay captures, whose times are fitted to a solo rate where there is
  /// one; else they start programs, which have their own. `memo` may be shared with other experiments.
  ClientBuilder(const FileHashes& hashes, bool replays, std::shared_ptr<FitMemo> memo = std::make_shared<FitMemo>())
      : hashes_(hashes), replays_(replays), workloads_(hashes), memo_(std::move(memo)) {}

  /// Of every client of a scenario, in order; behind them the loops of servers that read prompts on SMs of their own,
  /// as clients with `reads_prompts_of`. Throws as WorkloadCache::of.
  std::vector<ClientSpec> clients(const Scenario& scenario, std::uint64_t seed) {
    return clients(scenario, scenario.clients, seed);
  }
  /// The same of some of its clients.
  std::vector<ClientSpec> clients(const Scenario& scenario, std::span<const ClientChoice> choices, std::uint64_t seed);
  ClientSpec client(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  /// The same with the times of its capture, which takes no runs.
  ClientSpec as_captured(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);

  /// One pass over its capture as that was recorded: its own pacing, no jitter, nothing of what the experiment adds.
  ClientSpec as_recorded(const Scenario& scenario, const ClientChoice& choice);

  /// Jobs per second that the client's times are fitted to: as stated, else what its capture's untraced pass reached;
  /// nullopt where neither is known.
  std::optional<double> solo_rate(const ClientChoice& choice, const Workload& workload) const;
  /// The factors by which `captured`, the client as captured, has that rate on the scenario's device; found once.
  SoloFit fit(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& captured);
  /// Times of its kernels with fewer SMs by which the client has ClientChoice::capped_rates alone under MPS on the
  /// scenario's device; found once. Throws Error(kInput) where its rate with all SMs is not known.
  CappedFit capped_fit(const Scenario& scenario, const ClientChoice& choice);
  /// The steps of a server with `step_times` as they are alone on the scenario's device and untraced; found once.
  StepTimesFit step_times_fit(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& captured);
  /// What one pass gives alone on the scenario's device, compared with its capture; found once.
  RecordedReplay replay_alone(const Scenario& scenario, const ClientChoice& choice);
  bool replays() const { return replays_; }

 private:
  const FileHashes& hashes_;
  const bool replays_;
  WorkloadCache workloads_;
  std::shared_ptr<FitMemo> memo_;
  Memo<FitKey, RecordedReplay> replays_alone_;
};

}  // namespace corun
