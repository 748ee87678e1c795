/// nvshare - one lock for the whole device, handed on first come, first served, after a long quantum or an idle spell.
/// Source:      G. Alexopoulos, D. Mitropoulos, "nvshare: practical GPU sharing without memory size constraints",
///              ICSE 2024 companion, and the first author's thesis.
///              Artifact: grgalex/nvshare (src/scheduler.c, src/client.c, src/hook.c).
/// Hears:       submissions, launches, completions.      Needs: nothing.
/// Decides:     a client that wants to launch asks for the lock and waits in the queue. Its holder may launch as many
///              kernels as its window of pending kernels allows, until its quantum ends or it has been idle for a
///              while; then its gate closes, what is in flight drains, and the next in the queue gets the lock. A
///              client that allocates more than the device has, less a reserve, gets an error when it joins.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <deque>

#include "policies/builtin.h"
#include "policies/nvshare/interposer.h"
#include "policies/nvshare/lock.h"
#include "sim/policy/client_set.h"

namespace corun {

namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr double kBytesPerMib = 1024.0 * 1024.0;

std::uint32_t as_count(std::int64_t value) { return static_cast<std::uint32_t>(value); }

class Nvshare : public Policy {
 public:
  explicit Nvshare(const Parameters& parameters)
      : settings_{.is_on = parameters.boolean("anti_thrash"),
                  .intercepts_frames = parameters.boolean("gate_frames"),
                  .early_release = parameters.duration("early_release"),
                  .probes_device = parameters.choice("idle_probe") == "device",
                  .utilisation_window = parameters.duration("utilisation_window"),
                  .slip = parameters.duration("slip"),
                  .window = {.most = as_count(parameters.integer("window_max")),
                             .halve_from = parameters.duration("window_halve_from"),
                             .restart_from = parameters.duration("window_restart_from")}},
        latency_(parameters.duration("message_latency")),
        reserve_bytes_(static_cast<double>(parameters.integer("reserve_mib")) * kBytesPerMib),
        allows_oversubscription_(parameters.boolean("single_oversubscription")),
        lock_(parameters.duration("quantum"), parameters.boolean("drop_when_alone")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = true, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    clients_.resize(view.clients.size(), Client{NvshareInterposer(settings_)});
    clients_[client.value] = {NvshareInterposer(settings_), is_too_large(view, view.client(client))};
    if (clients_[client.value].is_too_large) to_refuse_.push_back(client);
  }

  void on_left(const GpuView&, ClientId client) override {
    have_lock_.erase(client);
    lock_.release(client);
    std::erase(to_refuse_, client);
    std::erase_if(mail_, [&](const Mail& mail) { return mail.client == client; });
  }

  void on_launched(const GpuView& view, ClientId client, const OpView& op) override {
    Client& its = clients_[client.value];
    its.interposer.launched(view, op);
    its.was_foreseen = its.foreseen > 0;
    its.foreseen -= its.was_foreseen;
  }

  void on_completed(const GpuView&, ClientId client, const OpView& op, Duration) override {
    clients_[client.value].interposer.completed(op);
  }

