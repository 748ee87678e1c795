#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sim/executor/device_time/in_flight.h"
#include "sim/executor/execute.h"
#include "sim/executor/run_account.h"
#include "sim/executor/surrogates.h"
#include "sim/executor/worker_process.h"
#include "sim/policy/policy.h"
#include "sim/workload/client.h"

namespace corun::executor {

/// The hardware behind one client's gate: a worker process with its context, what is in flight there, and what is asked
/// of it besides. One that is killed is followed by another, which knows what the first had measured.
///
/// Nothing here waits, but start(), finish_requests() and end(). All throw Error(kDevice) where the worker fails.
class ClientWorker {
 public:
  /// Input, options and account must outlive it. `processor`: kAnyProcessor = wherever.
  ClientWorker(ClientId id, const RunInput& input, const ExecuteOptions& options, std::uint32_t streams, int processor,
               RunAccount& account);

  /// Starts the process and waits until it can take commands. It should be alone on the device, for what it measures.
  void start();

  void launch(const Submission& submission, Time now);
  /// The next operation that has completed or was lost, if any.
  std::optional<Ended> take_completed(const WallClock& clock);
  Time begin_of(std::uint64_t number, const WallClock& clock) const;
  /// Since when kernels of the client have been running without a pause; kNever where none runs now.
  Time running_since(const WallClock& clock) const;
  /// No completion that is still to be reported began earlier; kNever where there is none.
  Time oldest_launch() const;

  /// Keep what is launched from now on, or let go what was kept.
  void hold_back() { in_flight_.hold_back(); }
  void release() { in_flight_.release(process_->channel()); }
  /// Waits until all that was asked has been done; go_on() reports it.
  void finish_requests();

  void set_priority(std::int32_t level) { priority_ = level; }
  void set_sm_cap(double fraction);
  void hold_memory(std::uint64_t bytes);
  void snapshot();
  /// Ends the process. take_completed() returns what was in flight.
  void kill(const WallClock& clock);
  /// Goes on with what takes time: requests, the end of a process, the beginning of the next. Returns a copy that is
  /// complete. To be called all the time.
  std::optional<CopyEvent> go_on();

  /// Throws if the worker has failed, or nothing has come of something for longer than the options' patience.
  void check(Time now) const;
  /// The client has left: its context ends as soon as the worker hears of it.
  void leave();
  void end(Duration patience);

  const Channel& channel() const { return process_->channel(); }
  const Surrogates& surrogates() const { return surrogates_; }
  const std::string& name() const { return spec_.name; }

 private:
  enum class Life : std::uint8_t {
    kServing,
    kDoomed,    ///< to be killed, as soon as its MPS server has ended its work
    kDying,     ///< killed; its context may still be there
    kStarting,  ///< the next process takes a context
  };
  void start_process();
  void kill_process();
  bool may_be_killed() const;
  void ask(Request request);
  void post_request();
  std::optional<CopyEvent> take_answer();
  std::optional<CopyEvent> come_back();
  [[noreturn]] void give_up(std::string_view what, Duration patience) const;

  const ClientId id_;
  const ClientSpec& spec_;
  const DeviceSpec& device_;
  const ExecuteOptions& options_;
  const int processor_;
  RunAccount& account_;
  WorkerSetup setup_;
  Surrogates surrogates_;
  InFlight in_flight_;
  SharedMemory snapshot_;
  std::unique_ptr<WorkerProcess> process_;
  Life life_ = Life::kServing;
  bool has_left_ = false;
  pid_t mps_server_ = -1;   ///< -1 = its context belongs to none of ours
  pid_t termination_ = -1;  ///< process of ours that ends when that server has ended its work
  std::int32_t priority_ = 0;
  std::deque<Request> requests_;
  std::optional<Request> under_way_;
  std::optional<CopyEvent> copied_;                           ///< to be reported
  std::int64_t asked_ns_ = 0, killed_ns_ = 0, ended_ns_ = 0;  ///< CLOCK_MONOTONIC: of what is under way
  std::deque<Ended> killed_;                                  ///< what was in flight, to be reported
};

}  // namespace corun::executor
