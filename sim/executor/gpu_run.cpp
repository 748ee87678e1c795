#include "sim/executor/gpu_run.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "sim/executor/hardware_limits.h"
#include "sim/executor/host/processors.h"
#include "sim/run/client_views.h"
#include "sim/run/reports.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr Duration kEndPatience = std::chrono::seconds{10};
constexpr std::uint32_t kRoundsBetweenChecks = 4096;
constexpr std::uint32_t kRoundsBetweenYields = 64;

/// Where the driver does not report it, as the device's file states.
bool take_turns(const RunInput& input, MpsState mps) {
  return mps == MpsState::kNo || (mps == MpsState::kUnknown && input.device.sharing != Sharing::kConcurrent);
}

int processor_at(const std::vector<int>& processors, std::size_t index) {
  return index < processors.size() ? processors[index] : kAnyProcessor;
}

}  // namespace

GpuRun::GpuRun(const RunInput& input, Recorder& recorder, const ExecuteOptions& options,
               const std::vector<int>& processors)
    : input_(input),
      options_(options),
      processor_(processor_at(processors, 0)),
      arbiter_(*input.policy, input.policy_name, device_view(input.device), client_views(input), *this, recorder),
      due_(input.clients.size(), kNever),
      has_joined_(input.clients.size()),
      warm_times_(input.clients.size()) {
  for (std::uint32_t i = 0; i < input.clients.size(); ++i) add_client(i, recorder, processor_at(processors, i + 1));
  if (options.mps != nullptr && mps_of(workers_) == MpsState::kNo)
    throw Error(ErrorKind::kDevice, "an MPS daemon runs, and the clients' contexts do not belong to it");
  times_.emplace(input.clients.size(), take_turns(input, mps_of(workers_)));
  plan_resizes();
}

void GpuRun::add_client(std::uint32_t index, Recorder& recorder, int processor) {
  const ClientSpec& spec = input_.clients[index];
  const ClientId id{index};
  const Client::Gate gate{input_.device.launch_queue_depth, input_.policy->buffers_launches()};
  clients_.push_back(std::make_unique<Client>(id, spec, input_.seed, gate, *this, recorder));
  const std::uint32_t streams = std::max(clients_.back()->stream_count(), 1U);
  workers_.push_back(std::make_unique<ClientWorker>(id, input_, options_, streams, processor, account_));
  workers_.back()->start();
}

void GpuRun::plan_resizes() {
  for (std::uint32_t i = 0; i < input_.clients.size(); ++i)
    for (const Resize& resize : input_.clients[i].resizes)
      resizes_.push_back({kRunStart + resize.at, ClientId{i}, resize});
  std::ranges::stable_sort(resizes_, {}, &PlannedResize::when);
}

RunResult GpuRun::run() {
  const Pinned pinned(processor_);
  begin();
  const Time end = kRunStart + input_.horizon;
  std::uint32_t round = 0;
  while (clock_.now() < end && left_ < clients_.size()) {
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

/// Clients that are there from the beginning join, and what the policy then asks of contexts is done before the clock
/// starts: nothing has been launched yet.
void GpuRun::begin() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    due_[i] = clients_[i]->arrival();
    workers_[i]->hold_back();
    workers_[i]->set_sm_cap(input_.clients[i].context.sm_cap);
  }
  clock_ = WallClock();
  fire_due();
  decide_if_due();
  for (const auto& worker : workers_) worker->finish_requests();
  clock_ = WallClock();
  for (const auto& worker : workers_) worker->release();
}

Time GpuRun::next_due() const {
  const Time resize = resizes_.empty() ? kNever : resizes_.front().when;
  const bool is_to_adjust = adjusted_ < input_.adjustments.size();
  const Time adjust = is_to_adjust ? kRunStart + input_.adjustments[adjusted_].at : kNever;
  return std::min({wake_, resize, adjust, std::ranges::min(due_)});
}

void GpuRun::decide_if_due() {
  if (!std::exchange(decision_is_due_, false)) return;
  tell_of_running();
  arbiter_.decide();
}

void GpuRun::launch(ClientId client, std::uint64_t number) {
  Client& launcher = *clients_[client.value];
  launcher.launched(number);
  workers_[client.value]->launch(launcher.submission(number), now());
}

void GpuRun::control(const Action& action) {
  if (action.kind == Action::Kind::kSetPriority) return set_priority(action);
  if (action.kind != Action::Kind::kSetSmCap) {
    if (!is_default(action)) refuse_setting(input_, action);
    return;
  }
  workers_[action.client.value]->set_sm_cap(action.fraction);
}

void GpuRun::set_priority(const Action& action) {
  workers_[action.client.value]->set_priority(action.level);
  account_.asked_for_priority(action.level);
}

void GpuRun::finished(ClientId client) {
  arbiter_.leave(client);
  workers_[client.value]->leave();
  ++left_;
}

