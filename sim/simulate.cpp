#include <algorithm>
#include <memory>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/engine/engine.h"
#include "sim/run.h"
#include "sim/workload/client.h"

namespace corun {

namespace {

constexpr unsigned kNumberBits = 40;  // a ticket is (client, submission number)

Ticket ticket_of(ClientId client, std::uint64_t number) { return (Ticket{client.value} << kNumberBits) | number; }
std::uint64_t number_of(Ticket ticket) { return ticket & ((Ticket{1} << kNumberBits) - 1); }

std::vector<ArbiterClient> arbiter_clients(const RunInput& input) {
  std::vector<ArbiterClient> clients;
  for (const ClientSpec& spec : input.clients) {
    ArbiterClient client{spec.name, spec.role, spec.pacing.period, {}, spec.context.working_set_bytes};
    for (const QualitySetting& setting : spec.quality_menu)
      client.quality_menu.push_back(QualityLevel{setting.name, setting.cost, setting.quality});
    clients.push_back(std::move(client));
  }
  return clients;
}

/// The simulated world: engine, device and clients behind the arbiter's backend.
class Simulation : public Backend, public ClientHost {
 public:
  Simulation(const RunInput& input, Recorder& recorder)
      : input_(input),
        device_(make_device(input.device)),
        arbiter_(*input.policy, input.policy_name,
                 DeviceView{input.device.sm_count, input.device.max_threads_per_sm, input.device.memory_bytes, {}},
                 arbiter_clients(input), *this, recorder) {
    for (std::uint32_t i = 0; i < input.clients.size(); ++i)
      clients_.push_back(std::make_unique<Client>(ClientId{i}, input.clients[i], input.seed,
                                                  input.device.launch_queue_depth, *this, recorder));
    resume_events_.resize(clients_.size());
    warm_time_.resize(clients_.size());
  }

  RunResult run() {
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
      device_->join(ClientId{i}, input_.clients[i].context);
      engine_.at(clients_[i]->arrival(), Phase::kArrival, &Simulation::on_join, this, i);
    }
    engine_.at(kRunStart + input_.warmup, Phase::kSample, &Simulation::on_warm, this);
    const Time end = kRunStart + input_.horizon;
    const bool drained = engine_.run(end) == StopReason::kDrained;
    RunResult result;
    result.events = engine_.events_fired();
    result.end = drained ? engine_.now() : end;
    if (!drained) advance_device(end);
    result.usage = difference(device_->usage(), warm_usage_);
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
      result.device_time.push_back(device_->device_time(ClientId{i}) - warm_time_[i]);
      result.jobs_finished.push_back(clients_[i]->jobs_finished());
    }
    return result;
  }

  // Backend
  Time now() const override { return engine_.now(); }
  void launch(ClientId client, std::uint64_t number) override;
  void set_quality(ClientId client, std::uint32_t level) override { clients_[client.value]->set_quality(level); }
  void wake_at(Time when) override;
  void request_decision() override;
  Duration device_time(ClientId client) const override { return device_->device_time(client); }
  Duration device_busy() const override { return device_->usage().busy; }

  // ClientHost
  void resume_at(ClientId client, Time when) override {
    engine_.cancel(resume_events_[client.value]);
    resume_events_[client.value] = engine_.at(when, Phase::kArrival, &Simulation::on_resume, this, client.value);
  }
  bool submit(ClientId client, const OpView& op) override { return arbiter_.submit(client, op); }
  void finished(ClientId client) override { arbiter_.leave(client); }

 private:
  static DeviceUsage difference(const DeviceUsage& a, const DeviceUsage& b) {
    return DeviceUsage{a.busy - b.busy, a.switching - b.switching, a.paging - b.paging};
  }
  static Simulation& self(void* subject) { return *static_cast<Simulation*>(subject); }
  static void on_join(void* subject, std::uint64_t client) {
    self(subject).arbiter_.join(ClientId{static_cast<std::uint32_t>(client)});
    self(subject).clients_[client]->start();
  }
  static void on_resume(void* subject, std::uint64_t client) { self(subject).clients_[client]->resume(); }
  static void on_decide(void* subject, std::uint64_t) {
    self(subject).decision_is_due_ = false;
    self(subject).advance_device(self(subject).now());
    self(subject).arbiter_.decide();
    self(subject).watch_device();
  }
  static void on_wake(void* subject, std::uint64_t) { self(subject).request_decision(); }
  static void on_device(void* subject, std::uint64_t) { self(subject).device_changed(); }
  static void on_warm(void* subject, std::uint64_t) { self(subject).remember_warm_usage(); }

  void advance_device(Time to);
  void device_changed();
  void watch_device();
  void complete(const Completion& completion);
  void report_frame_begins();
  void begin_frame(ClientId client, Time begin);
  bool has_begun(std::uint64_t number, ClientId client) const;
  void remember_warm_usage();

