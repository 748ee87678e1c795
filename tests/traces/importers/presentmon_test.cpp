#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

constexpr std::string_view kV1 =
    "Application,ProcessID,SwapChainAddress,Runtime,SyncInterval,PresentFlags,Dropped,TimeInSeconds,msInPresentAPI,"
    "msBetweenPresents,msUntilRenderComplete,msUntilDisplayed,msUntilRenderStart,msGPUActive,QPCTime\n";
constexpr std::string_view kV2 =
    "Application,ProcessID,SwapChainAddress,PresentRuntime,FrameType,CPUStartQPC,FrameTime,CPUBusy,CPUWait,GPULatency,"
    "GPUTime,GPUBusy,GPUWait,DisplayedTime\n";
constexpr std::string_view kCurrent =
    "Application,ProcessID,SwapChainAddress,PresentRuntime,FrameType,TimeInQPC,MsBetweenPresents,MsInPresentAPI,"
    "MsRenderPresentLatency,MsUntilDisplayed,CPUStartQPC,MsBetweenAppStart,MsCPUBusy,MsCPUWait,MsGPULatency,MsGPUTime,"
    "MsGPUBusy,MsGPUWait\n";

// The same frame as the three versions write it.
constexpr std::string_view kV1Row =
    "game.exe,1268,0x0A,DXGI,1,0,0,0.3490030,0.0893,16.4754,0.0673,16.4296,-15.4471,1.0752,2076674276\n";
constexpr std::string_view kV2Row =
    "game.exe,1268,0xA,DXGI,Application,2076511276,16.3893,16.3000,0.0893,0.8529,15.5144,1.0752,14.4392,33.3323\n";
constexpr std::string_view kCurrentRow =
    "game.exe,1268,0xA,DXGI,Application,2076674276,16.4754,0.0893,0.0673,16.4296,2076511276,16.3893,16.3000,0.0893,"
    "0.8529,15.5144,1.0752,14.4392\n";

Timeline read(std::string_view header, std::string_view rows) {
  return import_text("presentmon", fmt::format("{}{}", header, rows));
}

TEST(PresentMon, SaysWhichVersionWroteTheFile) {
  EXPECT_EQ(read(kV1, kV1Row).provenance().source_version, "v1");
  EXPECT_EQ(read(kV2, kV2Row).provenance().source_version, "v2");
  EXPECT_EQ(read(kCurrent, kCurrentRow).provenance().source_version, "current");
}

TEST(PresentMon, PlacesTheGpuWorkOfAFrameTheSameInAllVersions) {
  for (const Timeline& timeline : {read(kV1, kV1Row), read(kV2, kV2Row), read(kCurrent, kCurrentRow)}) {
    ASSERT_EQ(timeline.frames().size(), 1U);
    const FrameRecord& frame = timeline.frames()[0];
    EXPECT_EQ(frame.gpu_begin_ns, 0);
    EXPECT_EQ(frame.present_ns, 15447100);
    EXPECT_EQ(frame.gpu_end_ns, 15514400);
    EXPECT_EQ(frame.gpu_busy_ns, 1075200);
    EXPECT_EQ(frame.in_present_ns, 89300);
    EXPECT_FALSE(frame.dropped);
    EXPECT_EQ(timeline.text(timeline.swapchains()[frame.swapchain].application), "game.exe");
    EXPECT_EQ(timeline.swapchains()[frame.swapchain].process, 1268U);
    EXPECT_TRUE(timeline.fidelity().has_frames);
    EXPECT_TRUE(timeline.fidelity().per_frame);
  }
}

TEST(PresentMon, LeavesUnknownWhatAVersionDoesNotHave) {
  EXPECT_EQ(read(kV1, kV1Row).frames()[0].cpu_busy_ns, -1);
  EXPECT_EQ(read(kV2, kV2Row).frames()[0].cpu_busy_ns, 16300000);
  const Timeline bare =
      read("Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents\n", "a.exe,1,0x1,1.5,16.6\n");
  EXPECT_EQ(bare.frames()[0].gpu_busy_ns, -1);
  EXPECT_EQ(bare.frames()[0].gpu_end_ns, -1);
  EXPECT_EQ(bare.frames()[0].interval_ns, 16600000);
  EXPECT_FALSE(bare.fidelity().has_durations);
}

