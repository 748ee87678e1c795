#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/device/op_table.h"

namespace corun {

/// Device time of each client, counted once however many of its operations progress together.
class ClientLedger {
 public:
  void join() {
    device_times_.emplace_back();
    counted_until_.push_back(kRunStart);
    is_newer_.push_back(false);
  }
  std::span<const Duration> device_times() const { return device_times_; }
  /// Counts the interval [from, to) for a client, unless it was counted already.
  void count(ClientId client, Time from, Time to) {
    Time& until = counted_until_[client.value];
    from = std::max(from, until);
    if (from >= to) return;
    device_times_[client.value] += to - from;
    until = to;
    if (!is_newer_[client.value]) newer_.push_back(client);
    is_newer_[client.value] = true;
  }
  /// Appends the clients whose device time has changed since the last call.
  void take_newer(std::vector<ClientId>& clients) {
    for (const ClientId client : newer_) is_newer_[client.value] = false;
    clients.insert(clients.end(), newer_.begin(), newer_.end());
    newer_.clear();
  }

 private:
  std::vector<Duration> device_times_;
  std::vector<Time> counted_until_;
  std::vector<ClientId> newer_;  ///< since take_newer()
  std::vector<char> is_newer_;   ///< by client: whether it is one of these
};

/// Operations of one context (or copy engine) that nothing holds back, and how they progress while it has the device.
///
/// Subclasses say only at what rates: the rest, from dispatch gaps to completion, is the same for all.
class RunSet {
 public:
  explicit RunSet(OpTable& ops) : ops_(ops) {}
  virtual ~RunSet() = default;

  virtual void add(OpIndex op) { members_.push_back(op); }
  /// Removes all operations of a client and appends them.
  void take_client(ClientId client, std::vector<OpIndex>& taken);
  bool empty() const { return members_.empty(); }
  const std::vector<OpIndex>& members() const { return members_; }

  /// Sets the rate of every member from now on, as if nothing slowed its context down.
  virtual void assign_rates() = 0;

  /// Notes `now` as the start of every member that progresses from now on and had not begun.
  void note_begins(Time now);

  /// Whether operations of a stream wait for a member's end.
  bool has_more_queued() const;

  /// Appends each client that has a member with a rate, once.
  void running_clients(std::vector<ClientId>& clients) const;

  /// Scales every member's rate by the pace of its client.
  template <class PaceOf>
  void slow_down(PaceOf pace_of) {
    for (const OpIndex op : members_) ops_[op].rate = scaled(ops_[op].rate, pace_of(ops_[op].client));
  }

  /// Time from the last assign_rates() until a member completes, ends its gap or changes what it asks for, at the
  /// present rates. Duration::max() if none will.
  virtual Duration until_change() const;

  /// The three of a context that nothing slows down: assigns rates, notes begins, and returns the time until a change.
  virtual Duration settle(Time now);

  /// Moves all members from `from` to `to`, at most until_change() later. Returns the time at the end of it in which
  /// one progressed past its gap.
  Duration progress(Time from, Time to, ClientLedger* ledger);

  /// Whether at the next change nothing happens but that dispatch gaps end of operations whose begin is not watched.
  bool next_is_unseen() const { return next_is_unseen_; }
  /// Passes that change, which is at `at`. Returns the time from `from`, to which the members have been moved, until
  /// the one after it.
  virtual Duration pass_gaps(Time from, Time at);

  /// Removes completed members and appends them.
  void take_finished(std::vector<OpIndex>& finished);

 protected:
  OpTable& ops_;
  std::vector<OpIndex> members_;  ///< in the order in which they came, unless add() says otherwise
  bool next_is_unseen_ = false;
  Time passed_ = kRunStart;  ///< gaps that end until then are over, though members have not been moved there
};

/// All members progress together at their own speed: the streams of one client's context, whose recorded durations
/// already contain their overlap.
class TogetherSet final : public RunSet {
 public:
  using RunSet::RunSet;
  void assign_rates() override;
  Duration settle(Time now) override;
  Duration pass_gaps(Time from, Time at) override;

 private:
  struct NextChange {
    Duration until = Duration::max();
    bool is_unseen = false;
    void consider(Duration other, bool other_is_unseen) {
      if (other > until) return;
      is_unseen = other_is_unseen && (is_unseen || other < until);
      until = other;
    }
  };
};

/// The first `servers` members progress at their own speed, the others wait: copy engines, graphics visits, and a
/// device that runs one operation at a time. A member that has started is never displaced.
class FirstComeSet final : public RunSet {
 public:
  enum class Order { kAsFreed, kByReadyTime };
  FirstComeSet(OpTable& ops, std::uint32_t servers, Order order) : RunSet(ops), servers_(servers), order_(order) {}
  void add(OpIndex op) override;
  void assign_rates() override;

 private:
  std::uint32_t servers_;
  Order order_;
};

}  // namespace corun
