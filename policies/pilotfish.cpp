/// PilotFish - fills the time between the frames of a game with kernels that are predicted to fit.
/// Source:      W. Zhang, B. Chen et al., "PilotFish: harvesting free cycles of cloud gaming with deep learning
///              training", USENIX ATC 2022.  Artifact: Chen-Binghao/PilotFish (render hook, kernel hook).
/// Hears:       everything.      Needs: frame events, predictions.
/// Decides:     the end of a frame opens a window that lasts until the next frame is due. A kernel is admitted if and
///              only if its predicted duration fits in what is left of the window; it is never reordered or split. One
///              that does not fit sleeps and looks again. Render work and copies always pass.
/// Parameters:  see the descriptor below.
/// Departs:     1. No kill and no snapshot of the filler's memory: work in flight at a frame's begin runs on.
///              2. The first window opens at the end of the first frame; the artifact begins with 10 ms to spend.
///              3. Several games: a window opens when none renders and lasts until the earliest next frame.
///              4. Several fillers share one window and take turns, one launch each.
///              5. budget: absolute, margin, tolerance, predictor: name_shape_mean and unknown_kernel: defer are ours.

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/builtin.h"
#include "policies/sleeping_launch.h"

namespace corun {

namespace {

using std::chrono_literals::operator""ms;

constexpr Duration kUsualPeriod = std::chrono::microseconds{16'600};
constexpr Duration kClosed{-1};  // the room of a window that admits nothing

class PilotFish : public Policy {
 public:
  explicit PilotFish(const Parameters& parameters)
      : target_period_(parameters.duration("target_period")),
        is_absolute_(parameters.choice("budget") == "absolute"),
        allowance_(parameters.duration("tolerance") - parameters.duration("margin")),
        notify_poll_(parameters.duration("notify_poll")),
        launch_retry_(parameters.duration("launch_retry")),
        charges_unfinished_(parameters.boolean("charge_unfinished")),
        gates_on_rendering_(parameters.boolean("gate_on_rendering") || is_absolute_),
        predicts_by_shape_(parameters.choice("predictor") == "name_shape_mean"),
        runs_unknown_(parameters.choice("unknown_kernel") == "run") {}

  void on_joined(const GpuView& view, ClientId client) override {
    fillers_.resize(view.clients.size());
    if (view.client(client).role == Role::kInteractive) close_window();
  }

  void on_left(const GpuView& view, ClientId) override {
    if (!has_interactive(view)) close_window();
  }

  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    if (view.client(client).role == Role::kInteractive || is_free(op)) return;
    Filler& filler = fillers_[client.value];
    const Charge charge{std::max(cost(view, op), Duration::zero()), prediction(op) == kUnknownDuration};
    filler.charged[op.number] = charge;
    filler.timed += charge.is_timed;
    unfinished_ += charge.cost;
    left_ -= charge.cost;
    is_fresh_ = false;
    last_served_ = client;
  }

  void on_completed(const GpuView& view, ClientId client, const OpView& op, Duration device_time) override {
    if (view.client(client).role == Role::kInteractive || is_free(op)) return;
    Filler& filler = fillers_[client.value];
    const Charge charge = filler.charged.extract(op.number).mapped();
    unfinished_ -= charge.cost;
    if (!charge.is_timed) return;
    learned_.emplace(op.name, device_time);
    --filler.timed;
  }

  void on_frame(const GpuView& view, ClientId, FrameEvent event) override {
    if (event != FrameEvent::kEnd || is_rendering(view)) return;
    next_begin_ = earliest_next_begin(view);
    budget_ = next_begin_ - view.now;
    noticed_ = next_poll(view.now);
  }

  void decide(const GpuView& view, Actions& actions) override {
    notice(view.now);
    const bool has_game = has_interactive(view);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (!has_game || client.role == Role::kInteractive) {
        actions.open(client.id);
      } else {
        actions.close(client.id);
      }
    }
    if (!has_game) return;
    admit(view, actions);
    if (noticed_ != kNever) actions.wake_at(noticed_);
  }

 private:
  struct Charge {
    Duration cost;
    bool is_timed;  // it had no prediction: its client waits for it and remembers how long it took
  };

  struct Filler {
    std::unordered_map<std::uint64_t, Charge> charged;  // of what is in flight, by number
    std::uint32_t timed = 0;                            // how many of those are timed
    SleepingLaunch sleeper;
  };

  /// What one decision admits before it is carried out.
  struct Round {
    Duration room{};                      // of the window, as yet unpromised
    bool is_fresh = false;                // nothing has been admitted from this window
    std::vector<std::uint32_t> admitted;  // by client
    std::vector<bool> is_timing;          // by client
    std::vector<std::pair<ClientId, std::uint32_t>> turns;  // in order, one's launches in a row together
  };

  static bool is_free(const OpView& op) { return op.is_render || op.is_copy; }

  static bool has_interactive(const GpuView& view) {
    return std::ranges::any_of(view.clients,
                               [](const ClientView& c) { return c.is_present && c.role == Role::kInteractive; });
  }