  MemoryTerms memory_terms(const GpuView& view, const ClientView&) const override {
    MemoryTerms terms{.told_bytes = view.device.memory_bytes, .is_managed = true};
    if (!allows_oversubscription_ && view.device.memory_bytes > 0)
      terms.most_bytes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most_bytes(view)));
    return terms;
  }

  /// What the control tool sends, as the daemon hears it.
  void on_adjusted(const GpuView& view, const std::string& parameter, const ParameterValue& value) override {
    if (parameter == "quantum") return lock_.set_quantum(std::get<Duration>(value), view.now);
    if (settings_.is_on == std::get<bool>(value)) return;
    settings_.is_on = std::get<bool>(value);
    for (const ClientView& client : view.clients)
      if (client.is_present) send(view, client.id, settings_.is_on ? Subject::kOn : Subject::kOff);
    if (!settings_.is_on) lock_.clear();
  }

  /// A launch that was admitted changes no more than was foreseen, and most completions are of no interest.
  bool decides_after(const GpuView& view, ClientId client, OpEvent event) const override {
    const Client& its = clients_[client.value];
    if (event == OpEvent::kCompleted) return its.interposer.has_drained();
    const bool is_foreseen = event == OpEvent::kLaunched && its.was_foreseen;
    return !is_foreseen || !view.client(client).waiting.empty();
  }

  void decide(const GpuView& view, Actions& actions) override {
    actions.keep_holds();
    find_whom_to_look_at(view);
    exchange_messages(view);
    const Duration quantum_left = lock_.quantum_left(view.now);
    looks_at_.for_each([&](ClientId client) {
      if (view.client(client).is_present) set_gate(view, view.client(client), quantum_left, actions);
    });
    for (const ClientId client : to_refuse_) actions.refuse(client);
    to_refuse_.clear();
    if (!mail_.empty()) actions.wake_at(mail_.front().due);
    actions.wake_at(lock_.next_drop(view.now));
  }

  std::uint32_t admits_ahead(const GpuView&, const ClientView& client) const override {
    const Client& its = clients_[client.id.value];
    return its.is_too_large ? 0 : its.interposer.admits_ahead();
  }

 private:
  enum class Subject : std::uint8_t { kRequest, kGranted, kDrop, kReleased, kOn, kOff };
  struct Client {
    NvshareInterposer interposer;
    bool is_too_large = false;
    std::uint32_t foreseen = 0;  // launches that the newest decision admits by the lock, and that are to be heard
    bool was_foreseen = false;   // the newest launch
  };
  struct Mail {
    Time due;
    ClientId client;
    Subject subject;
  };

  double most_bytes(const GpuView& view) const {
    return std::max(0.0, static_cast<double>(view.device.memory_bytes) - reserve_bytes_);
  }
  bool is_too_large(const GpuView& view, const ClientView& client) const {
    if (allows_oversubscription_ || view.device.memory_bytes == 0) return false;
    return static_cast<double>(client.allocated_bytes) > most_bytes(view);
  }

  /// Others stand as they stood: their operations do, no message has come, and time alone changes nothing without the
  /// lock. What a hold says of its instant is stated again at that instant.
  void find_whom_to_look_at(const GpuView& view) {
    if (held_at_ != view.now) held_now_.clear();
    held_at_ = view.now;
    looks_at_ = have_lock_;
    looks_at_.insert_all(held_now_);
    looks_at_.insert_all(view.changed);
  }

  /// Until no client and not the daemon has another message at this instant.
  void exchange_messages(const GpuView& view) {
    bool is_silent = false;
    while (!is_silent) {
      is_silent = !deliver(view);
      looks_at_.for_each([&](ClientId client) {
        if (view.client(client).is_present) is_silent &= !hear(view, view.client(client));
      });
      if (!lock_.has_news(view.now)) continue;
      if (const auto holder = lock_.drop(view.now)) is_silent &= !send(view, *holder, Subject::kDrop);
      if (const auto holder = lock_.grant(view.now)) is_silent &= !send(view, *holder, Subject::kGranted);
    }
  }

  bool send(const GpuView& view, ClientId client, Subject subject) {
    mail_.push_back({view.now + latency_, client, subject});
    return true;
  }

  /// Lets the client's interposer send what it has to say; false if that is nothing.
  bool hear(const GpuView& view, const ClientView& client) {
    using enum NvshareInterposer::Message;
    Client& its = clients_[client.id.value];
    NvshareInterposer& interposer = its.interposer;
    if (its.is_too_large || interposer.is_silent()) return false;
    const auto message = interposer.next_message(view, client);
    return message != kNone && send(view, client.id, message == kRequest ? Subject::kRequest : Subject::kReleased);
  }

  /// Hands over what has arrived; false if nothing has.
  bool deliver(const GpuView& view) {
    bool has_arrived = false;
    for (; !mail_.empty() && mail_.front().due <= view.now; mail_.pop_front(), has_arrived = true) {
      const auto [due, client, subject] = mail_.front();
      NvshareInterposer& interposer = clients_[client.value].interposer;
      looks_at_.insert(client);
      switch (subject) {
        case Subject::kRequest:
          if (settings_.is_on) lock_.request(client);
          break;
        case Subject::kReleased:
          if (settings_.is_on) lock_.release(client);
          break;
        case Subject::kGranted:
          interposer.lock_granted(view);
          break;
        case Subject::kDrop:
          interposer.lock_dropped(view.now);
          break;
        case Subject::kOn:
        case Subject::kOff:
          interposer.turned(subject == Subject::kOn, view.now);
          break;
      }
    }
    return has_arrived;
  }

  /// Launches pass one by one, so that the one that fills the window is the last before the synchronisation.
  void set_gate(const GpuView& view, const ClientView& client, Duration quantum_left, Actions& actions) {
    Client& its = clients_[client.id.value];
    const NvshareInterposer& interposer = its.interposer;
    its.foreseen = 0;
    if (its.is_too_large) {
      return actions.hold(client.id,
                          {"memory_reserve", static_cast<double>(client.allocated_bytes), most_bytes(view), "bytes"});
    }
    if (interposer.stands_in_line(client)) {
      have_lock_.erase(client.id);
      if (client.gate_is_open) actions.close(client.id);
      if (!client.waiting.empty()) say_why(client.id, interposer.hold(quantum_left), actions);
      return;
    }
    if (interposer.has_lock()) have_lock_.insert(client.id);
    if (interposer.is_open()) {
      actions.wake_at(interposer.next_look(view.now));
      return actions.open(client.id);
    }
    if (client.gate_is_open) actions.close(client.id);
    const std::uint32_t passing = interposer.passing(client);
    actions.wake_at(interposer.next_look_after(view.now, client.waiting.first(passing)));
    if (interposer.has_lock()) its.foreseen = passing;
    if (passing > 0) actions.admit(client.id, passing);
    if (passing < client.waiting.size()) say_why(client.id, interposer.hold(quantum_left), actions);
  }

  void say_why(ClientId client, const Hold& hold, Actions& actions) {
    held_now_.insert(client);
    actions.hold(client, hold);
  }

  NvshareInterposer::Settings settings_;
  const Duration latency_;
  const double reserve_bytes_;
  const bool allows_oversubscription_;
  NvshareLock lock_;
  std::vector<Client> clients_;
  std::vector<ClientId> to_refuse_;
  std::deque<Mail> mail_;  // in order of arrival
  ClientSet have_lock_;    // those that the newest decision found so; since then perhaps fewer
  ClientSet looks_at_;     // in this decision
  ClientSet held_now_;     // clients whose hold was stated at held_at_
  Time held_at_ = kNever;
};

