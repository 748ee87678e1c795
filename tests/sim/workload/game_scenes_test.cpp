#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/workload/synthetic/synthetic.h"

namespace corun {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kPeriod{16'666'667};

std::vector<double> milliseconds_of(const Workload& workload) {
  std::vector<double> ms;
  for (const Job& job : workload.jobs) ms.push_back(to_milliseconds(workload.device_time(job)));
  return ms;
}

/// Frames of 3 ms and of 6 ms, never of between.
GameProfile two_drawn() {
  GameProfile profile;
  profile.scenes = {{milliseconds{3}, 0.05, std::chrono::seconds{2}}, {milliseconds{6}, 0.05, std::chrono::seconds{6}}};
  return profile;
}

TEST(GameScenes, FramesTellTheSceneThatTheyBelongTo) {
  GameProfile profile = two_drawn();
  profile.scenes[1].effect = {0.5, 2};
  RandomStream random(1, "game");
  const Workload workload = make_game(profile, kPeriod, 5'000, random);
  ASSERT_EQ(workload.scenes.size(), 2u);
  EXPECT_EQ(workload.scenes[1].on_cost, 0.5);
  EXPECT_EQ(workload.scenes[1].on_loss, 2);
  for (const Job& job : workload.jobs) EXPECT_EQ(job.scene, to_milliseconds(workload.device_time(job)) < 4 ? 1u : 2u);
}

TEST(GameScenes, AGameOfOneSceneIsInItsFirst) {
  RandomStream random(1, "game");
  const Workload workload = make_game(*game_profile("rdr2"), kPeriod, 3, random);
  for (const Job& job : workload.jobs) EXPECT_EQ(job.scene, 1u);
  EXPECT_EQ(workload.scene_of(workload.jobs[0]).on_cost, 1.0);
}

GameProfile staircase() {
  GameProfile profile;
  profile.scene_order = SceneOrder::kListed;
  profile.scenes = {{milliseconds{3}, 0, milliseconds{25}}, {milliseconds{6}, 0, milliseconds{15}}};
  return profile;
}

std::vector<std::uint32_t> scenes_of_frames(const Workload& workload) {
  std::vector<std::uint32_t> scenes;
  for (const Job& job : workload.jobs) scenes.push_back(job.scene);
  return scenes;
}

TEST(GameScenes, ListedScenesFollowAsWrittenForTheirDwellAndOver) {
  RandomStream random(1, "game");
  // Scenes change at 25, 40, 65 and 80 ms; frames begin every 10 ms.
  EXPECT_EQ(scenes_of_frames(make_game(staircase(), milliseconds{10}, 10, random)),
            (std::vector<std::uint32_t>{1, 1, 1, 2, 1, 1, 1, 2, 1, 1}));
  // Uncapped frames take 3 or 6 ms: nine of them take 27 ms, then come three of 6 ms from 27 to 45.
  EXPECT_EQ(scenes_of_frames(make_game(staircase(), Duration{0}, 14, random)),
            (std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1}));
}

/// A scene of four captured frames, 1 to 4 ms, and one of drawn ones.
GameProfile half_captured() {
  GameProfile profile;
  profile.scene_order = SceneOrder::kListed;
  profile.spike_probability = 1;
  profile.spike_factor = 1.5;
  profile.scenes = {{{}, 0, milliseconds{60}}, {milliseconds{20}, 0, milliseconds{40}}};
  for (int ms = 1; ms <= 4; ++ms) profile.scenes[0].frames.push_back(milliseconds{ms});
  return profile;
}

TEST(GameScenes, CapturedFramesComeInOrderFromARandomOneOnAndOver) {
  RandomStream random(1, "game");
  const std::vector<double> ms = milliseconds_of(make_game(half_captured(), milliseconds{10}, 2'000, random));
  std::vector<int> begins(5);
  for (std::size_t stay = 0; stay < 200; ++stay) {
    ++begins[static_cast<std::size_t>(ms[10 * stay])];
    for (std::size_t i = 1; i < 6; ++i)
      EXPECT_EQ(ms[10 * stay + i], ms[10 * stay + i - 1] == 4 ? 1 : ms[10 * stay + i - 1] + 1);
    for (std::size_t i = 6; i < 10; ++i) EXPECT_EQ(ms[10 * stay + i], 20) << "drawn: a spike, clamped to two periods";
  }
  for (int frame = 1; frame <= 4; ++frame) EXPECT_NEAR(begins[static_cast<std::size_t>(frame)], 50, 25) << frame;
}

TEST(GameScenes, ShortAndLongCapturedFramesAreNotClamped) {
  GameProfile profile;
  profile.scenes = {{{}, 0, std::chrono::seconds{1}}};
  profile.scenes[0].frames = {microseconds{100}, milliseconds{50}};
  RandomStream random(1, "game");
  const std::vector<double> ms = milliseconds_of(make_game(profile, milliseconds{10}, 4, random));
  EXPECT_DOUBLE_EQ(*std::min_element(ms.begin(), ms.end()), 0.1);
  EXPECT_DOUBLE_EQ(*std::max_element(ms.begin(), ms.end()), 50);
}

}  // namespace
}  // namespace corun
