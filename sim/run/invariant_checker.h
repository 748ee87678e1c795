#pragma once

#include <cstdint>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/facts/recorder.h"

namespace corun {

/// Recomputes per-client counters from reported facts and asserts the invariants of a run, in release builds too.
///
/// It stands between the simulation and its recorder and passes every fact on. Checked at every event, in constant
/// time:
/// - Each operation of a client is submitted, launched and completed once, in this order, none after the client left.
/// - No operation is launched through a closed gate unless a decision admitted it.
/// - Times of facts do not decrease. An operation is submitted, launched, begun and ended in this order and progresses
///   no longer than it takes. Jobs and frames end in order, and the times of a frame, of a request and of a server's
///   steps are in order.
///
/// Checked at the end of the warm-up and of the run: busy, switching and paging time do not exceed the elapsed time, no
/// client received more device time than the device was busy, and the device was not busy longer than its clients
/// received in all. A violation is a failed CORUN_ASSERT.
class InvariantChecker : public Recorder {
 public:
  InvariantChecker(std::size_t clients, Recorder& next) : clients_(clients), next_(next) {}

  // What the simulation reports in addition to facts.
  void submitted(ClientId client, std::uint64_t number, Time now);
  void launched(ClientId client, std::uint64_t number, Time now);
  void left(ClientId client, Time now);
  /// Compares with the usage that the device reports at `now`.
  void compare(const DeviceModel& device, Time now) const;

  void on_op(const OpFact& op) override;
  void on_job(const JobFact& job) override;
  void on_frame(const FrameFact& frame) override;
  void on_request(const RequestFact& request) override;
  void on_server_step(const ServerStepFact& step) override;
  void on_decision(const DecisionFact& decision) override;
  void on_hold(const HoldFact& hold) override { next_.on_hold(hold); }
  void on_refusal(const RefusalFact& refusal) override;
  void on_kill(const KillFact& kill) override { next_.on_kill(kill); }

 private:
  struct Client {
    std::uint64_t submitted = 0, launched = 0, completed = 0;
    std::uint64_t in_flight_sum = 0;  ///< of the numbers of what is launched and not completed
    std::uint64_t admitted = 0;       ///< by decisions, not launched yet
    std::uint64_t jobs = 0;
    Time last_step_end = kRunStart;
    Duration device_time{};  ///< of completed operations
    bool gate_is_open = false;
    bool is_refused = false;
    bool lost_work = false;  ///< a kill took operations: frames then end with work undone
    std::uint64_t in_flight() const { return launched - completed; }
  };

  Client& at(Time now, ClientId client);

  std::vector<Client> clients_;
  Recorder& next_;
  Time now_ = kRunStart;
};

}  // namespace corun
