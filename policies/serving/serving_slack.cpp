/// Serving slack - a server takes its steps as late as its promised times allow, and others run meanwhile.
/// Source:      ours; docs/policies/serving_slack.md says what it takes from whom.
/// Hears:       submissions, launches, completions.      Needs: predictions.
/// Decides:     while a request waits for its first token, and while a step runs, the server has the device. Else its
///              next step begins one pace after the one before, and the others launch until then what is predicted to
///              end in time. The pace is the promised time per token times a number that a control of the share of
///              late first tokens sets. A step that began late is followed by one that is not.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <optional>
#include <vector>

#include "policies/builtin.h"
#include "policies/parts/high_priority.h"
#include "policies/parts/launches_ahead.h"
#include "policies/parts/turns.h"
#include "policies/serving/paced_server.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

bool is_server(const ClientView& client) {
  return client.promised_ttft > Duration::zero() || client.promised_tpot > Duration::zero();
}
bool is_known(const OpView& op) { return op.predicted_by_name != kUnknownDuration; }
bool is_filler(const ClientView& client) { return !is_server(client) && client.role == Role::kBestEffort; }

class ServingSlack : public Policy {
 public:
  explicit ServingSlack(const Parameters& parameters)
      : settings_{.tpot_share = parameters.real("tpot_share"),
                  .late_after = parameters.real("late_after"),
                  .late_share = parameters.real("late_share"),
                  .gain = parameters.real("gain")},
        ahead_limit_(parameters.duration("ahead")),
        patience_(parameters.duration("patience")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    while (servers_.size() < view.clients.size()) servers_.emplace_back(settings_);
    servers_[client.value] = PacedServer(settings_);
    ended_.resize(view.clients.size(), kRunStart);
  }
  void on_launched(const GpuView& view, ClientId id, const OpView& op) override {
    const ClientView& client = view.client(id);
    PacedServer& server = servers_[id.value];
    if (is_filler(client)) {
      turns_.serve(id);
      is_fresh_ = false;
      if (is_known(op)) launches_.launched(id, op.predicted_by_name);
      unknown_ += is_known(op) ? 0 : 1;
    } else if (is_server(client) && !server.is_in_step(client)) {
      server.end(client, view.now);
      server.begin(client, view.now);
    }
  }
  void on_completed(const GpuView& view, ClientId id, const OpView& op, Duration) override {
    ended_[id.value] = view.now;
    if (is_filler(view.client(id)) && !is_known(op)) --unknown_;
  }

