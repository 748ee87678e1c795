/// PilotFish - fills the time between the frames of a game with kernels that are predicted to fit.
/// Source:      W. Zhang, B. Chen et al., "PilotFish: harvesting free cycles of cloud gaming with deep learning
///              training", USENIX ATC 2022.  Artifact: Chen-Binghao/PilotFish (render hook, kernel hook).
/// Hears:       everything.      Needs: frame events, predictions (pilotfish_oracle: exact durations).
/// Decides:     the end of a frame opens a window that lasts until the next frame is due. A kernel is admitted if and
///              only if its predicted duration fits in what is left of the window; it is never reordered or split. One
///              that does not fit sleeps and looks again. Render work and copies pass. A filler whose
///              work has outlasted a frame is killed and restored from a snapshot, if a guarantee asks for that.
/// Parameters:  see pilotfish_parameters.cpp (each with unit and origin). The defaults are the artifact's PF mode; its
///              SOFT mode is `charge_unfinished: false, gate_on_rendering: true`, and its older "boxtime" that with
///              `launch_retry: 1ms`.
/// Departs:     see deviations

#include "policies/pilotfish/pilotfish.h"

#include "policies/builtin.h"
#include "policies/parts/rendering.h"
#include "policies/pilotfish/parameters.h"

namespace corun {

namespace {

DurationPredictor::Settings predictor_settings(const Parameters& parameters) {
  return {DurationPredictor::kind_of(parameters.choice("predictor")), parameters.real("quantile"),
          parameters.real("ewma_weight")};
}

FrameGuarantee::Settings guarantee_settings(const Parameters& parameters) {
  const std::string& kind = parameters.choice("guarantee");
  FrameGuarantee::Settings settings;
  if (kind == "soft") settings.kind = FrameGuarantee::Kind::kSoft;
  if (kind == "hard") settings.kind = FrameGuarantee::Kind::kHard;
  const std::string& preempt = parameters.choice("preempt");
  if (preempt == "leftover") settings.preempt = FrameGuarantee::Preempt::kLeftover;
  if (preempt == "either") settings.preempt = FrameGuarantee::Preempt::kEither;
  if (parameters.choice("decide_at") == "frame_end") settings.decide_at = FrameGuarantee::DecideAt::kFrameEnd;
  settings.tolerance = parameters.duration("tolerance");
  settings.drop_limit = parameters.integer("soft_drop_limit");
  settings.drop_window = parameters.integer("soft_window_frames");
  settings.kill_latency = parameters.duration("kill_latency");
  settings.snapshot_every = parameters.integer("snapshot_every");
  return settings;
}

}  // namespace

/// The rule of one decision: what has been promised in it and not launched yet is counted.
class PilotFish::Round : public AdmissionRule {
 public:
  /// `also` is a further rule, or nullptr.
  Round(const PilotFish& policy, const GpuView& view, std::vector<Promised>& promised, AdmissionRule* also)
      : policy_(policy),
        view_(view),
        also_(also),
        room_(policy.room(view)),
        shrinks_(policy.room_shrinks(view)),
        is_fresh_(policy.window_.is_fresh()),
        link_(policy.link_),
        promised_(promised) {
    promised_.assign(view.clients.size(), {});
  }

  Verdict judge(const ClientView& filler, const OpView& op) const override {
    Verdict verdict = judge_alone(filler, op);
    if (also_ == nullptr || !verdict.passes()) return verdict;
    const Verdict others = also_->judge(filler, op);
    if (!others.passes()) return others;
    verdict.until = std::min(verdict.until, others.until);
    return verdict;
  }

  void take(const ClientView& filler, const OpView& op) override {
    if (also_ != nullptr) also_->take(filler, op);
    take_alone(filler, op);
  }

 private:
  Verdict judge_alone(const ClientView& filler, const OpView& op) const {
    if (const std::string_view rule = policy_.guarantee_.holds(view_, filler); !rule.empty()) return {{rule, 0, 0, ""}};
    if (!policy_.fits_in_memory(filler.id)) return {policy_.memory_.hold(filler.id)};
    if (policy_.work_.has_unknown(filler.id) || promised_[filler.id.value].has_unknown) return {{"timing", 0, 0, ""}};
    return op.is_kernel() ? judge_kernel(filler, op) : judge_copy(op);
  }