void add_lock_parameters(ParameterTable& table) {
  table.duration("quantum", 30s)
      .range(1ms, 24h)
      .means("How long a holder keeps the lock while it stays active.")
      .from("artifact, src/scheduler.c (thesis and talk: 20s)")
      .adjustable();
  table.boolean("drop_when_alone", true)
      .means("Whether the quantum ends for a holder while no other client waits; it then drains and asks again.")
      .from("artifact, src/scheduler.c");
  table.boolean("anti_thrash", true)
      .means("Whether there is a lock at all; without it every client launches, within its window.")
      .from("artifact, src/scheduler.c")
      .adjustable();
  table.duration("message_latency", 50us)
      .range(0s, 1s)
      .means("From a message's sending to the end of its hearing, between a client and the daemon.")
      .from("assumed: a local socket and the wake-up of a thread");
}

void add_release_parameters(ParameterTable& table) {
  table.duration("early_release", 5s)
      .range(1ms, 24h)
      .means("A holder that launched nothing for this long gives the lock back if the idle probe agrees.")
      .from("artifact, src/client.c");
  table.choice("idle_probe", {"device", "synchronise"})
      .means(
          "What keeps an idle holder's lock: any use of the device in the utilisation window, or a "
          "synchronisation of its own that takes 100 ms or more.")
      .from("artifact, src/client.c: the driver's utilisation, a synchronisation where that cannot be read");
  table.duration("utilisation_window", 1s)
      .range(1ms, 24h)
      .means("How far the driver's utilisation looks back; at least 1 % of it keeps the lock.")
      .from("NVML documentation: 1/6 s to 1 s, by product");
  table.boolean("gate_frames", false)
      .means("Whether render work needs the lock, as if graphics calls were intercepted; false lets it pass.")
      .from("artifact: it intercepts CUDA alone; true is ours");
  table.duration("slip", 1us)
      .range(0s, 1s)
      .means(
          "A call made this soon after its client's lock was dropped passes all the same, one per drop: it had been "
          "checked before; 0 = none.")
      .from("assumed; artifact, src/hook.c: check and launch are two steps");
}

