#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/djay/model.h"
#include "sim/policy/action.h"

namespace corun {

/// One game as dJay's loop knows it, from joining to leaving.
class DjayGame {
 public:
  enum class Standing : std::uint8_t {
    kArriving,  ///< joined; its verdict waits for its first frames
    kAdmitted,
    kRefused,  ///< it leaves
  };
  struct Settings {
    GameModel::Settings model;
    Duration first_switch_cost{};  ///< assumed until a change of level has been measured
    bool joins_cheapest = true;    ///< at the cheapest level of its menu, else at the level that it has
  };

  /// `order` counts the games that joined.
  DjayGame(const Settings& settings, const ClientView& client, std::uint64_t order);

  ClientId id() const { return id_; }
  std::uint64_t order() const { return order_; }
  Standing standing() const { return standing_; }
  void admit() { standing_ = Standing::kAdmitted; }
  /// `why` says what the game would need and what there is.
  void refuse(const Hold& why);
  const Hold& why_refused() const { return why_refused_; }

  /// Learns from the newest frame, which has ended. The first frame at another level than the one before carries what
  /// changing settings costs: it says nothing of the level's own cost.
  void frame_ended(const FrameView& frame);
  void learn_shadow(const ShadowFrame& shadow) { model_.learn_shadow(shadow); }
  const GameModel& model() const { return model_; }

  std::uint32_t target() const { return target_; }  ///< level that it should have
  void set_target(std::uint32_t level);
  /// Whether its newest frame had the level that it should have.
  bool is_at_target() const { return rendered_level_ == target_; }
  bool has_dwelt(std::uint64_t frames) const { return !changed_at_ || frames_ >= *changed_at_ + frames; }

  /// What the first frame at another level takes more: the largest of the last kSwitches, each the first frame at a
  /// level less the second.
  Duration switch_cost() const;
  static constexpr std::size_t kSwitches = 4;
  /// Notes whether an upgrade was held back just now; held_back_for counts frames since the first time without a break.
  void note_held_back(bool is_held_back);
  std::uint64_t held_back_for() const { return held_back_since_ ? frames_ - *held_back_since_ : 0; }

  std::uint64_t frames() const { return frames_; }       ///< ended so far
  Duration newest_time() const { return newest_time_; }  ///< GPU time of the newest frame, whatever it carried

  /// GPU time of the next frame at the level that it should have. Before it is measured, `unknown` is taken for its
  /// cheapest level and the menu for the others.
  Duration expected_cost(Duration unknown) const;

 private:
  const ClientId id_;
  const std::uint64_t order_;
  const Duration first_switch_cost_;
  Standing standing_ = Standing::kArriving;
  Hold why_refused_{};
  GameModel model_;
  std::uint32_t rendered_level_;  // of its newest frame
  std::uint32_t target_;
  std::uint64_t frames_ = 0;
  std::optional<std::uint64_t> changed_at_;       // `frames_` when the target last changed
  std::optional<std::uint64_t> held_back_since_;  // `frames_` when an upgrade was first held back
  std::optional<Duration> switch_frame_;          // newest frame, if it was the first at its level
  std::vector<Duration> switch_costs_;            // newest last
  Duration newest_time_{};
};

/// By client; empty for those that are no games or not there.
using DjayGames = std::vector<std::optional<DjayGame>>;

}  // namespace corun
