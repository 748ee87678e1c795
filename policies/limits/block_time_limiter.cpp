/// BlockTimeLimiter - utilisation limits per client, kept by a budget of device time that predictions pay from.
/// Source:      ours; what it does and where it loses is in docs/policies/block_time_limiter.md. It keeps GaiaGPU's
///              limit, sensor and place at the launch call, and replaces its token, refill and controller.
/// Hears:       submissions, launches.      Needs: device time per client; predicted durations help.
/// Decides:     a limited client's budget grows by its limit at every instant; a launch pays its predicted device time.
///              A launch that finds a debt waits until a quantum has been saved. Each sensor sample replaces what was
///              predicted for the time since the last one by what was measured, launches still in flight left out, and
///              moves the price of a predicted nanosecond towards what it really cost.
///              Another limit that a client's owner asks for while it runs counts at once.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "policies/builtin.h"
#include "policies/limits/quotas.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

/// Device time that one client may still use, in ns; the integral of its limit minus what it has used.
class Budget {
 public:
  struct Rules {
    Duration quantum;     ///< saved before a client in debt goes on
    Duration most_saved;  ///< kept for later by a client that uses less than its limit
    double price_gain;    ///< weight of the newest sample in the price
    double resolution;    ///< of the sensor, fraction of its period; 0 = exact
    bool counts_sm_time;  ///< device time times the fraction of SMs
  };

  Budget(double limit, Time now, Duration received, Duration in_flight)
      : limit_(limit), since_(now), received_(received), in_flight_(in_flight) {}

  void resize(double limit, Time now) {
    saved_ = credit(now);
    since_ = now;
    limit_ = limit;
  }

  double credit(Time now) const { return saved_ + limit_ * ns(now - since_); }

  /// After all that changes the credit of an instant.
  void settle(const Rules& rules, Time now) {
    if (credit(now) > ns(rules.most_saved)) {
      saved_ = ns(rules.most_saved);
      since_ = now;
    }
    if (credit(now) >= ns(rules.quantum)) is_in_debt_ = false;
  }

  double cost(const Rules& rules, const OpView& op) const {
    return time(op) * (rules.counts_sm_time ? op.sm_demand : 1.0);
  }

  void charge(const Rules& rules, const OpView& op) {
    charged_time_ += time(op);
    charged_cost_ += cost(rules, op);
    saved_ -= cost(rules, op);
  }

  /// A sample of the driver's counter: `received` device time so far, `in_flight` of what was charged not yet finished.
  void measure(const Rules& rules, Duration received, Duration in_flight, Duration period) {
    const double measured = as_shown(rules, ns(received - received_), ns(period));
    const double expected = charged_time_ + price_ * ns(in_flight_ - in_flight);
    const double demand = charged_time_ > 0 ? charged_cost_ / charged_time_ : 1.0;
    saved_ -= (measured - expected) * demand;
    if (expected > 0.01 * ns(period))
      price_ = std::clamp(price_ * (1.0 + rules.price_gain * (measured / expected - 1.0)), kLeastPrice, kMostPrice);
    received_ = received;
    in_flight_ = in_flight;
    charged_time_ = charged_cost_ = 0.0;
  }

  /// Whether a launch may pass with `spent` of the credit gone to launches of the same instant.
  bool may_launch(Time now, double spent) const { return !is_in_debt_ && credit(now) >= spent; }
  void fall_into_debt() { is_in_debt_ = true; }
  /// When the quantum will have been saved. From the last change of the budget on, so that a second call gives the same
  /// answer.
  Time next_look(const Rules& rules, Time now) const {
    const Time saved = since_ + Duration{static_cast<std::int64_t>(std::ceil((ns(rules.quantum) - saved_) / limit_))};
    return std::max(saved, now + Duration{1});
  }

 private:
  static constexpr double kLeastPrice = 0.1, kMostPrice = 10.0;

  double time(const OpView& op) const {
    const Duration predicted = op.predicted_by_shape != kUnknownDuration ? op.predicted_by_shape : op.predicted_by_name;
    return predicted == kUnknownDuration ? 0.0 : price_ * ns(predicted);
  }

  /// The middle of the step that a sensor of this resolution shows.
  static double as_shown(const Rules& rules, double measured, double period) {
    const double step = rules.resolution * period;
    return step == 0.0 || measured <= 0.0 ? measured : (std::floor(measured / step) + 0.5) * step;
  }

  double limit_;
  Time since_;  // credit is what was saved then, and the limit's part of the time from then on
  double saved_ = 0.0;
  Duration received_;
  Duration in_flight_;         // by prediction, at the newest sample
  double price_ = 1.0;         // of a predicted nanosecond
  double charged_time_ = 0.0;  // since the newest sample
  double charged_cost_ = 0.0;
  bool is_in_debt_ = false;
};

