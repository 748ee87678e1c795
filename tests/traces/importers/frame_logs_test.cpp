// Units, ranges and boundaries of the logs of MangoHud and MSI Afterburner.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

Timeline mangohud(std::string_view columns, std::string_view rows) {
  return import_text("mangohud", fmt::format("{}\n{}", columns, rows));
}

TEST(MangoHud, TwoRowsShowWhetherALogIsASample) {
  const auto is_sample = [](std::string_view second) {
    return !mangohud("fps,frametime,elapsed", fmt::format("50,20,20000000\n50,20,{}\n", second)).fidelity().per_frame;
  };
  EXPECT_FALSE(is_sample("50000000")) << "a step of one frame and a half";
  EXPECT_TRUE(is_sample("50000001"));
}

TEST(MangoHud, FrameTimeAHundredTimesTheOneOfTheFrameRateIsInMicroseconds) {
  EXPECT_EQ(mangohud("fps,frametime", "50,1999\n").frames().at(0).interval_ns, 1'999'000'000);
  EXPECT_EQ(mangohud("fps,frametime", "50,2000\n").frames().at(0).interval_ns, 2'000'000);
}

TEST(MangoHud, FrameTimeFollowsFromTheFrameRateWhereNoColumnHasIt) {
  const Timeline timeline = mangohud("fps,elapsed", "50,20000000\n62.5,36000000\n0,50000000\n");
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 20'000'000);
  EXPECT_EQ(timeline.frames()[1].interval_ns, 16'000'000);
  EXPECT_EQ(timeline.provenance().skipped.at("row without a frame time"), 1U);
}

TEST(MangoHud, TimesAreSumsOfFrameTimesWhereNoColumnHasThem) {
  const Timeline timeline = mangohud("fps,frametime", "50,20\n40,25\n50,20\n");
  ASSERT_EQ(timeline.frames().size(), 3U);
  EXPECT_EQ(timeline.frames()[1].present_ns, 25'000'000);
  EXPECT_EQ(timeline.frames()[2].present_ns, 45'000'000);
  EXPECT_TRUE(timeline.fidelity().per_frame);
}

TEST(MangoHud, FrameTimesFromNothingTo1000SecondsOfMicrosecondsArePossible) {
  const Timeline timeline = mangohud("fps,frametime", "50,0\n50,1000000000\n50,1000000000.000001\n50,-0.000001\n");
  EXPECT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.provenance().skipped.at("row with an impossible frame time"), 2U);
}

