#include "sim/executor/execute.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/busy_time.h"
#include "sim/executor/in_flight.h"
#include "sim/executor/surrogates.h"
#include "sim/executor/wall_clock.h"
#include "sim/executor/worker_process.h"
#include "sim/reports.h"
#include "sim/run_views.h"
#include "sim/workload/client.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr Duration kEndPatience = std::chrono::seconds{10};
constexpr std::uint32_t kRoundsBetweenChecks = 4096;
constexpr std::uint32_t kRoundsBetweenYields = 64;

/// Copies of unknown size move one byte.
std::uint64_t bytes_of(const WorkOp& op) { return std::max<std::uint64_t>(op.bytes, 1); }

WorkerSetup setup_of(const ClientSpec& spec, const ExecuteOptions& options, std::uint32_t streams) {
  WorkerSetup setup;
  set_text(setup.library, options.library);
  setup.device = options.device;
  setup.width = options.width;
  setup.height = options.height;
  setup.streams = std::max(streams, 1U);
  if (setup.streams > kMostStreams)
    throw Error(ErrorKind::kUnsupported, fmt::format("client '{}' has {} streams; a run on hardware takes at most {}",
                                                     spec.name, setup.streams, kMostStreams));
  setup.memory_bytes = allocated_bytes(spec);
  for (const WorkOp& op : spec.workload->ops)
    if (command_kind(op.kind) != CommandKind::kKernel) setup.largest_copy = std::max(setup.largest_copy, bytes_of(op));
  return setup;
}

/// OpenGL has one stream.
bool only_renders(const Workload& workload) {
  return !workload.ops.empty() && std::ranges::all_of(workload.ops, [](const WorkOp& op) {
    return op.kind == OpKind::kRender && op.stream.value == 0;
  });
}

Lateness lateness_of(std::vector<Duration>& late) {
  if (late.empty()) return {};
  std::ranges::sort(late);
  return {late[late.size() / 2], late[late.size() * 99 / 100], late.back()};
}

