#pragma once

#include <deque>
#include <optional>

#include "sim/policy/view.h"

namespace corun {

/// nvshare's daemon: clients that asked for the device's lock stand in a queue, first come, first served, and its head
/// holds the lock for a quantum.
///
/// It knows neither messages nor gates: its owner carries its answers to the clients. Times do not decrease.
class NvshareLock {
 public:
  /// `quantum` is positive. Without `drops_when_alone`, a quantum does not end before another client has asked.
  NvshareLock(Duration quantum, bool drops_when_alone) : quantum_(quantum), drops_when_alone_(drops_when_alone) {}

  void request(ClientId client);  ///< joins the tail; a client that stands in the queue keeps its place
  void release(ClientId client);  ///< leaves the queue and, if it held the lock, frees it

  /// The running quantum begins again, with this length.
  void set_quantum(Duration quantum, Time now);
  void clear();  ///< nothing is held or asked for

  /// Whether grant() or drop() has an answer.
  bool has_news(Time now) const { return may_grant() || is_drop_due(now); }
  /// Gives a free lock to the head of the queue and begins its quantum; empty while it is held or no client asks.
  std::optional<ClientId> grant(Time now);
  /// The holder whose quantum has ended, once for each grant.
  std::optional<ClientId> drop(Time now);

  /// When drop() will have an answer if nothing else happens, later than `now`; kNever if that is not known.
  Time next_drop(Time now) const;
  /// What is left of the holder's quantum; zero if it is over or the lock is free.
  Duration quantum_left(Time now) const;

 private:
  bool may_grant() const { return !is_held_ && !queue_.empty(); }
  bool is_drop_due(Time now) const { return may_drop() && now >= granted_ + quantum_; }
  bool may_drop() const { return is_held_ && !is_drop_sent_ && (drops_when_alone_ || queue_.size() > 1); }

  Duration quantum_;
  const bool drops_when_alone_;
  std::deque<ClientId> queue_;  // the holder stays at its head
  bool is_held_ = false;
  bool is_drop_sent_ = false;
  Time granted_;
};

}  // namespace corun
