#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/support/x_server.h"
#include "traces/parts/part_reader.h"

// Real programs on lavapipe under Xvfb, with the layer as a loader finds it.
namespace corun {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

struct Ran {
  int exit_code = 0;
  std::string output;
  std::string errors;
};

class VulkanLayer : public ::testing::Test {
 protected:
  static constexpr int kExitCode = 9, kSkipCode = 77;

  void SetUp() override {
    if (display_.display.empty()) GTEST_SKIP() << "no Xvfb";
    const Ran probe = run("", kApp + " --frames 1");
    if (probe.exit_code == kSkipCode) GTEST_SKIP() << "no Vulkan driver that can draw to X: " << probe.errors;
  }

  Ran run(const std::string& environment, const std::string& command) const {
    const std::string out = folder_ / "out", err = folder_ / "err";
    const std::string line = "env DISPLAY=" + display_.display + " XDG_RUNTIME_DIR=" + folder_.path().string() + " " +
                             environment + " timeout -k 5 60 " + command + " > " + out + " 2> " + err;
    const int status = std::system(line.c_str());
    return {WEXITSTATUS(status), read_file(out), read_file(err)};
  }

  Ran record(const std::string& command, const std::string& more_environment = "") {
    fs::remove_all(parts_);
    fs::create_directory(parts_);
    fs::permissions(parts_, fs::perms::owner_all);
    return run("CORUN_TRACE_VULKAN=1 XDG_DATA_DIRS=" CORUN_LAYER_SHARE ":/usr/local/share:/usr/share CORUN_TRACE_DIR=" +
                   parts_ + " " + more_environment,
               command);
  }

  PartContent part() const {
    for (const auto& entry : fs::directory_iterator(parts_)) return read_part(read_file(entry.path()), "part");
    return {};
  }

  // What every capture of vk_app promises, whatever it did.
  void expect_good(const PartContent& part, std::size_t frames, std::uint64_t visits_per_frame) const {
    EXPECT_EQ(part.damage, "");
    ASSERT_TRUE(part.end.has_value());
    EXPECT_EQ(part.end->reason, part::EndReason::kExit);
    ASSERT_EQ(part.frames.size(), frames);
    std::map<std::uint64_t, std::uint64_t> seen;
    for (const part::VisitRecord& visit : part.visits) {
      ++seen[visit.frame];
      EXPECT_LE(visit.submit_ns, visit.submit_end_ns);
      EXPECT_LE(visit.gpu_begin_ns, visit.gpu_end_ns);
      EXPECT_GE(visit.gpu_begin_ns, visit.submit_ns - 2 * visit.gpu_error_ns - 1000);
    }
    std::int64_t last_present = 0;
    for (std::size_t i = 0; i < part.frames.size(); ++i) {
      const part::FrameRecord& frame = part.frames[i];
      EXPECT_EQ(frame.frame, i + 1);
      EXPECT_EQ(frame.visits, seen[frame.frame]);
      EXPECT_GE(frame.present_ns, last_present);
      EXPECT_LE(frame.present_ns, frame.present_end_ns);
      EXPECT_GE(frame.tracer_ns, 0);
      if (visits_per_frame > 0) {
        EXPECT_EQ(frame.visits, visits_per_frame);
      }
      last_present = frame.present_ns;
    }
  }

  // Runs vk_app bare and recorded; its output and exit code must be the same.
  void expect_undisturbed(const std::string& arguments) {
    const Ran bare = run("", kApp + arguments);
    const Ran recorded = record(kApp + arguments);
    EXPECT_EQ(bare.exit_code, kExitCode) << bare.errors;
    EXPECT_EQ(recorded.exit_code, kExitCode) << recorded.errors;
    EXPECT_EQ(recorded.output, bare.output);
    EXPECT_EQ(recorded.errors, bare.errors);
  }