/// Keeps the calling thread on one processor (-1 = leaves it) while it lives.
class Pinned {
 public:
  explicit Pinned(int processor) {
    sched_getaffinity(0, sizeof(before_), &before_);
    pin(0, processor);
  }
  ~Pinned() { sched_setaffinity(0, sizeof(before_), &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_{};
};

/// The real world: worker processes behind the arbiter's backend, and the clock on the wall.
class GpuRun : public Backend, public ClientHost {
 public:
  GpuRun(const RunInput& input, Recorder& recorder, const ExecuteOptions& options, ExecuteReport& report)
      : input_(input),
        options_(options),
        report_(report),
        arbiter_(*input.policy, input.policy_name, device_view(input.device), arbiter_clients(input), *this, recorder),
        due_(input.clients.size(), kNever),
        device_times_(input.clients.size()),
        warm_times_(input.clients.size()) {
    for (std::uint32_t i = 0; i < input.clients.size(); ++i) add_client(i, recorder);
  }

  RunResult run() {
    const Pinned pinned(options_.processors.empty() ? -1 : options_.processors.front());
    clock_ = WallClock();
    const Time end = kRunStart + input_.horizon;
    for (std::uint32_t i = 0; i < clients_.size(); ++i) due_[i] = clients_[i]->arrival();
    std::uint32_t round = 0;
    while (clock_.now() < end && present_or_to_come()) {
      see_completions();
      tick();
      fire_due();
      decide_if_due();
      if (++round % kRoundsBetweenChecks == 0) check_workers();
      if (round % kRoundsBetweenYields == 0) sched_yield();  // where there are too few processors
      if (!is_warm_ && now_ >= kRunStart + input_.warmup) remember_warm_times();
    }
    return finish(std::min(clock_.now(), end));
  }

  // Backend
  Time now() const override { return now_; }
  void launch(ClientId client, std::uint64_t number) override;
  void set_quality(ClientId client, std::uint32_t level) override { clients_[client.value]->set_quality(level); }
  void shadow(ClientId client, std::uint32_t level) override { clients_[client.value]->shadow(level); }
  void snapshot(ClientId) override { refuse_to("take snapshots"); }
  void kill(ClientId) override { refuse_to("kill contexts"); }
  void refuse(ClientId client) override { refused_.push_back(client); }
  void prefetch(ClientId) override { refuse_to("prefetch"); }
  void control(const Action& action) override { refuse_to(to_string(action.kind)); }
  void wake_at(Time when) override { wake_ = when; }
  void request_decision() override { decision_is_due_ = true; }
  std::uint64_t resident_bytes(ClientId) const override { return 0; }
  std::uint64_t paged_bytes(ClientId) const override { return 0; }
  Duration device_time(ClientId client) const override { return device_times_[client.value]; }
  Duration device_busy() const override { return busy_.total(); }

  // ClientHost
  void resume_at(ClientId client, Time when) override { due_[client.value] = when; }
  bool submit(ClientId client, const OpView& op) override { return arbiter_.submit(client, op); }
  void finished(ClientId client) override {
    arbiter_.leave(client);
    workers_[client.value]->tell_to_end();  // its context and memory end with it
    ++left_;
  }

 private:
  /// To the clock, but not past an instant at which something is due: that happens late, and at its own instant.
  void tick() { now_ = std::max(now_, std::min(clock_.now(), next_due())); }
  Time next_due() const { return std::min(wake_, std::ranges::min(due_)); }
  void decide_if_due() {
    if (std::exchange(decision_is_due_, false)) arbiter_.decide();
  }
  void add_client(std::uint32_t index, Recorder& recorder);
  [[noreturn]] void refuse_to(std::string_view what) const {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("policy '{}': a run on hardware does not {}", input_.policy_name, what));
  }
  bool present_or_to_come() const { return left_ < clients_.size(); }
  void ask_for_kernel(Command& command, ClientId client, const WorkOp& op, Duration duration);
  static void await_other_streams(Command& command, const Client& client, const WorkOp& op);
  void see_completions();
  void complete(const Completion& done);
  void see_frame_begin(std::uint32_t client);
  void fire_due();
  void go_on(std::uint32_t client);
  void check_workers();
  void remember_warm_times();
  RunResult finish(Time end);
  void name_device();

  const RunInput& input_;
  const ExecuteOptions& options_;
  ExecuteReport& report_;
  WallClock clock_;
  Time now_ = kRunStart;  ///< of the present event: one instant for all that it leads to
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::vector<Surrogates> surrogates_;
  std::vector<InFlight> in_flight_;
  Arbiter arbiter_;
  std::vector<Time> due_;  ///< by client: when its host goes on; kNever = it waits for something else
  std::vector<bool> has_joined_;
  std::vector<ClientId> refused_;
  Time wake_ = kNever;
  bool decision_is_due_ = false;
  bool is_warm_ = false;
  std::size_t left_ = 0;
  std::vector<Duration> device_times_, warm_times_;
  BusyTime busy_;
  Duration warm_busy_{};
  std::vector<Duration> late_timers_, late_launches_;
  std::uint64_t events_ = 0;
};

void GpuRun::add_client(std::uint32_t index, Recorder& recorder) {
  const ClientSpec& spec = input_.clients[index];
  clients_.push_back(
      std::make_unique<Client>(ClientId{index}, spec, input_.seed, input_.device.launch_queue_depth, *this, recorder));
  has_joined_.push_back(false);
  const std::uint32_t streams = std::max(clients_.back()->stream_count(), 1U);
  in_flight_.emplace_back(ClientId{index}, streams);
  const bool is_graphics = options_.renders && only_renders(*spec.workload);
  surrogates_.emplace_back(*spec.workload, input_.device.sm_count, is_graphics);
  const int own = index + 1 < options_.processors.size() ? options_.processors[index + 1] : -1;
  workers_.push_back(std::make_unique<WorkerProcess>(spec.name));
  WorkerProcess& worker = *workers_.back();
  worker.channel().setup = setup_of(spec, options_, streams);
  worker.channel().setup.is_graphics = is_graphics;
  surrogates_.back().describe(worker.channel());
  worker.start(options_.worker, own);
  worker.await_ready(options_.start_patience);  // alone on the device, for what it measures
  surrogates_.back().learn(worker.channel());
}

void GpuRun::launch(ClientId client, std::uint64_t number) {
  Client& launcher = *clients_[client.value];
  launcher.launched(number);
  const Submission& submission = launcher.submission(number);
  const WorkOp& op = *submission.op;
  Channel& channel = workers_[client.value]->channel();
  Command command;
  command.number = number;
  command.stream = op.stream.value;
  const CommandKind kind = command_kind(op.kind);
  command.kind = channel.setup.is_graphics ? CommandKind::kRender : kind;
  command.bytes = bytes_of(op);
  if (kind == CommandKind::kKernel) ask_for_kernel(command, client, op, submission.duration);
  await_other_streams(command, launcher, op);
  in_flight_[client.value].launch(command, now(), channel);
}

void GpuRun::ask_for_kernel(Command& command, ClientId client, const WorkOp& op, Duration duration) {
  const Surrogates::Kernel kernel = surrogates_[client.value].kernel(op, duration);
  command.blocks = kernel.blocks;
  command.threads = kernel.threads;
  command.shared_bytes = kernel.shared_bytes;
  command.iterations = kernel.iterations;
  report_.too_short += kernel.is_too_short ? 1 : 0;
}

/// Of a stream, it is enough to wait for the newest.
void GpuRun::await_other_streams(Command& command, const Client& client, const WorkOp& op) {
  const Workload& workload = *client.spec().workload;
  const auto index = static_cast<std::uint64_t>(&op - workload.ops.data());
  for (std::uint32_t i = 0; i < op.awaits_count; ++i) {
    const std::uint32_t awaited = workload.awaits[op.awaits_begin + i];
    std::uint64_t& newest = command.awaits[workload.ops[awaited].stream.value];
    newest = std::max(newest, command.number - (index - awaited) + 1);
  }
}

void GpuRun::see_completions() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    Channel& channel = workers_[i]->channel();
    while (const auto done = in_flight_[i].take_completed(channel, clock_)) {
      tick();
      const CallTimes& call = channel.calls[done->ticket % Channel::kDepth];
      late_launches_.push_back(clock_.at(call.end_ns) - clients_[i]->submission(done->ticket).launched);
      complete(*done);
      ++events_;
    }
    see_frame_begin(i);
  }
}

