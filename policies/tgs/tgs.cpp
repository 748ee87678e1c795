/// TGS - the low-priority side's launch rate is throttled so that the high-priority side launches as fast as alone.
/// Source:      B. Wu, Z. Zhang, Z. Bai, X. Liu, X. Jin, "Transparent GPU sharing in container clouds for deep learning
///              workloads", NSDI 2023. Artifact: pkusys/TGS (hijack/src/low_priority_hijack_call.c and
///              high_priority_hijack_call.c).
/// Hears:       launches, submissions.      Needs: nothing.
/// Decides:     once a high-priority client has launched a kernel, its rate of thread blocks is reported every period.
///              The first reports are taken with the others nearly stopped and give the rate that it has alone. From
///              then on the limit of the others grows by half while the rate stays in a narrow band (slow start), then
///              additively; outside the band it falls by a share, and by a large factor when the rate collapses. A
///              launch passes while the blocks launched in the current window do not exceed the limit.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <optional>
#include <vector>

#include "policies/builtin.h"
#include "policies/parts/high_priority.h"
#include "policies/parts/sleeping_launch.h"
#include "policies/tgs/rate_control.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

class Tgs : public Policy {
 public:
  explicit Tgs(const Parameters& parameters)
      : period_(parameters.duration("report_period")),
        window_(parameters.duration("window")),
        retry_(parameters.duration("retry")),
        settings_{.band = parameters.real("band"),
                  .growth = parameters.real("growth"),
                  .increase = parameters.real("increase"),
                  .decrease = parameters.real("decrease"),
                  .collapse = parameters.real("collapse"),
                  .initial_limit = parameters.real("initial_limit"),
                  .profile_reports = parameters.integer("profile_reports")} {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    low_.resize(view.clients.size());
    low_[client.value] = LowPriority{};
    note_classes(view);
  }
  void on_left(const GpuView& view, ClientId) override { note_classes(view); }

  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    if (!op.is_kernel()) return;
    if (is_high_priority(view, view.client(client))) {
      high_blocks_ += cost(op);
      has_high_launched_ = true;
    } else {
      low_[client.value].blocks += cost(op);
    }
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (has_high_launched_ && low_count_ > 0 && !control_) begin_control(view.now);
    if (control_) pass_time(view.now, actions);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (!control_ || is_high_priority(view, client)) {
        actions.open(client.id);
      } else {
        actions.close(client.id);
        admit(view.now, client, actions);
      }
    }
  }

 private:
  struct LowPriority {
    double blocks = 0.0;  // launched in the current window
    SleepingLaunch sleeper;
  };

  static double cost(const OpView& op) { return static_cast<double>(std::max<std::uint64_t>(1, op.blocks)); }

  /// Begins anew when other clients have become those of high priority.
  void note_classes(const GpuView& view) {
    Rank highest;
    low_count_ = 0;
    bool has_any = false;
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (!has_any || rank_of(client) > highest) highest = rank_of(client);
      has_any = true;
      if (!is_high_priority(view, client)) ++low_count_;
    }
    const bool is_same = has_any && highest_ == highest;
    highest_ = has_any ? std::optional(highest) : std::nullopt;
    if (!is_same) has_high_launched_ = false;
    if (!is_same || low_count_ == 0) control_.reset();
  }

  void begin_control(Time now) {
    control_.emplace(settings_);
    next_report_ = now + period_;
    next_window_ = now + window_;
    high_blocks_ = 0;
    for (LowPriority& low : low_) low.blocks = 0;
  }

  void pass_time(Time now, Actions& actions) {
    if (next_window_ <= now) {
      next_window_ += ((now - next_window_) / window_ + 1) * window_;
      for (LowPriority& low : low_) low.blocks = 0;
    }
    for (; next_report_ <= now; next_report_ += period_) {
      control_->report(high_blocks_ * static_cast<double>(window_.count()) / static_cast<double>(period_.count()));
      high_blocks_ = 0;
    }
    actions.wake_at(next_report_);
  }

  void admit(Time now, const ClientView& client, Actions& actions) {
    LowPriority& low = low_[client.id.value];
    const double limit = control_->limit() / low_count_;
    double blocks = low.blocks;
    std::uint32_t count = 0;
    for (const OpView& op : client.waiting) {
      const bool is_below = blocks <= limit;
      if (op.is_kernel() && !(is_below && low.sleeper.looks(op.number, now, retry_))) {
        low.sleeper.sleep(op.number, now);
        const Time look = is_below ? low.sleeper.next_look(now, retry_) : next_window_;
        actions.wake_at(look);
        actions.hold(client.id, is_below ? Hold{"back_off", static_cast<double>(to_ns(look - now)), 0.0, "ns"}
                                         : Hold{"launch_rate", blocks + cost(op), limit, "blocks"});
        break;
      }
      if (op.is_kernel()) blocks += cost(op);
      ++count;
    }
    if (count > 0) actions.admit(client.id, count);
  }

  const Duration period_;
  const Duration window_;
  const Duration retry_;
  const TgsRateControl::Settings settings_;
  std::optional<Rank> highest_;
  std::uint32_t low_count_ = 0;
  bool has_high_launched_ = false;  // a kernel
  std::optional<TgsRateControl> control_;
  Time next_report_;
  Time next_window_;
  double high_blocks_ = 0.0;      // since the last report
  std::vector<LowPriority> low_;  // by client
};

