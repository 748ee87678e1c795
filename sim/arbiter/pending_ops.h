#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// Submissions of one client that have not completed: those that wait at its gate, in order, and those in flight.
class PendingOps {
 public:
  /// `keeps_views`: completed() gives back what launched() was given.
  explicit PendingOps(bool keeps_views);

  std::span<const OpView> waiting() const { return std::span(held_).subspan(passed_); }
  void hold(const OpView& op) { held_.push_back(op); }
  /// Lets the first `count` of those that wait pass, into `passing`, which must be empty.
  void let_pass(std::size_t count, std::vector<OpView>& passing);
  void drop_waiting();

  /// Submission `number`, the next one in order, is in flight from now on. An unknown prediction counts 0.
  void launched(std::uint64_t number, Duration predicted);
  void keep(const OpView& launched) {
    if (!views_.empty()) views_[slot(launched.number)] = launched;
  }
  /// Submission `number` is no longer in flight. Returns the prediction that launched() was given.
  Duration completed(std::uint64_t number);
  /// What keep() was given of a submission that has just completed.
  const OpView& view_of(std::uint64_t number) const { return views_[slot(number)]; }
  bool may_be_in_flight(std::uint64_t number) const { return number >= oldest_ && number < next_; }
  std::uint64_t next() const { return next_; }

 private:
  static constexpr Duration kCompleted{-1};

  std::size_t slot(std::uint64_t number) const { return number & (predicted_.size() - 1); }
  void grow();

  std::vector<OpView> held_;  ///< in order; the first `passed_` are through the gate already
  std::size_t passed_ = 0;
  // In flight, by number modulo the size of the ring, a power of two. Thousands may be in flight.
  std::vector<Duration> predicted_;  ///< kCompleted once they have
  std::vector<OpView> views_;        ///< empty where views are not kept
  std::uint64_t oldest_ = 0;         ///< smallest number that may be in flight
  std::uint64_t next_ = 0;           ///< number of the next launch
};

}  // namespace corun
