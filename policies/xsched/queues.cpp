#include "policies/xsched/queues.h"

#include <algorithm>
#include <iterator>

namespace corun {

XQueues::XQueues(const Parameters& parameters)
    : threshold_(static_cast<std::uint64_t>(parameters.integer("threshold"))),
      batch_(std::min(threshold_, static_cast<std::uint64_t>(parameters.integer("batch_size")))) {}

void XQueues::on_joined(const GpuView& view, ClientId client) {
  launched_.resize(view.clients.size());
  launched_[client.value] = 0;
}

std::uint64_t XQueues::logged(const ClientView& client) const {
  const std::uint64_t launched = launched_[client.id.value];
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
      "Preemption level 1 alone: what is in flight is neither deactivated nor interrupted.",
      "One queue per client instead of one per stream, as the artifact's process-level policies have it.",
      "A host waits in its launch call while its queue is full or suspended; the artifact buffers its commands.",
      "Frames are commands like others; the artifact has no shim for a graphics interface.",
      "Events and suspensions take no time; a queue that is ready for long is not taken for dead.",
  };
  return policy;
}

}  // namespace corun
