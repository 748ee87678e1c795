#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/facts/recorder.h"
#include "sim/policy/action.h"
#include "sim/policy/client_set.h"
#include "sim/policy/view.h"

namespace corun {

/// Why operations wait at each client's gate, and since when. Every stretch of time with one reason becomes a HoldFact.
class HoldLog {
 public:
  /// `recorder` must outlive it.
  HoldLog(std::size_t clients, Recorder& recorder) : holdings_(clients), recorder_(recorder) {}

  /// A decision says these; what was said before of other clients stays if it `keeps` holds.
  void state(std::span<const Actions::ClientHold> holds, bool keeps);
  /// None of the client's operations waits any more: what an earlier decision said of it is over, if holds are kept.
  void emptied(ClientId client);

  /// Brings clients up to date at the end of that decision, which carried out `actions`: all that it may concern.
  void update_after(std::span<const Action> actions, std::span<const ClientView> clients, Time now);
  /// Brings one up to date: its stretch begins, goes on or ends now.
  void update(const ClientView& client, Time now);
  void end(ClientId client, Time now);

  /// What was said of the client last and still counts, whether or not its operations wait; nullptr: nothing.
  const Hold* stated(ClientId client) const {
    const Holding& holding = holdings_[client.value];
    return holding.is_stated ? &holding.stated : nullptr;
  }
  /// Why the client's operations wait, with the numbers of when the stretch began; nullptr where none wait or the
  /// policy did not say.
  const Hold* current(ClientId client) const {
    const Holding& holding = holdings_[client.value];
    return holding.is_held ? &holding.hold : nullptr;
  }
  /// When that stretch began. Precondition: there is one.
  Time since(ClientId client) const { return holdings_[client.value].since; }

 private:
  struct Holding {
    Hold stated;
    bool is_stated = false;
    std::uint64_t stated_in = 0;  ///< see turn_
    bool is_held = false;
    Hold hold;
    Time since;
  };

  void change(ClientId client, const Hold* reason, Time now);

  std::vector<Holding> holdings_;  ///< by client
  std::size_t held_ = 0;           ///< how many of them are held
  ClientSet stated_;               ///< every client that is_stated, and perhaps others
  ClientSet concerned_;            ///< by the newest decision
  std::uint64_t turn_ = 0;         ///< counts decisions and the stretches between them
  bool keeps_ = false;             ///< the newest decision does
  Recorder& recorder_;
};

}  // namespace corun