void add_window_parameters(ParameterTable& table) {
  table.integer("window_max", 2048)
      .range(0, 1'000'000, "kernels")
      .means("Largest window of pending kernels, which begins with 1 and doubles; 0 = no window.")
      .from("artifact, src/hook.c");
  table.duration("window_halve_from", 1s)
      .range(1ms, 24h)
      .means("A synchronisation this long halves the window instead.")
      .from("artifact, src/hook.c");
  table.duration("window_restart_from", 10s)
      .range(1ms, 24h)
      .means("A synchronisation this long sets the window back to 1.")
      .from("artifact, src/hook.c");
  table.integer("reserve_mib", 1536)
      .range(0, 1'000'000, "MiB")
      .means("Device memory hidden from every client, for contexts.")
      .from("artifact, src/hook.c");
  table.boolean("single_oversubscription", false)
      .means("Whether one client may allocate more than the device has, less the reserve.")
      .from("artifact, src/hook.c (an environment variable)");
}

ParameterTable parameters() {
  ParameterTable table;
  add_lock_parameters(table);
  add_release_parameters(table);
  add_window_parameters(table);
  return table;
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
      "A host that synchronises for its window stands at its next call, not inside the one before: its host gap passes "
      "meanwhile.",
      "Copies wait with it; in the artifact another thread of the program could still copy.",
      "All that a client allocates is known when it joins, and counts at once and for good.",
      "The device's utilisation is exact over its window; the artifact reads it from a driver that samples.",
      "Calls made at most `slip` after the lock was dropped still pass; the length is assumed, since the gap between "
      "check and launch in the artifact has not been measured.",
      "`gate_frames: true`, under which the lock covers graphics too, is ours.",
      "All memory is taken as managed where `working_set` states it, at no cost of its own (the thesis: about 1 %). "
      "Live, allocations become managed where `--managed-memory` asks for it; pools, arrays and mappings stay as they "
      "are, and the free memory that programs are told of is less what they hold, where the artifact says all.",
      "The daemon hears the control tool at the instant of an adjustment, and clients one message later; the "
      "artifact's tool sends two messages where it sets both. Registration takes no time.",
      "The device plugin's ten virtual devices a GPU are pods that ask for a tenth of a card (docs/cluster.md).",
      "The processes of a client have one place in the queue and one limit of memory; in the artifact each process is "
      "a client.",
      "All calls need the lock: those that the artifact does not intercept (CUDA graphs, extended launches, memsets) "
      "are not distinguished from the others.",
  };
  policy.parameters = parameters();
  policy.create = [](const Parameters& values) { return std::make_unique<Nvshare>(values); };
  return policy;
}

}  // namespace corun
