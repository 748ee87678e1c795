#include "policies/xsched/queues.h"

#include <algorithm>
#include <iterator>

namespace corun {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

XQueues::XQueues(const Parameters& parameters)
    : threshold_(static_cast<std::uint64_t>(parameters.integer("threshold"))),
      batch_(std::min(threshold_, static_cast<std::uint64_t>(parameters.integer("batch_size")))),
      has_buffer_(parameters.boolean("buffer")),
      idle_after_(parameters.duration("idle_after")) {}

void XQueues::on_joined(const GpuView& view, ClientId client) {
  queues_.resize(view.clients.size());
  queues_[client.value] = Queue{};
}

void XQueues::on_completed(const GpuView& view, ClientId client) {
  if (!has_work(view.client(client))) queues_[client.value].idle_at = view.now + idle_after_;
}

void XQueues::wake_when_idle(const GpuView& view, Actions& actions) const {
  for (const ClientView& client : view.clients)
    if (client.is_present && !has_work(client) && view.now < idle_at(client)) actions.wake_at(idle_at(client));
}

std::uint64_t XQueues::logged(const ClientView& client) const {
  const std::uint64_t launched = queues_[client.id.value].launched;
  const std::uint64_t completed = launched - client.in_flight;
  return launched - completed / batch_ * batch_;
}

void XQueues::run(const ClientView& client, Actions& actions) const {
  actions.close(client.id);
  const std::uint64_t waiting = client.waiting.size();
  const std::uint64_t in_log = logged(client);
  const std::uint64_t passing = std::min(waiting, threshold_ - std::min(threshold_, in_log));
  if (passing > 0) actions.admit(client.id, static_cast<std::uint32_t>(passing));
  if (waiting > passing)
    actions.hold(client.id, {"threshold", static_cast<double>(in_log + passing) + 1.0, static_cast<double>(threshold_),
                             "kernels"});
}

void XQueues::suspend(const ClientView& client, std::string_view rule, Actions& actions) {
  actions.close(client.id);
  if (!client.waiting.empty()) actions.hold(client.id, {rule, 0, 0, ""});
}

ParameterTable xqueue_parameters() {
  ParameterTable table;
  table.integer("threshold", 16)
      .range(1, 1024, "operations")
      .means("Most operations of one client in flight: what a preemption may have to wait for.")
      .from("artifact, protocol/def.h (the paper's measurements use 8)");
  table.integer("batch_size", 8)
      .range(1, 1024, "operations")
      .means("After how many completions a full queue launches again; at most the threshold.")
      .from("artifact, protocol/def.h");
  table.boolean("buffer", true)
      .means(
          "A queue that is full or suspended keeps what its host launches, so that the host goes on; without, hosts "
          "wait in their launch calls.")
      .from("artifact, preempt/src/xqueue/command_buffer.cpp; without: gates of real programs (simcli live)");
  table.duration("idle_after", 20us)
      .range(0s, 100ms)
      .means(
          "How long a queue has to be without work until it counts as idle; a host that comes back sooner keeps its "
          "turn.")
      .from(
          "ours, not measured: two synchronisations of the launch worker; artifact, "
          "preempt/src/xqueue/command_buffer.cpp");
  return table;
}

PolicyDescriptor xsched_policy(std::string name, std::string part) {
  PolicyDescriptor policy;
  policy.name = std::move(name);
  policy.source =
      "W. Shen et al., \"XSched: preemptive scheduling for diverse XPUs\", OSDI 2025; artifact XpuOS/xsched "
      "(preempt/src/xqueue/launch_worker.cpp, " +
      std::move(part) + ")";
  policy.deviations = {
      "Preemption level 1 alone, since no action takes back what has been launched: it is neither deactivated nor "
      "interrupted. The artifact's experiments on a GV100 give low priority level 2, where a preemption waits for one "
      "kernel.",
      "One threshold and one batch for all queues; the artifact's experiments give each program its own.",
      "One queue per client instead of one per stream, as the artifact's process-level policies have it.",
      "Buffer and device together hold as many operations of a client as a launch queue; the artifact's buffer has no "
      "end. Under simcli live hosts wait in their launch calls.",
      "Frames are commands like others; the artifact has no shim for a graphics interface.",
      "Idleness alone is noticed late (idle_after); all other events, and suspensions, take no time. A queue that is "
      "ready for long is not taken for dead.",
  };
  return policy;
}

}  // namespace corun
