// Calls that a driver refuses: a program gets the same answers at a gate as without.
#include <cstdlib>

#include "tests/sim/live/live_fixture.h"

namespace corun {
namespace {

class LiveRefused : public LiveShell, public ::testing::WithParamInterface<bool> {
 protected:
  LiveRefused() { options_.is_gated_by_cupti = GetParam(); }

  /// What the program's calls return, at a gate and without.
  std::pair<std::string, std::string> answers(const std::string& line) {
    ClientSpec spec = shell("gated", line + " >$OUT; echo code $? >>$OUT");
    run({spec}, 60s);
    EXPECT_TRUE(report_.notes.empty() || report_.notes[0].find("ended with") == std::string::npos) << report_.notes[0];
    const std::string bare = "OUT=" + path_of("bare") + "; " + line + " >$OUT; echo code $? >>$OUT";
    EXPECT_EQ(std::system(bare.c_str()), 0);
    return {output("gated"), output("bare")};
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, LiveRefused, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "Cupti" : "Preload"; });

TEST_P(LiveRefused, EveryCallIsAnsweredAsWithoutAGate) {
  const auto [gated, bare] = answers("setarch -R " REFUSED_APP " 60");
  EXPECT_NE(bare.find("done\ncode 0\n"), std::string::npos) << bare.substr(0, 500);
  EXPECT_EQ(gated == bare, true) << gated.substr(0, 500);
  EXPECT_GT(report_.launches, 1000u) << "they came to the gate";
}

TEST_P(LiveRefused, LaunchesOfNothingPass) {
  const auto [gated, bare] = answers(LIVE_APP " launches_of_nothing 20 100");
  EXPECT_NE(bare.find("code 0\n"), std::string::npos) << bare;
  EXPECT_EQ(gated, bare);
  EXPECT_EQ(report_.launches, 20u) << "those that are none are none at the gate, either";
}

/// The end of a capture that does not take place ends none.
TEST_P(LiveRefused, ACaptureGoesOnWhenTheEndOfAnotherIsRefused) {
  const auto [gated, bare] = answers(LIVE_APP " wrong_end 20 100");
  EXPECT_NE(bare.find("code 0\n"), std::string::npos) << bare;
  EXPECT_EQ(gated, bare);
  EXPECT_EQ(report_.captured, 20u);
}

}  // namespace
}  // namespace corun