  static bool is_rendering(const GpuView& view) {
    return std::ranges::any_of(view.clients, [](const ClientView& c) {
      return c.is_present && c.frame.begin != kNever && c.frame.end == kNever;
    });
  }

  Duration period(const ClientView& game) const {
    if (target_period_ > Duration::zero()) return target_period_;
    return game.frame_period > Duration::zero() ? game.frame_period : kUsualPeriod;
  }

  Time earliest_next_begin(const GpuView& view) const {
    Time earliest = kNever;
    for (const ClientView& client : view.clients)
      if (client.is_present && client.frame.begin != kNever)
        earliest = std::min(earliest, client.frame.begin + period(client));
    return earliest;
  }

  Time next_poll(Time now) const {
    if (notify_poll_ == Duration::zero()) return now;
    const Duration since = now - kRunStart;
    return kRunStart + (since + notify_poll_ - Duration{1}) / notify_poll_ * notify_poll_;
  }

  void close_window() {
    is_open_ = false;
    noticed_ = kNever;
  }

  /// The filler's side reads the published budget.
  void notice(Time now) {
    if (noticed_ > now) return;
    noticed_ = kNever;
    is_open_ = is_fresh_ = true;
    left_ = budget_ - (charges_unfinished_ ? unfinished_ : Duration::zero());
    deadline_ = next_begin_;
  }

  Duration prediction(const OpView& op) const {
    if (predicts_by_shape_ && op.predicted_by_shape != kUnknownDuration) return op.predicted_by_shape;
    if (op.predicted_by_name != kUnknownDuration) return op.predicted_by_name;
    const auto learned = learned_.find(op.name);
    return learned == learned_.end() ? kUnknownDuration : learned->second;
  }

  Duration room(const GpuView& view) const {
    if (!is_open_ || (gates_on_rendering_ && is_rendering(view))) return kClosed;
    return allowance_ + (is_absolute_ ? deadline_ - view.now - unfinished_ : left_);
  }

  /// What a launch takes from the window: its prediction; if there is none, nothing or all that is left.
  Duration cost(const GpuView& view, const OpView& op) const {
    const Duration predicted = prediction(op);
    if (predicted != kUnknownDuration) return predicted;
    return runs_unknown_ ? Duration::zero() : room(view);
  }

  bool fits(const OpView& op, const Round& round) const {
    const Duration predicted = prediction(op);
    if (predicted != kUnknownDuration) return predicted <= round.room;
    return runs_unknown_ || (round.is_fresh && round.room > Duration::zero());
  }

  void begin_round(const GpuView& view) {
    round_.room = room(view);
    round_.is_fresh = is_fresh_;
    round_.admitted.assign(view.clients.size(), 0);
    round_.is_timing.assign(view.clients.size(), false);
    round_.turns.clear();
  }

  void admit(const GpuView& view, Actions& actions) {
    const std::size_t count = view.clients.size();
    begin_round(view);
    for (bool has_admitted = true; has_admitted;) {
      has_admitted = false;
      for (std::size_t turn = 1; turn <= count; ++turn) {
        const ClientView& client = view.clients[(last_served_.value + turn) % count];
        if (client.is_present && client.role == Role::kBestEffort && admit_next(view, client, round_, actions))
          has_admitted = true;
      }
    }
    for (const auto& [client, launches] : round_.turns) actions.admit(client, launches);
  }

  bool admit_next(const GpuView& view, const ClientView& client, Round& round, Actions& actions) {
    Filler& filler = fillers_[client.id.value];
    std::uint32_t& admitted = round.admitted[client.id.value];
    if (admitted == client.waiting.size() || filler.timed > 0 || round.is_timing[client.id.value]) return false;
    const OpView& op = client.waiting[admitted];
    if (!is_free(op)) {
      const bool does_fit = fits(op, round);
      if (!does_fit || !filler.sleeper.looks(op.number, view.now, launch_retry_)) {
        filler.sleeper.sleep(op.number, view.now);
        if (does_fit) actions.wake_at(filler.sleeper.next_look(view.now, launch_retry_));
        return false;
      }
      take(op, client.id, round);
    }
    ++admitted;
    if (round.turns.empty() || round.turns.back().first != client.id) round.turns.emplace_back(client.id, 0);
    ++round.turns.back().second;
    return true;
  }

  void take(const OpView& op, ClientId client, Round& round) const {
    const Duration predicted = prediction(op);
    round.is_fresh = false;
    if (predicted != kUnknownDuration) {
      round.room -= predicted;
    } else {
      round.is_timing[client.value] = true;
      if (!runs_unknown_) round.room = Duration::zero();
    }
  }

  const Duration target_period_;
  const bool is_absolute_;
  const Duration allowance_;  // beyond the window; negative is a margin
  const Duration notify_poll_;
  const Duration launch_retry_;
  const bool charges_unfinished_;
  const bool gates_on_rendering_;
  const bool predicts_by_shape_;
  const bool runs_unknown_;

