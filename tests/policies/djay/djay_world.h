#pragma once

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {

/// dJay's defaults with some of them replaced.
inline Parameters djay_with(std::initializer_list<std::pair<std::string, ParameterValue>> values) {
  Parameters parameters = djay_policy().defaults();
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

inline constexpr Duration kDjayPeriod{std::chrono::microseconds{33'300}};
inline const std::vector<QualityLevel> kDjayMenu{{"high", 1.0, 1.0}, {"medium", 0.62, 0.88}, {"low", 0.33, 0.70}};

/// What a game of a test really is, whatever its menu says.
struct TrueGame {
  Duration busy{std::chrono::microseconds{13'300}};  ///< GPU time of a frame at the best level
  double cost_exponent = 1.0;                        ///< on the menu's costs
  double loss_factor = 1.0;                          ///< on the menu's losses of quality
  Duration switch_cost{};                            ///< more, of the first frame at another level
  double noise = 0.0;                                ///< standard deviation of the log of GPU time
  bool plays = true;
};

/// Games that begin a frame every 33.3 ms, at the level they have then, under dJay or another policy. Behind the games
/// in the list of clients are fillers, which have not joined.
struct DjayWorld : FakeBackend {
  DjayWorld(const Parameters& parameters, std::size_t games, std::vector<QualityLevel> menu = kDjayMenu,
            const PolicyDescriptor& policy = djay_policy(), const std::vector<ClientView>& fillers = {})
      : FakeBackend(policy, parameters, clients(games, menu, fillers)),
        truth(games),
        menu_(std::move(menu)),
        rendered_(games),
        random_(1) {
    shadow_of = [this](std::uint32_t game, std::uint32_t level) {
      ShadowFrame shadow;
      shadow.gpu_busy = time_at(game, level);
      shadow.quality = quality_at(game, level);
      return shadow;
    };
    for (std::uint32_t game = 0; game < games; ++game) join_and_play(game);
  }

  static std::vector<ClientView> clients(std::size_t games, const std::vector<QualityLevel>& menu,
                                         const std::vector<ClientView>& fillers = {}) {
    std::vector<ClientView> all;
    for (std::size_t i = 0; i < games; ++i) {
      all.push_back(fake_client("game" + std::to_string(i), Role::kInteractive));
      all.back().frame_period = kDjayPeriod;
      all.back().quality_menu = menu;
    }
    all.insert(all.end(), fillers.begin(), fillers.end());
    return all;
  }

  void join_and_play(std::uint32_t game) {
    truth[game].plays = true;
    rendered_[game] = level(game);
    join(game);
    run_until(now());
  }

  void leave_and_stop(std::uint32_t game) {
    truth[game].plays = false;
    leave(game);
  }

  void play(int frames) {
    for (int i = 0; i < frames; ++i) {
      Duration round{};
      for (std::uint32_t game = 0; game < truth.size(); ++game)
        if (truth[game].plays && is_present(game)) round += begin_frame(game);
      rounds.push_back(round);
      run_until(now() + kDjayPeriod);
    }
  }

  Duration time_at(std::uint32_t game, std::uint32_t level) const {
    const double ratio = std::pow(menu_[level].cost, truth[game].cost_exponent);
    return Duration{std::llround(static_cast<double>(truth[game].busy.count()) * ratio)};
  }
  double quality_at(std::uint32_t game, std::uint32_t level) const {
    return 1.0 - (1.0 - menu_[level].quality) * truth[game].loss_factor;
  }

  double mean_quality() const {
    double sum = 0.0, games = 0.0;
    for (std::uint32_t game = 0; game < truth.size(); ++game)
      if (truth[game].plays && is_present(game)) sum += quality_at(game, level(game)), games += 1.0;
    return sum / games;
  }

  std::vector<TrueGame> truth;   ///< by game
  std::vector<Duration> rounds;  ///< GPU time of all games' frames, without shadows', by play()ed frame

 private:
  Duration begin_frame(std::uint32_t game) {
    const std::uint32_t at = level(game);
    Duration busy = time_at(game, at);
    if (std::exchange(rendered_[game], at) != at) busy += truth[game].switch_cost;
    if (truth[game].noise > 0.0) {
      std::normal_distribution<double> log_factor(0.0, truth[game].noise);
      busy = Duration{std::llround(static_cast<double>(busy.count()) * std::exp(log_factor(random_)))};
    }
    script(game, {.name = "frame", .duration = busy, .is_render = true, .quality_level = at});
    return busy;
  }

  std::vector<QualityLevel> menu_;
  std::vector<std::uint32_t> rendered_;  ///< level of each game's newest frame
  std::mt19937_64 random_;
};

}  // namespace corun
