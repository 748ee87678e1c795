/// Orion - a best-effort kernel runs with a high-priority one only if it is small, of the other kind, and soon over.
/// Source:      F. Strati, X. Ma, A. Klimovic, "Orion: interference-aware, fine-grained GPU sharing for ML
///              applications", EuroSys 2024, section 5 (the scheduling policy).
///              Artifact: eth-easl/orion (src/scheduler/scheduler_eval.cpp).
/// Hears:       submissions, launches, completions.      Needs: predictions, kernels of all clients in one context.
/// Decides:     high-priority clients launch whenever they like, at the higher stream priority. While they have work, a
///              best-effort kernel passes if it needs less than a threshold of the SMs and is bound by another part of
///              them than the newest high-priority kernel (unknown kinds pass). Once best-effort kernels of more than a
///              duration threshold have passed, the next waits until all of them have completed. Clients take turns.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <optional>
#include <vector>

#include "policies/builtin.h"
#include "policies/parts/high_priority.h"
#include "policies/parts/job_latency.h"
#include "policies/parts/kernel_kind.h"
#include "policies/parts/turns.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;

class Orion : public Policy {
 public:
  explicit Orion(const Parameters& parameters)
      : sm_threshold_(parameters.real("sm_threshold")),
        latency_share_(parameters.real("latency_share")),
        fixed_threshold_(parameters.duration("duration_threshold")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    latencies_.resize(view.clients.size());
    latencies_[client.value] = JobLatency{};
  }
  void on_submitted(const GpuView& view, ClientId client, const OpView& op) override {
    latencies_[client.value].on_submitted(view.now, op);
  }
  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    if (is_high_priority(view, view.client(client))) {
      if (op.is_kernel()) newest_kind_ = kind_of_kernel(op.name);
    } else {
      spent_ += cost(op, threshold(view));
      turns_.serve(client);
    }
  }
  void on_completed(const GpuView& view, ClientId client, const OpView& op, Duration) override {
    latencies_[client.value].on_completed(view.now, op);
  }

  void decide(const GpuView& view, Actions& actions) override {
    const bool has_best_effort = set_gates(view, actions);
    if (has_best_effort) admit_in_turns(view, actions);
  }

 private:
  /// What one decision has admitted so far, and what is known of the high-priority side.
  struct Round {
    bool is_beside;    // a high-priority client has work
    Duration limit;    // duration threshold
    Duration spent;    // of it
    bool is_draining;  // it is used up, and something best-effort is in flight
    Turns turns;
    std::vector<std::uint32_t> admitted;  // by client
  };

  static bool set_gates(const GpuView& view, Actions& actions) {
    bool has_best_effort = false;
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      const bool is_high = is_high_priority(view, client);
      has_best_effort |= !is_high;
      actions.set_priority(client.id, is_high ? 1 : 0);
      if (is_high) {
        actions.open(client.id);
      } else {
        actions.close(client.id);
      }
    }
    return has_best_effort;
  }

  static std::uint32_t best_effort_in_flight(const GpuView& view) {
    std::uint32_t in_flight = 0;
    for (const ClientView& client : view.clients)
      if (client.is_present && !is_high_priority(view, client)) in_flight += client.in_flight;
    return in_flight;
  }

  /// Share of the shortest of the high-priority clients' newest jobs; nothing before one is known.
  Duration threshold(const GpuView& view) const {
    if (fixed_threshold_ > Duration::zero()) return fixed_threshold_;
    std::optional<Duration> shortest;
    for (const ClientView& client : view.clients) {
      if (!client.is_present || !is_high_priority(view, client)) continue;
      const Duration latest = latencies_[client.id.value].latest();
      if (latest != kUnknownDuration && (!shortest || latest < *shortest)) shortest = latest;
    }
    return Duration{
        static_cast<std::int64_t>(static_cast<double>(shortest.value_or(Duration{}).count()) * latency_share_)};
  }

  /// A kernel without a profile uses up the threshold.
  static Duration cost(const OpView& op, Duration limit) {
    if (!op.is_kernel()) return Duration::zero();
    return op.predicted_by_name != kUnknownDuration ? op.predicted_by_name : limit + Duration{1};
  }

  void admit_in_turns(const GpuView& view, Actions& actions) {
    const std::uint32_t in_flight = best_effort_in_flight(view);
    const Duration limit = threshold(view);
    if (in_flight == 0 && spent_ > limit) spent_ = Duration::zero();
    Round round{high_priority_has_work(view), limit, spent_, in_flight > 0 && spent_ > limit, turns_, {}};
    round.admitted.assign(view.clients.size(), 0);
    const auto may_go = [&](const ClientView& client) { return passes(view, client, round); };
    while (const auto next = round.turns.next(view, may_go)) {
      const OpView& op = view.client(*next).waiting[round.admitted[next->value]++];
      round.turns.serve(*next);
      round.spent += cost(op, limit);
      round.is_draining = round.spent > limit;
      actions.admit(*next);
    }
    state_reasons(view, round, actions);
  }

  bool passes(const GpuView& view, const ClientView& client, const Round& round) const {
    const bool has_next = round.admitted[client.id.value] < client.waiting.size();
    return has_next && !is_high_priority(view, client) && !reason_against(client, round);
  }

  std::optional<Hold> reason_against(const ClientView& client, const Round& round) const {
    const OpView& op = client.waiting[round.admitted[client.id.value]];
    if (round.is_draining)
      return Hold{"best_effort_duration", static_cast<double>(to_ns(cost(op, round.limit))),
                  static_cast<double>(std::max<std::int64_t>(0, to_ns(round.limit - round.spent))), "ns"};
    if (!round.is_beside || !op.is_kernel()) return std::nullopt;
    if (op.sm_demand >= sm_threshold_) return Hold{"sm_demand", 0, 0, ""};
    const KernelKind kind = kind_of_kernel(op.name);
    if (kind != KernelKind::kUnknown && kind == newest_kind_) return Hold{"same_kind_of_kernel", 0, 0, ""};
    return std::nullopt;
  }

  void state_reasons(const GpuView& view, const Round& round, Actions& actions) const {
    for (const ClientView& client : view.clients) {
      if (!client.is_present || is_high_priority(view, client)) continue;
      if (round.admitted[client.id.value] == client.waiting.size()) continue;
      if (const auto reason = reason_against(client, round)) actions.hold(client.id, *reason);
    }
  }

  const double sm_threshold_;
  const double latency_share_;
  const Duration fixed_threshold_;
  std::vector<JobLatency> latencies_;  // by client
  KernelKind newest_kind_ = KernelKind::kUnknown;
  Duration spent_{};  // predicted, of what best-effort clients launched since all of it had last completed
  Turns turns_;
};

