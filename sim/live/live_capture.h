#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/facts/recorder.h"
#include "sim/workload/client_spec.h"
#include "traces/timeline.h"

namespace corun::live {

/// The facts of a live run as a capture: its launches as calls and operations, its frames. It hands all facts on.
///
/// Each client is a process by its number, from 1. What an operation took is as the run knows it: of one launch in a
/// group, an equal part of the group's. Operations whose launch was ungated are not there. The capture is one of
/// several programs at once (Fidelity::co_run), and is not replayed without being asked for. Times are of the run's
/// clock.
class LiveCapture : public Recorder {
 public:
  /// `inner` and `clients` must outlive it.
  LiveCapture(Recorder& inner, const std::vector<ClientSpec>& clients);

  void on_op(const OpFact& op) override;
  void on_job(const JobFact& job) override { inner_.on_job(job); }
  void on_frame(const FrameFact& frame) override;
  void on_request(const RequestFact& fact) override { inner_.on_request(fact); }
  void on_server_step(const ServerStepFact& fact) override { inner_.on_server_step(fact); }
  void on_decision(const DecisionFact& decision) override { inner_.on_decision(decision); }
  void on_hold(const HoldFact& hold) override { inner_.on_hold(hold); }
  void on_refusal(const RefusalFact& refusal) override { inner_.on_refusal(refusal); }
  void on_kill(const KillFact& kill) override { inner_.on_kill(kill); }

  /// Once, after the run. `policy` is named in its notes.
  Timeline seal(const std::string& policy) &&;

 private:
  Recorder& inner_;
  const std::vector<ClientSpec>& clients_;
  TimelineBuilder builder_;
  std::map<std::uint32_t, Time> last_present_;  // by client
};

}  // namespace corun::live
