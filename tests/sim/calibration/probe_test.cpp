#include <gtest/gtest.h>

#include <algorithm>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/probes/probe_process.h"
#include "sim/calibration/probes/work_kind.h"
#include "sim/executor/host/wall_clock.h"

namespace corun::calibration {
namespace {

using namespace std::chrono_literals;

/// The real program of the probes on a driver that is not one (fake_device.cpp).
Sample probe(const std::string& name, const std::vector<std::string>& settings = {}) {
  std::vector<std::string> words = {CORUN_PROBE, name, std::string("library=") + CORUN_FAKE_DEVICE};
  words.insert(words.end(), settings.begin(), settings.end());
  ProbeProcess process(words, {});
  process.await_ready(20s);
  process.begin_at(executor::WallClock::monotonic_ns() + 1'000'000);
  return process.await_sample(30s);
}

TEST(Probe, SpinSeesAbsencesOnTheCommonClock) {
  const Sample sample = probe("spin", {"duration_ns=50000000"});
  EXPECT_EQ(sample.first("gaps"), 21);
  EXPECT_EQ(sample.of("gap_length_ns"), Series(21, 300'000));
  EXPECT_GE(sample.first("begin_ns"), -50'000);
  EXPECT_LT(sample.first("begin_ns"), 50'000'000);
  EXPECT_NEAR(static_cast<double>(sample.first("end_ns") - sample.first("begin_ns")), 50e6, 1e5);
  EXPECT_NEAR(static_cast<double>(sample.first("gap_begin_ns") - sample.first("begin_ns")), 2e6, 1e5);
}

TEST(Probe, LoadMakesItsKernelsAsLongAsAskedFor) {
  for (const WorkKind kind : kWorkKinds) {
    const Sample sample =
        probe("load", {"kind=" + std::to_string(static_cast<int>(kind)), "length_ns=400000", "duration_ns=30000000"});
    EXPECT_NEAR(static_cast<double>(sample.first("alone_ns")), 400e3, 20e3) << to_string(kind);
    EXPECT_GT(sample.of("end_ns").size(), 3U);
    EXPECT_LT(sample.of("end_ns").size(), 80U);
    EXPECT_TRUE(std::ranges::is_sorted(sample.of("end_ns")));
  }
}

TEST(Probe, LoadTellsTheShapeOfItsKernels) {
  const Sample sample = probe("load", {"blocks=4", "length_ns=50000", "duration_ns=5000000"});
  EXPECT_EQ(sample.first("blocks"), 4);
  EXPECT_EQ(sample.first("threads"), 256);
}

TEST(Probe, ShortKernelsComeWithPauses) {
  const Sample sample = probe("short", {"length_ns=20000", "period_ns=40000000", "duration_ns=400000000"});
  const Series& begins = sample.of("begin_ns");
  ASSERT_GT(begins.size(), 2U);
  EXPECT_LT(begins.size(), 30U);
  std::int64_t shortest = INT64_MAX;
  for (std::size_t i = 1; i < begins.size(); ++i) shortest = std::min(shortest, begins[i] - begins[i - 1]);
  EXPECT_GE(shortest, 19'000'000);
  EXPECT_LT(shortest, 70'000'000) << "pauses are of a half to one and a half periods";
}

TEST(Probe, LaunchFindsTheDepthOfTheQueue) {
  const Sample sample = probe("launch", {"length_ms=60", "repetitions=3"});
  for (const std::int64_t depth : sample.of("queue_depth")) EXPECT_EQ(depth, 1023);
  EXPECT_GT(sample.first("round_trip_ns"), 2'000);
}

TEST(Probe, CopyTimesBothDirectionsAndBothAtOnce) {
  const Sample sample = probe("copy", {"bytes=20000000", "repetitions=3"});
  for (const char* series : {"to_device_ns", "from_device_ns", "both_ns"}) {
    EXPECT_GE(sample.first(series), 2'000'000) << series;
    EXPECT_LT(sample.first(series), 500'000'000) << series;
  }
}

TEST(Probe, ClockCountsCyclesOverNanoseconds) {
  const Sample sample = probe("clock", {"light_ns=5000000", "duration_ns=5000000"});
  EXPECT_NEAR(static_cast<double>(sample.first("light_khz")), 1.5e6, 1e3);
  EXPECT_NEAR(static_cast<double>(sample.first("heavy_khz")), 1.5e6, 1e3);
}

// By Mesa on the processor here.
TEST(Probe, DrawTellsWhenEachFrameWasDrawn) {
  const Sample sample = probe("draw", {"on_processor=1", "width=64", "height=64", "draws=2", "frame_ns=2000000",
                                       "duration_ns=100000000", "ahead=2"});
  const Series &submits = sample.of("submit_ns"), &ends = sample.of("end_ns");
  ASSERT_GT(ends.size(), 1U);
  ASSERT_EQ(submits.size(), ends.size());
  EXPECT_TRUE(std::ranges::is_sorted(ends));
  for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_LT(submits[i], ends[i]);
  EXPECT_GT(ends.back(), 50'000'000) << "to the end of what was asked for";
}

TEST(Probe, MemoryIsWatchedForOneAndAHalfSeconds) {
  const Sample sample = probe("memory");
  ASSERT_FALSE(sample.of("at_ns").empty());
  EXPECT_GT(sample.of("at_ns").back(), 1'400'000'000);
  EXPECT_EQ(sample.of("free_bytes").size(), sample.of("at_ns").size());
}

TEST(Probe, OthersComeBackWithTheirSeries) {
  const Sample properties = probe("properties");
  EXPECT_EQ(properties.first("sm_count"), 10);
  EXPECT_EQ(properties.first("memory_bytes"), 1 << 30);
  EXPECT_EQ(probe("rates", {"repetitions=2"}).of("cache_ns").size(), 2U);
  EXPECT_EQ(probe("context", {"repetitions=2"}).of("made_again_ns").size(), 2U);
  EXPECT_EQ(probe("memory", {"duration_ns=10000000"}).first("free_bytes"), 1 << 29);
  EXPECT_EQ(probe("priority", {"repetitions=2", "length_ns=1000000"}).of("urgent_wait_ns").size(), 2U);
}

}  // namespace
}  // namespace corun::calibration
