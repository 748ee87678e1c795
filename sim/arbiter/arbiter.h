#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/arbiter/action_rules.h"
#include "sim/arbiter/backend.h"
#include "sim/arbiter/hold_log.h"
#include "sim/arbiter/kill_log.h"
#include "sim/arbiter/pending_ops.h"
#include "sim/facts/recorder.h"
#include "sim/policy/policy.h"

namespace corun {

/// Connects a policy to a backend: owns the gates and the operations that wait there, keeps the view, asks the policy,
/// checks and applies its actions, and reports every decision.
///
/// The same class serves simulated, real and fake backends. Single-threaded. An illegal action throws Error(kPolicy)
/// naming policy, action, client and time; the run cannot continue after that.
class Arbiter {
 public:
  /// `clients` as the policy sees them at first, none of them present; their ids are their places.
  Arbiter(Policy& policy, std::string policy_name, const DeviceView& device, std::vector<ClientView> clients,
          Backend& backend, Recorder& recorder);

  void join(ClientId client);
  void leave(ClientId client);

  /// The client's host asks to run `op`; `op.number` must count its submissions. True if it passed the gate at once
  /// (Backend::launch has been called), false if it waits there and will be launched later.
  bool submit(ClientId client, const OpView& op);
  /// Whether an operation submitted now would pass and the policy hear nothing of it. Then pass() may replace submit(),
  /// and no OpView is needed.
  bool passes_unheard(ClientId client) const;
  void pass(ClientId client, std::uint64_t number, Duration predicted_by_name);
  /// The first `count` of its waiting operations have passed, whatever the gate's state. Only on backends whose gates
  /// take time to close.
  void slipped(ClientId client, std::uint32_t count);
  /// The operations that wait at the client's gate will never be launched: its program is gone. Their numbers are
  /// reused.
  void abandon(ClientId client);
  /// Submission `number` finished on the device.
  void complete(ClientId client, std::uint64_t number, Duration device_time);
  /// A frame began or ended now; begin and end in `frame` are ignored.
  void frame(ClientId client, FrameEvent event, const FrameView& frame);
  /// A requested shadow frame is complete.
  void shadow(ClientId client, const ShadowFrame& shadow);
  /// What the client's owner asks for from now on.
  void resize(ClientId client, double requested_share, std::uint64_t requested_bytes);
  /// The client's server says how it stands. The policy sees it at the next event.
  void tell_server(ClientId client, const ServerView& server) { change(client).server = server; }
  /// An adjustable parameter of the policy has this value from now on.
  void adjust(const Adjustment& adjustment);
  /// A requested snapshot or restore is complete. The policy does not hear of it if the client has left.
  void copied(ClientId client, CopyEvent event);
  /// A requested snapshot is the program's to take, and has been asked for: its operations may pass meanwhile.
  void snapshot_asked(ClientId client);
  /// The program has saved its state as it was at `when`, at which it had received `device_time`.
  void snapshot_saved(ClientId client, Duration device_time, Time when);

  /// Asks the policy and applies what it says. Called by the backend.
  void decide();

  /// The run is over: reports holds and restores that have not ended. No other call follows.
  void finish();

  bool gate_is_open(ClientId client) const { return views_[client.value].gate_is_open; }
  /// Policy::admits_ahead of the client; 0 before the policy's first decision.
  std::uint32_t admits_ahead(ClientId client);
  /// Policy::memory_terms of a client that has joined.
  MemoryTerms memory_terms(ClientId client);
  /// Why the client's operations wait (HoldLog::current).
  const Hold* hold_of(ClientId client) const { return holds_.current(client); }
  /// Since when they wait for that reason. Precondition: hold_of() has one.
  Time held_since(ClientId client) const { return holds_.since(client); }

 private:
  ClientView& change(ClientId client) {
    changed_.insert(client);
    return views_[client.value];
  }
  const GpuView& view();
  void ask();
  template <class Call>
  void tell(const Call& call) const;
  void show_waiting(ClientId client);
  bool repeats(const Action& action) const;
  void apply(const Action& action);
  bool changes_nothing(const Action& action) const;
  void carry_out(const Action& action);
  void kill(ClientId client);
  void refuse_client(ClientId client);
  void launch(ClientId client, const OpView& op);
  void take_in(ClientId client, std::uint64_t number, Duration predicted_by_name);
  void launch_waiting(ClientId client, std::size_t count);
  void heard(bool wants);
  void heard_of_op(bool wants, ClientId client, OpEvent event);

  Policy& policy_;
  const std::string policy_name_;
  const Hears hears_;
  std::vector<ClientView> views_;
  GpuView view_;                   ///< of the above, as it was shown last
  ClientSet changed_;              ///< clients, since the newest decision
  std::vector<ClientId> to_show_;  ///< those that the policy sees as changed, in a decision
  ActionRules rules_;
  std::vector<PendingOps> pending_;  ///< by client
  HoldLog holds_;
  KillLog kills_;
  std::vector<bool> is_refused_;  ///< by client: its host has got an error, or is about to
  Actions actions_;
  bool has_decided_ = false;
  std::vector<OpView> passing_;  ///< through a gate, while they are launched; else empty
  Backend& backend_;
  Recorder& recorder_;
};

}  // namespace corun
