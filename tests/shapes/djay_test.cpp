// Players who join a GPU under dJay: whatever the moment, no player is starved.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/workload/synthetic/synthetic.h"
#include "tests/shapes/run_policy.h"

namespace corun {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPeriod{33'333'333};
constexpr Duration kJoin = seconds{3};
constexpr Duration kHorizon = seconds{6};
constexpr std::uint32_t kPhases = 8;

class Shown : public Recorder {
 public:
  void on_frame(const FrameFact& frame) override { shown[frame.client.value].push_back(frame.present); }
  void on_refusal(const RefusalFact& refusal) override { refused.insert(refusal.client.value); }
  std::map<std::uint32_t, std::vector<Time>> shown;
  std::set<std::uint32_t> refused;
};

ClientSpec player(std::uint32_t number, Duration frame, Duration arrival) {
  GameProfile profile;
  profile.frame_gpu_mean = frame;
  profile.cpu_per_frame = milliseconds{1};
  RandomStream random(1, "player");
  ClientSpec spec;
  spec.name = "player" + std::to_string(number);
  spec.role = Role::kInteractive;
  spec.workload = std::make_shared<const Workload>(make_game(profile, kPeriod, 10, random));
  spec.pacing = {Pacing::Mode::kVsync, kPeriod};
  spec.quality_menu = {{"HI", 1.0, 1.0}, {"ME", 0.62, 0.88}, {"LO", 0.33, 0.70}};
  spec.arrival = arrival;
  return spec;
}

/// `settled` players that came one after another, and one who joins at a phase of the first one's frame.
Shown play(std::uint32_t settled, Duration frame, std::uint32_t phase, const testing::Settings& settings) {
  RunInput input;
  input.device.time_slice = microseconds{2097};
  input.device.switch_cost = microseconds{175};
  input.device.graphics = GraphicsScheduling::kToCompletion;
  for (std::uint32_t i = 0; i < settled; ++i) input.clients.push_back(player(i, frame, milliseconds{207} * i));
  input.clients.push_back(player(settled, frame, kJoin + kPeriod * phase / kPhases));
  const auto policy = testing::make_policy("djay", settings);
  input.policy = policy.get();
  input.policy_name = "djay";
  input.horizon = kHorizon;
  Shown shown;
  simulate(input, shown);
  return shown;
}

/// The longest time without a new frame that any player who is not refused sees, from `begin` on.
Duration longest_gap(const Shown& shown, Duration begin) {
  Duration longest{};
  for (const auto& [client, presents] : shown.shown) {
    if (shown.refused.contains(client)) continue;
    for (std::size_t i = 1; i < presents.size(); ++i)
      if (presents[i - 1] >= kRunStart + begin) longest = std::max(longest, presents[i] - presents[i - 1]);
    longest = std::max(longest, kRunStart + kHorizon - presents.back());
  }
  return longest;
}

class DjayJoin : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(DjayJoin, NobodyWaitsLongerThanThreePeriodsWhateverTheMoment) {
  for (const Duration frame : {microseconds{8'000}, microseconds{13'300}, microseconds{20'000}})
    for (std::uint32_t phase = 0; phase < kPhases; ++phase)
      for (const char* join_level : {"cheapest", "as_configured"}) {
        const Shown shown = play(GetParam(), frame, phase, {{"join_level", join_level}});
        EXPECT_LE(to_milliseconds(longest_gap(shown, seconds{2})), 101.0)
            << GetParam() << " players of " << to_milliseconds(frame) << " ms, phase " << phase << ", " << join_level;
      }
}

TEST_P(DjayJoin, HalfASecondLaterEveryFrameIsOnTime) {
  for (const Duration frame : {microseconds{8'000}, microseconds{13'300}, microseconds{20'000}})
    for (std::uint32_t phase = 0; phase < kPhases; ++phase) {
      const Shown shown = play(GetParam(), frame, phase, {});
      EXPECT_LE(to_milliseconds(longest_gap(shown, kJoin + kPeriod + milliseconds{500})), 34.0)
          << GetParam() << " players of " << to_milliseconds(frame) << " ms, phase " << phase;
    }
}

INSTANTIATE_TEST_SUITE_P(Settled, DjayJoin, ::testing::Range(1u, 9u));

}  // namespace
}  // namespace corun
