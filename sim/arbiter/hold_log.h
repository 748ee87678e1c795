#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/facts/recorder.h"
#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// Why operations wait at each client's gate, and since when. Every stretch of time with one reason becomes a HoldFact.
class HoldLog {
 public:
  /// `recorder` must outlive it.
  HoldLog(std::size_t clients, Recorder& recorder) : holdings_(clients), recorder_(recorder) {}

  /// The holds of the newest decision. They stay referenced until retract(), which takes the same ones.
  void state(std::span<const Actions::ClientHold> holds);
  void retract(std::span<const Actions::ClientHold> holds);

  /// Brings every client, or one, up to date: its stretch begins, goes on or ends now.
  void update_all(std::span<const ClientView> clients, Time now);
  void update(const ClientView& client, Time now);
  void end(ClientId client, Time now);

  /// What the newest decision said of the client, whether or not its operations wait; nullptr: nothing.
  const Hold* stated(ClientId client) const { return holdings_[client.value].stated; }
  /// Why the client's operations wait, with the numbers of when the stretch began; nullptr where none wait or the
  /// newest decision did not say.
  const Hold* current(ClientId client) const {
    const Holding& holding = holdings_[client.value];
    return holding.is_held ? &holding.hold : nullptr;
  }
  /// When that stretch began. Precondition: there is one.
  Time since(ClientId client) const { return holdings_[client.value].since; }

 private:
  struct Holding {
    const Hold* stated = nullptr;
    bool is_held = false;
    Hold hold;
    Time since;
  };

  void change(ClientId client, const Hold* reason, Time now);

  std::vector<Holding> holdings_;  ///< by client
  std::size_t held_ = 0;           ///< how many of them are held
  bool is_any_stated_ = false;
  Recorder& recorder_;
};

}  // namespace corun
