#include "sim/live/live.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/arbiter/arbiter.h"
#include "sim/live/client/live_client.h"
#include "sim/live/client/server_file.h"
#include "sim/live/control_door.h"
#include "sim/live/gate_owner.h"
#include "sim/live/live_notes.h"
#include "sim/live/metrics/live_metrics.h"
#include "sim/live/metrics/running_totals.h"
#include "sim/live/present_state.h"
#include "sim/live/program.h"
#include "sim/live/quality_file.h"
#include "sim/live/restarts.h"
#include "sim/run/client_views.h"
#include "traces/base/error.h"

namespace corun::live {

namespace {

using executor::WallClock;

constexpr Duration kPromiseHolds = std::chrono::microseconds{250};  // of a policy, before it is asked again

/// The scheduler of a live run: one thread that sleeps until a client or the policy wants something.
class LiveRun : public Backend {
 public:
  /// `totals`, nullptr where nothing reads them, are of what `recorder` receives.
  LiveRun(const RunInput& input, Recorder& recorder, const LiveOptions& options, LiveReport& report,
          RunningTotals* totals)
      : input_(input),
        options_(options),
        report_(report),
        totals_(totals),
        owner_(static_cast<std::uint32_t>(input.clients.size())),
        arbiter_(*input.policy, input.policy_name, device_view(input.device), client_views(input), *this, recorder),
        programs_(input.clients.size()),
        states_(input.clients.size(), State::kToCome),
        quality_files_(input.clients.size()),
        server_files_(input.clients.size()),
        kill_at_(input.clients.size(), kNever),
        use_(input.clients.size(), input.device.sharing != Sharing::kConcurrent),
        warm_times_(input.clients.size()),
        adjustable_(input.adjustable),
        restarts_(input, owner_.folder(), arbiter_, use_, clock_) {
    if (!options.control.empty()) control_ = std::make_unique<ControlDoor>(options.control);
    for (std::uint32_t i = 0; i < input.clients.size(); ++i) {
      clients_.push_back(std::make_unique<LiveClient>(ClientId{i}, input.clients[i], owner_.lane(i), arbiter_, use_,
                                                      clock_, recorder));
      prepare(owner_.lane(i));
      const ClientSpec& spec = input.clients[i];
      if (!spec.quality_menu.empty())
        quality_files_[i] =
            std::make_unique<QualityFile>(fmt::format("{}/quality-{}", owner_.folder(), i), spec.quality_level);
      if (spec.promised_ttft > Duration{} || spec.promised_tpot > Duration{})
        clients_[i]->set_server(
            *(server_files_[i] = std::make_unique<ServerFile>(fmt::format("{}/server-{}", owner_.folder(), i))));
    }
  }

  RunResult run() {
    clock_ = WallClock();
    try {
      play();
    } catch (...) {
      end_programs();  // a game that is killed in the middle of a frame can spoil the GPU: they are asked first
      throw;
    }
    return finish();
  }

  // Backend
  Time now() const override { return now_; }
  void launch(ClientId client, std::uint64_t number) override { clients_[client.value]->launch(number); }
  void set_quality(ClientId client, std::uint32_t level) override {
    quality_files_[client.value]->set(level);
    clients_[client.value]->set_quality(level);
  }
  void shadow(ClientId, std::uint32_t) override { refuse_to("render shadow frames"); }
  void snapshot(ClientId client) override { restarts_.snapshot(client); }
  void kill(ClientId client) override { restarts_.kill(client, programs_[client.value]); }
  void refuse(ClientId client) override { refused_.push_back(client.value); }
  void prefetch(ClientId) override { refuse_to("prefetch"); }
  void control(const Action& action) override {
    refuse_to(fmt::format("control the device (`{}`)", to_string(action.kind)));
  }
  void wake_at(Time when) override { wake_ = when; }
  void request_decision() override { decision_is_due_ = true; }
  std::uint64_t resident_bytes(ClientId) const override { return 0; }
  std::uint64_t paged_bytes(ClientId) const override { return 0; }
  Duration device_time(ClientId client) const override { return use_.of(client); }
  Duration device_busy() const override { return use_.busy(); }

 private:
  enum class State : std::uint8_t { kToCome, kPresent, kLeft };

