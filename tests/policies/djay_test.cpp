#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

constexpr Duration kPeriod = 33'300us;
const std::vector<QualityLevel> kMenu{{"high", 1.0, 1.0}, {"medium", 0.62, 0.88}, {"low", 0.33, 0.70}};

Parameters with(std::initializer_list<std::pair<std::string, ParameterValue>> values) {
  Parameters parameters = djay_policy().defaults();
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

/// Games that begin a frame every 33.3 ms, at the level they have then.
struct World : FakeBackend {
  World(const Parameters& parameters, std::size_t games, std::vector<QualityLevel> menu = kMenu)
      : FakeBackend(djay_policy(), parameters, clients(games, menu)), menu_(std::move(menu)), busy(games, 13'300us) {
    for (std::uint32_t game = 0; game < games; ++game) join(game);
  }

  static std::vector<ArbiterClient> clients(std::size_t games, const std::vector<QualityLevel>& menu) {
    std::vector<ArbiterClient> all;
    for (std::size_t i = 0; i < games; ++i)
      all.push_back({.name = "game" + std::to_string(i), .role = Role::kInteractive, .frame_period = kPeriod,
                     .quality_menu = menu, .working_set_bytes = 0});
    return all;
  }

  void play(int frames) {
    for (int i = 0; i < frames; ++i) {
      for (std::uint32_t game = 0; game < busy.size(); ++game) begin_frame(game);
      run_until(now() + kPeriod);
    }
  }

  void begin_frame(std::uint32_t game) {
    const double ratio = menu_.empty() ? 1.0 : menu_[level(game)].cost;
    const auto duration = Duration{static_cast<std::int64_t>(static_cast<double>(busy[game].count()) * ratio)};
    script(game, {.name = "frame", .duration = duration, .is_render = true});
  }

  double mean_quality() const {
    double sum = 0.0;
    for (std::uint32_t game = 0; game < busy.size(); ++game) sum += menu_[level(game)].quality;
    return sum / static_cast<double>(busy.size());
  }

 private:
  std::vector<QualityLevel> menu_;

 public:
  std::vector<Duration> busy;  ///< GPU time of a frame at the best level, by game
};

TEST(Djay, holds_one_to_four_players_at_the_known_mean_quality) {
  const double expected[] = {1.0, 1.0, 0.92, 0.835};
  for (const char* solver : {"greedy_hull", "exact"})
    for (std::size_t games = 1; games <= 4; ++games) {
      World world(with({{"solver", std::string(solver)}}), games);
      world.play(60);
      EXPECT_NEAR(world.mean_quality(), expected[games - 1], 1e-9) << games << " players, " << solver;
    }
}

TEST(Djay, heavier_scene_is_answered_by_its_first_frame) {
  World world(djay_policy().defaults(), 1);
  world.play(30);
  EXPECT_EQ(world.level(0), 0U);
  world.busy[0] = 40ms;
  world.play(2);
  EXPECT_EQ(world.level(0), 1U);
}

TEST(Djay, upgrade_waits_for_its_dwell_time) {
  World world(djay_policy().defaults(), 1);
  world.busy[0] = 40ms;
  world.play(3);
  ASSERT_EQ(world.level(0), 1U);
  world.busy[0] = 10ms;
  world.play(10);
  EXPECT_EQ(world.level(0), 1U);
  world.play(8);
  EXPECT_EQ(world.level(0), 0U);
}

TEST(Djay, upgrade_that_gains_less_than_the_hysteresis_is_not_made) {
  const std::vector<QualityLevel> close{{"high", 1.0, 1.0}, {"nearly", 0.5, 0.99}};
  for (const double gain : {0.02, 0.005}) {
    World world(with({{"hysteresis_gain", gain}}), 1, close);
    world.busy[0] = 40ms;
    world.play(3);
    ASSERT_EQ(world.level(0), 1U);
    world.busy[0] = 10ms;
    world.play(40);
    EXPECT_EQ(world.level(0), gain == 0.02 ? 1U : 0U);
  }
}

TEST(Djay, steady_load_changes_nothing_after_it_has_settled) {
  World world(djay_policy().defaults(), 4);
  world.play(60);
  const std::size_t settled = world.decisions().size();
  world.play(200);
  EXPECT_EQ(world.decisions().size(), settled);
}

TEST(Djay, overload_at_the_cheapest_levels_still_chooses_them) {
  World world(djay_policy().defaults(), 9);
  world.play(5);
  for (std::uint32_t game = 0; game < 9; ++game) EXPECT_EQ(world.level(game), 2U);
}

TEST(Djay, time_of_a_game_without_a_menu_is_taken_off_the_budget) {
  auto clients = World::clients(2, kMenu);
  clients[1].quality_menu.clear();
  FakeBackend world(djay_policy(), djay_policy().defaults(), clients);
  world.join(0);
  world.join(1);
  for (int i = 0; i < 5; ++i) {
    world.script(0, {.name = "frame", .duration = world.level(0) == 0 ? 13'000us : 8'060us, .is_render = true});
    world.script(1, {.name = "frame", .duration = 22ms, .is_render = true});
    world.run_until(world.now() + kPeriod);
  }
  EXPECT_EQ(world.level(0), 1U);
  for (const DecisionFact& decision : world.decisions())
    EXPECT_FALSE(decision.action.kind == Action::Kind::kSetQuality && decision.action.client.value == 1);
}

TEST(Djay, levels_rise_again_when_a_player_leaves) {
  World world(djay_policy().defaults(), 4);
  world.play(30);
  world.leave(3);
  world.busy.pop_back();
  world.play(20);
  EXPECT_NEAR(world.mean_quality(), 0.92, 1e-9);
}

TEST(Djay, threshold_trigger_acts_only_when_spare_time_runs_low) {
  World world(with({{"trigger", std::string("threshold")}}), 2);
  world.busy = {20ms, 20ms};
  world.play(20);
  EXPECT_NEAR(world.mean_quality(), 0.88, 1e-9);
  world.busy = {10ms, 10ms};
  world.play(40);
  EXPECT_NEAR(world.mean_quality(), 0.88, 1e-9) << "plenty of time is no reason to act";
}

TEST(Djay, best_effort_clients_are_open) {
  auto clients = World::clients(1, kMenu);
  clients.push_back(fake_client("train"));
  FakeBackend world(djay_policy(), djay_policy().defaults(), clients);
  world.join(0);
  world.join(1);
  world.run_until(world.now() + 1ms);
  EXPECT_TRUE(world.gate_is_open(1));
}

}  // namespace
}  // namespace corun