TEST(PresentMon, TakesTheTimeBetweenPresentsAsIntervalWhereNoColumnHasIt) {
  const Timeline timeline = read(kV2, fmt::format("{}game.exe,1268,0xA,DXGI,Application,2076675169,33.4674,33.3150,0."
                                                  "1524,0.0000,33.4282,1.2105,32.2177,100.0649\n",
                                                  kV2Row));
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 16389300);
  EXPECT_EQ(timeline.frames()[1].interval_ns, 33404300);
}

TEST(PresentMon, FindsColumnsWhateverTheirOrderCaseAndSpaces) {
  const Timeline timeline = read(
      "\xEF\xBB\xBF"
      "processid, APPLICATION ,msbetweenpresents,TIMEINSECONDS,MSGPUACTIVE\r\n",
      "7, g.exe ,16.0,2.0,8.25\r\n7,g.exe,16.0,2.016,8.5\r\n");
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[1].gpu_busy_ns, 8500000);
  EXPECT_EQ(timeline.frames()[1].present_ns, 16000000);
}

TEST(PresentMon, SortsRowsOfInterleavedProcessesByTime) {
  const Timeline timeline = read("Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents\n",
                                 "dwm.exe,1,0x1,0.50,16\ngame.exe,2,0x1,0.10,8\ngame.exe,2,0x2,0.20,8\n");
  ASSERT_EQ(timeline.frames().size(), 3U);
  EXPECT_EQ(timeline.swapchains().size(), 3U);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 8000000);
  EXPECT_EQ(timeline.frames()[2].present_ns, 400000000);
  EXPECT_EQ(timeline.provenance().origin_ns, 100000000);
}

TEST(PresentMon, BuildsTimesFromIntervalsWhereNoColumnHasThemAndSaysSo) {
  const Timeline timeline =
      read("Application,ProcessID,SwapChainAddress,MsBetweenPresents\n", "a,1,0x1,16\na,1,0x1,17\na,1,0x1,18\n");
  ASSERT_EQ(timeline.frames().size(), 3U);
  EXPECT_EQ(timeline.frames()[2].present_ns, 35000000);
  EXPECT_TRUE(notes_mention(timeline, "sums of the intervals"));
}

TEST(PresentMon, PassesOverATimeColumnOfDates) {
  const Timeline timeline = read("Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents,QPCTime\n",
                                 "a,1,0x1,2021-3-4 10:00:00.5,16,1000000\na,1,0x1,2021-3-4 10:00:00.6,16,1160000\n");
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[1].present_ns, 16000000);
  EXPECT_EQ(timeline.provenance().clock, "qpc");
}

TEST(PresentMon, TellsSecondsFromMillisecondsByTheIntervals) {
  const std::string header = "Application,ProcessID,SwapChainAddress,CPUStartTime,FrameTime,CPUBusy\n";
  const Timeline ms = read(header, "a,1,0x1,100,16,0\na,1,0x1,116,16,0\n");
  const Timeline s = read(header, "a,1,0x1,0.100,16,0\na,1,0x1,0.116,16,0\n");
  EXPECT_EQ(ms.frames()[1].present_ns, 16000000);
  EXPECT_EQ(s.frames()[1].present_ns, 16000000);
  EXPECT_TRUE(notes_mention(s, "seconds"));
}

TEST(PresentMon, KnowsDroppedFramesOfEveryVersion) {
  EXPECT_TRUE(read(kV1, "g,1,0x1,DXGI,1,0,1,0.1,0.1,16,1,0,0,0,7\n").frames()[0].dropped);
  EXPECT_TRUE(read(kV2, "g,1,0x1,DXGI,Application,1000,16,15,1,1,2,1,1,NA\n").frames()[0].dropped);
  EXPECT_TRUE(read(kCurrent, "g,1,0x1,DXGI,Application,9000,16,1,1,NA,1000,16,15,1,1,2,1,1\n").frames()[0].dropped);
}

TEST(PresentMon, TakesAnUntrackedZeroOfVersion1ForUnknown) {
  const FrameRecord frame = read(kV1, "g,1,0x1,DXGI,1,0,0,0.1,0.1,16,0.000,5,0.000,2.5,7\n").frames()[0];
  EXPECT_EQ(frame.gpu_begin_ns, -1);
  EXPECT_EQ(frame.gpu_end_ns, -1);
  EXPECT_EQ(frame.gpu_busy_ns, 2500000);
}

