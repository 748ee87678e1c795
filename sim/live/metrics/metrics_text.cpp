#include "sim/live/metrics/metrics_text.h"

#include <vector>

#include "sim/live/metrics/metrics_page.h"
#include "sim/metrics/metric_table.h"

namespace corun::live {

namespace {

/// What the table of metrics says a figure is.
std::string meaning(std::string_view metric) { return std::string(metric_named(metric).meaning); }

/// The families of one posting, most of them with a sample for each client.
class Families {
 public:
  explicit Families(const FiguresBoard::Posted& posted) : posted_(posted), is_over_(posted.is_over()) {
    if (posted.figures == nullptr) return;
    run_labels_ = label_of("policy", posted.figures->policy);
    for (const ClientFigures& client : posted.figures->clients)
      client_labels_.push_back(fmt::format("{},{}", label_of("client", client.name), run_labels_));
  }

  void add_command(std::string_view version);
  void add_run();
  void add_presence();
  void add_launches();
  void add_frames();
  void add_jobs();
  void add_memory();
  void add_actions();
  std::string text() && { return std::move(page_).text(); }

 private:
  /// One sample, of the run.
  template <class Value>
  void of_run(std::string_view name, std::string_view type, std::string_view help, const Value& value) {
    page_.family(name, type, help);
    if (posted_.figures != nullptr) page_.sample(run_labels_, value(*posted_.figures));
  }
  /// Samples of each client, by `add(client, its labels)`.
  template <class Add>
  void by_client(std::string_view name, std::string_view type, std::string_view help, const Add& add) {
    page_.family(name, type, help);
    for (std::size_t i = 0; i < client_labels_.size(); ++i) add(posted_.figures->clients[i], client_labels_[i]);
  }
  /// One sample of each client that has what it is about.
  template <class Value, class Has>
  void where(const Has& has, std::string_view name, std::string_view type, std::string_view help, const Value& value) {
    by_client(name, type, help, [&](const ClientFigures& client, const std::string& labels) {
      if (has(client)) page_.sample(labels, value(client));
    });
  }
  template <class Value>
  void of_clients(std::string_view name, std::string_view type, std::string_view help, const Value& value) {
    where([](const ClientFigures&) { return true; }, name, type, help, value);
  }
  /// The median and the 99th percentile, of which the table of metrics says what they are.
  void add_quantile(std::string_view name, std::string_view metric, double q, const RecentTimes ClientFigures::*times) {
    where([=](const ClientFigures& client) { return !(client.*times).empty(); }, name, "gauge",
          fmt::format("{}, over the last {}", meaning(metric), RecentTimes::kMost),
          [=](const ClientFigures& client) { return seconds_of((client.*times).quantile(q)); });
  }
  void add_held_now(const ClientFigures& client, const std::string& labels);

