/// PilotFish absolute - kernels that end before the next frame is due, but for a chosen fraction of frames.
/// Source:      ours, after PilotFish (USENIX ATC 2022), whose windows are lengths of time and whose predictions are
///              means. docs/policies/pilotfish_absolute.md says what that gains.
/// Hears:       everything.      Needs: frame events, predictions.
/// Decides:     the end of a frame opens a window that ends when the game is expected to submit its next frame: one
///              period after it submitted this one. A kernel is admitted if and only if the work in flight and the
///              kernel are predicted to end before that, less a margin that is the (1 - epsilon) quantile of how wrong
///              such predictions were. The game's submission closes the window at once.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <optional>

#include "policies/builtin.h"
#include "policies/parts/duration_predictor.h"
#include "policies/parts/launches_ahead.h"
#include "policies/parts/rendering.h"
#include "policies/parts/sleeping_fillers.h"
#include "policies/pilotfish/filler_lease.h"
#include "policies/pilotfish/margin.h"
#include "policies/pilotfish/memory.h"
#include "policies/pilotfish/parameters.h"
#include "policies/pilotfish/work.h"

namespace corun {

namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr Duration kWakenedByEvents{};
/// Two seconds at 60 fps: what a kernel that is really too long delays is less than one frame in a hundred.
constexpr std::uint32_t kStarvedAfterWindows = 120;

OverrunMargin::Settings margin_settings(const Parameters& parameters) {
  return {parameters.real("epsilon"), parameters.duration("initial_margin"), parameters.duration("margin_limit"),
          static_cast<std::size_t>(parameters.integer("margin_windows"))};
}

class PilotFishAbsolute : public Policy {
 public:
  /// With `lease`, fillers need one to run, whether a game is there or not.
  explicit PilotFishAbsolute(const Parameters& parameters, std::optional<FillerLease> lease = std::nullopt)
      : target_period_(parameters.duration("target_period")),
        notify_latency_(parameters.duration("notify_latency")),
        requires_memory_fit_(!lease && parameters.boolean("require_memory_fit")),
        lease_(std::move(lease)),
        predictor_({.kind = DurationPredictor::kind_of(parameters.choice("predictor"))}),
        margin_(margin_settings(parameters)),
        fillers_(kWakenedByEvents) {}

  void on_joined(const GpuView& view, ClientId client) override {
    games_.resize(view.clients.size());
    games_[client.value] = {};
    windows_in_vain_.resize(view.clients.size());
    windows_in_vain_[client.value] = 0;
    memory_.look(view);
    if (is_game(view.client(client))) close(view);
  }

  void on_left(const GpuView& view, ClientId client) override {
    games_[client.value] = {};
    memory_.look(view);
    if (!has_game(view)) close(view);
  }

  void on_submitted(const GpuView& view, ClientId client, const OpView& op) override {
    if (!is_of_game(view, client) || !op.is_render) return;
    Game& game = games_[client.value];
    if (game.unfinished++ > 0 || is_rendering(view.client(client))) return;
    if (is_open_ && has_launched_) learn_error(view);
    if (is_open_) count_windows_in_vain(view);
    close(view);
    game.due = view.now + period(view.client(client));
  }

  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    if (is_of_game(view, client)) return;
    fillers_.on_launched(client);
    if (!op.is_kernel()) return;
    const Duration predicted = expectation(client, op);
    const bool is_unknown = predicted == kUnknownDuration;
    windows_in_vain_[client.value] = 0;
    if (work_.total() == Duration::zero()) progress_ = view.now;
    if (!is_unknown) ahead_.launched(client, predicted);
    work_.launched(view, client, op.number, is_unknown ? std::max(room(view), Duration{}) : predicted, is_unknown);
    has_launched_ = true;
    predicted_end_ = end_of_work(view.now);
  }