  static inline const std::string kApp = CORUN_VK_APP;
  testing::TemporaryFolder folder_;
  std::string parts_ = folder_ / "parts";
  testing::XServer display_;
};

TEST_F(VulkanLayer, RecordsEveryFrameWithItsVisitsAndGpuTimes) {
  expect_undisturbed(" --frames 40 --submits 3");
  const PartContent found = part();
  expect_good(found, 40, 3);
  EXPECT_EQ(found.process.source, part::Source::kVulkan);
  EXPECT_EQ(found.texts.at(found.process.program), "vk_app");
  ASSERT_EQ(found.swapchains.size(), 1u);
  EXPECT_EQ(found.swapchains[0].width, 64u);
  for (const part::VisitRecord& visit : found.visits) EXPECT_GT(visit.gpu_end_ns, 0);
  EXPECT_TRUE(found.lost.empty());
}

TEST_F(VulkanLayer, SeesTheSecondGenerationOfSubmits) {
  expect_undisturbed(" --submit2 --submits 2");
  expect_good(part(), 10, 2);
}

TEST_F(VulkanLayer, GivesTwoSwapchainsOfAPresentAFrameEach) {
  expect_undisturbed(" --swapchains 2 --submits 2");
  const PartContent found = part();
  expect_good(found, 20, 0);
  EXPECT_EQ(found.frames[0].visits, 2u);
  EXPECT_EQ(found.frames[1].visits, 0u);
  EXPECT_NE(found.frames[0].swapchain, found.frames[1].swapchain);
}

TEST_F(VulkanLayer, FollowsARecreatedSwapchain) {
  expect_undisturbed(" --recreate 4");
  const PartContent found = part();
  expect_good(found, 10, 1);
  EXPECT_EQ(found.swapchains.size(), 3u);
  EXPECT_EQ(found.frames[9].swapchain, 3u);
}

TEST_F(VulkanLayer, SeesPresentsOfAnotherThread) {
  expect_undisturbed(" --present-thread --submits 2");
  const PartContent found = part();
  expect_good(found, 10, 2);
  EXPECT_NE(found.frames[0].thread, found.visits[0].thread);
}

TEST_F(VulkanLayer, KeepsTwoInstancesAndTheirDevicesApart) {
  expect_undisturbed(" --devices 2 --submits 2");
  const PartContent found = part();
  expect_good(found, 20, 2);
  std::set<std::uint32_t> queues;
  for (const part::VisitRecord& visit : found.visits) queues.insert(visit.queue);
  EXPECT_EQ(queues.size(), 2u);
}

TEST_F(VulkanLayer, KeepsWhatItKnowsOfAProgramThatLeavesWithoutDestroying) {
  expect_undisturbed(" --frames 30 --leave");
  expect_good(part(), 30, 1);
}

TEST_F(VulkanLayer, IsSilentUnderTheValidationLayer) {
  if (run("", kApp + " --validate").exit_code == kSkipCode) GTEST_SKIP() << "no validation layer";
  for (const char* arguments : {" --submits 3 --recreate 4", " --submit2", " --swapchains 2", " --devices 2"}) {
    const Ran ran = record(kApp + " --frames 300 --validate" + arguments);
    EXPECT_EQ(ran.exit_code, kExitCode);
    EXPECT_NE(ran.output.find("messages 0\n"), std::string::npos) << arguments << "\n" << ran.errors;
    EXPECT_GT(part().frames.size(), 0u);
  }
}

TEST_F(VulkanLayer, RecordsOnlyTheFramesAskedFor) {
  const Ran ran = record(kApp + " --frames 20 --submits 2", "CORUN_TRACE_FRAMES=5..8");
  EXPECT_EQ(ran.exit_code, kExitCode);
  const PartContent found = part();
  ASSERT_EQ(found.frames.size(), 4u);
  EXPECT_EQ(found.frames[0].frame, 5u);
  EXPECT_EQ(found.visits.size(), 8u);
}

TEST_F(VulkanLayer, StaysOutOfAProgramThatIsNotRecorded) {
  const Ran bare = run("", kApp);
  const Ran loaded = run("CORUN_TRACE_VULKAN=1 XDG_DATA_DIRS=" CORUN_LAYER_SHARE ":/usr/share", kApp);
  EXPECT_EQ(loaded.output, bare.output);
  EXPECT_EQ(loaded.exit_code, kExitCode);
  const Ran disabled = record(kApp, "DISABLE_CORUN_TRACE=1");
  EXPECT_EQ(disabled.output, bare.output);
  EXPECT_TRUE(fs::is_empty(parts_));
}

TEST_F(VulkanLayer, RecordsVkcube) {
  if (!testing::has_program("vkcube")) GTEST_SKIP() << "no vkcube";
  EXPECT_EQ(record("vkcube --c 200").exit_code, 0);
  const PartContent found = part();
  expect_good(found, 200, 0);
  EXPECT_EQ(found.texts.at(found.process.program), "vkcube");
}

TEST(VulkanLayerLibrary, NeedsLibcOnlyAndExportsOneSymbol) {
  if (!testing::has_program("readelf") || !testing::has_program("nm")) GTEST_SKIP() << "no binutils";
  testing::TemporaryFolder folder;
  const std::string out = folder / "out";
  const auto output_of = [&](const std::string& command) {
    EXPECT_EQ(std::system((command + " > " + out).c_str()), 0);
    return read_file(out);
  };
  EXPECT_EQ(output_of("readelf -d " CORUN_LAYER_LIBRARY " | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'"),
            "libc.so.6\n");
  EXPECT_EQ(output_of("nm -D --defined-only " CORUN_LAYER_LIBRARY " | cut -d' ' -f3"),
            "vkNegotiateLoaderLayerInterfaceVersion\n");
}

}  // namespace
}  // namespace corun
