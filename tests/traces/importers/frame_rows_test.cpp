// Units, ranges and boundaries of the PresentMon family's columns.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

Timeline table(std::string_view columns, std::string_view rows) {
  return import_text("presentmon", fmt::format("Application,{}\n{}", columns, rows));
}

TEST(FrameRows, KnowTheUnitOfEveryColumnOfTimes) {
  struct Column {
    std::string_view name, first, second;
    std::string_view clock = "capture_start";
  };
  constexpr Column kColumns[] = {
      {"TimeInSeconds", "0.1", "0.116"},
      {"TimeInMs", "100", "116"},
      {"TimeInQPC", "1000000", "1160000", "qpc"},
      {"TimeInQPCMs", "100", "116", "qpc"},
      {"TimeInQPCTime", "100", "116", "qpc"},
      {"TimeInQPCTimeInMs", "100", "116", "qpc"},
      {"QPCTime", "1000000", "1160000", "qpc"},
      {"QPCTime", "12.5", "12.516", "qpc"},
      {"CPUStartTime", "100", "116"},
      {"CPUStartTimeInMs", "100", "116"},
      {"CPUStartTimeInSeconds", "0.1", "0.116"},
      {"CPUStartQPC", "1000000", "1160000", "qpc"},
      {"CPUStartQPCTime", "100", "116", "qpc"},
      {"CPUStartQPCTimeInMs", "100", "116", "qpc"},
  };
  for (const Column& column : kColumns) {
    SCOPED_TRACE(column.name);
    const Timeline timeline = table(fmt::format("{},MsBetweenPresents,CPUBusy", column.name),
                                    fmt::format("g,{},16,4\ng,{},16,4\n", column.first, column.second));
    ASSERT_EQ(timeline.frames().size(), 2U);
    EXPECT_EQ(timeline.frames()[1].present_ns - timeline.frames()[0].present_ns, 16'000'000);
    EXPECT_EQ(timeline.provenance().clock, column.clock);
  }
}

TEST(FrameRows, PresentFollowsTheStartOfTheFrameByItsCpuBusyTime) {
  const Timeline timeline = table("CPUStartTime,FrameTime,CPUBusy", "g,100,16,0\ng,116,16,5\ng,132,16,-3\n");
  ASSERT_EQ(timeline.frames().size(), 3U);
  EXPECT_EQ(timeline.frames()[1].present_ns, 21'000'000);
  EXPECT_EQ(timeline.frames()[2].present_ns, 32'000'000) << "no negative time";
  EXPECT_EQ(timeline.frames()[2].cpu_busy_ns, -1);
}

TEST(FrameRows, GpuTimeOfZeroIsATime) {
  const Timeline timeline = table("TimeInSeconds,MsBetweenPresents,msGPUActive", "g,0.1,16,0\ng,0.116,16,NA\n");
  EXPECT_EQ(timeline.frames()[0].gpu_busy_ns, 0);
  EXPECT_EQ(timeline.frames()[1].gpu_busy_ns, -1);
  EXPECT_TRUE(timeline.fidelity().has_durations);
}

TEST(FrameRows, ChainWhoseTimeGoesBackByMoreThanASecondBeginsARun) {
  EXPECT_FALSE(notes_mention(table("TimeInSeconds,MsBetweenPresents", "g,5.1,16\ng,4.1,16\n"), "runs"));
  EXPECT_TRUE(notes_mention(table("TimeInSeconds,MsBetweenPresents", "g,5.1,16\ng,4.099,16\n"), "2 runs"));
}

TEST(FrameRows, RunIsLaidAnIntervalBehindTheLastFrameOfTheOneBefore) {
  const Timeline timeline =
      table("TimeInSeconds,MsBetweenPresents", "g,5.1,16\ng,5.2,16\ng,5.15,16\ng,0.5,20\ng,0.6,20\n");
  ASSERT_EQ(timeline.frames().size(), 5U);
  EXPECT_EQ(timeline.frames()[2].present_ns, 100'000'000);
  EXPECT_EQ(timeline.frames()[3].present_ns, 120'000'000);
  EXPECT_EQ(timeline.frames()[4].present_ns, 220'000'000);
}