  const FiguresBoard::Posted& posted_;
  const bool is_over_;
  std::string run_labels_;
  std::vector<std::string> client_labels_;
  MetricsPage page_;
};

void Families::add_command(std::string_view version) {
  page_.family("corun_build_info", "gauge", "1; the version of simcli");
  page_.sample(label_of("version", version), 1);
  page_.family("corun_runs_finished_total", "counter", "runs of this command that have ended");
  page_.sample("", posted_.runs_finished);
  page_.family("corun_figures_age_seconds", "gauge", "time since the scheduler gave these figures");
  if (posted_.figures != nullptr) page_.sample("", seconds_of(posted_.age));
}

void Families::add_run() {
  page_.family("corun_run_info", "gauge", "1; the number of the run among those of this command, and its device");
  if (const auto& run = posted_.figures; run != nullptr)
    page_.sample(fmt::format("{},{},{}", run_labels_, label_of("device", run->device),
                             label_of("run", std::to_string(run->number))),
                 1);
  of_run("corun_run_in_progress", "gauge", "1 while the run goes on, 0 after it",
         [&](const RunFigures&) { return is_over_ ? 0 : 1; });
  of_run("corun_run_elapsed_seconds", "gauge", "time since the run began",
         [](const RunFigures& run) { return seconds_of(run.elapsed); });
  of_run("corun_run_horizon_seconds", "gauge", "planned length of the run",
         [](const RunFigures& run) { return seconds_of(run.horizon); });
  of_run("corun_device_busy_seconds_total", "counter", "time in which some client had work on the device",
         [](const RunFigures& run) { return seconds_of(run.device_busy); });
  of_run("corun_policy_decisions_total", "counter", "how often the policy was asked",
         [](const RunFigures& run) { return run.decisions; });
  of_run("corun_policy_decision_seconds_total", "counter", "time that the policy's decisions took",
         [](const RunFigures& run) { return seconds_of(run.decision_time); });
}

void Families::add_presence() {
  of_clients("corun_client_present", "gauge",
             "1 while the client's programs are there; 0 while a killed one comes back",
             [&](const ClientFigures& client) { return client.is_present && !is_over_ ? 1 : 0; });
  of_clients("corun_gate_open", "gauge", "1 while launches pass unasked, 0 while the policy holds or admits each",
             [&](const ClientFigures& client) { return client.gate_is_open || is_over_ ? 1 : 0; });
  of_clients("corun_device_time_seconds_total", "counter", "device time of the client",
             [](const ClientFigures& client) { return seconds_of(client.device_time); });
}

/// Of every rule that has held the client so far, so that no series comes and goes.
void Families::add_held_now(const ClientFigures& client, const std::string& labels) {
  const std::uint64_t waiting = is_over_ ? 0 : client.waiting;
  const auto sample = [&](std::string_view rule, std::uint64_t count) {
    page_.sample(fmt::format("{},{}", labels, label_of("reason", rule)), count);
  };
  for (const auto& [rule, held] : client.held) sample(rule, rule == client.hold ? waiting : 0);
  if (waiting > 0 && !client.held.contains(client.hold))
    sample(client.hold.empty() ? "unstated" : client.hold, waiting);
}

void Families::add_launches() {
  of_clients("corun_launches_total", "counter", "launches that have passed the gate",
             [](const ClientFigures& client) { return client.launches; });
  of_clients("corun_launches_in_flight", "gauge", "launches that have passed and are not complete",
             [&](const ClientFigures& client) { return is_over_ ? 0 : client.in_flight; });
  by_client("corun_launches_held", "gauge", "launches that wait at the gate, by the rule that holds them",
            [&](const ClientFigures& client, const std::string& labels) { add_held_now(client, labels); });
  by_client("corun_held_seconds_total", "counter",
            "time in which launches waited at the gate, by the rule that held them",
            [&](const ClientFigures& client, const std::string& labels) {
              for (const auto& [rule, held] : client.held)
                page_.sample(fmt::format("{},{}", labels, label_of("reason", rule)), seconds_of(held));
            });
  by_client("corun_gate_wait_seconds", "histogram",
            "time from a launch's submission until it passed the gate: the delay that the policy adds",
            [&](const ClientFigures& client, const std::string& labels) { page_.histogram(labels, client.gate_wait); });
  by_client("corun_wait_seconds", "histogram",
            "time from a launch's submission to its begin on the device: gate and queue",
            [&](const ClientFigures& client, const std::string& labels) { page_.histogram(labels, client.wait); });
}

void Families::add_frames() {
  const auto has_frames = [](const ClientFigures& client) { return client.has_frames; };
  where(has_frames, "corun_frames_total", "counter", "frames shown",
        [](const ClientFigures& client) { return client.frames; });
  where(has_frames, "corun_missed_frames_total", "counter",
        "frames shown later than one period after their start; 0 without pacing",
        [](const ClientFigures& client) { return client.missed_frames; });
  by_client("corun_frame_time_seconds", "histogram", "frame time, from present to present",
            [&](const ClientFigures& client, const std::string& labels) {
              if (client.has_frames) page_.histogram(labels, client.frame_time);
            });
  add_quantile("corun_frame_time_p50_seconds", "frame_time_p50_ms", 0.5, &ClientFigures::recent_frame_times);
  add_quantile("corun_frame_time_p99_seconds", "frame_time_p99_ms", 0.99, &ClientFigures::recent_frame_times);
}

void Families::add_jobs() {
  where([](const ClientFigures& client) { return client.has_known_jobs; }, "corun_jobs_total", "counter",
        "jobs (frames, iterations, requests) finished", [](const ClientFigures& client) { return client.jobs; });
  by_client("corun_job_time_seconds", "histogram", "time from a job's begin to the end of its work",
            [&](const ClientFigures& client, const std::string& labels) {
              if (client.has_known_jobs) page_.histogram(labels, client.job_time);
            });
  add_quantile("corun_job_time_p50_seconds", "job_time_p50_ms", 0.5, &ClientFigures::recent_job_times);
  add_quantile("corun_job_time_p99_seconds", "job_time_p99_ms", 0.99, &ClientFigures::recent_job_times);
}

void Families::add_memory() {
  of_clients("corun_memory_allocated_bytes", "gauge", "device memory that the client's programs have asked for",
             [&](const ClientFigures& client) { return is_over_ ? 0 : client.allocated; });
  where([](const ClientFigures& client) { return client.memory_limit > 0; }, "corun_memory_limit_bytes", "gauge",
        "most device memory that they may have; absent without a limit",
        [](const ClientFigures& client) { return client.memory_limit; });
  of_clients("corun_refused_allocations_total", "counter", "allocations that failed for that limit",
             [](const ClientFigures& client) { return client.refused_allocations; });
}

void Families::add_actions() {
  by_client("corun_actions_total", "counter", "actions of the policy that were applied to the client",
            [&](const ClientFigures& client, const std::string& labels) {
              for (std::size_t kind = 0; kind < kActionKinds; ++kind)
                if (const auto name = to_string(static_cast<Action::Kind>(kind)); client.actions[kind] > 0)
                  page_.sample(fmt::format("{},{}", labels, label_of("action", name)), client.actions[kind]);
            });
  of_clients("corun_kills_total", "counter", meaning("kills"),
             [](const ClientFigures& client) { return client.actions[static_cast<std::size_t>(Action::Kind::kKill)]; });
  of_clients("corun_lost_seconds_total", "counter",
             "device time that kills threw away, counted when the client is back",
             [](const ClientFigures& client) { return seconds_of(client.lost); });
  of_clients("corun_snapshots_total", "counter", "snapshots that the client's programs have saved",
             [](const ClientFigures& client) { return client.snapshots; });
  of_clients("corun_refused", "gauge", "1 for a client that was turned away with an error",
             [](const ClientFigures& client) { return client.refused; });
}

}  // namespace

std::string metrics_text(const FiguresBoard::Posted& posted, std::string_view version) {
  Families families(posted);
  families.add_command(version);
  families.add_run();
  families.add_presence();
  families.add_launches();
  families.add_frames();
  families.add_jobs();
  families.add_memory();
  families.add_actions();
  return std::move(families).text();
}

}  // namespace corun::live
