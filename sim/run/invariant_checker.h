#pragma once

#include <cstdint>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/facts/recorder.h"

namespace corun {

/// Keeps the books of a simulated run a second time, from what is reported, and compares: the invariants of a run, in
/// release builds as in others.
///
/// It stands between the simulation and its recorder and passes every fact on. What it promises, at every event and in
/// constant time: each client's operations are submitted, launched and completed once each, in this order, none after
/// it left; nothing is launched through a closed gate but what a decision admitted; times of facts do not go back; an
/// operation is submitted, launched, begun and ended in this order and progresses no longer than it takes; jobs and
/// frames end in order, and a frame's times are in order. At the end of the warm-up and of the run: busy, switching and
/// paging time are not more than has passed, no client received more device time than the device was busy, and the
/// device was not busy longer than its clients received in all. A broken promise is CORUN_ASSERT's business.
class InvariantChecker : public Recorder {
 public:
  InvariantChecker(std::size_t clients, Recorder& next) : clients_(clients), next_(next) {}

  // What the simulation tells besides facts.
  void submitted(ClientId client, std::uint64_t number, Time now);
  void launched(ClientId client, std::uint64_t number, Time now);
  void left(ClientId client, Time now);
  /// What the device says of itself at `now`.
  void compare(const DeviceModel& device, Time now) const;

  void on_op(const OpFact& op) override;
  void on_job(const JobFact& job) override;
  void on_frame(const FrameFact& frame) override;
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
