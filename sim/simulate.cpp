#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/device/occupancy.h"
#include "sim/engine/engine.h"
#include "sim/run.h"
#include "sim/workload/client.h"

namespace corun {

namespace {

constexpr unsigned kNumberBits = 40;                                          // a ticket is (client, submission number)
constexpr std::uint64_t kCopyNumber = (std::uint64_t{1} << kNumberBits) - 1;  // of a snapshot or restore

Ticket ticket_of(ClientId client, std::uint64_t number) { return (Ticket{client.value} << kNumberBits) | number; }
std::uint64_t number_of(Ticket ticket) { return ticket & ((Ticket{1} << kNumberBits) - 1); }

std::uint64_t allocated_bytes(const ClientSpec& spec) {
  return spec.allocated_bytes > 0 ? spec.allocated_bytes : spec.context.working_set_bytes;
}

std::uint64_t snapshot_bytes(const ClientSpec& spec) {
  return spec.snapshot_bytes > 0 ? spec.snapshot_bytes : spec.context.working_set_bytes;
}

/// Fraction of the SMs that the first wave of each operation fills.
std::vector<double> sm_demands(const DeviceSpec& spec, const Workload& workload) {
  std::vector<double> demands;
  for (const WorkOp& op : workload.ops) {
    const std::uint64_t capacity = op.kind == OpKind::kKernel ? resident_blocks(spec, op.shape) : 0;
    const double waves =
        static_cast<double>(op.shape.blocks()) / static_cast<double>(std::max<std::uint64_t>(capacity, 1));
    demands.push_back(capacity == 0 ? 1.0 : std::min(1.0, waves));
  }
  return demands;
}

DeviceView device_view(const DeviceSpec& spec) {
  DeviceView view;
  view.sm_count = spec.sm_count;
  view.max_threads_per_sm = spec.max_threads_per_sm;
  view.max_blocks_per_sm = spec.max_blocks_per_sm;
  view.memory_bytes = spec.memory_bytes;
  view.context_bytes = spec.context_bytes;
  view.to_device_bytes_per_s = spec.to_device_bytes_per_s;
  view.from_device_bytes_per_s = spec.from_device_bytes_per_s;
  if (spec.sharing != Sharing::kTimeSliced) return view;
  view.time_slice = spec.time_slice;
  view.switch_cost = spec.switch_cost;
  return view;
}

std::vector<ArbiterClient> arbiter_clients(const RunInput& input) {
  std::vector<ArbiterClient> clients;
  for (const ClientSpec& spec : input.clients) {
    ArbiterClient client{.name = spec.name,
                         .role = spec.role,
                         .frame_period = spec.pacing.period,
                         .quality_menu = {},
                         .working_set_bytes = spec.context.working_set_bytes,
                         .allocated_bytes = allocated_bytes(spec),
                         .snapshot_bytes = snapshot_bytes(spec),
                         .priority = spec.priority};
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
        arbiter_(*input.policy, input.policy_name, device_view(input.device), arbiter_clients(input), *this, recorder) {
    for (std::uint32_t i = 0; i < input.clients.size(); ++i)
      clients_.push_back(std::make_unique<Client>(ClientId{i}, input.clients[i], input.seed,
                                                  input.device.launch_queue_depth, *this, recorder));
    resume_events_.resize(clients_.size());
    controls_.resize(clients_.size());
    for (const ClientSpec& client : input.clients) sm_demands_.push_back(sm_demands(input.device, *client.workload));
    copying_.resize(clients_.size());
    for (std::uint32_t i = 0; i < clients_.size(); ++i) controls_[i].sm_cap = input.clients[i].context.sm_cap;
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
    arbiter_.finish();
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
  void snapshot(ClientId client) override;
  void kill(ClientId client) override;
  void refuse(ClientId client) override;
  void prefetch(ClientId client) override;
  void control(const Action& action) override;
  void wake_at(Time when) override;
  void request_decision() override;
  std::uint64_t resident_bytes(ClientId client) const override { return device_->memory(client).resident_bytes; }
  std::uint64_t paged_bytes(ClientId client) const override { return device_->memory(client).paged_bytes; }
  Duration device_time(ClientId client) const override { return device_->device_time(client); }
  Duration device_busy() const override { return device_->usage().busy; }

  // ClientHost
  void resume_at(ClientId client, Time when) override {
    engine_.cancel(resume_events_[client.value]);
    resume_events_[client.value] = engine_.at(when, Phase::kArrival, &Simulation::on_resume, this, client.value);
  }
  bool submit(ClientId client, const OpView& op) override;
  void finished(ClientId client) override;

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
  static void on_refused(void* subject, std::uint64_t client) { self(subject).clients_[client]->refused(); }
  static void on_context_created(void* subject, std::uint64_t client) {
    self(subject).restore(ClientId{static_cast<std::uint32_t>(client)});
  }
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
  Duration copy_time(ClientId client, std::uint64_t bytes, std::uint64_t bytes_per_s) const;
  void copy_memory(ClientId client, OpKind kind, std::uint64_t bytes_per_s);
  void restore(ClientId client);
  void copy_completed(ClientId client);
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
  std::vector<std::vector<double>> sm_demands_;    // by client and operation of its workload
  std::vector<ContextControls> controls_;          // by client
  std::vector<std::optional<CopyEvent>> copying_;  // by client, while a copy of its memory goes on
  DeviceUsage warm_usage_;
  std::vector<Duration> warm_time_;
};

/// Adds what the device's shape and, for an oracle, the future tell of the operation.
bool Simulation::submit(ClientId client, const OpView& op) {
  const Client& submitter = *clients_[client.value];
  const Submission& submission = submitter.submission(op.number);
  OpView view = op;
  view.sm_demand = sm_demands_[client.value][submission.op - submitter.spec().workload->ops.data()];
  if (input_.tells_exact_durations) view.exact = submission.duration;
  return arbiter_.submit(client, view);
}

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
  device_op.bytes = op.bytes;
  device_op.after = awaited_;
  advance_device(now());
  device_->submit(device_op, now());
  begin_is_due_ = begin_is_due_ || has_begun(launcher.frame_awaiting_begin(), client);
  watch_device();
}

void Simulation::snapshot(ClientId client) {
  copying_[client.value] = CopyEvent::kSnapshot;
  copy_memory(client, OpKind::kCopyDeviceToHost, input_.device.from_device_bytes_per_s);
}

Duration Simulation::copy_time(ClientId client, std::uint64_t bytes, std::uint64_t bytes_per_s) const {
  const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_s);
  if (seconds > to_seconds(kLongestOp))
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("client '{}': copying {} bytes of its memory takes {:.0f} s; a device takes at most {:.0f} s",
                    input_.clients[client.value].name, bytes, seconds, to_seconds(kLongestOp)));
  return Duration{std::llround(seconds * 1e9)};
}

void Simulation::copy_memory(ClientId client, OpKind kind, std::uint64_t bytes_per_s) {
  DeviceOp copy;
  copy.ticket = ticket_of(client, kCopyNumber);
  copy.client = client;
  copy.stream = StreamId{clients_[client.value]->stream_count()};
  copy.kind = kind;
  copy.bytes = snapshot_bytes(input_.clients[client.value]);
  copy.duration = copy_time(client, copy.bytes, bytes_per_s);
  copy.ready_at = now();
  advance_device(now());
  device_->submit(copy, now());
  watch_device();
}

void Simulation::kill(ClientId client) {
  advance_device(now());
  device_->abort(client, now(), completions_);
  engine_.at(now() + input_.device.context_create, Phase::kArrival, &Simulation::on_context_created, this,
             client.value);
  watch_device();
}

/// The new context gets its persistent memory as the last snapshot kept it or, without one, as it was at first. Without
/// a host link nothing is copied.
void Simulation::restore(ClientId client) {
  if (clients_[client.value]->is_finished()) return;
  copying_[client.value] = CopyEvent::kRestored;
  const bool has_link = input_.device.to_device_bytes_per_s > 0;
  if (!has_link || snapshot_bytes(input_.clients[client.value]) == 0) return copy_completed(client);
  copy_memory(client, OpKind::kCopyHostToDevice, input_.device.to_device_bytes_per_s);
}

void Simulation::copy_completed(ClientId client) {
  arbiter_.copied(client, *std::exchange(copying_[client.value], std::nullopt));
}

void Simulation::refuse(ClientId client) {
  engine_.at(now(), Phase::kArrival, &Simulation::on_refused, this, client.value);
}

void Simulation::prefetch(ClientId client) {
  advance_device(now());
  device_->prefetch(client, now());
  watch_device();
}

void Simulation::control(const Action& action) {
  ContextControls& controls = controls_[action.client.value];
  switch (action.kind) {
    case Action::Kind::kSetSlice:
      controls.time_slice = action.duration;
      break;
    case Action::Kind::kSetPriority:
      controls.priority = action.level;
      break;
    case Action::Kind::kSetSmCap:
      controls.sm_cap = action.fraction;
      break;
    case Action::Kind::kSetSmShare:
      controls.sm_share = action.fraction;
      break;
    case Action::Kind::kSetInstance:
      controls.instance = action.fraction;
      break;
    default:
      CORUN_ASSERT(false, "{} is no control", to_string(action.kind));
  }
  advance_device(now());
  device_->control(action.client, controls, now());
  watch_device();
}

void Simulation::finished(ClientId client) {
  arbiter_.leave(client);
  advance_device(now());
  if (copying_[client.value]) device_->abort(client, now(), completions_);
  device_->leave(client, now());
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
  if (number == kCopyNumber) return copy_completed(completion.client);
  if (client.frame_awaiting_begin() == number) begin_frame(completion.client, completion.begin);
  const bool ends_frame = client.completed(number, completion);
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