  void play() {
    while (clock_.now() < kRunStart + input_.horizon && has_clients() && !is_stopped()) {
      const std::uint32_t seen = owner_.common().bell.load();
      owner_.beat();
      tick();
      start_due();
      adjust_due();
      const bool has_news = poll_all();
      wake_policy();
      decide_if_due();
      restarts_.act(clients_);
      evict_refused();
      drop_faulty();
      follow_gates();
      for (const auto& client : clients_) client->wake_admitted();
      look_after_programs();
      if (!is_warm_ && now_ >= kRunStart + input_.warmup) remember_warm_times();
      if (!has_news && !decision_is_due_)
        owner_.await_bell(seen, to_ns(next_instant() - clock_.now()), question_is_near());
    }
  }

  [[noreturn]] void refuse_to(std::string_view what) const {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("policy '{}' wants to {}: a live run holds launches back and kills, no more",
                            input_.policy_name, what));
  }
  bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  bool has_clients() const { return std::ranges::count(states_, State::kLeft) < std::ssize(states_); }
  /// To the clock, but not past the policy's wake-up: that happens late, and at its own instant.
  void tick() { now_ = std::max(now_, std::min(clock_.now(), wake_)); }
  Time next_instant() const;
  bool question_is_near() const;
  void prepare(gate::Lane& lane) const;
  void start_due();
  void adjust_due();
  std::string answer(const std::vector<std::string>& words);
  std::string status() const;
  std::string status_of(std::uint32_t client) const;
  void start(std::uint32_t client);
  void start_program(std::uint32_t client);
  void set_memory_terms(std::uint32_t client);
  Guests guests_of(const ClientSpec& spec) const;
  bool poll_all();
  void wake_policy();
  void decide_if_due();
  RunFigures figures() const;
  void follow_gates();
  void look_after_programs();
  void evict_refused();
  void drop_faulty();
  void put_out(std::uint32_t client, const std::string& why);
  void note_fault(std::uint32_t client);
  void leave(std::uint32_t client);
  void end_gate(std::uint32_t client);
  void remember_warm_times();
  void end_programs();
  RunResult finish();
  void tell();