/// All that has ended counts as co-located before the policy hears what an operation received.
void GpuRun::see_completions() {
  for (const auto& worker : workers_)
    while (const auto ended = worker->take_completed(clock_)) take(*ended);
  if (!ended_.empty()) {
    tick();
    tell_of_running();
  }
  for (const Ended& ended : ended_) complete(ended);
  ended_.clear();
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    see_copy(i);
    see_frame_begin(i);
  }
}

bool GpuRun::is_kernel(const Ended& ended) const {
  return command_kind(clients_[ended.client.value]->submission(ended.ticket).shared->kind) == CommandKind::kKernel;
}

void GpuRun::take(const Ended& ended) {
  ended_.push_back(ended);
  if (is_kernel(ended))
    times_->worked(ended.client, times_->take_turns() ? ended.at_work_since : ended.begin, ended.end);
  if (ended.is_lost) return;
  const CallTimes& call = workers_[ended.client.value]->channel().calls[ended.ticket % Channel::kDepth];
  account_.late_launch(clock_.at(call.end_ns) - clients_[ended.client.value]->submission(ended.ticket).launched);
}

void GpuRun::complete(const Ended& ended) {
  tick();
  Completion done = ended;
  if (is_kernel(ended)) done.device_time = times_->received(done);
  report_completion(done.ticket, done, *clients_[done.client.value], arbiter_);
  ++events_;
}

/// Of kernels that have not ended, as far as they have come.
void GpuRun::tell_of_running() {
  for (std::uint32_t i = 0; i < workers_.size(); ++i)
    if (const Time since = workers_[i]->running_since(clock_); since < now_) times_->worked(ClientId{i}, since, now_);
}

void GpuRun::settle_times() {
  Time oldest = now_;
  for (const auto& worker : workers_) oldest = std::min(oldest, worker->oldest_launch());
  times_->settle(oldest);
}

void GpuRun::see_copy(std::uint32_t client) {
  const auto copied = workers_[client]->go_on();
  if (!copied) return;
  tick();
  arbiter_.copied(ClientId{client}, *copied);
}

void GpuRun::see_frame_begin(std::uint32_t client) {
  const std::uint64_t first = clients_[client]->frame_awaiting_begin();
  if (first == UINT64_MAX) return;
  const Time begin = workers_[client]->begin_of(first, clock_);
  if (begin == kNever) return;
  tick();
  report_frame_begin(ClientId{client}, *clients_[client], arbiter_, begin);
}

void GpuRun::fire_due() {
  for (const ClientId client : std::exchange(refused_, {})) clients_[client.value]->refused();
  resize_due();
  adjust_due();
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (due_[i] <= now_) go_on(i);
  if (wake_ > now_) return;
  account_.late_timer(clock_.now() - wake_);
  wake_ = kNever;
  decision_is_due_ = true;
}

void GpuRun::resize_due() {
  for (; !resizes_.empty() && resizes_.front().when <= now_; resizes_.pop_front()) {
    const auto& [when, client, resize] = resizes_.front();
    if (clients_[client.value]->is_finished()) continue;
    arbiter_.resize(client, resize.share, resize.bytes);
    if (resize.bytes > 0) workers_[client.value]->hold_memory(resize.bytes);
  }
}

void GpuRun::adjust_due() {
  for (; adjusted_ < input_.adjustments.size() && kRunStart + input_.adjustments[adjusted_].at <= now_; ++adjusted_)
    arbiter_.adjust(input_.adjustments[adjusted_]);
}

void GpuRun::go_on(std::uint32_t client) {
  account_.late_timer(clock_.now() - std::exchange(due_[client], kNever));
  ++events_;
  if (has_joined_[client]) return clients_[client]->resume();
  has_joined_[client] = true;
  arbiter_.join(ClientId{client});
  clients_[client]->start();
}

void GpuRun::check_workers() {
  for (const auto& worker : workers_) worker->check(now_);
  settle_times();
}

void GpuRun::remember_warm_times() {
  is_warm_ = true;
  tell_of_running();
  for (std::uint32_t i = 0; i < clients_.size(); ++i) warm_times_[i] = device_time(ClientId{i});
  warm_busy_ = device_busy();
}

RunResult GpuRun::finish(Time end) {
  arbiter_.finish();
  if (!is_warm_) remember_warm_times();
  tell_of_running();
  RunResult result;
  result.events = events_;
  result.end = end;
  result.usage.busy = device_busy() - warm_busy_;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    result.device_time.push_back(device_time(ClientId{i}) - warm_times_[i]);
    result.jobs_finished.push_back(clients_[i]->jobs_finished());
  }
  for (const auto& worker : workers_) worker->leave();
  for (const auto& worker : workers_) worker->end(kEndPatience);
  return result;
}

void GpuRun::tell(ExecuteReport& report) {
  const MpsState mps = mps_of(workers_);
  tell_of_workers(workers_, options_, report);
  for (std::string& note : differences(input_, options_, mps)) report.notes.push_back(std::move(note));
  account_.tell(report, mps, priority_levels_of(workers_));
}

}  // namespace corun::executor