TEST(FrameRows, OffsetOfMoreThan500SecondsIsNotBelieved) {
  const Timeline timeline =
      table("TimeInSeconds,MsBetweenPresents,msGPUActive", "g,0.1,500000,500000\ng,0.2,500000.000001,500000.1\n");
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 500'000'000'000);
  EXPECT_EQ(timeline.frames()[0].gpu_busy_ns, 500'000'000'000);
  EXPECT_EQ(timeline.frames()[1].interval_ns, 100'000'000) << "from present to present";
  EXPECT_EQ(timeline.frames()[1].gpu_busy_ns, -1);
}

TEST(FrameRows, PresentsWaitForADisplayWhereMostOfThemDo) {
  const auto vsync = [](std::string_view rows) {
    return table("SyncInterval,TimeInSeconds,MsBetweenPresents", rows).swapchains()[0].vsync;
  };
  EXPECT_EQ(vsync("g,1,0.1,16\ng,0,0.2,16\n"), Vsync::kOff) << "half are not most";
  EXPECT_EQ(vsync("g,4,0.1,16\ng,0,0.2,16\ng,1,0.3,16\n"), Vsync::kOn);
}

TEST(FrameRows, LoadOfTheGpuIsTheMeanOfPercentagesThatCanBe) {
  const auto load = [](std::string_view rows) {
    return table("TimeInSeconds,MsBetweenPresents,GPUUtilization", rows).swapchains()[0].gpu_load_ppm;
  };
  EXPECT_EQ(load("g,0.1,16,100\ng,0.2,16,0\n"), 500'000U);
  EXPECT_EQ(load("g,0.1,16,100.0001\ng,0.2,16,40\ng,0.3,16,-1\n"), 400'000U);
  EXPECT_EQ(load("g,0.1,16,33.3333\n"), 333'333U);
}

/// The notes of frames that came 16 ms apart, with these GPU times.
std::string notes_on_gpu_times(const std::vector<std::string>& milliseconds) {
  std::string rows;
  for (std::size_t i = 0; i < milliseconds.size(); ++i)
    rows += fmt::format("g,{},16,{}\n", 0.1 + 0.016 * static_cast<double>(i), milliseconds[i]);
  std::string all;
  const Timeline timeline = table("TimeInSeconds,MsBetweenPresents,msGPUActive", rows);
  for (const std::string& note : timeline.provenance().notes) all += note;
  return all;
}

TEST(FrameRows, NoteGpuTimesOfMoreThanTwoIntervalsAndOfMoreThanOneGpuTogether) {
  EXPECT_EQ(notes_on_gpu_times({"32", "0", "0"}), "");
  EXPECT_EQ(notes_on_gpu_times({"32.001", "0", "0"}),
            "1 frames have a GPU time of more than twice the interval between presents.");
  EXPECT_EQ(notes_on_gpu_times({"16.32", "16.32"}), "") << "102 percent";
  EXPECT_EQ(notes_on_gpu_times({"16.5", "16.5"}),
            "0 frames have a GPU time of more than twice the interval between presents; together they have 103 % of "
            "the time that passed, which one GPU cannot work.");
}

TEST(FrameRows, StepsAreTakenAsSecondsWhereIntervalsAre300TimesAsLong) {
  const auto second = [](std::string_view interval) {
    const Timeline timeline = table("CPUStartTime,FrameTime,CPUBusy", fmt::format("g,1,{0},0\ng,2,{0},0\n", interval));
    return timeline.frames().at(1).present_ns;
  };
  EXPECT_EQ(second("299"), 1'000'000);
  EXPECT_EQ(second("300"), 1'000'000'000);
}

TEST(FrameRows, RowWithoutAnIntervalIsNoEvidenceOfTheUnit) {
  const Timeline timeline =
      table("CPUStartTime,FrameTime,CPUBusy", "g,0.100,16,0\ng,0.116,16,0\ng,0.156,0,0\ng,0.172,16,0\n");
  EXPECT_EQ(timeline.frames().at(1).present_ns, 16'000'000);
  EXPECT_TRUE(notes_mention(timeline, "seconds"));
}

TEST(FrameRows, TimeThatNoClockShowsInSecondsStaysInRange) {
  const Timeline timeline = table("CPUStartTime,FrameTime,CPUBusy", "g,-2000000000,16,0\ng,0.100,16,0\ng,0.116,16,0\n");
  ASSERT_EQ(timeline.frames().size(), 3U);
  constexpr std::int64_t kEarliest = (std::int64_t{1} << 60) / 1000 * 1000;
  EXPECT_EQ(timeline.frames()[1].present_ns, kEarliest + 100'000'000);
  EXPECT_EQ(timeline.frames()[2].present_ns, kEarliest + 116'000'000);
}

TEST(FrameRows, FramesOfTheProgramItselfAreKeptWhateverTheirTypeIsCalled) {
  const Timeline timeline = table("FrameType,TimeInSeconds,MsBetweenPresents",
                                  "g,,0.1,16\ng,NA,0.2,16\ng,Application,0.3,16\ng,NotSet,0.4,16\n"
                                  "g,Unspecified,0.5,16\ng,Repeated,0.6,16\n");
  EXPECT_EQ(timeline.frames().size(), 5U);
  EXPECT_EQ(timeline.provenance().skipped.at("generated frame"), 1U);
}

TEST(FrameRows, RowsWithoutWhatPlacesThemAreCounted) {
  EXPECT_EQ(table("CPUStartTime,FrameTime,CPUBusy", "g,100,16,1\ng,116,16,NA\n")
                .provenance()
                .skipped.at("row without CPU busy time"),
            1U);
  EXPECT_EQ(table("MsBetweenPresents", "g,16\ng,NA\n").provenance().skipped.at("row without an interval"), 1U);
  EXPECT_EQ(table("MsBetweenPresents", "g,16\ng,0\n").frames().size(), 2U) << "an interval of 0 is one";
}

TEST(FrameRows, DroppedIsWrittenInThreeWays) {
  const Timeline timeline = table("Dropped,TimeInSeconds,MsBetweenPresents",
                                  "g,1,0.1,16\ng,true,0.2,16\ng,True,0.3,16\ng,0,0.4,16\ng,2,0.5,16\n");
  std::vector<bool> dropped;
  for (const FrameRecord& frame : timeline.frames()) dropped.push_back(frame.dropped);
  EXPECT_EQ(dropped, (std::vector<bool>{true, true, true, false, false}));
}

TEST(CsvTable, DecimalCommasOfARowAreNotMixedWithThoseOfTheRowBefore) {
  const Timeline timeline =
      import_text("presentmon", "Application;TimeInSeconds;MsBetweenPresents\ng;0;16,5\ng;0,016;16,5625\n");
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[1].present_ns, 16'000'000);
  EXPECT_EQ(timeline.frames()[1].interval_ns, 16'562'500);
  EXPECT_EQ(skipped(timeline), 0U);
}

TEST(CsvTable, FewerCellsAreRightWhereMoreThanHalfOfTheRowsHaveThem) {
  const std::string_view columns = "TimeInSeconds,MsBetweenPresents,MsInPresentAPI,GPU";
  const Timeline half = table(columns, "g,0.1,16,1,X\ng,0.2,16,1,X\ng,0.3,16,1\ng,0.4,16,1\n");
  EXPECT_EQ(half.frames().size(), 2U);
  EXPECT_EQ(half.provenance().skipped.at("row with fewer cells than the header"), 2U);
  const Timeline most = table(columns, "g,0.1,16,1,X\ng,0.2,16,1\ng,0.3,16,1\n");
  EXPECT_EQ(most.frames().size(), 3U);
  EXPECT_EQ(skipped(most), 0U);
}

}  // namespace
}  // namespace corun