  const RunInput& input_;
  const LiveOptions& options_;
  LiveReport& report_;
  RunningTotals* const totals_;
  WallClock clock_;
  Time now_ = kRunStart;
  GateOwner owner_;
  Arbiter arbiter_;
  std::vector<Program> programs_;
  std::vector<State> states_;
  std::vector<std::unique_ptr<QualityFile>> quality_files_;  // by client; of those with a menu
  std::vector<std::unique_ptr<ServerFile>> server_files_;    // by client; of servers
  std::vector<std::uint32_t> refused_;                       // by the policy, and not yet asked to end
  std::vector<Time> kill_at_;                                // by client: of those refused
  Time wake_ = kNever;
  Time next_look_ = kRunStart;
  bool decision_is_due_ = false;
  bool is_warm_ = false;
  DeviceUse use_;
  std::vector<std::unique_ptr<LiveClient>> clients_;
  std::vector<Duration> warm_times_;
  Duration warm_busy_{};
  AdjustableParameters adjustable_;
  std::size_t adjusted_ = 0;              // of the input's adjustments
  std::unique_ptr<ControlDoor> control_;  // nullptr: from outside nothing is asked
  Restarts restarts_;
};

/// A policy that hears nothing leaves everything to the device: nothing is bounded, and no process rings.
void LiveRun::prepare(gate::Lane& lane) const {
  const Hears hears = input_.policy->hears();
  const bool hears_anything = hears.submitted || hears.launched || hears.completed || hears.frames;
  lane.every = std::max(options_.every, 1U);
  lane.bound = hears_anything ? options_.most_in_flight : 0;
  lane.bound_ns = hears_anything ? static_cast<std::uint64_t>(to_ns(options_.most_queued)) : 0;
  lane.tells = hears_anything ? 1 : 0;
}

Time LiveRun::next_instant() const {
  const bool has_promised = std::ranges::any_of(clients_, [](const auto& client) { return client->has_promise(); });
  Time next = std::min(wake_, clock_.now() + (has_promised ? kPromiseHolds : Duration{gate::kHeartbeatNs}));
  next = std::min(next, kRunStart + input_.horizon);
  for (std::uint32_t i = 0; i < states_.size(); ++i)
    if (states_[i] == State::kToCome) next = std::min(next, kRunStart + input_.clients[i].arrival);
  if (adjusted_ < input_.adjustments.size()) next = std::min(next, kRunStart + input_.adjustments[adjusted_].at);
  return next;
}

/// Launches that ask one after another are answered faster than a sleeping thread could be woken.
bool LiveRun::question_is_near() const {
  return std::ranges::any_of(clients_, [&](const auto& client) {
    return client->last_question() != kNever &&
           clock_.now() - client->last_question() < Duration{gate::kAwakeForQuestionNs};
  });
}

void LiveRun::start_due() {
  for (std::uint32_t i = 0; i < states_.size(); ++i)
    if (states_[i] == State::kToCome && now_ >= kRunStart + input_.clients[i].arrival) start(i);
}

void LiveRun::adjust_due() {
  for (; adjusted_ < input_.adjustments.size() && now_ >= kRunStart + input_.adjustments[adjusted_].at; ++adjusted_) {
    adjustable_.set(input_.adjustments[adjusted_]);
    arbiter_.adjust(input_.adjustments[adjusted_]);
  }
}

/// All that is asked for, or nothing where a part of it is wrong.
std::string LiveRun::answer(const std::vector<std::string>& words) {
  std::vector<Adjustment> asked;
  for (const std::string& word : words) asked.push_back(adjustable_.read(word));
  for (const Adjustment& adjustment : asked) {
    adjustable_.set(adjustment);
    arbiter_.adjust(adjustment);
    report_.notes.push_back(fmt::format("{} was set from outside after {:.3f} s: the run is not as its file says",
                                        to_text(adjustment), to_seconds(now_ - kRunStart)));
  }
  return status();
}

std::string LiveRun::status() const {
  std::string text = fmt::format("policy {}, {:.1f} of {:.1f} s\n", input_.policy_name, to_seconds(now_ - kRunStart),
                                 to_seconds(input_.horizon));
  for (const std::string& parameter : adjustable_.texts()) text += fmt::format("  {}\n", parameter);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) text += status_of(i);
  return text;
}

std::string LiveRun::status_of(std::uint32_t client) const {
  const Hold* hold = arbiter_.hold_of(ClientId{client});
  std::string state = hold == nullptr ? "passes" : fmt::format("waits ({})", hold->rule);
  if (states_[client] == State::kToCome) state = "has not arrived";
  if (states_[client] == State::kLeft) state = "has left";
  return fmt::format("client {} {}, {:.3f} s of device time\n", clients_[client]->name(), state,
                     to_seconds(use_.of(ClientId{client})));
}

void LiveRun::start(std::uint32_t client) {
  states_[client] = State::kPresent;
  arbiter_.join(ClientId{client});
  set_memory_terms(client);
  start_program(client);
}

void LiveRun::start_program(std::uint32_t client) {
  const ClientSpec& spec = input_.clients[client];
  std::vector<std::string> variables = restarts_.variables(ClientId{client});
  variables.push_back(fmt::format("{}={}", gate::kFileVariable, owner_.path(client)));
  if (options_.is_gated_by_cupti) variables.push_back("CUDA_INJECTION64_PATH=" + options_.gate_library);
  if (const auto& quality = quality_files_[client]; quality != nullptr)
    variables.push_back(fmt::format("{}={}", QualityFile::kVariable, quality->path()));
  if (const auto& server = server_files_[client]; server != nullptr)
    variables.push_back(fmt::format("{}={}", ServerFile::kVariable, server->path()));
  programs_[client].start(spec.name, spec.command, variables, guests_of(spec));
}

/// An equal part of the managed memory for each client, since none is known to need less.
void LiveRun::set_memory_terms(std::uint32_t client) {
  MemoryTerms terms = arbiter_.memory_terms(ClientId{client});
  if (terms.is_managed) {
    if (options_.managed_memory == 0) return;
    const std::uint64_t part = std::max<std::uint64_t>(1, options_.managed_memory / clients_.size());
    terms.most_bytes = terms.most_bytes == 0 ? part : std::min(terms.most_bytes, part);
  }
  clients_[client]->set_memory(terms);
}