  void decide(const GpuView& view, Actions& actions) override {
    const bool is_shared = has(view, is_server) && has(view, is_filler);
    const bool is_wanted = is_shared && fillers_want(view, actions);
    Time until = kNever;  // what fillers launch has to end
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (is_server(client)) {
        servers_[client.id.value].count_requests(view.now, client);
        const bool runs_at_once = view.device.time_slice == Duration::zero();
        until = std::min(until, runs_at_once ? serve_at_once(view.now, client, actions)
                                             : serve_in_turns(view.now, client, is_wanted, actions));
      } else if (!is_shared || !is_filler(client)) {
        actions.open(client.id);
      }
    }
    if (is_shared) fill(view, until, actions);
  }

  std::uint32_t admits_ahead(const GpuView& view, const ClientView& client) const override {
    if (!is_filler(client) || until_ <= view.now) return 0;
    const Duration room = std::min(ahead_limit_, until_ == kNever ? ahead_limit_ : until_ - view.now);
    const auto fillers = std::ranges::count_if(
        view.clients, [](const ClientView& other) { return other.is_present && is_filler(other); });
    return launches_.in(room - unfinished(view), client.id, static_cast<std::size_t>(fillers));
  }

 private:
  template <class Is>
  static bool has(const GpuView& view, Is is) {
    return std::ranges::any_of(view.clients, [&](const ClientView& client) { return client.is_present && is(client); });
  }
  /// Of a client that has submitted something.
  Time quiet_at(const ClientView& client) const {
    return std::max(ended_[client.id.value], client.last_submitted) + patience_;
  }
  /// Whether it has work or may soon have.
  bool is_active(Time now, const ClientView& client, Actions& actions) const {
    if (has_work(client)) return true;
    const bool is_expected = client.last_submitted != kNever && now < quiet_at(client);
    if (is_expected) actions.wake_at(quiet_at(client));
    return is_expected;
  }
  bool fillers_want(const GpuView& view, Actions& actions) const {
    bool want = false;
    for (const ClientView& client : view.clients)
      if (client.is_present && is_filler(client)) want |= is_active(view.now, client, actions);
    return want;
  }

  /// Where contexts run at once, steps never wait: others run along for a part of each, so that it is as long as its
  /// interval. Returns when others have to stop: now, if they may not run.
  Time serve_at_once(Time now, const ClientView& client, Actions& actions) {
    PacedServer& server = servers_[client.id.value];
    actions.open(client.id);
    if (PacedServer::is_silent(client) || PacedServer::is_urgent(client))
      return is_active(now, client, actions) ? now : kNever;
    if (!server.is_in_step(client)) {
      server.end(client, now);
      return kNever;
    }
    const Time stop = std::max(server.shared_until(client), now);
    if (stop > now) actions.wake_at(stop);
    return stop;
  }

  /// Where contexts take turns, a step waits until it is due. Returns when the device is the server's again: now, if it
  /// is.
  Time serve_in_turns(Time now, const ClientView& client, bool is_wanted, Actions& actions) {
    PacedServer& server = servers_[client.id.value];
    const bool is_silent = PacedServer::is_silent(client), is_urgent = PacedServer::is_urgent(client);
    const bool asks = !client.waiting.empty() && !server.is_in_step(client);
    if (asks && is_urgent) {
      server.begin(client, now);
    } else if (asks && !is_silent && (!is_wanted || now >= server.due())) {
      server.begin_paced(client, now);
    }
    if (is_silent || is_urgent || !is_wanted) {
      actions.open(client.id);
    } else {
      actions.close(client.id);
      if (server.is_in_step(client) && !client.waiting.empty())
        actions.admit(client.id, static_cast<std::uint32_t>(client.waiting.size()));
    }
    if (is_silent || is_urgent || server.is_in_step(client)) return is_active(now, client, actions) ? now : kNever;
    if (server.due() <= now) return kNever;
    actions.wake_at(server.due());
    actions.hold(client.id, Hold{"pace", static_cast<double>(to_ns(server.due() - now)), 0.0, "ns"});
    return server.due();
  }

  void fill(const GpuView& view, Time until, Actions& actions) {
    if (until_ <= view.now && until > view.now) is_fresh_ = true;
    until_ = until;
    Duration work = unfinished(view);
    bool is_fresh = is_fresh_;
    Turns turns = turns_;
    std::vector<std::uint32_t> admitted(view.clients.size());
    for (const ClientView& client : view.clients)
      if (client.is_present && is_filler(client)) actions.close(client.id);
    const auto passes = [&](const ClientView& client) {
      const std::uint32_t next = admitted[client.id.value];
      return is_filler(client) && next < client.waiting.size() &&
             fits(view.now, work, cost(client.waiting[next]), until, is_fresh);
    };
    while (const auto next = turns.next(view, passes)) {
      work += cost(view.client(*next).waiting[admitted[next->value]++]);
      turns.serve(*next);
      is_fresh = false;
      actions.admit(*next);
    }
    for (const ClientView& client : view.clients)
      if (client.is_present && is_filler(client) && admitted[client.id.value] < client.waiting.size())
        state_reason(view.now, client, cost(client.waiting[admitted[client.id.value]]), until, actions);
  }

  /// A kernel that is longer than all of the slack passes at its beginning: the step that it delays is made up for.
  bool fits(Time now, Duration work, Duration op, Time until, bool is_fresh) const {
    if (until <= now || (work > Duration::zero() && work + op > ahead_limit_)) return false;
    return until == kNever || now + work + op <= until || (is_fresh && work == Duration::zero());
  }

  void state_reason(Time now, const ClientView& client, Duration needed, Time until, Actions& actions) const {
    const Duration slack = until == kNever ? ahead_limit_ : std::max(until - now, Duration::zero());
    actions.hold(client.id, Hold{until <= now ? "step" : "slack", static_cast<double>(to_ns(needed)),
                                 static_cast<double>(to_ns(slack)), "ns"});
  }

  /// One without a prediction runs alone.
  Duration cost(const OpView& op) const { return is_known(op) ? op.predicted_by_name : ahead_limit_; }

  /// Predicted, of the fillers' launches in flight, each as if it had just begun.
  Duration unfinished(const GpuView& view) const {
    Duration work = unknown_ * ahead_limit_;
    for (const ClientView& client : view.clients)
      if (client.is_present && is_filler(client)) work += client.in_flight_predicted;
    return work;
  }

  const PacedServer::Settings settings_;
  const Duration ahead_limit_;
  const Duration patience_;
  std::vector<PacedServer> servers_;  // by client; those of others are not used
  std::vector<Time> ended_;           // by client: its newest completion
  LaunchesAhead launches_;
  Turns turns_;
  std::int64_t unknown_ = 0;  // of fillers' launches in flight: those without a prediction
  Time until_ = kRunStart;
  bool is_fresh_ = false;  // nothing has been launched in the present slack
};

ParameterTable parameters() {
  ParameterTable table;
  table.real("tpot_share", 0.9)
      .range(0.0, 2.0, "of the promised TPOT")
      .means("Time from step to step at most, while no request waits for its first token.")
      .from("ours: a tenth is left for prompts of others");
  table.real("late_after", 0.5)
      .range(0.0, 1.0, "of the promised TTFT")
      .means("A first token that takes longer counts as late.")
      .from("ours: warned before a promise is broken");
  table.real("late_share", 0.05)
      .range(0.0001, 0.5, "of requests")
      .means("How many may be late.")
      .from("ours: of those late by half of the promise, few are late by all of it");
  table.real("gain", 0.1)
      .range(0.001, 1.0)
      .means("By how much of the largest pace a late request shortens the pace.")
      .from("ours");
  table.duration("ahead", 2ms)
      .range(0s, 1s)
      .means("Predicted time of fillers' launches in flight at most: what an arrival waits for.")
      .from("ours");
  table.duration("patience", 1ms)
      .range(0s, 1s)
      .means("How long the device is kept for a side that has nothing to run.")
      .from("ours: host gaps of programs");
  return table;
}

}  // namespace

PolicyDescriptor serving_slack_policy() {
  PolicyDescriptor policy;
  policy.name = "serving_slack";
  policy.summary = "A server takes its steps as late as its promised times allow, and others run meanwhile.";
  policy.source = "ours; docs/policies/serving_slack.md";
  policy.parameters = parameters();
  policy.needs.predictions = true;
  policy.create = [](const Parameters& values) { return std::make_unique<ServingSlack>(values); };
  return policy;
}

}  // namespace corun
