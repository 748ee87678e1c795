#include "experiments/summary/progress.h"

#include <gtest/gtest.h>

#include <regex>
#include <thread>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// Four runs of 100 s each.
class ProgressOfFour : public ::testing::Test {
 protected:
  ProgressOfFour()
      : experiment_(testing::read_text("name: x\nhorizon: 100s\ndevice: h200\npolicies: [passthrough]\n"
                                       "clients: [{ name: a, synthetic: { game: rdr2 } }]\nseeds: 4\n")) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) plan_.runs.push_back({0, 0, seed, std::to_string(seed)});
  }

  std::string finished(Progress& progress, std::size_t run, std::uint64_t events = 0) {
    RunOutcome outcome;
    outcome.events = events;
    ::testing::internal::CaptureStderr();
    progress.finished(plan_.runs[run], outcome);
    return ::testing::internal::GetCapturedStderr();
  }
  std::string begun(Progress& progress, std::size_t run) {
    ::testing::internal::CaptureStderr();
    progress.begins(plan_.runs[run]);
    return ::testing::internal::GetCapturedStderr();
  }
  std::string cleared(Progress& progress) {
    ::testing::internal::CaptureStderr();
    progress.clear();
    return ::testing::internal::GetCapturedStderr();
  }

  Experiment experiment_;
  Plan plan_;
};

constexpr Terminal kScreen{.is_interactive = true, .has_color = false, .width = 200};

TEST_F(ProgressOfFour, ABarShowsTheShareThatIsDoneHowFastAndWhatIsLeft) {
  Progress progress(experiment_, plan_, ProgressStyle::kAuto, kScreen);
  EXPECT_EQ(cleared(progress), "") << "there is none yet";
  std::this_thread::sleep_for(1'200ms);
  const std::string text = finished(progress, 0, 120'000'000), next = finished(progress, 1);
  EXPECT_EQ(next, "") << "ten times a second at most";
  std::string bar = "\r\033[K   1/4  ";
  for (int cell = 0; cell < 20; ++cell) bar += cell < 5 ? "█" : "·";
  ASSERT_EQ(text.substr(0, bar.size()), bar) << text;
  std::smatch found;
  const std::string rest = text.substr(bar.size());
  ASSERT_TRUE(std::regex_match(rest, found,
                               std::regex("   25%  ([0-9.]+) Mev/s  ([0-9]+)x real time  "
                                          "ETA 0:([0-9]+)-0:([0-9]+)  x passthrough seed 1")))
      << rest;
  const double elapsed_s = 100 / std::stod(found[2]);  // 100 s of the experiment went by in it
  EXPECT_GT(elapsed_s, 1.19);
  EXPECT_NEAR(std::stod(found[1]), 120 / elapsed_s, 1.5);
  EXPECT_NEAR(std::stod(found[3]), 3 * elapsed_s / 2, 0.6) << "half of what three more runs take";
  EXPECT_NEAR(std::stod(found[4]), 3 * elapsed_s * 2, 0.6) << "twice that";
  EXPECT_EQ(cleared(progress), "\r\033[K");
  EXPECT_EQ(cleared(progress), "");
}

TEST_F(ProgressOfFour, NothingIsShownInTheFirstSecondOrWhereNobodyLooks) {
  Progress bar(experiment_, plan_, ProgressStyle::kAuto, kScreen), plain(experiment_, plan_, ProgressStyle::kPlain, {}),
      none(experiment_, plan_, ProgressStyle::kNone, kScreen);
  std::this_thread::sleep_for(150ms);
  EXPECT_EQ(finished(bar, 0), "");
  EXPECT_EQ(finished(plain, 0), "");
  EXPECT_EQ(finished(none, 0), "");
  EXPECT_EQ(begun(none, 0), "");
  EXPECT_EQ(cleared(plain), "");
}

TEST_F(ProgressOfFour, RunsThatTakeAsLongAsTheySayAreToldAsTheyBegin) {
  Progress progress(experiment_, plan_, ProgressStyle::kPlain, {});
  EXPECT_EQ(begun(progress, 0), "run 1/4  x, passthrough, seed 1  ETA 6:40\n");
  finished(progress, 0);
  EXPECT_EQ(begun(progress, 1), "run 2/4  x, passthrough, seed 2  ETA 5:00\n");
  for (const std::size_t run : {1U, 2U}) finished(progress, run);
  EXPECT_EQ(begun(progress, 3), "run 4/4  x, passthrough, seed 4  ETA 1:40\n");
}

}  // namespace
}  // namespace corun