/// LD_PRELOAD cannot name a path that has one of its separators.
Guests LiveRun::guests_of(const ClientSpec& spec) const {
  Guests guests;
  const bool is_preloadable = options_.gate_library.find_first_of(" :") == std::string::npos;
  if (!options_.is_gated_by_cupti && is_preloadable) guests.preloads.push_back(options_.gate_library);
  guests.injection = options_.gate_library;
  if (spec.role != Role::kInteractive) return guests;
  if (!options_.frame_library.empty()) guests.preloads.push_back(options_.frame_library);
  guests.layer_data = options_.layer_data;
  return guests;
}

bool LiveRun::poll_all() {
  bool has_news = false;
  const bool has_frames =
      std::ranges::any_of(clients_, [](const auto& client) { return client->has_frames_to_tell(); });
  for (std::uint32_t i = 0; has_frames && i < clients_.size(); ++i)
    if (states_[i] == State::kPresent) clients_[i]->tell_use(clock_.now());
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (states_[i] == State::kPresent) has_news |= clients_[i]->poll();
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (states_[i] == State::kPresent && clients_[i]->tell_server()) decision_is_due_ = true;
  return has_news;
}

void LiveRun::wake_policy() {
  if (wake_ > now_) return;
  wake_ = kNever;
  decision_is_due_ = true;
}

void LiveRun::decide_if_due() {
  if (!std::exchange(decision_is_due_, false)) return;
  if (totals_ == nullptr) return arbiter_.decide();
  const Time begin = clock_.now();
  arbiter_.decide();
  totals_->decided(clock_.now() - begin);
}

/// What operators are told: the totals of facts, and what is no fact.
RunFigures LiveRun::figures() const {
  RunFigures figures = totals_->figures();
  figures.elapsed = now_ - kRunStart;
  figures.device_busy = use_.busy();
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    ClientFigures& its = figures.clients[i];
    add_present_state(its, *clients_[i], arbiter_, now_);
    its.is_present = states_[i] == State::kPresent && !restarts_.is_away(ClientId{i});
    its.device_time = use_.of(ClientId{i});
    its.snapshots = restarts_.saved(ClientId{i});
    its.refused_allocations = owner_.lane(i).refused_allocations.load();
  }
  return figures;
}

void LiveRun::follow_gates() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (states_[i] == State::kPresent) clients_[i]->follow();
}

void LiveRun::look_after_programs() {
  if (clock_.now() < next_look_) return;
  next_look_ = clock_.now() + Duration{gate::kHeartbeatNs};
  Time oldest = kNever;
  for (const auto& client : clients_) oldest = std::min(oldest, client->oldest_unfinished());
  use_.settle(oldest);
  if (totals_ != nullptr && options_.metrics->board().is_asked()) options_.metrics->board().post(figures());
  if (control_ != nullptr) control_->serve([this](const auto& words) { return answer(words); });
  for (std::uint32_t i = 0; i < programs_.size(); ++i) {
    if (clock_.now() >= kill_at_[i]) programs_[i].kill();
    if (states_[i] != State::kPresent) continue;
    if (clients_[i]->reap_dead_processes()) decision_is_due_ = true;
    if (restarts_.look_after(*clients_[i], programs_[i])) {
      start_program(i);
    } else if (programs_[i].is_gone()) {
      leave(i);
    }
  }
}

void LiveRun::evict_refused() {
  for (const std::uint32_t client : std::exchange(refused_, {})) put_out(client, "refused by the policy");
}

/// The others are left as they are.
void LiveRun::drop_faulty() {
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (states_[i] == State::kPresent && !clients_[i]->fault().empty()) {
      put_out(i, "dropped");
      note_fault(i);
    }
}

void LiveRun::note_fault(std::uint32_t client) {
  if (clients_[client]->fault().empty()) return;
  report_.notes.push_back(fmt::format("client '{}' wrote into the memory of its gate what no gate writes: {}",
                                      clients_[client]->name(), clients_[client]->fault()));
}

/// No error can be given to a program as it is: it is asked to end, and counts as gone.
void LiveRun::put_out(std::uint32_t client, const std::string& why) {
  clients_[client]->evict();
  end_gate(client);
  kill_at_[client] = clock_.now() + options_.end_patience;
  report_.notes.push_back(fmt::format("client '{}' was {} after {:.3f} s: its program was ended",
                                      clients_[client]->name(), why, to_seconds(now_ - kRunStart)));
}

