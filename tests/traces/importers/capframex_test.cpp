#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

constexpr std::string_view kJson = R"({"Hash": "00", "Info": {"Processor": "x", "GPU": "NVIDIA GeForce RTX 2080 Ti",
  "ProcessName": "re2.exe", "GameName": "Resident Evil 2"}, "Runs": [
  {"Hash": "1", "PresentMonRuntime": "DXGI", "SampleTime": 20, "CaptureData": {
     "TimeInSeconds": [0.0, 0.0165, 0.033], "MsBetweenPresents": [16.4, 16.5, 16.5], "MsInPresentAPI": [1.1, 1.2, 1.3],
     "MsUntilRenderComplete": [0, 0, 4.5], "Dropped": [false, true, 0], "GpuActive": [8.25, 8.5, 8.75]},
   "SensorData2": {"gpu-load": {"Values": [1, 2]}}},
  {"CaptureData": {
     "TimeInSeconds": [0.0, 0.016], "MsBetweenPresents": [16, 16], "MsInPresentAPI": [1, 1],
     "MsUntilRenderComplete": [0, 0], "Dropped": [0, 0], "GpuActive": [8, 8]}}]})";

TEST(CapFrameX, ReadsTheColumnsOfAJsonRun) {
  const Timeline timeline = import_text("capframex", std::string{kJson});
  ASSERT_EQ(timeline.frames().size(), 5U);
  const auto& frames = timeline.frames();
  EXPECT_EQ(frames[1].present_ns, 16500000);
  EXPECT_EQ(frames[1].interval_ns, 16500000);
  EXPECT_EQ(frames[1].in_present_ns, 1200000);
  EXPECT_TRUE(frames[1].dropped);
  EXPECT_FALSE(frames[2].dropped);
  EXPECT_EQ(frames[1].gpu_end_ns, -1);
  EXPECT_EQ(frames[2].gpu_end_ns, 37500000);
  EXPECT_EQ(frames[2].gpu_busy_ns, 8750000);
  EXPECT_EQ(timeline.text(timeline.swapchains()[0].application), "re2.exe");
  EXPECT_EQ(timeline.provenance().devices[0].name, "NVIDIA GeForce RTX 2080 Ti");
  EXPECT_EQ(skipped(timeline), 0U);
}

TEST(CapFrameX, EveryRowOfARunIsAFrameAndThereAreNoOthers) {
  const Timeline timeline = import_text("capframex", std::string{kJson});
  EXPECT_EQ(timeline.frames().size(), 5U);
  EXPECT_EQ(skipped(timeline), 0U);
}

TEST(CapFrameX, RowsThatAColumnIsTooShortForAreCounted) {
  const Timeline timeline = import_text("capframex", R"({"Hash": "00", "Info": {"GameName": "g"}, "Runs": [
    {"CaptureData": {"MsBetweenPresents": [16, 16, 16], "TimeInSeconds": [0.1, 0.2]}}]})");
  EXPECT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.provenance().skipped.at("row without a time"), 1U);
  EXPECT_EQ(timeline.provenance().skipped_examples[0], "capture.txt: run 1 row 3: row without a time");
  EXPECT_EQ(timeline.text(timeline.swapchains()[0].application), "g") << "where no process is named";
}

TEST(CapFrameX, LaysRunsOneBehindTheOther) {
  const Timeline timeline = import_text("capframex", std::string{kJson});
  EXPECT_EQ(timeline.frames()[3].present_ns, 33000000 + 16000000);
  EXPECT_EQ(timeline.frames()[4].present_ns, 33000000 + 32000000);
  EXPECT_TRUE(notes_mention(timeline, "2 runs"));
  EXPECT_EQ(timeline.swapchains()[timeline.frames()[3].swapchain].run, 2U);
}

TEST(CapFrameX, ReadsJsonBehindAByteOrderMark) {
  EXPECT_EQ(import_text("capframex", "\xEF\xBB\xBF" + std::string{kJson}).frames().size(), 5U);
}

TEST(CapFrameX, ReadsCsvBehindItsCommentLines) {
  const Timeline timeline = import_text(
      "capframex",
      "//GameName=re2.exe\r\n//GPU=RTX\r\n//Comment=\r\n"
      "Application,ProcessID,SwapChainAddress,Dropped,TimeInSeconds,MsBetweenPresents,MsUntilRenderComplete\r\n"
      "re2.exe,1936,0x7,1,0,3.387,5.437\r\nre2.exe,1936,0x7,0,0.00334499999999949,3.345,5.436\r\n");
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[1].present_ns, 3345000);
  EXPECT_EQ(timeline.provenance().source_format, "capframex");
  EXPECT_EQ(timeline.provenance().devices[0].name, "RTX");
}

TEST(CapFrameX, RefusesATruncatedRecordingAndOneWithoutRuns) {
  EXPECT_NE(
      import_error("capframex", std::string{kJson.substr(0, kJson.size() - 40)}).find("not valid JSON to its end"),
      std::string::npos);
  EXPECT_NE(import_error("capframex", R"({"Hash": "0", "Info": {}, "Runs": []})").find("no run with"),
            std::string::npos);
  EXPECT_NE(import_error("capframex", "//a=b\n1,2,3\n").find("capture.txt:2: no column names"), std::string::npos);
}

TEST(CapFrameX, IsRecognisedInBothForms) {
  EXPECT_EQ(sniffed(std::string{kJson}), "capframex");
  EXPECT_EQ(sniffed("//GameName=x\nApplication,ProcessID,MsBetweenPresents\n"), "capframex");
}

}  // namespace
}  // namespace corun