TEST(MangoHud, LoadAndMemoryAreThoseThatCanBe) {
  const Timeline timeline = mangohud("fps,frametime,gpu_load,gpu_vram_used",
                                     "50,20,100,1048576\n50,20,101,1048577\n50,20,50,0.5\n50,20,-1,0\n");
  EXPECT_EQ(timeline.swapchains()[0].gpu_load_ppm, 750'000U);
  ASSERT_EQ(timeline.memory_peaks().size(), 1U);
  EXPECT_EQ(timeline.memory_peaks()[0].bytes, std::uint64_t{1} << 50);
}

TEST(MangoHud, LongNamesOfAGpuAreCutAtFourKibibytesAndVersionsAt64Bytes) {
  const std::string text =
      "v" + std::string(100, '1') + "\nos,cpu,gpu,kernel\nx,y," + std::string(5000, 'g') + ",6\nfps,frametime\n50,20\n";
  const Timeline timeline = import_text("mangohud", text);
  EXPECT_EQ(timeline.provenance().devices.at(0).name.size(), 4096U);
  EXPECT_EQ(timeline.provenance().source_version, "v" + std::string(63, '1'));
}

TEST(MangoHud, IsRecognisedByAHeaderInItsFirstEightLines) {
  std::string before;
  for (int i = 0; i < 7; ++i) before += "-\n";
  EXPECT_EQ(sniffed(before + "fps,frametime\n"), "mangohud");
  EXPECT_EQ(sniffed(before + "-\nfps,frametime\n"), "");
}

std::string afterburner(std::string_view rows, std::string_view gpu = "RX 580") {
  return fmt::format(
      "00, 24-10-2025 18:04:41, Hardware monitoring log v1.6 \n01, 24-10-2025 18:04:41, {}\n"
      "02, 24-10-2025 18:04:41, GPU usage           ,Frametime           \n{}",
      gpu, rows);
}

/// Seconds from the first of two instants to the second; -1 where one of them is none.
std::int64_t seconds_between(std::string_view first, std::string_view second) {
  const Timeline timeline =
      import_text("afterburner", afterburner(fmt::format("80, {},80,19\n80, {},80,19\n", first, second)));
  return timeline.frames().size() == 2 ? timeline.frames()[1].present_ns / 1'000'000'000 : -1;
}

TEST(Afterburner, ReadsDatesAndTimesOfDay) {
  EXPECT_EQ(seconds_between("24-10-2025 18:04:42", "24-10-2025 18:05:41"), 59);
  EXPECT_EQ(seconds_between("24-10-2025 18:04:42", "24-10-2025 20:04:42"), 7200);
  EXPECT_EQ(seconds_between("31-12-2025 23:59:59", "01-01-2026 00:00:00"), 1);
  EXPECT_EQ(seconds_between("28-02-2024 12:00:00", "01-03-2024 12:00:00"), 2 * 86'400) << "a leap year";
  EXPECT_EQ(seconds_between("31/12/2025 23.59.58", "2026-01-01 00:00:00"), 2) << "other signs, and the year first";
  EXPECT_EQ(seconds_between("24-10-2025 18:04:59", "24-10-2025 18:04:60"), 1) << "a leap second";
}

TEST(Afterburner, KnowsWhatNoDateAndNoTimeOfDayIs) {
  const std::string_view good = "24-10-2025 18:04:42";
  for (const std::string_view bad :
       {"24-10-2025 18:04:61", "24-10-2025 18:60:42", "24-10-2025 24:04:42", "32-10-2025 18:04:42",
        "24-13-2025 18:04:42", "29-02-2025 18:04:42", "24-10-2025 18:04:x", "24-10-2025 18:x:42", "24-10-2025 x:04:42",
        "24-x-2025 18:04:42", "24-10-x 18:04:42", "x-10-2025 18:04:42", "24-10-2025 18:04:", "01-01-2201 00:00:00",
        "31-12-1969 23:59:59"})
    EXPECT_EQ(seconds_between(good, bad), -1) << bad;
  EXPECT_EQ(seconds_between("01-01-1970 00:00:00", "01-01-1970 00:00:01"), 1);
}

TEST(Afterburner, FrameTimesAreAboveNothingAndNoMoreThan1000Seconds) {
  const std::string at = "80, 24-10-2025 18:04:42,80,";
  const Timeline timeline = import_text(
      "afterburner", afterburner(at + "0\n" + at + "0.000001\n" + at + "1000000\n" + at + "1000000.000001\n"));
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[1].interval_ns, 1'000'000'000'000);
  EXPECT_EQ(timeline.provenance().skipped.at("row without a frame time"), 2U);
}

TEST(Afterburner, LoadIsTheMeanOfPercentagesThatCanBe) {
  const std::string at = "80, 24-10-2025 18:04:42,";
  const auto load = [&](std::string_view first, std::string_view second) {
    return import_text("afterburner", afterburner(fmt::format("{0}{1},19\n{0}{2},19\n", at, first, second)))
        .swapchains()[0]
        .gpu_load_ppm;
  };
  EXPECT_EQ(load("100", "0"), 500'000U);
  EXPECT_EQ(load("100.0001", "30"), 300'000U);
  EXPECT_EQ(load("N/A", "N/A"), 0U);
}

TEST(Afterburner, KeepsTheFirstGpuAndCutsItsNameAtFourKibibytes) {
  const Timeline timeline = import_text(
      "afterburner",
      afterburner("01, 24-10-2025 18:04:41, other\n80, 24-10-2025 18:04:42,80,19\n", std::string(5000, 'g')));
  ASSERT_EQ(timeline.provenance().devices.size(), 1U);
  EXPECT_EQ(timeline.provenance().devices[0].name.size(), 4096U);
  const Timeline none = import_text(
      "afterburner", "00, x, Hardware monitoring log\n01, x\n02, x, Frametime\n80, 24-10-2025 18:04:42,19\n");
  EXPECT_TRUE(none.provenance().devices.empty());
  EXPECT_EQ(none.frames().size(), 1U);
}

}  // namespace
}  // namespace corun
