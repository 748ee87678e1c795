#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/device_time/device_times.h"
#include "sim/executor/execute.h"
#include "sim/executor/run_account.h"
#include "sim/executor/worker_report.h"
#include "sim/workload/client.h"

namespace corun::executor {

/// One run in the real world: worker processes behind the arbiter's backend, and the clock on the wall. One thread,
/// which looks at the clock, at the stamps that operations leave, and asks the policy, without ever sleeping.
class GpuRun : public Backend, public ClientHost {
 public:
  /// Starts the workers, one after the other. `processors`: the scheduler's, then one for each client; what is missing
  /// is kAnyProcessor.
  GpuRun(const RunInput& input, Recorder& recorder, const ExecuteOptions& options, const std::vector<int>& processors);

  RunResult run();
  /// What there is to say of it; once, after run().
  void tell(ExecuteReport& report);

  // Backend
  Time now() const override { return now_; }
  void launch(ClientId client, std::uint64_t number) override;
  void set_quality(ClientId client, std::uint32_t level) override { clients_[client.value]->set_quality(level); }
  void shadow(ClientId client, std::uint32_t level) override { clients_[client.value]->shadow(level); }
  void snapshot(ClientId client) override { workers_[client.value]->snapshot(); }
  void kill(ClientId client) override { workers_[client.value]->kill(clock_); }
  void refuse(ClientId client) override { refused_.push_back(client); }
  void prefetch(ClientId) override { account_.ignored_prefetch(); }
  void control(const Action& action) override;
  void wake_at(Time when) override { wake_ = when; }
  void request_decision() override { decision_is_due_ = true; }
  std::uint64_t resident_bytes(ClientId) const override { return 0; }
  std::uint64_t paged_bytes(ClientId) const override { return 0; }
  Duration device_time(ClientId client) const override { return times_->received(client); }
  Duration device_busy() const override { return times_->busy(); }

  // ClientHost
  void resume_at(ClientId client, Time when) override { due_[client.value] = when; }
  bool submit(ClientId client, const Submission& submission) override {
    return arbiter_.submit(client, clients_[client.value]->view_of(submission));
  }
  void tell_server(ClientId client, const ServerView& server) override { arbiter_.tell_server(client, server); }
  void finished(ClientId client) override;

 private:
  struct PlannedResize {
    Time when;
    ClientId client;
    Resize resize;
  };

  void add_client(std::uint32_t index, Recorder& recorder, int processor);
  void plan_resizes();
  void begin();
  /// To the clock, but not past an instant at which something is due: that happens late, and at its own instant.
  void tick() { now_ = std::max(now_, std::min(clock_.now(), next_due())); }
  Time next_due() const;
  void decide_if_due();
  void see_completions();
  void see_copy(std::uint32_t client);
  void see_frame_begin(std::uint32_t client);
  bool is_kernel(const Ended& ended) const;
  void take(const Ended& ended);
  void complete(const Ended& ended);
  void tell_of_running();
  void settle_times();
  void fire_due();
  void resize_due();
  void adjust_due();
  void go_on(std::uint32_t client);
  void set_priority(const Action& action);
  void check_workers();
  void remember_warm_times();
  RunResult finish(Time end);

  const RunInput& input_;
  const ExecuteOptions& options_;
  const int processor_;
  RunAccount account_;
  WallClock clock_;
  Time now_ = kRunStart;  ///< of the present event: one instant for all that it leads to
  std::vector<std::unique_ptr<Client>> clients_;
  ClientWorkers workers_;
  Arbiter arbiter_;
  std::vector<Time> due_;  ///< by client: when its host goes on; kNever = it waits for something else
  std::vector<bool> has_joined_;
  std::vector<ClientId> refused_;
  std::deque<PlannedResize> resizes_;  ///< to come, in order
  std::size_t adjusted_ = 0;           ///< of the input's adjustments
  Time wake_ = kNever;
  bool decision_is_due_ = false;
  bool is_warm_ = false;
  std::size_t left_ = 0;
  std::vector<Duration> warm_times_;
  std::vector<Ended> ended_;          ///< of this round, in the order of clients; not reported yet
  std::optional<DeviceTimes> times_;  ///< once it is known whether contexts take turns
  Duration warm_busy_{};
  std::uint64_t events_ = 0;
};

}  // namespace corun::executor
