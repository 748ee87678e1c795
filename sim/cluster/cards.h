#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

namespace corun {

/// The cards of a cluster on which pods do work, simulated (SharedCards) or estimated (MixCards).
class Cards {
 public:
  /// A pod's client has finished; `is_refused`: with an error, since the policy turned it away.
  struct End {
    std::uint64_t pod = 0;
    Time time;
    bool is_refused = false;
    std::optional<WorkRange> range{};  ///< of an estimate
  };

  virtual ~Cards() = default;

  /// The pod's client joins `now` on this card, after everything else that happens there at this instant.
  virtual void begin(std::uint64_t pod, std::uint32_t node, std::uint32_t card, Time now) = 0;

  /// Goes through `last`, or through the first instant before it at which clients finish; these are returned, in an
  /// order that follows from what happened.
  virtual std::vector<End> run(Time last) = 0;

  /// Events that were simulated before `end`, up to which the cards have been run.
  virtual std::uint64_t count_events(Time end) = 0;
  /// When the last of them was; nullopt where more come at `end` or later.
  virtual std::optional<Time> last_event(Time end) const = 0;
  /// What an estimate rests on.
  virtual std::optional<MixUse> mix_use() const { return std::nullopt; }
};

}  // namespace corun
