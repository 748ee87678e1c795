/// XSched utilisation partition - clients take turns, each as long as its share of a round.
/// Source:      W. Shen et al., "XSched: preemptive scheduling for diverse XPUs", OSDI 2025.
///              Artifact: XpuOS/xsched (sched/src/policy/up.cpp, include/xsched/types.h).
/// Hears:       submissions, launches, completions.      Needs: nothing.
/// Decides:     one client runs at a time; its turn is its utilisation over the sum of all clients' of the time slice.
///              When the turn is over or it has no work left, the next ready client takes its turn. What a client
///              leaves unused goes to the others.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include "policies/builtin.h"
#include "policies/parts/turns.h"
#include "policies/xsched/queues.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

class XschedUtilization : public Policy {
 public:
  explicit XschedUtilization(const Parameters& parameters)
      : queues_(parameters),
        slice_(parameters.duration("time_slice")),
        utilizations_(parameters.by_client("utilizations")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override { queues_.on_joined(view, client); }
  void on_launched(const GpuView&, ClientId client, const OpView&) override { queues_.on_launched(client); }

  void decide(const GpuView& view, Actions& actions) override {
    const bool is_over = running_.is_none() || !is_ready(view.client(running_)) || view.now >= turn_end_;
    if (is_over) begin_turn(view);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (client.id == running_) {
        queues_.run(client, actions);
      } else {
        XQueues::suspend(client, "turn", actions);
      }
    }
    if (!running_.is_none()) actions.wake_at(turn_end_);
  }

 private:
  double utilization(const ClientView& client) const {
    const auto given = utilizations_.find(client.name);
    return given != utilizations_.end() ? given->second : 1.0;
  }

  void begin_turn(const GpuView& view) {
    const auto next = turns_.next(view, is_ready);
    running_ = next.value_or(ClientId::none());
    if (!next) return;
    turns_.serve(*next);
    double sum = 0.0;
    for (const ClientView& client : view.clients)
      if (client.is_present) sum += utilization(client);
    const double share = utilization(view.client(*next)) / sum;
    const auto length = Duration{static_cast<std::int64_t>(static_cast<double>(slice_.count()) * share)};
    turn_end_ = view.now + std::max(Duration{1}, length);
  }

  XQueues queues_;
  const Duration slice_;
  const ByClient utilizations_;
  Turns turns_;
  ClientId running_ = ClientId::none();
  Time turn_end_;
};

ParameterTable parameters() {
  ParameterTable table = xqueue_parameters();
  table.duration("time_slice", 5ms)
      .range(100us, 10s)
      .means("Length of a round in which every client has one turn.")
      .from("artifact, include/xsched/types.h");
  table.by_client("utilizations")
      .range(0.01, 1.0, "of the device")
      .means("Share of a round that is a client's, relative to the sum of all clients'; 1 without an entry.")
      .from("artifact: 100 % by default");
  return table;
}

}  // namespace

PolicyDescriptor xsched_utilization_policy() {
  PolicyDescriptor policy = xsched_policy("xsched_utilization", "sched/src/policy/up.cpp");
  policy.summary = "Clients take turns, each as long as its share of a round; few operations are in flight.";
  policy.deviations.push_back(
      "A client without a stated utilisation takes part with 1; the artifact suspends it as soon as another one has "
      "stated its own.");
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<XschedUtilization>(values); };
  return policy;
}

}  // namespace corun