TEST(PresentMon, LeavesOutGeneratedFrames) {
  const Timeline timeline = read(kV2, fmt::format("{}game.exe,1268,0xA,DXGI,Intel XeSS-FG,NA,NA,NA,NA,NA,NA,NA,NA,8.3\n"
                                                  "game.exe,1268,0xA,DXGI,AMD_AFMF,NA,NA,NA,NA,NA,NA,NA,NA,8.3\n",
                                                  kV2Row));
  EXPECT_EQ(timeline.frames().size(), 1U);
  EXPECT_EQ(timeline.provenance().skipped.at("generated frame"), 2U);
}

TEST(PresentMon, ReadsRaggedRowsOfOcatAndTheDeviceInTheFirst) {
  const Timeline timeline = read(
      "Application,ProcessID,SwapChainAddress,Dropped,TimeInSeconds,MsBetweenPresents,MsInPresentAPI,Motherboard,GPU\n",
      "g,1,0x1,0,0.1,16,1,ASUS,RTX 2080\ng,1,0x1,0,0.116,16,1\ng,1,0x1,0,0.132,16,1,\n");
  EXPECT_EQ(timeline.frames().size(), 3U);
  ASSERT_EQ(timeline.provenance().devices.size(), 1U);
  EXPECT_EQ(timeline.provenance().devices[0].name, "RTX 2080");
}

TEST(PresentMon, CountsBadRowsByReasonWithTheirLine) {
  const Timeline timeline = read("Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents\n",
                                 "g,1,0x1,0.1,16\ng,1,0x1,oops,16\ng,1,0x1,0.2,-4\n"
                                 "Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents\ng,1,0x1,0.");
  EXPECT_EQ(timeline.frames().size(), 1U);
  EXPECT_EQ(timeline.provenance().skipped,
            (std::map<std::string, std::uint64_t>{
                {"row without a time", 1}, {"row with a negative interval", 1}, {"last row is cut off", 1}}));
  EXPECT_EQ(timeline.provenance().skipped_examples[0], "capture.txt:3: row without a time");
}

constexpr std::string_view kShort = "Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents\n";

TEST(PresentMon, RowsOfMoreOrFewerCellsThanTheHeaderAreSkippedNotShifted) {
  const Timeline timeline = read(kShort,
                                 "g,1,0x1,0.1,16\nMy Game, Deluxe.exe,1,0x1,0.2,16\ng,1,0x1,0.3\ng,1,0x1,0,4,16\n"
                                 "g,1,0x1,0.5,16\n");
  EXPECT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.provenance().skipped,
            (std::map<std::string, std::uint64_t>{{"row with more cells than the header", 2},
                                                  {"row with fewer cells than the header", 1}}));
}

TEST(PresentMon, ReadsStandardQuoting) {
  const Timeline timeline = read(kShort,
                                 "\"ga\n\"\"me\",1,0x1,0.1,16\n\"My Game, Deluxe.exe\",1,0x1,0.2,16\n"
                                 "a 5\" game,1,0x1,0.3,16\ng,1,0x1,x,16\n");
  ASSERT_EQ(timeline.frames().size(), 3U);
  const auto name = [&](std::size_t frame) {
    return timeline.text(timeline.swapchains()[timeline.frames()[frame].swapchain].application);
  };
  EXPECT_EQ(name(0), "ga\n\"me");
  EXPECT_EQ(name(1), "My Game, Deluxe.exe");
  EXPECT_EQ(name(2), "a 5\" game");
  EXPECT_EQ(timeline.provenance().skipped_examples[0], "capture.txt:6: row without a time") << "lines are counted";
}

TEST(PresentMon, AQuoteThatIsNeverClosedTakesItsRowOnly) {
  const Timeline timeline = read(kShort, "g,1,0x1,0.1,16\n\"g,1,0x1,0.2,16\ng,1,0x1,0.3,16\n");
  EXPECT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(skipped(timeline), 1U);
}