class BlockTimeLimiter : public Policy {
 public:
  explicit BlockTimeLimiter(const Parameters& parameters)
      : quotas_(parameters.by_client("limits")),
        rules_{std::min(parameters.duration("quantum"), parameters.duration("most_saved")),
               parameters.duration("most_saved"), parameters.real("price_gain"), parameters.real("sensor_resolution"),
               parameters.choice("token") == "sm_time"},
        period_(parameters.duration("sensor_period")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId id) override {
    budgets_.resize(view.clients.size());
    quotas_.join(view, id);
    limit(view, id);
  }
  void on_left(const GpuView&, ClientId client) override {
    budgets_[client.value].reset();
    quotas_.leave(client);
  }
  void on_resized(const GpuView& view, ClientId id) override {
    if (quotas_.resize(view, id)) limit(view, id);
  }

  void on_launched(const GpuView&, ClientId client, const OpView& op) override {
    if (budgets_[client.value] && op.is_kernel()) budgets_[client.value]->charge(rules_, op);
  }

  void decide(const GpuView& view, Actions& actions) override {
    const bool is_sampled = any() && next_sample_ <= view.now;
    while (any() && next_sample_ <= view.now) next_sample_ += period_;
    if (any()) actions.wake_at(next_sample_);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (auto& budget = budgets_[client.id.value]) {
        if (is_sampled) budget->measure(rules_, client.device_time, client.in_flight_predicted, period_);
        budget->settle(rules_, view.now);
        if (client.gate_is_open) actions.close(client.id);  // it had no limit before
        admit(view.now, client, *budget, actions);
      } else {
        actions.open(client.id);
      }
    }
  }

 private:
  /// Gives the client the budget of its quota: a new one, or the old one with another limit.
  void limit(const GpuView& view, ClientId id) {
    const Quota& quota = quotas_.of(id);
    auto& budget = budgets_[id.value];
    if (!quota.limits_compute()) return budget.reset();
    if (budget) return budget->resize(*quota.share, view.now);
    if (!any()) next_sample_ = view.now + period_;
    const ClientView& client = view.client(id);
    budget.emplace(*quota.share, view.now, client.device_time, client.in_flight_predicted);
  }

  bool any() const {
    return std::ranges::any_of(budgets_, [](const auto& each) { return each.has_value(); });
  }

  void admit(Time now, const ClientView& client, Budget& budget, Actions& actions) {
    double spent = 0.0;
    std::uint32_t count = 0;
    for (const OpView& op : client.waiting) {
      if (op.is_kernel() && !budget.may_launch(now, spent)) {
        budget.fall_into_debt();
        if (count == 0) actions.wake_at(budget.next_look(rules_, now));
        actions.hold(client.id, {"device_time_budget", ns(rules_.quantum), budget.credit(now) - spent, "ns"});
        break;
      }
      if (op.is_kernel()) spent += budget.cost(rules_, op);
      ++count;
    }
    if (count > 0) actions.admit(client.id, count);
  }

  Quotas quotas_;
  const Budget::Rules rules_;
  const Duration period_;
  Time next_sample_;
  std::vector<std::optional<Budget>> budgets_;  // by client
};

ParameterTable parameters() {
  ParameterTable table;
  table.by_client("limits")
      .range(0.01, 1.0, "of the device")
      .means(
          "Utilisation each client may have; one without a value has its owner's `share`; clients without either, or "
          "with 1, are free.")
      .from("as gaiagpu");
  table.choice("token", {"device_time", "sm_time"})
      .means(
          "What a limit is a share of: the time in which the client has work on the device, or that times the fraction "
          "of the SMs that its kernels fill.")
      .from("ours: device_time is what the sensor shows");
  table.duration("quantum", 10ms)
      .range(0s, 1s)
      .means(
          "Device time that a client in debt saves before it goes on: shorter follows the limit more closely, longer "
          "changes contexts less often; `most_saved` at most.")
      .from("ours: five time slices of 2 ms");
  table.duration("most_saved", 200ms)
      .range(1ms, 10s)
      .means("Most device time that a client which uses less than its limit keeps for later.")
      .from("ours: a little more than a period of the sensor");
  table.real("price_gain", 0.3)
      .range(0.0, 1.0)
      .means("Weight of the newest sample in what a predicted nanosecond costs.")
      .from("ours");
  table.duration("sensor_period", 166'666'667ns)
      .range(1ms, 2s)
      .means("How often the driver takes a new utilisation sample.")
      .from("as gaiagpu");
  table.real("sensor_resolution", 0.01)
      .range(0.0, 0.1, "of the period")
      .means("Step in which the driver shows a sample; 0 = exact.")
      .from("NVML shows utilisation in whole percent");
  return table;
}

}  // namespace

PolicyDescriptor block_time_limiter_policy() {
  PolicyDescriptor policy;
  policy.name = "block_time_limiter";
  policy.summary = "Utilisation limits per client, kept by a budget of predicted device time that the sensor corrects.";
  policy.source = "ours; docs/policies/block_time_limiter.md";
  policy.deviations = {
      "There is no paper to depart from. As in gaiagpu, copies and render work pass freely; render work counts where "
      "the sensor sees it.",
      "A launch without a prediction is free until the sensor has seen it.",
      "A resize for which the device has no room is refused as a whole and forgotten, as in gaiagpu.",
  };
  policy.parameters = parameters();
  policy.needs.device_time = true;
  policy.create = [](const Parameters& values) { return std::make_unique<BlockTimeLimiter>(values); };
  return policy;
}

}  // namespace corun
