#pragma once

#include <vector>

#include "policies/parts/residents.h"
#include "sim/policy/action.h"

namespace corun {

/// Which fillers may run along with games whose memory stays: fillers whose working sets fit together into what the
/// games leave lease that memory for a turn; the others wait for the next. See Residents for how long a turn is. What a
/// turn's loading pushes out of a game's memory is brought back in bulk at once, before the game misses it piece by
/// piece.
class FillerLease {
 public:
  struct Settings {
    Residents::Settings residents;
    bool prefetches = true;  ///< bring a new resident's memory in in bulk
  };
  explicit FillerLease(const Settings& settings) : prefetches_(settings.prefetches), residents_(settings.residents) {}

  /// Settles which fillers hold a lease at this instant, loads what has to be loaded, and asks to be woken.
  void settle(const GpuView& view, Actions& actions);
  /// Why the filler has to wait; without a rule: it holds a lease and its memory is there.
  const Hold& hold(ClientId filler) const { return holds_[filler.value]; }

 private:
  GpuView without_games(const GpuView& view);
  void bring_games_back(const GpuView& view, Actions& actions);

  const bool prefetches_;
  Residents residents_;
  std::vector<ClientView> fillers_;   // by client, games absent; kept for its storage
  std::vector<Hold> holds_;           // by client
  std::vector<bool> is_coming_back_;  // by client: a game whose memory has been asked for and is not complete
};

}  // namespace corun
