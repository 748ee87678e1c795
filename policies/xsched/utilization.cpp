/// XSched utilisation partition - clients take turns, each as long as its share of a round, and save what they leave.
/// Source:      W. Shen et al., "XSched: preemptive scheduling for diverse XPUs", OSDI 2025.
///              Artifact: XpuOS/xsched (sched/src/policy/pup.cpp, include/xsched/types.h).
/// Hears:       submissions, launches, completions.      Needs: nothing.
/// Decides:     one client runs at a time; its turn is its utilisation over the sum of all clients' of a round, which
///              has a time slice per client. When the turn is over, or it has no work left and another one has, it goes
///              to the end of the line and the first with work begins its turn. What is left of a turn, and the turns
///              of a client that has no work when it is first, are added to its next one, a tenth less of what exceeds
///              a turn each time.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <deque>

#include "policies/builtin.h"
#include "policies/xsched/queues.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr double kDecay = 0.9;

class XschedUtilization : public Policy {
 public:
  explicit XschedUtilization(const Parameters& parameters)
      : queues_(parameters),
        slice_(parameters.duration("time_slice")),
        utilizations_(parameters.by_client("utilizations")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }
  bool buffers_launches() const override { return queues_.has_buffer(); }

  void on_joined(const GpuView& view, ClientId client) override {
    queues_.on_joined(view, client);
    line_.push_back({client});
  }
  void on_left(const GpuView&, ClientId client) override {
    if (is_running(client)) has_turn_ = false;
    std::erase_if(line_, [&](const Place& place) { return place.client == client; });
  }
  void on_launched(const GpuView&, ClientId client, const OpView&) override { queues_.on_launched(client); }
  void on_completed(const GpuView& view, ClientId client, const OpView&, Duration) override {
    queues_.on_completed(view, client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    const bool is_any_ready =
        std::ranges::any_of(view.clients, [&](const ClientView& client) { return queues_.is_ready(view, client); });
    if (is_any_ready && !goes_on(view)) begin_turn(view);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (is_running(client.id)) {
        queues_.run(client, actions);
      } else {
        XQueues::suspend(client, "turn", actions);
      }
    }
    if (is_any_ready) actions.wake_at(turn_end_);
    queues_.wake_when_idle(view, actions);
  }

 private:
  /// A client in the line; the first has the turn.
  struct Place {
    ClientId client;
    Duration saved{};  ///< of turns that it did not use up
  };

  bool is_running(ClientId client) const { return has_turn_ && line_.front().client == client; }

  bool goes_on(const GpuView& view) const {
    return has_turn_ && view.now < turn_end_ && queues_.is_ready(view, view.client(line_.front().client));
  }

  /// Some client is ready.
  void begin_turn(const GpuView& view) {
    if (has_turn_) {
      line_.front().saved = std::max(Duration::zero(), turn_end_ - view.now);
      pass_on();
    }
    for (; !queues_.is_ready(view, view.client(line_.front().client)); pass_on()) line_.front().saved = with_turn(view);
    has_turn_ = true;
    turn_end_ = view.now + std::max(Duration{1}, with_turn(view));
  }

  void pass_on() {
    line_.push_back(line_.front());
    line_.pop_front();
  }

  double utilization(const ClientView& client) const {
    const auto given = utilizations_.find(client.name);
    return given != utilizations_.end() ? given->second : 1.0;
  }

  /// What the first of the line has saved, and a turn more.
  Duration with_turn(const GpuView& view) const {
    double sum = 0.0;
    for (const Place& place : line_) sum += utilization(view.client(place.client));
    const double share = utilization(view.client(line_.front().client)) / sum;
    const double turn = static_cast<double>((slice_ * line_.size()).count()) * share;
    const auto saved = static_cast<double>(line_.front().saved.count());
    const double kept = saved > turn ? turn + (saved - turn) * kDecay : saved;
    return Duration{static_cast<std::int64_t>(kept + turn)};
  }

  XQueues queues_;
  const Duration slice_;
  const ByClient utilizations_;
  std::deque<Place> line_;
  bool has_turn_ = false;  // the first of the line
  Time turn_end_;
};

ParameterTable parameters() {
  ParameterTable table = xqueue_parameters();
  table.duration("time_slice", 5ms)
      .range(100us, 10s)
      .means("Mean length of a turn: a round, in which every client has one, is as many time slices long.")
      .from("artifact, include/xsched/types.h");
  table.by_client("utilizations")
      .range(0.01, 1.0, "of the device")
      .means("Share of a round that is a client's, relative to the sum of all clients'; 1 without an entry.")
      .from("artifact: 100 % by default");
  return table;
}

}  // namespace

PolicyDescriptor xsched_utilization_policy() {
  PolicyDescriptor policy = xsched_policy("xsched_utilization", "sched/src/policy/pup.cpp");
  policy.summary = "Clients take turns, each as long as its share of a round; few operations are in flight.";
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<XschedUtilization>(values); };
  return policy;
}

}  // namespace corun