  void on_completed(const GpuView& view, ClientId client, const OpView& op, Duration device_time) override {
    if (is_of_game(view, client)) {
      games_[client.value].unfinished -= op.is_render;
    } else if (op.is_kernel()) {
      const UnfinishedWork::Launch launch = work_.completed(client, op.number, view.now);
      if (UnfinishedWork::is_representative(view.client(client), launch)) learn(client, op, device_time);
      progress_ = view.now;
    }
  }

  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override {
    if (event != FrameEvent::kEnd || is_busy(view)) return;
    roll_on(view, client);
    noticed_ = view.now + notify_latency_;
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (noticed_ <= view.now) open(view);
    if (lease_) lease_->settle(view, actions);
    if (lease_ && !has_game(view)) return open_who_has_a_lease(view, actions);
    if (!close_fillers_while_games_run(view, actions)) return;
    if (fillers_.find_waiting(view)) {
      Round round(*this, view);
      fillers_.admit(view, round, actions);
    }
    actions.wake_at(noticed_);
  }

  std::uint32_t admits_ahead(const GpuView& view, const ClientView& client) const override {
    const bool waits = !is_filler(client) || memory_hold(client.id) != nullptr || work_.has_unknown(client.id) ||
                       windows_in_vain_[client.id.value] >= kStarvedAfterWindows;
    if (waits) return 0;
    return ahead_.in(room(view), client.id, static_cast<std::size_t>(std::ranges::count_if(view.clients, is_filler)));
  }

 private:
  struct Game {
    std::uint32_t unfinished = 0;  // render operations submitted and not completed
    Time due = kNever;             // expected submission of its next frame
  };

  class Round : public AdmissionRule {
   public:
    Round(const PilotFishAbsolute& policy, const GpuView& view)
        : policy_(policy), view_(view), room_(policy.room(view)), has_admitted_(policy.has_launched_) {}

    Verdict judge(const ClientView& filler, const OpView& op) const override {
      if (const Hold* hold = policy_.memory_hold(filler.id)) return {*hold};
      if (policy_.work_.has_unknown(filler.id) || timing_ == filler.id) return {{"timing", 0, 0, ""}};
      if (!op.is_kernel()) return Verdict::pass();
      const Duration predicted = policy_.expectation(filler.id, op);
      const bool is_unknown = predicted == kUnknownDuration;
      if (is_unknown ? !has_admitted_ && room_ > Duration::zero() : predicted <= room_) return Verdict::pass();
      const Duration available = std::max(room_, Duration::zero());
      return {{policy_.why_no_room(view_), is_unknown ? 0 : static_cast<double>(to_ns(predicted)),
               static_cast<double>(to_ns(available)), "ns"}};
    }

    void take(const ClientView& filler, const OpView& op) override {
      if (!op.is_kernel()) return;
      const Duration predicted = policy_.expectation(filler.id, op);
      has_admitted_ = true;
      if (predicted == kUnknownDuration) timing_ = filler.id;
      room_ -= predicted == kUnknownDuration ? room_ : predicted;
    }

   private:
    const PilotFishAbsolute& policy_;
    const GpuView& view_;
    Duration room_;  // as yet unpromised
    bool has_admitted_;
    ClientId timing_ = ClientId::none();
  };