ParameterTable parameters() {
  ParameterTable table;
  table.real("sm_threshold", 1.0)
      .range(0.01, 2.0, "of the SMs")
      .means("A best-effort kernel that needs this much or more stays off while high-priority work is there.")
      .from("paper: all SMs of the device; above 1 no kernel is too large");
  table.real("latency_share", 0.025)
      .range(0.0, 1.0, "of a job's latency")
      .means("Best-effort duration in flight, as a share of the high-priority job's latency.")
      .from("paper: 2.5 %");
  table.duration("duration_threshold", 0s)
      .range(0s, 1s)
      .means("Best-effort duration in flight, if not zero, instead of a share of the measured latency.")
      .from("artifact: an argument, 100us or 160us in its experiments");
  return table;
}

}  // namespace

PolicyDescriptor orion_policy() {
  PolicyDescriptor policy;
  policy.name = "orion";
  policy.summary = "Best-effort kernels run with high-priority ones if small, of the other kind, and soon over.";
  policy.source =
      "F. Strati, X. Ma, A. Klimovic, \"Orion: interference-aware, fine-grained GPU sharing for ML applications\", "
      "EuroSys 2024; artifact eth-easl/orion";
  policy.deviations = {
      "Kernels are compute-bound or memory-bound by their names; the paper measures both throughputs of each kernel.",
      "SM need is the fraction of the SMs that the first wave fills; the artifact's may exceed the device.",
      "The duration threshold follows the newest measured job of the high-priority clients; in the artifact it is an "
      "argument. Until the first job is known to be over, one best-effort operation is in flight at a time.",
      "The SM threshold is not searched for; the artifact bisects it for a high-priority training.",
      "Copies pass like kernels of no duration; the paper weighs them by the bandwidth of the bus.",
  };
  policy.parameters = parameters();
  policy.needs.predictions = true;
  policy.needs.shared_context = true;
  policy.create = [](const Parameters& values) { return std::make_unique<Orion>(values); };
  return policy;
}

}  // namespace corun
