#include "sim/live/metrics/metrics_text.h"

#include <gtest/gtest.h>

#include "sim/live/metrics/metrics_page.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using live::ClientFigures;
using live::FiguresBoard;
using live::metrics_text;
using live::RunFigures;

class MetricsText : public ::testing::Test {
 protected:
  MetricsText() {
    run_.policy = "nvshare";
    run_.device = "h200";
    run_.number = 1;
    run_.clients.resize(2);
    run_.clients[0].name = "game";
    run_.clients[0].has_frames = true;
    run_.clients[1].name = "train";
    train().is_present = true;
  }
  ClientFigures& game() { return run_.clients[0]; }
  ClientFigures& train() { return run_.clients[1]; }
  std::string text(std::uint64_t runs_finished = 0) const {
    return metrics_text({std::make_shared<const RunFigures>(run_), 20ms, runs_finished}, "0.1.0");
  }
  /// Whether the text has this line.
  bool has(const std::string& line, std::uint64_t runs_finished = 0) const {
    return text(runs_finished).find("\n" + line + "\n") != std::string::npos;
  }
  bool names(const std::string& start) const { return text().find("\n" + start) != std::string::npos; }

  RunFigures run_;
};

TEST_F(MetricsText, BeforeTheFirstRunThereAreFamiliesAndTheVersion) {
  const std::string text = metrics_text({}, "0.1.0");
  EXPECT_NE(text.find("corun_build_info{version=\"0.1.0\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ncorun_runs_finished_total 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n# TYPE corun_launches_held gauge\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\ncorun_run"), text.find("\ncorun_runs_finished_total ")) << "nothing of a run: " << text;
}

TEST_F(MetricsText, TimesAreInSecondsWithoutNoise) {
  train().device_time = 300ms;
  run_.elapsed = 86400s + 1ns;
  EXPECT_TRUE(has(R"(corun_device_time_seconds_total{client="train",policy="nvshare"} 0.3)")) << text();
  EXPECT_TRUE(has(R"(corun_run_elapsed_seconds{policy="nvshare"} 86400.000000001)")) << text();
  EXPECT_TRUE(has("corun_figures_age_seconds 0.02"));
}

TEST_F(MetricsText, LabelsHoldWhateverNamesHold) {
  train().name = "a\"b\\c\nd";
  EXPECT_TRUE(has(R"(corun_client_present{client="a\"b\\c\nd",policy="nvshare"} 1)")) << text();
}

TEST_F(MetricsText, WhatWaitsIsCountedByTheRuleThatHoldsIt) {
  train().held = {{"lock", 2s}, {"tokens", 1s}};
  train().hold = "lock";
  train().waiting = 3;
  EXPECT_TRUE(has(R"(corun_launches_held{client="train",policy="nvshare",reason="lock"} 3)")) << text();
  EXPECT_TRUE(has(R"(corun_launches_held{client="train",policy="nvshare",reason="tokens"} 0)"));
  EXPECT_TRUE(has(R"(corun_held_seconds_total{client="train",policy="nvshare",reason="lock"} 2)"));
  train().hold = "";
  EXPECT_TRUE(has(R"(corun_launches_held{client="train",policy="nvshare",reason="unstated"} 3)"));
  EXPECT_TRUE(has(R"(corun_launches_held{client="train",policy="nvshare",reason="lock"} 0)"));
}

TEST_F(MetricsText, WhatIsNotKnownIsMissing) {
  EXPECT_TRUE(has(R"(corun_frames_total{client="game",policy="nvshare"} 0)"));
  EXPECT_FALSE(names(R"(corun_frames_total{client="train")"));
  EXPECT_FALSE(names(R"(corun_frame_time_seconds_bucket{client="train")"));
  EXPECT_FALSE(names("corun_frame_time_p99_seconds{")) << "no frame time yet";
  EXPECT_FALSE(names("corun_memory_limit_bytes{"));
  EXPECT_TRUE(names(R"(corun_jobs_total{client="train")"));
  train().has_known_jobs = false;
  EXPECT_FALSE(names(R"(corun_jobs_total{client="train")"));
  EXPECT_FALSE(names(R"(corun_job_time_seconds_count{client="train")"));
}

TEST_F(MetricsText, HistogramsAreCumulativeAndEndWithAll) {
  for (const Duration time : {Duration{16ms}, Duration{17ms}, Duration{40ms}, Duration{2s}}) {
    game().frame_time.add(time);
    game().recent_frame_times.add(time);
  }
  const std::string labels = R"({client="game",policy="nvshare")";
  EXPECT_TRUE(has("corun_frame_time_seconds_bucket" + labels + R"(,le="0.015"} 0)")) << text();
  EXPECT_TRUE(has("corun_frame_time_seconds_bucket" + labels + R"(,le="0.018"} 2)"));
  EXPECT_TRUE(has("corun_frame_time_seconds_bucket" + labels + R"(,le="1"} 3)"));
  EXPECT_TRUE(has("corun_frame_time_seconds_bucket" + labels + R"(,le="+Inf"} 4)"));
  EXPECT_TRUE(has("corun_frame_time_seconds_sum" + labels + "} 2.073"));
  EXPECT_TRUE(has("corun_frame_time_seconds_count" + labels + "} 4"));
  EXPECT_TRUE(has("corun_frame_time_p50_seconds" + labels + "} 0.017"));
  EXPECT_TRUE(has("corun_frame_time_p99_seconds" + labels + "} 2"));
}

TEST_F(MetricsText, ActionsAreThoseThatHappened) {
  train().actions[static_cast<std::size_t>(Action::Kind::kKill)] = 2;
  EXPECT_TRUE(has(R"(corun_actions_total{client="train",policy="nvshare",action="kill"} 2)")) << text();
  EXPECT_TRUE(has(R"(corun_kills_total{client="train",policy="nvshare"} 2)"));
  EXPECT_TRUE(has(R"(corun_kills_total{client="game",policy="nvshare"} 0)"));
  EXPECT_FALSE(names(R"(corun_actions_total{client="game")"));
}

TEST_F(MetricsText, AfterARunTotalsStayAndNothingIsPresent) {
  train().in_flight = train().launches = 7;
  train().waiting = 2;
  train().allocated = 1000;
  EXPECT_TRUE(has(R"(corun_launches_in_flight{client="train",policy="nvshare"} 7)"));
  const std::string labels = R"({client="train",policy="nvshare"})";
  for (const std::string line : {"corun_run_in_progress{policy=\"nvshare\"} 0", "corun_runs_finished_total 1"})
    EXPECT_TRUE(has(line, 1)) << text(1);
  for (const std::string name : {"corun_client_present", "corun_launches_in_flight", "corun_memory_allocated_bytes"})
    EXPECT_TRUE(has(name + labels + " 0", 1)) << text(1);
  EXPECT_TRUE(has("corun_launches_total" + labels + " 7", 1));
  EXPECT_EQ(text(1).find("reason="), std::string::npos);
}

}  // namespace
}  // namespace corun
