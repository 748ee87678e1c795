/// nvshare - one lock for the whole device, handed on first come, first served, after a long quantum or an idle spell.
/// Source:      G. Alexopoulos, D. Mitropoulos, "nvshare: practical GPU sharing without memory size constraints",
///              ICSE 2024 companion, and the first author's thesis.
///              Artifact: grgalex/nvshare (src/scheduler.c, src/client.c, src/hook.c).
/// Hears:       submissions, completions.      Needs: nothing.
/// Decides:     a client that wants to launch queues for the lock. Its holder is open until its quantum ends or it has
///              been idle for a while; then its gate closes, what is in flight drains, and the next in the queue gets
///              the lock. A holder that still wants to launch queues again at the end.
/// Parameters:  see the descriptor below.
/// Departs:     1. The window of pending kernels is absent: a holder may have any number of launches in flight.
///              2. The idle probe looks at what is in flight at that instant; the artifact reads a utilisation averaged
///                 over a fraction of a second.
///              3. No kernel slips past a lock that is being dropped, and messages take no time.
///              4. By default the lock covers graphics too; the artifact intercepts CUDA alone (gate_frames: false).

#include <algorithm>
#include <deque>

#include "policies/builtin.h"

namespace corun {

namespace {

class Nvshare : public Policy {
 public:
  explicit Nvshare(const Parameters& parameters)
      : quantum_(parameters.duration("quantum")),
        early_release_(parameters.duration("early_release")),
        drop_when_alone_(parameters.boolean("drop_when_alone")),
        gate_frames_(parameters.boolean("gate_frames")),
        probes_device_(parameters.choice("idle_probe") == "device") {}

  Hears hears() const override { return {.submitted = true, .launched = false, .completed = true, .frames = false}; }

  void on_submitted(const GpuView&, ClientId client, const OpView& op) override {
    const bool has_asked = std::ranges::find(queue_, client) != queue_.end();
    if (!has_asked && needs_lock(op)) queue_.push_back(client);
  }

  void on_left(const GpuView&, ClientId client) override {
    if (is_held_ && queue_.front() == client) is_held_ = is_draining_ = false;
    std::erase(queue_, client);
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (is_held_) release_if_due(view);
    if (!is_held_ && !queue_.empty()) grant(view.now);
    for (const ClientView& client : view.clients)
      if (client.is_present) set_gate(client, actions);
    if (is_held_ && !is_draining_) actions.wake_at(next_deadline(view));
  }

 private:
  bool needs_lock(const OpView& op) const { return gate_frames_ || !op.is_render; }

  /// When the holder falls idle if it launches nothing more.
  Time idle_at(const ClientView& holder) const {
    const bool launched = holder.last_submitted != kNever && holder.last_submitted > armed_;
    return (launched ? holder.last_submitted : armed_) + early_release_;
  }

  bool has_expired(Time now) const { return now >= granted_ + quantum_ && (drop_when_alone_ || queue_.size() > 1); }

  bool is_busy(const GpuView& view, const ClientView& holder) const {
    if (!probes_device_) return holder.in_flight > 0;
    return std::ranges::any_of(view.clients, [](const ClientView& client) { return client.in_flight > 0; });
  }

  void release_if_due(const GpuView& view) {
    const ClientView& holder = view.client(queue_.front());
    if (!is_draining_ && has_expired(view.now)) is_draining_ = true;
    if (!is_draining_ && view.now >= idle_at(holder)) {
      is_draining_ = !is_busy(view, holder);
      armed_ = view.now;
    }
    if (is_draining_ && holder.in_flight == 0) release(holder);
  }

  void release(const ClientView& holder) {
    is_held_ = is_draining_ = false;
    queue_.pop_front();
    const bool asks_again = std::ranges::any_of(holder.waiting, [&](const OpView& op) { return needs_lock(op); });
    if (asks_again) queue_.push_back(holder.id);
  }

  void grant(Time now) {
    is_held_ = true;
    granted_ = armed_ = now;
  }

  void set_gate(const ClientView& client, Actions& actions) const {
    if (is_held_ && !is_draining_ && queue_.front() == client.id) return actions.open(client.id);
    actions.close(client.id);
    const auto locked = std::ranges::find_if(client.waiting, [&](const OpView& op) { return needs_lock(op); });
    const auto free = static_cast<std::uint32_t>(locked - client.waiting.begin());
    if (free > 0) actions.admit(client.id, free);
  }

  Time next_deadline(const GpuView& view) const {
    const Time idle = idle_at(view.client(queue_.front()));
    const Time expiry = granted_ + quantum_;
    return expiry > view.now ? std::min(idle, expiry) : idle;
  }

  const Duration quantum_;
  const Duration early_release_;
  const bool drop_when_alone_;
  const bool gate_frames_;
  const bool probes_device_;
  std::deque<ClientId> queue_;  // those who asked, in order; the holder stays at its head
  bool is_held_ = false;
  bool is_draining_ = false;
  Time granted_;
  Time armed_;  // when the idle timer was last set other than by a launch
};

std::vector<ParameterDescriptor> parameters() {
  using std::chrono_literals::operator""s;
  constexpr double kMillisecond = 1e6;
  constexpr double kDay = 86'400e9;
  return {
      {.name = "quantum", .type = ParameterType::kDuration, .default_value = Duration{30s}, .unit = "",
       .minimum = kMillisecond, .maximum = kDay, .choices = {},
       .meaning = "How long a holder keeps the lock while it stays active.",
       .source = "artifact, src/scheduler.c (thesis and talk: 20s)"},
      {.name = "early_release", .type = ParameterType::kDuration, .default_value = Duration{5s}, .unit = "",
       .minimum = kMillisecond, .maximum = kDay, .choices = {},
       .meaning = "A holder that launched nothing for this long gives the lock back if the idle probe agrees.",
       .source = "artifact, src/client.c"},
      {.name = "drop_when_alone", .type = ParameterType::kBoolean, .default_value = true, .unit = "", .choices = {},
       .meaning = "Whether the quantum ends for a holder for whom nobody waits; it then drains and asks again.",
       .source = "artifact, src/scheduler.c"},
      {.name = "gate_frames", .type = ParameterType::kBoolean, .default_value = true, .unit = "", .choices = {},
       .meaning = "Whether render work needs the lock, as if graphics calls were intercepted; false lets it pass.",
       .source = "ours (artifact: false)"},
      {.name = "idle_probe", .type = ParameterType::kChoice, .default_value = std::string("device"), .unit = "",
       .choices = {"device", "holder"},
       .meaning = "Whose work in flight keeps an idle holder's lock: anybody's on the device, or its own.",
       .source = "artifact, src/client.c: device-wide utilisation"},
  };
}

}  // namespace

PolicyDescriptor nvshare_policy() {
  PolicyDescriptor policy;
  policy.name = "nvshare";
  policy.summary = "One lock for the device, first come, first served, with a long quantum and release when idle.";
  policy.source =
      "G. Alexopoulos, D. Mitropoulos, \"nvshare: practical GPU sharing without memory size constraints\", ICSE 2024 "
      "companion; artifact grgalex/nvshare";
  policy.deviations = {
      "The window of pending kernels is absent: a holder may have any number of launches in flight.",
      "The idle probe looks at what is in flight at that instant, not at a utilisation averaged over a while.",
      "No kernel slips past a lock that is being dropped, and messages take no time.",
      "By default the lock covers graphics too; the artifact intercepts CUDA alone (`gate_frames: false`).",
  };
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<Nvshare>(values); };
  return policy;
}

}  // namespace corun