  void take_alone(const ClientView& filler, const OpView& op) {
    if (op.is_copy) link_.take(view_.device, op, view_.now);
    if (!op.is_kernel()) return;
    const Duration predicted = policy_.predictor_.predict(filler.id, op);
    Promised& promised = promised_[filler.id.value];
    ++promised.kernels;
    is_fresh_ = false;
    if (predicted != kUnknownDuration) {
      room_ -= predicted;
    } else {
      promised.has_unknown = true;
      if (!policy_.runs_unknown_) room_ = Duration::zero();
    }
  }

  Verdict judge_copy(const OpView& op) const {
    const Time passes_at = link_.passes_at(view_.device, op, view_.now);
    if (passes_at <= view_.now) return Verdict::pass();
    return {{"pcie_reserve", static_cast<double>(op.bytes), 0, "bytes"}, passes_at};
  }

  Verdict judge_kernel(const ClientView& filler, const OpView& op) const {
    const std::uint64_t in_flight = policy_.work_.count(filler.id) + promised_[filler.id.value].kernels;
    if (policy_.max_in_flight_ > 0 && in_flight >= policy_.max_in_flight_)
      return {{"inflight_limit", static_cast<double>(in_flight + 1), static_cast<double>(policy_.max_in_flight_),
               "kernels"}};
    const Duration predicted = policy_.predictor_.predict(filler.id, op);
    const bool is_unknown = predicted == kUnknownDuration;
    const bool fits =
        is_unknown ? policy_.runs_unknown_ || (is_fresh_ && room_ > Duration::zero()) : predicted <= room_;
    if (fits) return Verdict::pass(shrinks_ && !is_unknown ? view_.now + (room_ - predicted) : kNever);
    const double available = std::max<double>(0, static_cast<double>(to_ns(room_)));
    return {{policy_.why_no_room(view_), is_unknown ? 0 : static_cast<double>(to_ns(predicted)), available, "ns"}};
  }

