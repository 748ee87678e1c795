#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

constexpr const char* kHead =
    "os,cpu,gpu,ram,kernel,driver,cpuscheduler\n"
    "Arch Linux,AMD Ryzen 7,Radeon RX 6800,32148228,6.9,,performance\n"
    "fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,gpu_power,"
    "ram_used,swap_used,process_rss,cpu_mhz,elapsed\n";

constexpr const char* kHeadUntil2023 =
    "os,cpu,gpu,ram,kernel,driver\nx,y,z,1,2,3\nfps,frametime,cpu_load,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,"
    "gpu_mem_clock,gpu_vram_used,gpu_power,ram_used,elapsed\n";

std::string row(const char* fps, const char* frametime, const char* elapsed) {
  return std::string{fps} + "," + frametime + ",3,0,90,44,0,950,0,0,0,10,2,0,800," + elapsed + "\n";
}

TEST(MangoHud, ReadsEveryFrameOfAnUnsampledLog) {
  const Timeline timeline =
      import_text("mangohud", kHead + row("49.9594", "20.0163", "39991331") + row("49.9079", "20.0369", "60029893"));
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 20016300);
  EXPECT_EQ(timeline.frames()[1].present_ns, 60029893 - 39991331);
  EXPECT_EQ(timeline.frames()[0].gpu_busy_ns, -1);
  EXPECT_TRUE(timeline.fidelity().per_frame);
  EXPECT_EQ(timeline.provenance().devices[0].name, "Radeon RX 6800");
}

