#pragma once

#include <utility>

#include "sim/workload/capture/steps/host_log.h"

namespace corun {

/// How alike the stretches between successive positions are, by what is in them. The order inside a stretch does not
/// matter, so that missing records, autotuning and streams that take turns differently cost no more than they are.
struct Likeness {
  /// Part of the events that occur as often in their stretch as in most, 0 to 1.
  double events = 0;
  /// The same, but each symbol counts once, however often it occurs: what is rare but regular (the first and the last
  /// kernel of a network of equal layers) is seen.
  double symbols = 0;
};

/// How often each symbol occurs in most stretches: the typical stretch. Linear in the events.
class TypicalStretch {
 public:
  TypicalStretch(const HostLog& log, const Positions& bounds);

  const Likeness& likeness() const { return likeness_; }
  std::size_t size() const { return size_; }  ///< events of it
  /// Part of the events of [begin, end), or of the typical stretch, that the other lacks: 0 = equal, 1 = nothing in
  /// common.
  double difference(std::size_t begin, std::size_t end) { return compare(begin, end).first; }
  /// Whether nearly all events of [begin, end) are in the typical stretch, too.
  bool has_all_of(std::size_t begin, std::size_t end) {
    return compare(begin, end).second * static_cast<double>(size_) >= 0.95 * static_cast<double>(end - begin);
  }
  /// Part of the typical stretch that is in [begin, end).
  double contained(std::size_t begin, std::size_t end) { return compare(begin, end).second; }

 private:
  std::pair<double, double> compare(std::size_t begin, std::size_t end);

  const HostLog& log_;
  Likeness likeness_;
  std::vector<std::uint32_t> usual_;  ///< by symbol
  std::size_t size_ = 0;
  std::vector<std::uint32_t> counts_;  ///< by symbol; scratch, all zero between calls
};

}  // namespace corun
