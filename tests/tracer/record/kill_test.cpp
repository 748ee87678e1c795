#include <random>
#include <thread>

#include "tests/tracer/record/programs.h"
#include "traces/parts/merge.h"

namespace corun {
namespace {

namespace fs = std::filesystem;
using testing::content_of;
using testing::Recorder;
using testing::Running;

constexpr std::uint64_t kMostLostRecords = 1024;
constexpr std::uint64_t kRecordsInAChunk = 64 * 1024 / sizeof(part::KernelRecord);

class Killing : public Recorder {
 protected:
  Killing() { fs::create_directory(folder_ / "parts"); }

  /// Kills a program that writes kernels all the time; returns how many it had written.
  std::uint64_t kill_after(std::chrono::microseconds delay) {
    std::ofstream(folder_ / "acknowledged") << std::string(8, '\0');
    Running running({stand_in_path(), "open=cuda", "kernels-forever=acknowledged"}, folder_.path(),
                    {{"CORUN_TRACE_DIR", folder_ / "parts"}, {"CORUN_TRACE_CUDA", "kernels"}});
    std::this_thread::sleep_for(delay);
    running.send(SIGKILL);
    EXPECT_EQ(running.wait(), 137);
    std::uint64_t acknowledged = 0;
    content_of(folder_ / "acknowledged").copy(reinterpret_cast<char*>(&acknowledged), sizeof(acknowledged));
    return acknowledged;
  }

  static void expect_that_the_loss_is_stated(PartContent part) {
    MergeReport report;
    merge_parts({std::move(part)}, {}, report);
    ASSERT_FALSE(report.notes.empty());
    const bool is_stated =
        report.notes[0].find("killed") != std::string::npos || report.notes[0].find("torn") != std::string::npos;
    EXPECT_TRUE(is_stated) << report.notes[0];
  }
};

// The stand-in keeps pace with its file, so what is lost beyond that is what the file does not give back:
// at most the chunk that a kill tears.
// The moments are random and the same every time; what the program has come to by then is not.
TEST_F(Killing, WhatReachedTheFileSurvivesAnyOf300Kills) {
  std::mt19937 random(300);
  std::uint64_t readable = 0;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t acknowledged = kill_after(std::chrono::microseconds(random() % 10'000));
    const auto parts = files("parts");
    if (parts.empty()) {
      EXPECT_EQ(acknowledged, 0u);
      continue;
    }
    const std::string bytes = content_of(parts[0]);
    fs::remove(parts[0]);
    PartContent part;
    if (!bytes.empty()) part = read_part(bytes, "part");
    const std::uint64_t lost = acknowledged > part.kernels.size() ? acknowledged - part.kernels.size() : 0;
    EXPECT_LE(lost, kMostLostRecords + (part.damage.empty() ? 0 : kRecordsInAChunk)) << part.damage;
    EXPECT_FALSE(part.end.has_value()) << "a killed program has not ended its part";
    for (std::size_t k = 0; k < part.kernels.size(); ++k) ASSERT_EQ(part.kernels[k].correlation, k + 1);
    readable += part.kernels.size();
    if (i % 10 == 0 && !part.kernels.empty()) expect_that_the_loss_is_stated(std::move(part));
  }
  EXPECT_GT(readable, 10'000u) << "the kills came too early to show anything";
}

TEST_F(Killing, AMergeFinishesWhatAKilledRecorderLeft) {
  Running running = start(recording({}, {"open=cuda", "kernels=300", "touch=ready", "await=go", "kernels=5"}));
  ASSERT_TRUE(testing::comes_true([&] { return exists("ready"); }));
  running.send(SIGKILL);
  EXPECT_EQ(running.wait(), 137);
  const Finished early = simtrace({"merge", "x.corun.parts"});
  EXPECT_EQ(early.code, 2) << "the program goes on";
  EXPECT_NE(early.err.find("still writes"), std::string::npos) << early.err;
  std::ofstream(folder_ / "go") << "";
  EXPECT_TRUE(testing::comes_true([&] { return simtrace({"merge", "x.corun.parts"}).code == 0; }));
  EXPECT_EQ(summarize(capture()).kernels, 305u);
  EXPECT_FALSE(exists("x.corun.parts"));
  EXPECT_EQ(simtrace({"merge", "x.corun.parts"}).code, 2) << "there is nothing left to merge";
}

}  // namespace
}  // namespace corun