void GpuRun::complete(const Completion& done) {
  device_times_[done.client.value] += done.device_time;
  busy_.add(done.begin, done.end);
  report_completion(done.ticket, done, *clients_[done.client.value], arbiter_);
}

void GpuRun::see_frame_begin(std::uint32_t index) {
  const std::uint64_t first = clients_[index]->frame_awaiting_begin();
  if (first == UINT64_MAX) return;
  const Time begin = in_flight_[index].begin_of(first, workers_[index]->channel(), clock_);
  if (begin == kNever) return;
  tick();
  report_frame_begin(ClientId{index}, *clients_[index], arbiter_, begin);
}

void GpuRun::fire_due() {
  for (const ClientId client : std::exchange(refused_, {})) clients_[client.value]->refused();
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (due_[i] <= now_) go_on(i);
  if (wake_ > now_) return;
  late_timers_.push_back(clock_.now() - wake_);
  wake_ = kNever;
  decision_is_due_ = true;
}

void GpuRun::go_on(std::uint32_t client) {
  late_timers_.push_back(clock_.now() - std::exchange(due_[client], kNever));
  ++events_;
  if (has_joined_[client]) return clients_[client]->resume();
  has_joined_[client] = true;
  arbiter_.join(ClientId{client});
  clients_[client]->start();
}

void GpuRun::check_workers() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    workers_[i]->check();
    const Time since = in_flight_[i].waiting_since();
    if (since == kNever || now_ - since < options_.stall_patience) continue;
    throw Error(ErrorKind::kDevice, fmt::format("client '{}': an operation has not ended for {:.1f} s",
                                                input_.clients[i].name, to_seconds(options_.stall_patience)));
  }
}

void GpuRun::remember_warm_times() {
  is_warm_ = true;
  warm_times_ = device_times_;
  warm_busy_ = busy_.total();
}

RunResult GpuRun::finish(Time end) {
  arbiter_.finish();
  if (!is_warm_) remember_warm_times();
  RunResult result;
  result.events = events_;
  result.end = end;
  result.usage.busy = busy_.total() - warm_busy_;
  report_.timers = lateness_of(late_timers_);
  report_.launches = lateness_of(late_launches_);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    result.device_time.push_back(device_times_[i] - warm_times_[i]);
    result.jobs_finished.push_back(clients_[i]->jobs_finished());
    const Channel& channel = workers_[i]->channel();
    report_.clock_error = std::max(report_.clock_error, Duration{channel.clock_error_ns});
    report_.worst_surrogate_error = std::max(report_.worst_surrogate_error, surrogates_[i].worst_error());
  }
  name_device();
  for (const auto& worker : workers_) worker->tell_to_end();
  for (const auto& worker : workers_) worker->end(kEndPatience);
  return result;
}

/// OpenGL adds words to a device's name; where it has another, it renders elsewhere: on the processor, for one.
void GpuRun::name_device() {
  std::string_view shortest;
  for (const auto& worker : workers_) {
    const std::string_view name = worker->channel().device_name;
    if (shortest.empty() || name.size() < shortest.size()) shortest = name;
  }
  report_.device_name = shortest;
  for (std::uint32_t i = 0; i < workers_.size(); ++i)
    if (const std::string_view name = workers_[i]->channel().device_name; !name.starts_with(shortest))
      report_.notes.push_back(
          fmt::format("client '{}' was on '{}', others on '{}'", input_.clients[i].name, name, shortest));
}

/// Whether some client's frames are not rendered but done by kernels.
bool has_kernels_for_frames(const RunInput& input, const ExecuteOptions& options) {
  return std::ranges::any_of(input.clients, [&](const ClientSpec& spec) {
    return spec.workload->job_kind == JobKind::kFrame && !(options.renders && only_renders(*spec.workload));
  });
}

void refuse_what_hardware_lacks(const RunInput& input) {
  if (input.tells_exact_durations)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("policy '{}' needs an oracle: hardware has none", input.policy_name));
  for (const ClientSpec& spec : input.clients) {
    if (!spec.resizes.empty())
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("client '{}' is resized: a run on hardware does not do that", spec.name));
    if (spec.context.sm_cap < 1.0)
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("client '{}' has a cap of SMs: a run on hardware does not set it", spec.name));
  }
}

}  // namespace

RunResult execute(const RunInput& input, Recorder& recorder, const ExecuteOptions& options, ExecuteReport& report) {
  refuse_what_hardware_lacks(input);
  report = ExecuteReport{};
  if (has_kernels_for_frames(input, options))
    report.notes.push_back("frames are rendered by kernels that fill the device: a GPU arbitrates graphics otherwise");
  return GpuRun(input, recorder, options, report).run();
}

}  // namespace corun::executor
