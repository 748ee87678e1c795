/// XSched fair share - the ready client that has run least for its weight runs next.
/// Source:      W. Shen et al., "XSched: preemptive scheduling for diverse XPUs", OSDI 2025; the policy itself came to
///              the artifact later. Artifact: XpuOS/xsched (sched/src/policy/cfs.cpp).
/// Hears:       submissions, launches, completions.      Needs: nothing.
/// Decides:     one client runs at a time. After a slice, or when it has no work left or another gets some, the ready
///              client of the least virtual time takes over; virtual time grows by the time in which a client was the
///              running one, over its weight. A newcomer begins at the least virtual time of those that are ready.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <cmath>
#include <limits>

#include "policies/builtin.h"
#include "policies/xsched/queues.h"

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

class XschedFair : public Policy {
 public:
  explicit XschedFair(const Parameters& parameters)
      : queues_(parameters), slice_(parameters.duration("time_slice")), weights_(parameters.by_client("weights")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }
  bool buffers_launches() const override { return queues_.has_buffer(); }

  void on_joined(const GpuView& view, ClientId client) override {
    queues_.on_joined(view, client);
    tasks_.resize(view.clients.size());
    tasks_[client.value] = Task{};
  }
  void on_launched(const GpuView&, ClientId client, const OpView&) override { queues_.on_launched(client); }
  void on_completed(const GpuView& view, ClientId client, const OpView&, Duration) override {
    queues_.on_completed(view, client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (note_ready(view) || view.now >= slice_end_) choose(view);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (client.id == running_) {
        queues_.run(client, actions);
      } else {
        XQueues::suspend(client, "less_served_first", actions);
      }
    }
    if (!running_.is_none()) actions.wake_at(slice_end_);
    queues_.wake_when_idle(view, actions);
  }

 private:
  struct Task {
    double virtual_time = -1.0;  // ns over weight; negative = never ready yet
    bool is_ready = false;       // as last seen
  };

  /// Whether a client got its first work or lost its last since the last decision.
  bool note_ready(const GpuView& view) {
    bool has_changed = false;
    for (const ClientView& client : view.clients) {
      if (client.id.value >= tasks_.size()) break;
      bool& was_ready = tasks_[client.id.value].is_ready;
      const bool is_ready = queues_.is_ready(view, client);
      has_changed |= was_ready != is_ready;
      was_ready = is_ready;
    }
    return has_changed;
  }

  double weight(const ClientView& client) const {
    const auto given = weights_.find(client.name);
    return given != weights_.end() ? given->second : std::pow(1.2, client.priority);
  }

  void choose(const GpuView& view) {
    if (!running_.is_none())
      tasks_[running_.value].virtual_time +=
          static_cast<double>(to_ns(view.now - since_)) / weight(view.client(running_));
    place_newcomers();
    running_ = ClientId::none();
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].is_ready) continue;
      if (running_.is_none() || tasks_[i].virtual_time < tasks_[running_.value].virtual_time) running_ = ClientId{i};
    }
    since_ = view.now;
    slice_end_ = running_.is_none() ? kNever : view.now + slice_;
  }

  void place_newcomers() {
    double least = std::numeric_limits<double>::infinity();
    for (const Task& task : tasks_)
      if (task.is_ready && task.virtual_time >= 0) least = std::min(least, task.virtual_time);
    for (Task& task : tasks_)
      if (task.is_ready && task.virtual_time < 0) task.virtual_time = std::isinf(least) ? 0.0 : least;
  }

  XQueues queues_;
  const Duration slice_;
  const ByClient weights_;
  std::vector<Task> tasks_;  // by client
  ClientId running_ = ClientId::none();
  Time since_;  // when its time was last counted
  Time slice_end_ = kNever;
};

ParameterTable parameters() {
  ParameterTable table = xqueue_parameters();
  table.duration("time_slice", 1ms)
      .range(100us, 10s)
      .means("After how long the running client is weighed against the others again.")
      .from("artifact, sched/policy/cfs.h");
  table.by_client("weights")
      .range(0.01, 1000.0)
      .means("Share of a client relative to the others'; without an entry 1.2 to the power of its priority.")
      .from("artifact: 1.2 a step of priority");
  return table;
}

}  // namespace

PolicyDescriptor xsched_fair_policy() {
  PolicyDescriptor policy = xsched_policy("xsched_fair", "sched/src/policy/cfs.cpp");
  policy.summary = "One client at a time in short slices, always the one that has run least for its weight.";
  policy.deviations.push_back("Weights may be given by client; the artifact derives them from priorities alone.");
  policy.deviations.push_back(
      "There is one device. As in the artifact, time is counted whether or not the device was busy, and a client that "
      "was idle keeps its virtual time and may catch up.");
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<XschedFair>(values); };
  return policy;
}

}  // namespace corun
