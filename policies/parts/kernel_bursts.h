#pragma once

#include <algorithm>
#include <deque>

#include "traces/base/time.h"

namespace corun {

/// The longest of the stretches of time that ended lately.
class LongestRecent {
 public:
  static constexpr Duration kRemembered{10'000'000'000};

  void add(Time end, Duration length) {
    while (!stretches_.empty() && stretches_.back().length <= length) stretches_.pop_back();
    stretches_.push_back({end, length});
  }
  /// Of those that ended within kRemembered; zero without one.
  Duration at(Time now) const {
    const auto recent =
        std::ranges::find_if(stretches_, [&](const Stretch& stretch) { return now - stretch.end <= kRemembered; });
    return recent == stretches_.end() ? Duration::zero() : recent->length;
  }

 private:
  struct Stretch {
    Time end;
    Duration length;
  };
  std::deque<Stretch> stretches_;  // each shorter than the one before: the first recent one is the longest
};

/// Gemini's estimates of a client's kernel bursts: stretches in which it had kernels in flight. Times must not
/// decrease.
class KernelBursts {
 public:
  static constexpr Duration kMergedGap{2'000'000};

  /// Kernels begin to be in flight.
  void begin(Time now) {
    if (end_ == kNever || now - end_ > kMergedGap) merged_begin_ = now;
    begin_ = now;
  }
  /// None is in flight any more.
  void end(Time now) {
    if (begin_ == kNever) return;
    single_.add(now, now - begin_);
    merged_.add(now, now - merged_begin_);
    begin_ = kNever;
    end_ = now;
  }
  /// The burst that goes on, and those that it would be merged with, were cut short: they do not count as lengths
  /// of bursts.
  void interrupt() { begin_ = end_ = kNever; }

  /// Longest burst, bursts with gaps up to kMergedGap counted as one; zero where none is known.
  Duration longest_merged(Time now) const { return merged_.at(now); }
  /// What the single burst that goes on may still take; a whole one where none does.
  Duration remaining(Time now) const {
    const Duration passed = begin_ == kNever ? Duration::zero() : now - begin_;
    return std::max(Duration::zero(), single_.at(now) - passed);
  }

 private:
  LongestRecent single_;
  LongestRecent merged_;
  Time begin_ = kNever;  // of the single burst that goes on
  Time merged_begin_;
  Time end_ = kNever;  // of the newest burst, if it was not cut short
};

}  // namespace corun