TEST(MangoHud, ANameOfAGpuIsCutWhereNoneIsThatLong) {
  std::string head = kHead;
  const std::string name = "Radeon RX 6800";
  head.replace(head.find(name), name.size(), std::string(5'000, 'R'));
  const Timeline timeline = import_text("mangohud", head + row("50", "20", "1000000") + row("50", "20", "21000000"));
  EXPECT_EQ(timeline.provenance().devices[0].name, std::string(4'096, 'R'));
}

TEST(MangoHud, MarksALogTakenAtAnIntervalAsASample) {
  const Timeline timeline =
      import_text("mangohud", kHead + row("240", "4.16", "100070000") + row("241", "4.15", "200140000") +
                                  row("239", "4.18", "300210000"));
  EXPECT_EQ(timeline.frames().size(), 3U);
  EXPECT_FALSE(timeline.fidelity().per_frame);
  EXPECT_TRUE(notes_mention(timeline, "sample"));
}

TEST(MangoHud, ReadsFrameTimesInMicrosecondsOfLogsUntil2023) {
  const Timeline timeline = import_text(
      "mangohud",
      kHeadUntil2023 + std::string{"60,16667,1,2,3,4,5,6,7,8,9,16667000\n60,16666,1,2,3,4,5,6,7,8,9,33333000\n"});
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 16667000);
  EXPECT_TRUE(timeline.fidelity().per_frame);
  EXPECT_TRUE(notes_mention(timeline, "microseconds"));
}

TEST(MangoHud, JudgesTheUnitOfFrameTimesByTheRowInTheMiddleByRatioNotByTheRowInTheMiddleOfTheFile) {
  // In the row between, the frame rate is of a frame 1000 times as long.
  const Timeline timeline = import_text("mangohud", std::string{kHeadUntil2023} +
                                                        "60,16667,1,2,3,4,5,6,7,8,9,16667000\n"
                                                        "0.06,16667,1,2,3,4,5,6,7,8,9,33334000\n"
                                                        "60,16667,1,2,3,4,5,6,7,8,9,50001000\n");
  EXPECT_EQ(timeline.frames().at(0).interval_ns, 16667000);
  EXPECT_TRUE(notes_mention(timeline, "microseconds"));
}

TEST(MangoHud, KeepsTheMostMemoryThatWasInUse) {
  const Timeline timeline =
      import_text("mangohud",
                  "os,cpu,gpu,ram,kernel,driver\nx,y,z,1,2,3\nfps,frametime,gpu_vram_used,elapsed\n"
                  "60,16.6,5.25,16600000\n60,16.6,7.5,33200000\n60,16.6,-1,49800000\n");
  ASSERT_EQ(timeline.memory_peaks().size(), 1U);
  EXPECT_EQ(timeline.memory_peaks()[0].bytes, std::uint64_t{15} << 29);
  EXPECT_EQ(timeline.memory_peaks()[0].source, MemorySource::kInUse);
}

TEST(MangoHud, ReadsLogsOf2020ThatNameNoColumns) {
  const Timeline timeline = import_text("mangohud",
                                        "os,cpu,gpu,ram,kernel,driver\nx,y,z,1,2,3\n"
                                        "50,12,90,20000\n50,12,91,40000\n100,12,91,50000\n");
  ASSERT_EQ(timeline.frames().size(), 3U);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 20000000);
  EXPECT_EQ(timeline.frames()[2].present_ns, 30000000);
}

TEST(MangoHud, ReadsLogsWithVersionLines) {
  const Timeline timeline = import_text(
      "mangohud",
      "v1\n0.7.2\n---------------------SYSTEM INFO---------------------\nos,cpu,gpu,ram,kernel,driver,cpuscheduler\n"
      "a,b,c,1,2,3,4\n--------------------FRAME METRICS--------------------\nfps,frametime,cpu_load,elapsed\n"
      "50,20,1,20000000\n");
  EXPECT_EQ(timeline.frames().size(), 1U);
  EXPECT_EQ(timeline.provenance().source_version, "v1");
}

TEST(MangoHud, CountsBadRowsWithTheirLine) {
  const Timeline timeline = import_text("mangohud", kHead + row("50", "20", "20000000") + row("0", "x", "40000000") +
                                                        row("50", "-1", "50000000") + row("50", "20", "y") + "50,2");
  EXPECT_EQ(timeline.frames().size(), 1U);
  EXPECT_EQ(skipped(timeline), 4U);
  EXPECT_EQ(timeline.provenance().skipped_examples[0], "capture.txt:5: row without a frame time");
}

TEST(MangoHud, KeepsTheLoadOfTheGpuAndSkipsRowsOfOtherCells) {
  const Timeline timeline =
      import_text("mangohud", kHead + row("50", "20", "20000000") + "50,20,3\n" + "1," + row("50", "20", "40000000"));
  EXPECT_EQ(timeline.swapchains()[0].gpu_load_ppm, 900'000U);
  EXPECT_EQ(timeline.provenance().skipped,
            (std::map<std::string, std::uint64_t>{{"row with fewer cells than the header", 1},
                                                  {"row with more cells than the header", 1}}));
}

TEST(MangoHud, ReadsVariantsWithOtherColumns) {
  const std::string variant = "gpu,cpu,kernel,driver\nRadeon,Ryzen,6.1,x\ntime,fps,frametime,gpu_load\n0,50,20,80\n";
  EXPECT_EQ(sniffed(variant), "mangohud");
  const Timeline timeline = import_text("mangohud", variant);
  EXPECT_EQ(timeline.frames().size(), 1U);
  EXPECT_EQ(timeline.provenance().devices.at(0).name, "Radeon");
}

TEST(MangoHud, PassesOverCommasAtTheEndOfLines) {
  for (const char* text : {"fps,frametime,elapsed,\n50,20,20000000\n50,20,40000000\n",
                           "fps,frametime,elapsed\n50,20,20000000,\n50,20,40000000,\n",
                           "fps,frametime,elapsed,\n50,20,20000000,\n50,20,40000000,\n"})
    EXPECT_EQ(import_text("mangohud", text).frames().size(), 2U) << text;
}

TEST(MangoHud, RefusesASummary) {
  const std::string summary = "0.1% Min FPS,1% Min FPS,97% Percentile FPS,Average FPS,GPU Load,CPU Load\n1,2,3,4,5,6\n";
  EXPECT_EQ(sniffed(summary), "");
  EXPECT_NE(import_error("mangohud", summary).find("expected \"fps,frametime"), std::string::npos);
}

TEST(MangoHud, IsRecognisedByItsHead) {
  EXPECT_EQ(sniffed(kHead), "mangohud");
  EXPECT_EQ(sniffed("fps,frametime,elapsed\n1,2,3\n"), "mangohud");
}

}  // namespace
}  // namespace corun