  // What the games' side published, and when the fillers' side reads it.
  Duration budget_{};
  Time next_begin_;
  Time noticed_ = kNever;

  // The window as the fillers' side knows it.
  bool is_open_ = false;
  bool is_fresh_ = false;
  Duration left_{};
  Time deadline_;
  Duration unfinished_{};  // predicted, of everything in flight
  ClientId last_served_{};
  std::vector<Filler> fillers_;  // by client
  Round round_;                  // kept for its storage
  std::map<std::string, Duration, std::less<>> learned_;
};

std::vector<ParameterDescriptor> parameters() {
  constexpr double kMillisecond = 1e6;
  constexpr double kSecond = 1e9;
  return {
      {.name = "target_period", .type = ParameterType::kDuration, .default_value = kUsualPeriod, .unit = "",
       .minimum = 0.0, .maximum = kSecond, .choices = {},
       .meaning = "Expected time from one frame's begin to the next; 0 takes each game's own pacing.",
       .source = "artifact: 16.6ms"},
      {.name = "budget", .type = ParameterType::kChoice, .default_value = std::string("relative"), .unit = "",
       .choices = {"relative", "absolute"},
       .meaning = "A window is a length of time spent from when it is noticed, or ends when the frame is due.",
       .source = "artifact: relative; absolute is ours"},
      {.name = "margin", .type = ParameterType::kDuration, .default_value = Duration::zero(), .unit = "",
       .minimum = 0.0, .maximum = 100 * kMillisecond, .choices = {},
       .meaning = "Time kept free at the end of every window.", .source = "ours"},
      {.name = "tolerance", .type = ParameterType::kDuration, .default_value = Duration::zero(), .unit = "",
       .minimum = 0.0, .maximum = 100 * kMillisecond, .choices = {},
       .meaning = "How far a kernel may be predicted to overrun the window and still be admitted.",
       .source = "paper names the idea; ours"},
      {.name = "notify_poll", .type = ParameterType::kDuration, .default_value = Duration{1ms}, .unit = "",
       .minimum = 0.0, .maximum = 100 * kMillisecond, .choices = {},
       .meaning = "Period at which the filler's side looks for a new window; 0 notices at once.",
       .source = "artifact, flip thread"},
      {.name = "launch_retry", .type = ParameterType::kDuration, .default_value = Duration{2ms}, .unit = "",
       .minimum = 0.0, .maximum = 100 * kMillisecond, .choices = {},
       .meaning = "How long a launch that did not fit sleeps before it looks again; 0 wakes it by events.",
       .source = "artifact, launch hook"},
      {.name = "charge_unfinished", .type = ParameterType::kBoolean, .default_value = true, .unit = "", .choices = {},
       .meaning = "Whether work in flight is charged to the next window; an absolute budget always charges it.",
       .source = "artifact: true in PF, false in SOFT mode"},
      {.name = "gate_on_rendering", .type = ParameterType::kBoolean, .default_value = false, .unit = "", .choices = {},
       .meaning = "Whether nothing is admitted while a frame is being rendered; an absolute budget always does so.",
       .source = "artifact: false in PF, true in SOFT mode"},
      {.name = "predictor", .type = ParameterType::kChoice, .default_value = std::string("name_mean"), .unit = "",
       .choices = {"name_mean", "name_shape_mean"},
       .meaning = "Mean of the solo profile by kernel name, or by name and launch shape.",
       .source = "artifact: name_mean; name_shape_mean is ours"},
      {.name = "unknown_kernel", .type = ParameterType::kChoice, .default_value = std::string("run"), .unit = "",
       .choices = {"run", "defer"},
       .meaning = "A kernel without prediction is run at once, alone, and timed; or takes a whole window of its own.",
       .source = "artifact: run; defer is ours"},
  };
}

}  // namespace

PolicyDescriptor pilotfish_policy() {
  PolicyDescriptor policy;
  policy.name = "pilotfish";
  policy.summary = "Kernels of best-effort clients run between frames, if predicted to fit before the next one.";
  policy.source =
      "W. Zhang, B. Chen et al., \"PilotFish: harvesting free cycles of cloud gaming with deep learning training\", "
      "USENIX ATC 2022; artifact Chen-Binghao/PilotFish";
  policy.deviations = {
      "No kill and no snapshot of the filler's memory: work in flight at a frame's begin runs on.",
      "The first window opens at the end of the first frame; the artifact begins with 10 ms to spend.",
      "Several games: a window opens when none renders and lasts until the earliest next frame.",
      "Several fillers share one window and take turns, one launch each.",
      "`budget: absolute`, `margin`, `tolerance`, `predictor: name_shape_mean` and `unknown_kernel: defer` are ours.",
  };
  policy.parameters = parameters();
  policy.needs.frame_events = true;
  policy.needs.predictions = true;
  policy.create = [](const Parameters& values) { return std::make_unique<PilotFish>(values); };
  return policy;
}

}  // namespace corun
