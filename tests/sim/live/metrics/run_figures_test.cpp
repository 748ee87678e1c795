// Live runs whose figures are read while they go on.
#include <future>
#include <regex>

#include "sim/live/metrics/live_metrics.h"
#include "tests/sim/live/live_fixture.h"
#include "tests/sim/live/metrics/scraper.h"

namespace corun {
namespace {

class LiveMetricsRun : public LiveShell {
 protected:
  LiveMetricsRun() { options_.metrics = std::make_shared<live::LiveMetrics>(*live::ListenAddress::parse(":0"), "1"); }
  live::ListenAddress address() const {
    const std::string url = options_.metrics->url();
    return *live::ListenAddress::parse(url.substr(7, url.rfind('/') - 7));
  }
  std::string scrape() const { return testing::get(address()); }
  /// The sum of the samples whose names and labels begin so; nothing where there is none.
  static std::optional<double> value(const std::string& text, const std::string& start) {
    std::optional<double> sum;
    for (std::size_t at = 0; (at = text.find("\n" + start, at)) != std::string::npos; ++at)
      sum = sum.value_or(0) + std::stod(text.substr(text.find(' ', at)));
    return sum;
  }
  /// Scrapes until a sample has this value, or more.
  std::string await(const std::string& start, double least) const {
    const executor::WallClock clock;
    std::string text;
    while (value(text = scrape(), start).value_or(-1) < least && clock.elapsed() < 5s)
      std::this_thread::sleep_for(20ms);
    return text;
  }
  /// The first one keeps the lock.
  std::future<LiveFacts> start_pair(Duration horizon) {
    ClientSpec second = client("b", {"step", "0", "500"});
    second.arrival = 100ms;
    return std::async(std::launch::async, [this, horizon, second] {
      return run({client("a", {"step", "0", "500"}), second}, horizon, "nvshare", {{"quantum", "60s"}});
    });
  }
};

TEST_F(LiveMetricsRun, TellARunWhileItGoesOnAndAsItsResultsDoAfterwards) {
  auto facts = start_pair(1500ms);
  const std::string first = await(R"(corun_launches_held{client="b")", 1);
  EXPECT_EQ(value(first, R"(corun_launches_held{client="b",policy="nvshare",reason="lock"})"), 1) << first;
  EXPECT_EQ(value(first, "corun_run_in_progress"), 1);
  EXPECT_EQ(value(first, R"(corun_client_present{client="a")"), 1);
  const std::string second = await("corun_run_elapsed_seconds", *value(first, "corun_run_elapsed_seconds") + 0.3);
  for (const char* grows : {R"(corun_held_seconds_total{client="b")", "corun_device_busy_seconds_total",
                            "corun_policy_decisions_total", "corun_policy_decision_seconds_total"})
    EXPECT_GT(value(second, grows).value_or(0), value(first, grows).value_or(0)) << grows << second;
  const LiveFacts all = facts.get();
  const std::string last = await("corun_runs_finished_total", 1);
  EXPECT_EQ(value(last, "corun_run_in_progress"), 0) << last;
  for (const std::uint32_t i : {0U, 1U}) {
    const std::string labels = "{client=\"" + input_.clients[i].name + "\"";
    EXPECT_EQ(value(last, "corun_client_present" + labels), 0);
    EXPECT_NEAR(*value(last, "corun_device_time_seconds_total" + labels), to_seconds(result_.device_time[i]), 1e-9);
    EXPECT_EQ(value(last, "corun_jobs_total" + labels), static_cast<double>(result_.jobs_finished[i]));
    EXPECT_EQ(value(last, "corun_wait_seconds_count" + labels), static_cast<double>(all.of(i).size()));
  }
  Duration held{};
  for (const HoldFact& hold : all.holds) held += hold.end - hold.begin;
  EXPECT_NEAR(*value(last, "corun_held_seconds_total"), to_seconds(held), 1e-9);
}

TEST_F(LiveMetricsRun, TellFramesAndTheirTimes) {
  ClientSpec game = client("game", {});
  game.command.words = {LIVE_FRAMES, "20", "5"};
  game.role = Role::kInteractive;
  game.pacing = {.mode = Pacing::Mode::kLimited, .period = 20ms};
  auto facts = std::async(std::launch::async, [&] { return run({game}, 1500ms); });
  const std::string text = await("corun_frames_total", 20);
  EXPECT_NEAR(value(text, "corun_frame_time_p50_seconds").value_or(0), 0.02, 0.005) << text;
  EXPECT_GE(value(text, "corun_frame_time_p99_seconds").value_or(0), 0.018) << text;
  const LiveFacts all = facts.get();
  const std::string last = await("corun_runs_finished_total", 1);
  EXPECT_EQ(value(last, "corun_frames_total"), static_cast<double>(all.frames.size()));
  EXPECT_EQ(value(last, "corun_missed_frames_total"), std::ranges::count(all.frames, true, &FrameFact::missed));
}

TEST_F(LiveMetricsRun, ARunIsTheSameWithScrapersThatAskAllTheTimeAndOthersThatSayNothing) {
  std::vector<std::unique_ptr<testing::Scraper>> silent;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> scrapers;
  for (int i = 0; i < 2; ++i)
    scrapers.emplace_back([&] {
      for (; !is_over; std::this_thread::sleep_for(1ms)) testing::get(address());
    });
  auto facts = start_pair(1s);
  for (int i = 0; i < 8; ++i) silent.push_back(std::make_unique<testing::Scraper>(address()));
  const LiveFacts all = facts.get();
  is_over = true;
  for (std::thread& scraper : scrapers) scraper.join();
  EXPECT_EQ(result_.end, kRunStart + 1s);
  EXPECT_GT(all.ops.size(), 20u) << "of 2000 that the device could do, with the processors busy";
  EXPECT_TRUE(all.of(1).empty()) << "the lock held it all the time";
}

TEST_F(LiveMetricsRun, AScraperReadsThroughTheEndOfARunAndThenOfTheNext) {
  std::atomic<bool> is_over = false;
  std::atomic<int> whole = 0, torn = 0;
  std::thread scraper([&] {
    while (!is_over) ++(scrape().find("corun_refused") != std::string::npos ? whole : torn);
  });
  for (int number = 1; number <= 3; ++number) run({client("a", {"step", "0", "500"})}, 200ms);
  is_over = true;
  scraper.join();
  EXPECT_EQ(torn, 0);
  EXPECT_GT(whole, 0);
  const std::string last = await("corun_runs_finished_total", 3);
  EXPECT_EQ(value(last, "corun_runs_finished_total"), 3) << last;
  EXPECT_EQ(value(last, "corun_run_in_progress"), 0);
  EXPECT_NE(last.find("run=\"3\""), std::string::npos);
}

TEST_F(LiveMetricsRun, ARunThatFailsIsOver) {
  ClientSpec missing = client("a", {});
  missing.command.words = {"/nonexistent/program"};
  EXPECT_THROW(run({missing}, 1s), Error);
  EXPECT_EQ(value(await("corun_runs_finished_total", 1), "corun_runs_finished_total"), 1);
}

}  // namespace
}  // namespace corun