  const PilotFish& policy_;
  const GpuView& view_;
  AdmissionRule* const also_;
  Duration room_;       // as yet unpromised
  const bool shrinks_;  // as time goes by
  bool is_fresh_;       // nothing has been admitted from this window
  LinkReserve link_;
  std::vector<Promised>& promised_;  // by client
};

PilotFish::PilotFish(const Parameters& parameters)
    : target_period_(parameters.duration("target_period")),
      allowance_(parameters.duration("overcommit") - parameters.duration("margin")),
      initial_slice_(parameters.duration("initial_slice")),
      charges_unfinished_(parameters.boolean("charge_unfinished")),
      is_absolute_(parameters.choice("budget") == "absolute"),
      gates_on_rendering_(parameters.boolean("gate_on_rendering") || is_absolute_),
      uses_gaps_(parameters.boolean("intra_frame_gaps")),
      runs_unknown_(parameters.choice("unknown_kernel") == "run"),
      requires_memory_fit_(parameters.boolean("require_memory_fit")),
      max_in_flight_(static_cast<std::uint64_t>(parameters.integer("max_inflight_kernels"))),
      window_(is_absolute_, parameters.duration("notify_poll")),
      gaps_(parameters.duration("min_gap"), parameters.duration("notify_poll")),
      predictor_(predictor_settings(parameters)),
      guarantee_(guarantee_settings(parameters)),
      link_(parameters.real("pcie_reserve")),
      fillers_(parameters.duration("launch_retry")) {}

void PilotFish::on_joined(const GpuView& view, ClientId client) {
  has_game_ = has_game(view);
  guarantee_.joined(view, client);
  memory_.look(view);
  if (!is_game(view.client(client))) return;
  const bool is_first = std::ranges::count_if(view.clients, is_game) == 1;
  if (is_first) {
    window_.begin_with(initial_slice_);
  } else {
    window_.close();
  }
}

void PilotFish::on_left(const GpuView& view, ClientId client) {
  has_game_ = has_game(view);
  gaps_.left(client);
  memory_.look(view);
  if (has_game_) return;
  window_.close();
  guarantee_.games_left();
}

void PilotFish::on_submitted(const GpuView& view, ClientId client, const OpView& op) {
  if (is_of_game(view, client) && op.is_render) gaps_.submitted(view, client);
}

void PilotFish::on_launched(const GpuView& view, ClientId client, const OpView& op) {
  if (is_of_game(view, client)) {
    if (op.is_render) gaps_.launched(view, client);
    return;
  }
  fillers_.on_launched(client);
  if (op.is_copy && has_game(view)) link_.take(view.device, op, view.now);
  if (!op.is_kernel()) return;
  const Duration predicted = predictor_.predict(client, op);
  if (predicted != kUnknownDuration) ahead_.launched(client, predicted);
  const Duration cost = std::max(charge(view, predicted), Duration::zero());
  work_.launched(view, client, op.number, cost, predicted == kUnknownDuration);
  window_.spend(cost);
}

void PilotFish::on_completed(const GpuView& view, ClientId client, const OpView& op, Duration device_time) {
  if (is_of_game(view, client)) {
    if (op.is_render) gaps_.completed(view, client);
    return;
  }
  if (op.is_kernel()) {
    const UnfinishedWork::Launch launch = work_.completed(client, op.number, view.now);
    if (UnfinishedWork::is_representative(view.client(client), launch)) learn(client, op, device_time);
  }
  guarantee_.completed(view.client(client));
}

void PilotFish::on_frame(const GpuView& view, ClientId client, FrameEvent event) {
  if (event == FrameEvent::kBegin) return guarantee_.frame_began(view, client, period(view.client(client)), work_);
  gaps_.frame_ended(client);
  guarantee_.frame_ended(view, client, work_);
  if (!is_rendering(view)) window_.publish(view.now, earliest_next_begin(view));
}

void PilotFish::on_copied(const GpuView&, ClientId client, CopyEvent) { guarantee_.copied(client); }

/// Where nothing waits, operations change nothing, but for the gaps of a frame and for what is to be killed.
bool PilotFish::decides_after(const GpuView& view, ClientId client, OpEvent) const {
  return uses_gaps_ || guarantee_.kills() || fillers_.leaves_waiting() || !view.client(client).waiting.empty();
}

void PilotFish::decide(const GpuView& view, Actions& actions) {
  notice_window(view);
  settle_gates(view, actions);
  if (has_game_) admit(view, nullptr, actions);
}

/// The gate of a client that has not changed stands as it should, unless games have come or gone; what is copied is
/// held for the decision alone.
void PilotFish::settle_gates(const GpuView& view, Actions& actions) {
  const bool concerns_all = guarantee_.kills() || has_game_ != were_gated_;
  were_gated_ = has_game_;
  if (concerns_all) {
    close_fillers_while_games_run(view, actions);
    return;
  }
  for (const ClientId client : view.changed)
    if (view.client(client).is_present) settle_gate(view.client(client), has_game_, actions);
}

void PilotFish::decide_fillers(const GpuView& view, AdmissionRule& also, Actions& actions) {
  notice_window(view);
  const bool are_gated = has_game(view);
  for (const ClientView& client : view.clients)
    if (is_filler(client)) settle_gate(client, are_gated, actions);
  if (are_gated) admit(view, &also, actions);
}

void PilotFish::notice_window(const GpuView& view) {
  window_.notice(view.now, charges_unfinished_ ? work_.total() : Duration::zero());
}

void PilotFish::admit(const GpuView& view, AdmissionRule* also, Actions& actions) {
  guarantee_.act(view, actions);
  if (fillers_.find_waiting(view)) {
    Round round(*this, view, promised_, also);
    fillers_.admit(view, round, actions);
  }
  actions.wake_at(window_.noticed_at());
  if (uses_gaps_) actions.wake_at(gaps_.noticed_at(view.now));
}

std::uint32_t PilotFish::admits_ahead(const GpuView& view, const ClientView& client) const {
  return admits_ahead_within(Duration::max(), view, client);
}

std::uint32_t PilotFish::admits_ahead_within(Duration most, const GpuView& view, const ClientView& client) const {
  if (!is_filler(client) || room_shrinks(view) || may_wait(view, client)) return 0;
  const auto fillers = static_cast<std::size_t>(std::ranges::count_if(view.clients, is_filler));
  const Duration shared = std::min(room(view), most);
  const std::uint64_t ahead = ahead_.in(shared, client.id, fillers), in_flight = work_.count(client.id);
  if (max_in_flight_ == 0) return static_cast<std::uint32_t>(ahead);
  return static_cast<std::uint32_t>(std::min(ahead, max_in_flight_ - std::min(in_flight, max_in_flight_)));
}

bool PilotFish::fits_in_memory(ClientId filler) const {
  return !requires_memory_fit_ || memory_.hold(filler).rule.empty();
}

bool PilotFish::is_of_game(const GpuView& view, ClientId client) {
  return view.client(client).role == Role::kInteractive;
}

Duration PilotFish::period(const ClientView& game) const {
  if (target_period_ > Duration::zero()) return target_period_;
  return game.frame_period > Duration::zero() ? game.frame_period : kUsualPeriod;
}

void PilotFish::learn(ClientId client, const OpView& op, Duration device_time) {
  predictor_.learn(client, op, device_time);
  ahead_.measured(client, predictor_.predict(client, op));
}

Time PilotFish::earliest_next_begin(const GpuView& view) const {
  Time earliest = kNever;
  for (const ClientView& client : view.clients)
    if (client.is_present && client.frame.begin != kNever)
      earliest = std::min(earliest, client.frame.begin + period(client));
  return earliest;
}

Duration PilotFish::room(const GpuView& view) const {
  Duration room = gates_on_rendering_ && is_rendering(view) ? kNoRoom : window_.room(view.now, work_.total());
  if (uses_gaps_) room = std::max(room, gaps_.room(view, work_.total()));
  return room == kNoRoom ? kNoRoom : room + allowance_;
}

bool PilotFish::may_wait(const GpuView& view, const ClientView& filler) const {
  return work_.has_unknown(filler.id) || link_.keeps_any() || !guarantee_.holds(view, filler).empty() ||
         !fits_in_memory(filler.id);
}

bool PilotFish::room_shrinks(const GpuView& view) const {
  return is_absolute_ || (uses_gaps_ && gaps_.room(view, work_.total()) > window_.room(view.now, work_.total()));
}

std::string_view PilotFish::why_no_room(const GpuView& view) const {
  if (!window_.is_open()) return "no_window_yet";
  return gates_on_rendering_ && is_rendering(view) ? "rendering" : "window";
}

Duration PilotFish::charge(const GpuView& view, Duration predicted) const {
  if (predicted != kUnknownDuration) return predicted;
  return runs_unknown_ ? Duration::zero() : room(view);
}

PolicyDescriptor pilotfish_policy() {
  PolicyDescriptor policy;
  policy.name = "pilotfish";
  policy.summary = "Kernels of best-effort clients run between frames, if predicted to fit before the next one.";
  policy.source = kPilotFishSource;
  policy.deviations = {
      "What a straggler is, a kernel that has run longer than predicted by more than `tolerance`, is ours.",
      "With `decide_at: frame_end` what is left then counts; the artifact looks at what was left after the frame "
      "before.",
      "Several games: a window opens when none renders and lasts until the earliest next frame.",
      "Several fillers share one window and take turns, one launch each.",
      "`budget: absolute`, `margin`, `overcommit`, `intra_frame_gaps`, `unknown_kernel: defer`, `pcie_reserve` and all "
      "predictors but `name_mean` are ours.",
      "After a kill the program goes on behind what was lost; lost work is reported, not repeated. A restore takes the "
      "device's `context_create` and the copy; the notes on the paper speak of at least 30 ms.",
      "The isolation of CPU, disk and network, the stop signal on a stream of high priority, the choice of a server "
      "for a training, and the artifact's time-out of 60 ms for a frame's end are left out.",
      "Live, a kill ends a program's processes and starts its command again, and a snapshot is the program's own: it "
      "saves its state at its next step.",
      "The artifact sees Direct3D 12 on Windows; games here are OpenGL and Vulkan, or logs of frames.",
      "Frames begin and end on the device's clock; the artifact learns of them from fences, up to a millisecond late.",
  };
  policy.parameters = pilotfish_parameters();
  policy.needs.frame_events = true;
  policy.needs.predictions = true;
  policy.create = [](const Parameters& values) { return std::make_unique<PilotFish>(values); };
  return policy;
}

PolicyDescriptor pilotfish_oracle_policy() {
  PolicyDescriptor policy = pilotfish_policy();
  policy.name = "pilotfish_oracle";
  policy.summary = "pilotfish with exact kernel durations: an upper bound on the gain of better prediction.";
  policy.deviations.insert(policy.deviations.begin(), "Durations are exact, which nothing real can know.");
  policy.parameters.remove("predictor");
  policy.needs.oracle = true;
  policy.create = [](Parameters values) {
    values.set("predictor", std::string("oracle"));
    return std::make_unique<PilotFish>(values);
  };
  return policy;
}

}  // namespace corun
