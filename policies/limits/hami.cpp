/// HAMi - GaiaGPU's limiter with a linear step, a pool that doubles, and a monitor that knows priorities.
/// Source:      Project HAMi, no paper. Artifact: Project-HAMi/HAMi-core (src/multiprocess) with the linear step of its
///              pull request 317, and the monitor's feedback loop of Project-HAMi/HAMi.
/// Hears:       submissions, launches.      Needs: device time per client.
/// Decides:     a limited client may launch while its bucket of thread blocks is not in debt, as under GaiaGPU. Every
///              period the monitor notes which clients launched since: while one of higher priority is busy, a client
///              is held altogether and looks again every second; one without another busy client of its priority is
///              not throttled.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <vector>

#include "policies/builtin.h"
#include "policies/limits/gaiagpu_buckets.h"
#include "policies/limits/quotas.h"

namespace corun {

namespace {

using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

class Hami : public Policy {
 public:
  explicit Hami(const Parameters& parameters)
      : limits_(parameters.by_client("limits")),
        buckets_(parameters, {.doubles_pool = true, .guards_start = false}),
        mode_(parameters.choice("throttling")),
        monitor_period_(parameters.duration("monitor_period")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    if (std::ranges::none_of(view.clients, [&](const ClientView& c) { return c.is_present && c.id != client; }))
      next_turn_ = view.now + monitor_period_;
    states_.resize(view.clients.size());
    skip_quiet_turns(view);
    states_[client.value] = {};
    buckets_.join(view, client, stated_share(limits_, view.client(client)));
  }
  void on_left(const GpuView&, ClientId client) override {
    buckets_.leave(client);
    states_[client.value].recent = 0;
    states_[client.value].is_blocked = false;
  }

  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    if (!op.is_kernel()) return;
    skip_quiet_turns(view);
    states_[client.value].recent = kFresh;
    if (is_throttled(client)) buckets_.charge(client, op);
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (buckets_.any()) buckets_.watch(view, actions);
    while (needs_monitor(view) && next_turn_ <= view.now) turn(view);
    if (needs_monitor(view)) actions.wake_at(next_turn_);
    for (const ClientView& client : view.clients)
      if (client.is_present) control(view, client, actions);
  }

 private:
  static constexpr int kFresh = 2;  // turns of the monitor until a launch is forgotten

  struct State {
    int recent = kFresh;
    bool is_blocked = false;
    bool is_switched_on = true;
    SleepingLaunch sleeper;
  };

  bool is_throttled(ClientId client) const {
    const bool is_on = mode_ == "force" || (mode_ == "default" && states_[client.value].is_switched_on);
    return is_on && buckets_.is_limited(client);
  }

  /// Where all are quiet and none is blocked, a turn of the monitor changes nothing.
  bool needs_monitor(const GpuView& view) const {
    return std::ranges::any_of(view.clients, [&](const ClientView& client) {
      return client.is_present && (states_[client.id.value].recent > 0 || states_[client.id.value].is_blocked);
    });
  }

  void skip_quiet_turns(const GpuView& view) {
    if (needs_monitor(view) || next_turn_ > view.now) return;
    next_turn_ += monitor_period_ * ((view.now - next_turn_) / monitor_period_ + 1);
  }

  void turn(const GpuView& view) {
    next_turn_ += monitor_period_;
    for (const ClientView& client : view.clients) {
      State& state = states_[client.id.value];
      if (client.is_present && state.recent > 0) --state.recent;
    }
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      State& state = states_[client.id.value];
      state.is_blocked = count_busy(view, [&](std::int32_t priority) { return priority > client.priority; }) > 0;
      if (!state.is_blocked)
        state.is_switched_on = count_busy(view, [&](std::int32_t priority) { return priority == client.priority; }) > 1;
    }
  }

  template <class Matches>
  std::int64_t count_busy(const GpuView& view, Matches matches) const {
    return std::ranges::count_if(view.clients, [&](const ClientView& other) {
      return other.is_present && matches(other.priority) && states_[other.id.value].recent > 0;
    });
  }

  void control(const GpuView& view, const ClientView& client, Actions& actions) {
    State& state = states_[client.id.value];
    if (client.waiting.empty() && !state.is_blocked && !is_throttled(client.id)) return actions.open(client.id);
    if (state.is_blocked || sleeps(view, client, actions)) return hold_all(view, client, actions);
    if (is_throttled(client.id)) {
      actions.close(client.id);
      buckets_.admit(view, client, actions);
    } else {
      actions.open(client.id);
    }
  }

  /// Whether its launch found itself blocked and has not looked since.
  bool sleeps(const GpuView& view, const ClientView& client, Actions& actions) {
    if (client.waiting.empty()) return false;
    const SleepingLaunch& sleeper = states_[client.id.value].sleeper;
    const bool is_asleep = !sleeper.looks(client.waiting.front().number, view.now, 1s);
    if (is_asleep) actions.wake_at(sleeper.next_look(view.now, 1s));
    return is_asleep;
  }

  void hold_all(const GpuView& view, const ClientView& client, Actions& actions) {
    actions.close(client.id);
    State& state = states_[client.id.value];
    std::uint32_t free = 0;
    while (free < client.waiting.size() && !client.waiting[free].is_kernel()) ++free;
    if (free > 0) actions.admit(client.id, free);
    if (free == client.waiting.size()) return;
    state.sleeper.sleep(client.waiting[free].number, view.now);
    actions.hold(client.id, {state.is_blocked ? "higher_priority_busy" : "priority_sleep", 0.0, 0.0, ""});
  }

  const ByClient limits_;
  BlockBuckets buckets_;
  const std::string mode_;
  const Duration monitor_period_;
  Time next_turn_;
  std::vector<State> states_;  // by client
};

ParameterTable parameters() {
  ParameterTable table = bucket_parameters("artifact, HAMi-core src/multiprocess", 1);
  table.choice("throttling", {"default", "force", "disable"})
      .means("Whether limits hold only while another client of the same priority is busy, always, or never.")
      .from("artifact: GPU_CORE_UTILIZATION_POLICY");
  table.duration("monitor_period", 5s)
      .range(100ms, 1min)
      .means("Period of the monitor's turns.")
      .from("artifact, HAMi monitor: 5 s");
  return table;
}

}  // namespace

PolicyDescriptor hami_policy() {
  PolicyDescriptor policy;
  policy.name = "hami";
  policy.summary = "GaiaGPU's block buckets with a linear step, and a monitor that blocks clients of lower priority.";
  policy.source = "Project HAMi, no paper; artifacts Project-HAMi/HAMi-core (pull request 317) and Project-HAMi/HAMi";
  policy.deviations = {
      "The deviations of gaiagpu in utilisation, costs of launches, graphs and ticks apply here, too.",
      "Priorities are those of the clients, higher first, and any number of them; HAMi has 0 and 1, 0 first.",
      "The monitor's first turn is one period after the first client joined.",
      "A launch is noted before the switch is read; the newest artifact notes it after, so that a client that was "
      "switched off once never seems busy again.",
      "Memory limits, core scaling and placement are left out.",
      "As in the artifact, a limit is read once: a resize that a client's owner asks for while it runs is ignored.",
  };
  policy.parameters = parameters();
  policy.needs.device_time = true;
  policy.forgets = true;
  policy.create = [](const Parameters& values) { return std::make_unique<Hami>(values); };
  return policy;
}

}  // namespace corun