void LiveRun::leave(std::uint32_t client) {
  clients_[client]->leave();
  end_gate(client);
  const std::string note = note_of_leaving(clients_[client]->name(), programs_[client].ending(), now_, input_.warmup);
  if (!note.empty()) report_.notes.push_back(note);
  note_fault(client);
}

void LiveRun::end_gate(std::uint32_t client) {
  arbiter_.leave(ClientId{client});
  owner_.open_for_good(client);
  programs_[client].terminate();
  states_[client] = State::kLeft;
}

void LiveRun::remember_warm_times() {
  is_warm_ = true;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) warm_times_[i] = use_.of(ClientId{i});
  warm_busy_ = use_.busy();
}

void LiveRun::end_programs() {
  for (std::uint32_t i = 0; i < programs_.size(); ++i) owner_.open_for_good(i);
  for (Program& program : programs_) program.terminate();
  const Time patient_until = clock_.now() + options_.end_patience;
  const auto is_gone = [](Program& program) { return program.is_gone(); };
  const auto is_hurried = [&] { return options_.hurry != nullptr && options_.hurry->load(); };
  while (clock_.now() < patient_until && !is_hurried() && !std::ranges::all_of(programs_, is_gone))
    owner_.await_bell(owner_.common().bell.load(), gate::kHeartbeatNs);
}

RunResult LiveRun::finish() {
  tick();
  arbiter_.finish();
  if (!is_warm_) remember_warm_times();
  RunResult result;
  result.end = std::min(clock_.now(), kRunStart + input_.horizon);
  result.usage.busy = use_.busy() - warm_busy_;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    result.device_time.push_back(use_.of(ClientId{i}) - warm_times_[i]);
    result.jobs_finished.push_back(clients_[i]->jobs_finished());
    result.has_unknown_rate.push_back(!clients_[i]->why_rate_is_unknown().empty());
    result.events += clients_[i]->counts().launches;
  }
  if (totals_ != nullptr) options_.metrics->board().post_last(figures());
  end_programs();
  tell();
  return result;
}

void LiveRun::tell() {
  if (is_stopped())
    report_.notes.push_back(
        fmt::format("interrupted after {:.1f} of {:.1f} s", to_seconds(now_ - kRunStart), to_seconds(input_.horizon)));
  for (std::string& note : restarts_.notes()) report_.notes.push_back(std::move(note));
  std::vector<Duration> late;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    const LiveClient& client = *clients_[i];
    const gate::Lane& lane = owner_.lane(i);
    report_.launches += client.counts().launches;
    report_.slipped += client.counts().slipped;
    report_.unobserved += lane.unobserved.load();
    report_.let_through += lane.let_through.load();
    report_.captured += lane.captured.load();
    late.insert(late.end(), client.counts().heard_late.begin(), client.counts().heard_late.end());
    for (std::string& note : notes_of(client, lane, input_, options_)) report_.notes.push_back(std::move(note));
  }
  if (late.empty()) return;
  std::ranges::sort(late);
  report_.heard_p50 = late[late.size() / 2];
  report_.heard_p99 = late[late.size() * 99 / 100];
}

void refuse_what_is_not_live(const RunInput& input) {
  if (input.tells_exact_durations)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("policy '{}' needs an oracle: a live run has none", input.policy_name));
  for (const ClientSpec& spec : input.clients) {
    if (spec.command.words.empty())
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("client '{}' has no `command`: a live run starts one for each", spec.name));
    if (!spec.resizes.empty())
      throw Error(ErrorKind::kUnsupported, fmt::format("client '{}' is resized: a live run does not", spec.name));
  }
}

}  // namespace

RunResult run_live(const RunInput& input, Recorder& recorder, const LiveOptions& options, LiveReport& report) {
  refuse_what_is_not_live(input);
  report = LiveReport{};
  if (options.metrics == nullptr) return LiveRun(input, recorder, options, report, nullptr).run();
  const ToldRun told(options.metrics->board());
  RunningTotals totals(recorder, input, told.number());
  return LiveRun(input, totals, options, report, &totals).run();
}

}  // namespace corun::live