ParameterTable parameters() {
  ParameterTable table;
  table.duration("report_period", 5s)
      .range(1ms, 100s)
      .means("How often the high-priority rate is reported and the limit moved.")
      .from("artifact: 5000 ms");
  table.duration("window", 50ms)
      .range(1ms, 10s)
      .means("Span of time in which the limit may be launched once.")
      .from("artifact: 50 ms");
  table.duration("retry", 10ms)
      .range(0s, 1s)
      .means("How long a launch over the limit sleeps before it looks again; 0 wakes it by the window.")
      .from("artifact: TIME_TICK 10 ms");
  table.integer("profile_reports", 5)
      .range(1, 1000, "reports")
      .means("How many reports, with the others nearly stopped, give the undisturbed rate.")
      .from("artifact: PROFILE_TIME 5");
  table.real("initial_limit", 20000.0)
      .range(1.0, 1e9, "blocks")
      .means("Limit per window where slow start begins.")
      .from("artifact: LIMIT_INITIALIZER");
  table.real("band", 0.03)
      .range(0.001, 0.5, "of the undisturbed rate")
      .means("Deviation of the high-priority rate that counts as none; three of it are a collapse.")
      .from("artifact");
  table.real("growth", 1.5).range(1.01, 10.0).means("Factor by which the limit grows in slow start.").from("artifact");
  table.real("increase", 0.025)
      .range(0.0, 1.0, "of the undisturbed rate")
      .means("Step by which the limit grows after slow start, at least 1000 blocks.")
      .from("artifact: 0.025 % of the blocks in 5 s, which is 2.5 % of those in 50 ms");
  table.real("decrease", 0.08)
      .range(0.0, 1.0, "of the limit")
      .means("Step by which the limit falls, at least 1000 blocks.")
      .from("artifact");
  table.real("collapse", 10.0)
      .range(1.0, 1000.0)
      .means("Divisor of the limit when the high-priority rate collapses.")
      .from("artifact");
  return table;
}

}  // namespace

PolicyDescriptor tgs_policy() {
  PolicyDescriptor policy;
  policy.name = "tgs";
  policy.summary =
      "The launch rate of low-priority clients follows the rate that the high-priority ones achieve meanwhile.";
  policy.source =
      "B. Wu, Z. Zhang, Z. Bai, X. Liu, X. Jin, \"Transparent GPU sharing in container clouds for deep learning "
      "workloads\", NSDI 2023; artifact pkusys/TGS";
  policy.deviations = {
      "The high-priority side's own estimate from before the others came is not used.",
      "The loop that relearns the undisturbed rate is simpler: it waits for the same number of reports.",
      "Rates are counted in blocks per limiter window, so that the period may be chosen; with the artifact's period "
      "both are the same.",
      "Several low-priority clients share the limit evenly; the artifact has one.",
      "Managed memory for the low-priority side belongs to the device model, not to this policy.",
      "A launch of unknown size costs one block; copies and render work are free, as no hook sees them: a "
      "high-priority client that only renders is never noticed.",
  };
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<Tgs>(values); };
  return policy;
}

}  // namespace corun
