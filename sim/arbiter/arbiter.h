#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/arbiter/backend.h"
#include "sim/facts/recorder.h"
#include "sim/policy/policy.h"

namespace corun {

/// What an arbiter is told of a client when it is made.
struct ArbiterClient {
  std::string name;
  Role role = Role::kBestEffort;
  Duration frame_period{};
  std::vector<QualityLevel> quality_menu;  ///< best first; what it refers to must outlive the arbiter
  std::uint32_t quality_level = 0;         ///< where it starts
  double requested_share = 0.0;
  std::uint64_t requested_bytes = 0;
  std::uint64_t working_set_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t snapshot_bytes = 0;
  std::int32_t priority = 0;
};

/// The keystone between a policy and the world: it owns the gates and the operations at them, keeps the view, asks the
/// policy, refuses illegal actions, applies the legal ones, and reports every decision.
///
/// One policy object, one arbiter, three worlds: simulated, real, and a fake one in tests. Single-threaded. Throws
/// Error(kPolicy) naming policy, action, client and time on an illegal action; the run cannot go on after that.
class Arbiter {
 public:
  Arbiter(Policy& policy, std::string policy_name, const DeviceView& device, std::vector<ArbiterClient> clients,
          Backend& backend, Recorder& recorder);

  void join(ClientId client);
  void leave(ClientId client);

  /// The client's host asks to run `op`; `op.number` must count its submissions. True if it passed the gate at once
  /// (Backend::launch has been called), false if it waits there and will be launched later.
  bool submit(ClientId client, const OpView& op);
  /// Whether an operation submitted now would pass and the policy hear nothing of it: then pass() may take the place of
  /// submit(), and nobody needs to be shown the operation.
  bool passes_unheard(ClientId client) const;
  void pass(ClientId client, std::uint64_t number, Duration predicted_by_name);
  /// The first `count` of its waiting operations have passed, whatever the gate is. Only in worlds whose gates take
  /// time to close.
  void slipped(ClientId client, std::uint32_t count);
  /// What waits at the client's gate will never be launched: its program is gone. Its numbers are used again.
  void abandon(ClientId client);
  /// Submission `number` finished on the device.
  void complete(ClientId client, std::uint64_t number, Duration device_time);
  /// A frame began or ended now, whatever `frame` says of its begin and end.
  void frame(ClientId client, FrameEvent event, const FrameView& frame);
  /// A shadow frame that the backend was asked for is complete.
  void shadow(ClientId client, const ShadowFrame& shadow);
  /// The client's owner asks for this much from now on.
  void resize(ClientId client, double requested_share, std::uint64_t requested_bytes);
  /// A snapshot or a restore that the backend was asked for is over. Not heard where the client has left meanwhile.
  void copied(ClientId client, CopyEvent event);

  /// Asks the policy and applies what it says. Called by the backend.
  void decide();

  /// The run is over: reports what still goes on, holds and restores. No other call follows.
  void finish();

  bool gate_is_open(ClientId client) const { return views_[client.value].gate_is_open; }
  /// How many of its next operations the policy promises to admit through its closed gate (Policy::admits_ahead); 0 before
  /// its first decision.
  std::uint32_t admits_ahead(ClientId client);
  /// Why the client's operations wait, with the numbers of when they began to for that reason; nullptr where none wait
  /// or the newest decision did not say.
  const Hold* hold_of(ClientId client) const {
    return holdings_[client.value].is_held ? &holdings_[client.value].hold : nullptr;
  }

 private:
  /// Submissions of one client that have not completed: waiting ones in order, and those in flight by number.
  struct Pending {
    std::vector<OpView> held;  ///< in order; the first `passed` are through the gate already
    std::size_t passed = 0;
    std::span<const OpView> waiting() const { return std::span(held).subspan(passed); }
    void let_pass(std::size_t count, std::vector<OpView>& passing);
    // In flight, by number modulo the size of the ring, a power of two. A policy that does not hear of completions is
    // told of none, and thousands may be in flight.
    std::vector<Duration> predicted;  ///< as they count in in_flight_predicted; kCompleted once they have
    std::vector<OpView> told;         ///< empty where the policy does not hear of completions
    std::uint64_t oldest = 0;         ///< smallest number that may be in flight
    std::uint64_t next = 0;           ///< number of the next launch
    std::size_t slot(std::uint64_t number) const { return number & (predicted.size() - 1); }
    void grow();
  };
  static constexpr Duration kCompleted{-1};

  /// What one client's gate tells of itself.
  struct Holding {
    const Hold* stated = nullptr;  ///< in `actions_`, by the newest decision; null: nothing
    bool is_held = false;
    Hold hold;
    Time since;
  };
  /// The newest kill of a client, until it is restored.
  struct Kill {
    bool is_restoring = false;
    Time time;
    Duration lost{};
    Duration device_time_kept{};  ///< when its last snapshot began, or when it was restored
  };

  const GpuView& view();
  template <class Call>
  void tell(const Call& call) const;
  void show_waiting(ClientId client) { views_[client.value].waiting = pending_[client.value].waiting(); }
  bool repeats(const Action& action) const;
  void apply(const Action& action);
  void check(const Action& action) const;
  void check_copies(const Action& action) const;
  void check_controls(const Action& action) const;
  double sum_with_others(const Action& action) const;
  bool changes_nothing(const Action& action) const;
  void control(const Action& action);
  void carry_out(const Action& action);
  void kill(ClientId client);
  void refuse_client(ClientId client);
  void note_holds();
  void note_hold(const ClientView& client, Holding& holding, Time now);
  void change_hold(ClientId client, const Hold* reason, Time now);
  void end_hold(ClientId client);
  void end_restore(ClientId client, Time restored);
  void launch(ClientId client, const OpView& op);
  void take_in(ClientId client, std::uint64_t number, Duration predicted_by_name);
  void launch_waiting(ClientId client, std::size_t count);
  void heard(bool wants);
  [[noreturn]] void reject(const Action& action, const std::string& why) const;

  Policy& policy_;
  const std::string policy_name_;
  const Hears hears_;
  std::vector<ArbiterClient> clients_;
  std::vector<ClientView> views_;
  GpuView view_;  ///< of the above, as it was shown last
  std::vector<Pending> pending_;
  std::vector<Holding> holdings_;
  std::size_t held_ = 0;  ///< how many of them are held
  std::vector<Kill> kills_;
  std::vector<bool> is_refused_;               ///< by client: its host has got an error, or is about to
  std::vector<std::vector<Action>> controls_;  ///< by client: the newest of each kind of control
  Actions actions_;
  bool has_decided_ = false;
  std::vector<OpView> passing_;                ///< through a gate, while they are launched; else empty
  Backend& backend_;
  Recorder& recorder_;
};

}  // namespace corun