  /// Without a game there are no windows, and the lease alone decides.
  void open_who_has_a_lease(const GpuView& view, Actions& actions) const {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (lease_->hold(client.id).rule.empty()) {
        actions.open(client.id);
      } else {
        actions.close(client.id);
        actions.hold(client.id, lease_->hold(client.id));
      }
    }
  }

  static bool is_of_game(const GpuView& view, ClientId client) {
    return view.client(client).role == Role::kInteractive;
  }

  Duration period(const ClientView& game) const {
    if (target_period_ > Duration::zero()) return target_period_;
    return game.frame_period > Duration::zero() ? game.frame_period : kUsualPeriod;
  }

  bool is_busy(const GpuView& view) const {
    return is_rendering(view) || std::ranges::any_of(games_, [](const Game& game) { return game.unfinished > 0; });
  }

  /// A frame that took longer than its period is followed by one at a later beat.
  void roll_on(const GpuView& view, ClientId client) {
    Time& due = games_[client.value].due;
    while (due != kNever && due <= view.now) due += period(view.client(client));
  }

  void open(const GpuView& view) {
    noticed_ = kNever;
    is_open_ = has_been_open_ = true;
    has_launched_ = false;
    deadline_ = kNever;
    for (const Game& game : games_) deadline_ = std::min(deadline_, game.due);
    paged_bytes_ = paged_bytes(view);
  }

  void close(const GpuView& view) {
    is_open_ = false;
    noticed_ = kNever;
    if (!has_game(view)) has_been_open_ = false;
  }

  /// The next frame is submitted now: how wrong was the prediction under which the window's last kernel was admitted?
  void learn_error(const GpuView& view) {
    if (paged_bytes(view) != paged_bytes_) return;
    const Time ended = work_.total() == Duration::zero() ? progress_ : end_of_work(view.now);
    margin_.learn((ended - predicted_end_) + (deadline_ - view.now));
  }

  /// A wrong prediction that fits nowhere would keep its filler out forever, since only what runs is timed.
  void count_windows_in_vain(const GpuView& view) {
    for (const ClientView& client : view.clients)
      if (is_filler(client) && !client.waiting.empty() && memory_hold(client.id) == nullptr)
        ++windows_in_vain_[client.id.value];
  }

  /// Why a filler waits whatever room there is; nullptr: it does not.
  const Hold* memory_hold(ClientId filler) const {
    if (requires_memory_fit_ && !memory_.hold(filler).rule.empty()) return &memory_.hold(filler);
    if (lease_ && !lease_->hold(filler).rule.empty()) return &lease_->hold(filler);
    return nullptr;
  }

  void learn(ClientId client, const OpView& op, Duration device_time) {
    predictor_.learn(client, op, device_time);
    ahead_.measured(client, predictor_.predict(client, op));
  }

  /// kUnknownDuration of what is not known, or is to be timed anew.
  Duration expectation(ClientId client, const OpView& op) const {
    if (windows_in_vain_[client.value] >= kStarvedAfterWindows) return kUnknownDuration;
    return predictor_.predict(client, op);
  }

  static std::uint64_t paged_bytes(const GpuView& view) {
    std::uint64_t bytes = 0;
    for (const ClientView& client : view.clients)
      if (is_filler(client)) bytes += client.paged_bytes;
    return bytes;
  }

  /// When the work in flight ends if it takes what is predicted, counted from the newest completion.
  Time end_of_work(Time now) const { return std::max(progress_ + work_.total(), now); }

  Duration room(const GpuView& view) const {
    if (!is_open_) return Duration{-1};
    return deadline_ - end_of_work(view.now) - margin_.margin();
  }

  std::string_view why_no_room(const GpuView& view) const {
    if (!has_been_open_) return "no_window_yet";
    return is_busy(view) ? "rendering" : "window";
  }

  const Duration target_period_;
  const Duration notify_latency_;
  const bool requires_memory_fit_;
  std::optional<FillerLease> lease_;
  DurationPredictor predictor_;
  OverrunMargin margin_;
  UnfinishedWork work_;
  MemoryFit memory_;
  LaunchesAhead ahead_;
  SleepingFillers fillers_;
  std::vector<Game> games_;                     // by client
  std::vector<std::uint32_t> windows_in_vain_;  // by client: in a row, something waited and nothing passed

  bool is_open_ = false;
  bool has_been_open_ = false;
  bool has_launched_ = false;  // a kernel in this window
  Time noticed_ = kNever;      // when the fillers' side learns that a window has begun
  Time deadline_ = kNever;
  Time progress_;                  // newest completion, or launch onto an idle device
  Time predicted_end_;             // of the window's work, when its last kernel was launched
  std::uint64_t paged_bytes_ = 0;  // when the window opened
};

