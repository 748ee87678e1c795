#pragma once

#include <optional>
#include <vector>

#include "policies/djay/parameters.h"
#include "sim/policy/policy.h"

namespace corun {

/// The policy djay: which quality level each game has, and which games may stay. See djay.cpp.
///
/// Another policy may be made of it: that one hears what this one hears, lets others share the budget, and has this one
/// decide for the games alone.
class Djay : public Policy {
 public:
  explicit Djay(const Parameters& parameters);

  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = true}; }
  void on_joined(const GpuView& view, ClientId client) override;
  void on_left(const GpuView& view, ClientId client) override;
  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override;
  void on_shadow(const GpuView& view, ClientId client, const ShadowFrame& shadow) override;
  /// Games have their levels or are turned away; every other gate is open.
  void decide(const GpuView& view, Actions& actions) override;

  /// As decide(), of games alone: nothing is said of the other gates.
  void decide_games(const GpuView& view, Actions& actions) const;
  /// From now on the budget is shared with others, a menu each, whose values are in quality: one item of each is chosen
  /// along with the levels, now and whenever levels are chosen. Not with the objective max_min.
  void share_budget(const GpuView& view, std::vector<Menu> others);
  /// By menu of share_budget(): index into it.
  const std::vector<std::uint32_t>& chosen_for_others() const { return chosen_for_others_; }

 private:
  /// Why levels are chosen. A game that has just changed keeps its level while costs change, not when games come or go.
  enum class Occasion : std::uint8_t { kOtherCosts, kOtherGames };

  void serve(const ClientView& client, Actions& actions) const;
  void ask_for_shadow(Actions& actions) const;
  std::uint64_t measured_games() const;
  /// What all games' next frames are expected to take at the levels that they should have.
  Duration expected_sum() const;
  Duration cost_of_others() const;
  bool is_overloaded() const;
  bool is_round_over() const;
  LevelChooser::Contender contender(const ClientView& client, const DjayGame& game, Occasion occasion) const;
  void choose_levels(const GpuView& view, Occasion occasion);

  const Duration frame_budget_;
  const Duration budget_;  // without the headroom
  const bool waits_for_shortage_;
  const std::uint64_t period_frames_;
  const Duration capacity_gap_;
  const std::uint64_t dwell_frames_;
  const std::uint64_t switch_patience_;
  const ByClient weights_;
  const DjayGame::Settings game_settings_;
  DjayAdmission admission_;
  DjayProbes probes_;
  const LevelChooser chooser_;
  DjayGames games_;
  std::uint64_t joined_ = 0;
  std::uint64_t frames_since_round_ = 0;
  std::optional<Occasion> postponed_;  // of upgrades that wait for a shadow frame
  std::vector<Menu> others_;
  std::vector<std::uint32_t> chosen_for_others_;
};

}  // namespace corun
