#pragma once

#include <optional>
#include <vector>

#include "sim/facts/recorder.h"
#include "sim/live/metrics/figures.h"
#include "sim/run/run.h"

namespace corun::live {

/// Totals of a run's facts while it goes on. Hands all facts on. One thread.
class RunningTotals : public Recorder {
 public:
  /// `inner` must outlive it. `number` is that of the run.
  RunningTotals(Recorder& inner, const RunInput& input, std::uint64_t number);

  void on_op(const OpFact& op) override;
  void on_job(const JobFact& job) override;
  void on_frame(const FrameFact& frame) override;
  void on_request(const RequestFact& request) override { inner_.on_request(request); }
  void on_server_step(const ServerStepFact& step) override { inner_.on_server_step(step); }
  void on_decision(const DecisionFact& decision) override;
  void on_hold(const HoldFact& hold) override;
  void on_refusal(const RefusalFact& refusal) override;
  void on_kill(const KillFact& kill) override;

  /// The policy was asked, and that took so long.
  void decided(Duration took);

  /// So far; what is no fact is left for the run to add.
  const RunFigures& figures() const { return figures_; }

 private:
  ClientFigures& of(ClientId client) { return figures_.clients[client.value]; }

  Recorder& inner_;
  RunFigures figures_;
  std::vector<std::optional<Time>> last_present_;  // by client
};

}  // namespace corun::live