ParameterTable parameters() {
  ParameterTable table;
  add_target_period(table, Duration{}, "ours: the pacing that the game states");
  table.ratio("epsilon", 0.01)
      .range(0.0001, 0.5)
      .means("Fraction of windows whose work may run into the next frame.")
      .from("ours");
  table.duration("initial_margin", 500us)
      .range(0s, 20ms)
      .means("Time kept free at the end of windows until enough of them have been seen.")
      .from("ours");
  table.duration("margin_limit", 2ms)
      .range(0s, 20ms)
      .means("Bound on the learned margin: one that is larger costs more than it protects.")
      .from("ours");
  table.integer("margin_windows", 300)
      .range(1, 100'000, "windows")
      .means("How many windows the margin is learned from.")
      .from("ours: five seconds at 60 fps");
  table.duration("notify_latency", 50us)
      .range(0s, 100ms)
      .means("Time from the end of a frame until the fillers' side knows of it.")
      .from("ours: waking a thread of another process");
  table.choice("predictor", {"position_in_iteration", "name_mean", "name_shape_mean", "ewma", "quantile"})
      .means("Where a kernel's expected duration comes from; see pilotfish.")
      .from("ours");
  add_memory_fit(table);
  return table;
}

void add_lease_parameters(ParameterTable& table) {
  table.real("overhead", 0.02)
      .range(0.001, 0.5)
      .means("Share of a lease that bringing memory in may take; its length follows from it.")
      .from("ours");
  table.duration("shortest_lease", 500ms).range(1ms, 1h).means("Shortest lease.").from("ours: thirty frames");
  table.duration("longest_lease", 30s).range(1ms, 1h).means("Longest lease.").from("nvshare's quantum");
  table.boolean("prefetch", true).means("Whether memory is brought in in bulk when a lease begins.").from("ours");
}

FillerLease::Settings lease_settings(const Parameters& parameters) {
  FillerLease::Settings settings;
  settings.residents.overhead = parameters.real("overhead");
  settings.residents.shortest_turn = parameters.duration("shortest_lease");
  settings.residents.longest_turn = parameters.duration("longest_lease");
  settings.residents.thrash_bytes_per_s = 1e8;  // as nvshare_adaptive takes it
  settings.prefetches = parameters.boolean("prefetch");
  return settings;
}

}  // namespace

PolicyDescriptor pilotfish_absolute_policy() {
  PolicyDescriptor policy;
  policy.name = "pilotfish_absolute";
  policy.summary = "Kernels run between frames if they are predicted to end before the next, but for one frame in 100.";
  policy.source = "ours, after PilotFish (USENIX ATC 2022); docs/policies/pilotfish_absolute.md";
  policy.deviations = {
      "From PilotFish: windows end at an instant, not after a length of time.",
      "They end when the game is expected to submit its next frame, not when the device begins it: fillers delay the "
      "start on the device, but not the submission.",
      "Fillers are woken when a window opens; they do not poll.",
      "A margin is kept that is the (1 - epsilon) quantile of how wrong the predictions of windows were.",
      "Kernels are predicted by their place in the iteration; measurements with page faults in them do not count.",
      "A filler that could launch nothing in many windows has a kernel timed anew.",
      "No kill, no snapshot, no reserve on the host link.",
  };
  policy.parameters = parameters();
  policy.needs.frame_events = true;
  policy.needs.predictions = true;
  policy.create = [](const Parameters& values) { return std::make_unique<PilotFishAbsolute>(values); };
  return policy;
}

PolicyDescriptor frame_lease_policy() {
  PolicyDescriptor policy = pilotfish_absolute_policy();
  policy.name = "frame_lease";
  policy.summary =
      "Fillers lease the memory that games leave, in turns, and run between frames as in pilotfish_absolute.";
  policy.source = "ours, after PilotFish (USENIX ATC 2022) and nvshare (ICSE 2024); docs/policies/frame_lease.md";
  policy.deviations = {
      "From PilotFish: see pilotfish_absolute. Fillers that do not fit together with the games take turns instead of "
      "waiting.",
      "From nvshare: the lock is for fillers only, and held by as many as fit; games never wait for it.",
      "A game's working set counts as needed at all times.",
  };
  policy.parameters.remove("require_memory_fit");
  add_lease_parameters(policy.parameters);
  policy.create = [](Parameters values) {
    values.set("require_memory_fit", false);
    return std::make_unique<PilotFishAbsolute>(values, FillerLease(lease_settings(values)));
  };
  return policy;
}

}  // namespace corun