TEST(PresentMon, ReadsDecimalCommasWhereSemicolonsSeparate) {
  std::string header{kShort};
  std::ranges::replace(header, ',', ';');
  EXPECT_EQ(sniffed(header), "presentmon");
  const Timeline timeline = read(header, "g;1;0x1;0,100;16,5\ng;1;0x1;0.1165;16.5\ng;1;0x1;1,0,5;16\n");
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[1].present_ns, 16'500'000);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 16'500'000);
  EXPECT_EQ(skipped(timeline), 1U);
}

TEST(PresentMon, ReadsLogsWithoutProcesses) {
  const std::string header = "Application,TimeInSeconds,MsBetweenPresents\n";
  EXPECT_EQ(sniffed(header), "presentmon");
  EXPECT_EQ(read(header, "g,0.1,16\ng,0.116,16\n").frames().size(), 2U);
}

TEST(PresentMon, KeepsRunsApart) {
  for (const std::string& between : {std::string{kShort}, std::string{}}) {
    const Timeline timeline =
        read(kShort, "g,1,0x1,5.1,16\ng,1,0x1,5.116,16\n" + between + "g,1,0x1,0.1,16\ng,1,0x1,0.116,16\n");
    ASSERT_EQ(timeline.frames().size(), 4U);
    std::vector<std::uint32_t> runs;
    for (const FrameRecord& frame : timeline.frames()) runs.push_back(timeline.swapchains()[frame.swapchain].run);
    EXPECT_EQ(runs, (std::vector<std::uint32_t>{1, 1, 2, 2}));
    EXPECT_TRUE(notes_mention(timeline, "2 runs"));
  }
  EXPECT_EQ(read(kShort, "g,1,0x1,5.1,16\ng,1,0x1,5.0,16\n").swapchains()[0].run, 0U) << "one run, out of order";
}

TEST(PresentMon, KnowsWhetherPresentsWaitForADisplayAndTheLoadOfTheGpu) {
  const std::string header = "Application,ProcessID,SyncInterval,TimeInSeconds,MsBetweenPresents,GPU0Util(%)\n";
  const SwapchainRecord on = read(header, "g,1,1,0.1,16,50\ng,1,1,0.2,16,70\ng,1,0,0.3,16,NA\n").swapchains()[0];
  EXPECT_EQ(on.vsync, Vsync::kOn);
  EXPECT_EQ(on.gpu_load_ppm, 600'000U);
  EXPECT_EQ(read(header, "g,1,0,0.1,16,50\n").swapchains()[0].vsync, Vsync::kOff);
  EXPECT_EQ(read(header, "g,1,-1,0.1,16,50\n").swapchains()[0].vsync, Vsync::kUnknown);
}

TEST(PresentMon, NotesGpuTimesThatNoGpuCanHave) {
  const std::string header = "Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents,msGPUActive\n";
  EXPECT_TRUE(notes_mention(read(header, "g,1,0x1,0.1,16,500\ng,1,0x1,0.116,16,15\n"), "one GPU cannot work"));
  EXPECT_FALSE(notes_mention(read(header, "g,1,0x1,0.1,16,15\ng,1,0x1,0.116,16,15\n"), "GPU"));
}

TEST(PresentMon, CountsTimesBeyondAnyClockInsteadOfFailing) {
  const Timeline timeline = read("Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents\n",
                                 "g,1,0x1,0.1,16\ng,1,0x1,3000000000,16\ng,1,0x1,0.2,16\n");
  EXPECT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(skipped(timeline), 1U);
}

TEST(PresentMon, RefusesATableWithoutAnyTimes) {
  EXPECT_NE(import_error("presentmon", "Application,ProcessID,MsInPresentAPI\na,1,2\n")
                .find("capture.txt:1: no column holds the times of frames, expected MsBetweenPresents"),
            std::string::npos);
  EXPECT_NE(import_error("presentmon", "a,b,c\n1,2,3\n").find("capture.txt:1: the first line is no PresentMon header"),
            std::string::npos);
}

TEST(PresentMon, IsRecognisedByItsHeader) {
  EXPECT_EQ(sniffed(std::string{kV1}), "presentmon");
  EXPECT_EQ(sniffed("\xEF\xBB\xBF" + std::string{kCurrent}), "presentmon");
  EXPECT_EQ(sniffed("name,cpu_milli,memory_mib\n"), "");
}

}  // namespace
}  // namespace corun
