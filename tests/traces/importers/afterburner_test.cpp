#include <gtest/gtest.h>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

constexpr std::string_view kLog =
    "00, 24-10-2025 18:04:41, Hardware monitoring log v1.6 \n"
    "01, 24-10-2025 18:04:41, Radeon RX 580 Series\n"
    "02, 24-10-2025 18:04:41, GPU usage           ,Framerate           ,Frametime           \n"
    "03, 24-10-2025 18:04:41,0,%,0,100,10\n"
    "80, 24-10-2025 18:04:42,80,54,19.052\n"
    "80, 24-10-2025 18:04:43,90,52.7,22.688\n"
    "80, 24-10-2025 18:04:44,N/A,N/A,N/A\n"
    "80, 24-10-2025 18:04:45,90,52,7,22.688\n";

std::string log_with(std::string_view rows) {
  std::string log{kLog};
  log += rows;
  return log;
}

TEST(Afterburner, ReadsItsSamplesAndSaysThatTheyAreSamples) {
  EXPECT_EQ(sniffed(std::string{kLog}), "afterburner");
  const Timeline timeline = import_text("afterburner", std::string{kLog});
  ASSERT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.frames()[1].present_ns, 1'000'000'000);
  EXPECT_EQ(timeline.frames()[1].interval_ns, 22'688'000);
  EXPECT_EQ(timeline.frames()[1].gpu_busy_ns, -1);
  EXPECT_EQ(timeline.swapchains()[0].gpu_load_ppm, 850'000U);
  EXPECT_FALSE(timeline.fidelity().per_frame);
  EXPECT_EQ(timeline.provenance().devices.at(0).name, "Radeon RX 580 Series");
  EXPECT_EQ(timeline.provenance().skipped,
            (std::map<std::string, std::uint64_t>{{"row without a frame time", 1},
                                                  {"row with more cells than the header", 1}}));
}

TEST(Afterburner, SkipsRowsOfDatesThatNoLogHas) {
  const std::string log = log_with(
      "80, 24-10-0012 18:04:45,90,52,22.688\n80, 9999-10-24 18:04:45,90,52,22.688\n"
      "80, 24-10-2025 24:04:45,90,52,22.688\n");
  const Timeline timeline = import_text("afterburner", log);
  EXPECT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.provenance().skipped.at("row without a time"), 3U);
}

TEST(Afterburner, SkipsRowsWhoseDateIsNotOfNumbers) {
  const std::string log = log_with(
      "80, 2x-10-2025 18:04:46,90,52,22.688\n80, 24-10-2025 18:04,90,52,22.688\n"
      "80, 24-10-2025 18::46,90,52,22.688\n80, 24-10-12025 18:04:46,90,52,22.688\n");
  const Timeline timeline = import_text("afterburner", log);
  EXPECT_EQ(timeline.frames().size(), 2U);
  EXPECT_EQ(timeline.provenance().skipped.at("row without a time"), 4U);
}

TEST(Afterburner, RefusesALogWithoutFrameTimes) {
  const std::string other = "00, 24-10-2025 18:04:41, Hardware monitoring log v1.6\n02, 24-10-2025 18:04:41, Power\n";
  EXPECT_NE(import_error("afterburner", other).find("capture.txt:2: no column `Frametime`"), std::string::npos);
}

}  // namespace
}  // namespace corun
