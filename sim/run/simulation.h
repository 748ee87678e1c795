#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/engine/engine.h"
#include "sim/run/context_copies.h"
#include "sim/run/delayed_events.h"
#include "sim/run/device_driver.h"
#include "sim/run/invariant_checker.h"
#include "sim/run/run.h"
#include "sim/workload/client.h"

namespace corun {

/// The simulated world of one device: its clients behind the arbiter's backend, on an engine that others may use too.
///
/// All clients are known from the start and each joins once: at its own arrival (schedule()), or when join() is called.
/// One thread. Throws what simulate() throws, out of the events that it puts into the engine.
class Simulation : public Backend, public ClientHost, private DeviceDriver::Listener {
 public:
  /// Called when a client has done its work or was refused, and nothing of it is in flight. It must not call join():
  /// that is an event of its own.
  using Finished = std::function<void(ClientId)>;

  /// `input`, `engine` and `recorder` must outlive the simulation; the input's horizon means nothing to it.
  Simulation(const RunInput& input, Engine& engine, Recorder& recorder, Finished on_finished = {});

  /// Puts into the engine what the input says of arrivals, resizes, adjustments and the end of the warm-up.
  void schedule();
  /// The client joins now.
  void join(ClientId client);
  /// See DeviceModel; before any client joins.
  void go_on_after(const LastTurn& turn) { driver_.go_on_after(turn); }
  std::optional<LastTurn> last_turn() const { return driver_.device().last_turn(); }
  /// What happened until now, when the engine has come to the run's end; `events` are the engine's.
  RunResult finish();

  // Backend
  Time now() const override { return engine_.now(); }
  void launch(ClientId client, std::uint64_t number) override;
  void set_quality(ClientId client, std::uint32_t level) override { clients_[client.value]->set_quality(level); }
  void shadow(ClientId client, std::uint32_t level) override { clients_[client.value]->shadow(level); }
  void snapshot(ClientId client) override;
  void kill(ClientId client) override;
  void refuse(ClientId client) override;
  void prefetch(ClientId client) override;
  void control(const Action& action) override;
  void wake_at(Time when) override;
  void request_decision() override;
  void spare_decision() override;
  std::uint64_t resident_bytes(ClientId client) const override {
    return driver_.device().memory(client).resident_bytes;
  }
  std::uint64_t paged_bytes(ClientId client) const override { return driver_.device().memory(client).paged_bytes; }
  Duration device_time(ClientId client) const override { return driver_.device().device_time(client); }
  Duration device_busy() const override { return driver_.device().usage().busy; }
  void measure(std::span<ClientView> clients, DeviceView& device) override;

  // ClientHost
  void resume_at(ClientId client, Time when) override {
    engine_.cancel(resume_events_[client.value]);
    resume_events_[client.value] = engine_.at(when, Phase::kArrival, &Simulation::on_resume, this, client.value);
  }
  bool goes_on_at(Time when) override {
    const bool decides_before = decision_is_due_ && when > now();
    return is_resuming_ && !decides_before && engine_.goes_on(when, Phase::kArrival);
  }
  bool submit(ClientId client, const Submission& submission) override;
  void tell_server(ClientId client, const ServerView& server) override { arbiter_.tell_server(client, server); }
  void finished(ClientId client) override;

 private:
  struct PlannedResize {
    ClientId client;
    Resize resize;
    EventHandle event;
  };

  static DeviceUsage difference(const DeviceUsage& a, const DeviceUsage& b) {
    return DeviceUsage{a.busy - b.busy, a.switching - b.switching, a.paging - b.paging, a.clocked - b.clocked};
  }
  static Simulation& self(void* subject) { return *static_cast<Simulation*>(subject); }
  static void on_join(void* subject, std::uint64_t client) {
    self(subject).join(ClientId{static_cast<std::uint32_t>(client)});
  }
  static void on_resize(void* subject, std::uint64_t number) { self(subject).resize(number); }
  static void on_adjust(void* subject, std::uint64_t number) {
    self(subject).arbiter_.adjust(self(subject).input_.adjustments[number]);
  }
  static void on_resume(void* subject, std::uint64_t client) { self(subject).resume(client); }
  static void on_refused(void* subject, std::uint64_t client) { self(subject).clients_[client]->refused(); }
  static void on_context_created(void* subject, std::uint64_t client) {
    self(subject).restore(ClientId{static_cast<std::uint32_t>(client)});
  }
  static void on_decide(void* subject, std::uint64_t) {
    self(subject).decide();
    self(subject).go_on_deciding();
  }
  static void on_wake(void* subject, std::uint64_t) { self(subject).request_decision(); }
  static void on_warm(void* subject, std::uint64_t) { self(subject).remember_warm_usage(); }

  void resume(std::uint64_t client);
  void decide();
  void schedule_decision();
  void queue_decision() { engine_.at(now(), Phase::kDecide, &Simulation::on_decide, this); }
  void go_on_deciding();
  void resize(std::uint64_t number) {
    const auto& [client, resize, event] = resizes_[number];
    arbiter_.resize(client, resize.share, resize.bytes);
  }
  bool is_divided(ClientId client) const;
  void measure_memory(std::span<ClientView> clients) const;
  void measure_times(std::span<ClientView> clients, DeviceView& device);
  void completed(const Completion& completion) override;
  void device_moved() override;
  void restore(ClientId client);
  StreamId copy_stream(ClientId client) const { return StreamId{clients_[client.value]->stream_count()}; }
  DeviceOp device_op(ClientId client, const Submission& submission, Duration held);
  bool has_begun(std::uint64_t number, ClientId client) const;
  Duration held_for(ClientId client, const Submission& submission) const;
  void remember_warm_usage();

  const RunInput& input_;
  Engine& engine_;
  InvariantChecker invariants_;
  DeviceDriver driver_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<ClientId> framed_;  ///< those whose jobs are frames
  Arbiter arbiter_;
  DelayedEvents events_;
  ContextCopies copies_;
  std::vector<std::uint64_t> promised_;  ///< by client: its newest submission that may pass its closed gate unasked
  std::vector<EventHandle> resume_events_;
  bool is_resuming_ = false;  ///< an event does nothing but resume a client
  EventHandle wake_event_;
  Time wake_time_ = kNever;
  bool decision_is_due_ = false;
  bool decision_is_needed_ = false;           ///< the one that is due
  std::uint64_t idle_decision_ = UINT64_MAX;  ///< Engine::add_idle of the one that is spared; UINT64_MAX: none is
  bool puts_off_decision_ = false;            ///< go_on_deciding() follows, so that it need not be queued
  std::vector<Ticket> awaited_;               ///< by the operation that is launched
  std::vector<std::shared_ptr<const std::vector<double>>> sm_demands_;  // by client, then prototype of its workload
  std::vector<ContextControls> controls_;                               // by client
  std::vector<PlannedResize> resizes_;
  std::vector<EventHandle> adjustments_;
  std::size_t left_ = 0;               ///< clients
  std::vector<ClientId> paged_;        ///< those with a working set
  Time measured_ = kNever;             ///< DeviceDriver::moved_to() when the device's times were read last
  std::vector<ClientId> newer_times_;  ///< clients whose times are read, while they are
  DeviceUsage warm_usage_;             ///< at the end of the warm-up
  std::vector<Duration> warm_time_;    ///< by client, likewise
  std::vector<double> warm_energy_j_;
  const Finished on_finished_;
};

}  // namespace corun