  const RunInput& input_;
  Engine engine_;
  std::unique_ptr<DeviceModel> device_;
  std::vector<std::unique_ptr<Client>> clients_;
  Arbiter arbiter_;
  std::vector<EventHandle> resume_events_;
  EventHandle wake_event_, device_event_;
  Time wake_time_ = kNever, device_event_time_ = kNever;
  bool decision_is_due_ = false;
  bool begin_is_due_ = false;
  std::vector<Completion> completions_;
  std::vector<Ticket> awaited_;
  DeviceUsage warm_usage_;
  std::vector<Duration> warm_time_;
};

void Simulation::launch(ClientId client, std::uint64_t number) {
  Client& launcher = *clients_[client.value];
  launcher.launched(number);
  const Submission& submission = launcher.submission(number);
  const WorkOp& op = *submission.op;
  const Workload& workload = *launcher.spec().workload;
  const auto index = static_cast<std::uint64_t>(&op - workload.ops.data());
  awaited_.clear();
  for (std::uint32_t a = 0; a < op.awaits_count; ++a)
    awaited_.push_back(ticket_of(client, number - (index - workload.awaits[op.awaits_begin + a])));
  DeviceOp device_op;
  device_op.ticket = ticket_of(client, number);
  device_op.client = client;
  device_op.stream = op.stream;
  device_op.kind = op.kind;
  device_op.duration = submission.duration;
  device_op.dispatch_gap = op.dispatch_gap;
  device_op.ready_at = now() + op.launch_latency;
  device_op.shape = op.shape;
  device_op.after = awaited_;
  advance_device(now());
  device_->submit(device_op, now());
  begin_is_due_ = begin_is_due_ || has_begun(launcher.frame_awaiting_begin(), client);
  watch_device();
}

void Simulation::wake_at(Time when) {
  if (when == wake_time_) return;
  engine_.cancel(wake_event_);
  wake_time_ = when;
  if (when != kNever) wake_event_ = engine_.at(when, Phase::kTimer, &Simulation::on_wake, this);
}

void Simulation::request_decision() {
  if (decision_is_due_) return;
  decision_is_due_ = true;
  engine_.at(now(), Phase::kDecide, &Simulation::on_decide, this);
}

void Simulation::advance_device(Time to) { device_->advance(to, completions_); }

bool Simulation::has_begun(std::uint64_t number, ClientId client) const {
  return number != UINT64_MAX && device_->begin_of(ticket_of(client, number)) != kNever;
}

/// Keeps one engine event at the device's next change, and at once while completions or a frame's begin wait to be
/// told.
void Simulation::watch_device() {
  const Time due = completions_.empty() && !begin_is_due_ ? device_->next_change() : now();
  if (due == device_event_time_) return;
  engine_.cancel(device_event_);
  device_event_time_ = due;
  if (due != kNever) device_event_ = engine_.at(due, Phase::kCompletion, &Simulation::on_device, this);
}

void Simulation::device_changed() {
  device_event_time_ = kNever;
  begin_is_due_ = false;
  advance_device(now());
  std::vector<Completion> done;
  done.swap(completions_);
  for (const Completion& completion : done) complete(completion);
  report_frame_begins();
  if (completions_.empty()) completions_ = std::move(done), completions_.clear();
  watch_device();
}

void Simulation::complete(const Completion& completion) {
  Client& client = *clients_[completion.client.value];
  const std::uint64_t number = number_of(completion.ticket);
  if (client.frame_awaiting_begin() == number) begin_frame(completion.client, completion.begin);
  const bool ends_frame = client.completed(number, completion.begin, completion.end, completion.device_time);
  arbiter_.complete(completion.client, number, completion.device_time);
  if (ends_frame)
    arbiter_.frame(completion.client, FrameEvent::kEnd, client.last_frame_number(), client.last_frame_busy());
}

void Simulation::report_frame_begins() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    const std::uint64_t first = clients_[i]->frame_awaiting_begin();
    if (has_begun(first, ClientId{i})) begin_frame(ClientId{i}, device_->begin_of(ticket_of(ClientId{i}, first)));
  }
}

void Simulation::begin_frame(ClientId client, Time begin) {
  Client& beginner = *clients_[client.value];
  const std::uint64_t frame = beginner.submission(beginner.frame_awaiting_begin()).job;
  beginner.frame_begun(begin);
  arbiter_.frame(client, FrameEvent::kBegin, frame, Duration{0});
}

void Simulation::remember_warm_usage() {
  advance_device(now());
  warm_usage_ = device_->usage();
  for (std::uint32_t i = 0; i < clients_.size(); ++i) warm_time_[i] = device_->device_time(ClientId{i});
  watch_device();
}

}  // namespace

RunResult simulate(const RunInput& input, Recorder& recorder) { return Simulation(input, recorder).run(); }

}  // namespace corun
