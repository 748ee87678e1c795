#pragma once

#include "policies/djay/game.h"

namespace corun {

/// Which games may stay: a game that joins is turned away if the GPU could not render it even with every game at its
/// cheapest level. Its cost is known from its first frames; until then room is left for it.
class DjayAdmission {
 public:
  struct Settings {
    bool accepts_all = false;
    std::uint64_t verdict_frames = 2;  ///< measured frames of a game before its verdict; > 0
    Duration unknown_cost{};  ///< assumed of a game not measured, at its cheapest level; 0 = see unknown_cost()
    bool evicts_last_joined = false;
    std::uint64_t eviction_frames = 60;  ///< how long the cheapest levels must not have fitted, in frames of that game
  };

  explicit DjayAdmission(const Settings& settings) : settings_(settings) {}

  /// What a game that was not measured is taken to cost at its cheapest level; where the settings do not say: as much
  /// as the dearest measured game at its cheapest.
  Duration unknown_cost(const DjayGames& games) const;

  /// Game `ended` ended a frame: it is admitted or refused if its verdict is due. Only those admitted count against it,
  /// and none of them is ever refused for it. True if there was a verdict.
  bool judge(DjayGames& games, ClientId ended, Duration budget) const;

  /// Game `ended` ended a frame. If the cheapest levels have not fitted for long enough and the settings say so, the
  /// game that joined last is refused; its room is free when it has left.
  void evict(DjayGames& games, ClientId ended, Duration budget);

 private:
  const Settings settings_;
  std::uint64_t frames_without_fit_ = 0;  // of the game that joined last
};

}  // namespace corun
