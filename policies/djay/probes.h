#pragma once

#include <optional>

#include "policies/djay/game.h"

namespace corun {

/// When dJay's profiler asks a game to render a frame once more at another level, and at which.
///
/// Every so many frames of a game, one game at a time, the one that was not asked for longest first; only while nothing
/// changes and the shadow's own time fits in with all that the games are predicted to take; and not while the last
/// predictions of the game's levels, in the scene that it shows, were good enough.
class DjayProbes {
 public:
  struct Settings {
    std::uint64_t every = 15;  ///< frames of a game; 0 = never
    double until = 0.05;       ///< error of the last predictions at which a game is left alone; see GameModel::error()
  };
  struct Wish {
    ClientId client;
    std::uint32_t level;
  };

  explicit DjayProbes(const Settings& settings) : settings_(settings) {}

  /// Whether a shadow frame has been asked for and not been answered.
  bool is_waiting() const { return wish_.has_value(); }
  const std::optional<Wish>& wish() const { return wish_; }

  void joined(ClientId client);
  void left(ClientId client) { answered(client); }
  void answered(ClientId client);
  /// Asks if it is time; `room` is what the games' next frames are predicted to leave free.
  void ask(const DjayGames& games, Duration room);

 private:
  bool is_due(const DjayGame& game) const;

  const Settings settings_;
  std::optional<Wish> wish_;
  std::vector<std::uint64_t> next_;    // by client: its frame from which it may be asked again
  std::vector<std::uint64_t> served_;  // by client: how many had been asked when it was
  std::uint64_t asked_ = 0;
};

}  // namespace corun
