// The game as a whole, on Mesa where there is no GPU, in pictures of a few pixels.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <regex>
#include <sstream>
#include <utility>

#include "tests/support/temporary_folder.h"
#include "tests/tracer/gl/traced_run.h"

namespace corun {
namespace {

constexpr char kTiny[] = " --size 48x27 --load 0.2 ";
constexpr char kQuick[] = " --size 48x27 --load 0.2 --level 5 ";

std::string scene(const std::string& words) { return (build_folder() / "scene").string() + words; }

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// The level as the file has it, for a shell's printf.
std::string write_level(int level, const std::string& path) {
  return "printf '\\" + std::to_string(level) + "\\0\\0\\0' | dd conv=notrunc status=none of=" + path;
}

class SceneGame : public ::testing::Test {
 protected:
  void SetUp() override {
    const Ended ended = run(scene(std::string(kQuick) + "--frames 1"));
    if (ended.code == 3) GTEST_SKIP() << "no EGL here: " << ended.output;
  }

  /// A figure of the line that the game ends with.
  static double figure(const Ended& ended, const std::string& name) {
    std::smatch found;
    const bool is_there = std::regex_search(ended.output, found, std::regex("\"" + name + "\": ([0-9.]+)"));
    EXPECT_TRUE(is_there) << "no " << name << " in " << ended.output;
    return is_there ? std::stod(found[1]) : -1;
  }
  /// How many frames each level had: `0, 0, 4, 0, 0, 0`.
  static std::string levels(const Ended& ended) {
    std::smatch found;
    return std::regex_search(ended.output, found, std::regex("\"frames_at_level\": \\[(.*)\\]")) ? found[1]
                                                                                                 : ended.output;
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t number = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++number;
    return number;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(SceneGame, ShowsTheFramesAskedForAndSaysHowFast) {
  const Ended ended = run(scene(std::string(kTiny) + "--level 2 --frames 4"));
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(figure(ended, "frames"), 4);
  EXPECT_EQ(levels(ended), "0, 0, 4, 0, 0, 0");
  EXPECT_GT(figure(ended, "fps_mean"), 0);
  EXPECT_GT(figure(ended, "gpu_time_p50_ms"), 0);
  EXPECT_LE(figure(ended, "gpu_time_p50_ms"), figure(ended, "gpu_time_p99_ms"));
}

TEST_F(SceneGame, IsHeardByTheTracerAsAnyGame) {
  const TracedRun traced;
  EXPECT_EQ(traced.run(scene(std::string(kQuick) + "--frames 6")).code, 0);
  const std::vector<PartContent> parts = traced.parts();
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_EQ(parts[0].frames.size(), 6u);
  for (std::size_t i = 1; i < 6; ++i) EXPECT_EQ(parts[0].frames[i].visits, 1u) << "frame " << i;
}

TEST_F(SceneGame, ShowsTheSamePicturesHoweverFastItIs) {
  for (const char* words : {"a --fps 0", "b --fps 4"})
    run(scene(std::string(kTiny) + "--level 3 --frames 4 --picture " + (folder_ / words)));
  const std::string picture = bytes_of(folder_ / "a");
  EXPECT_TRUE(picture.starts_with("P6\n48 27\n255\n"));
  EXPECT_EQ(picture.size(), 13 + 3u * 48 * 27);
  EXPECT_EQ(picture, bytes_of(folder_ / "b"));
  run(scene(std::string(kTiny) + "--level 3 --frames 40 --picture " + (folder_ / "c")));
  EXPECT_NE(picture, bytes_of(folder_ / "c")) << "nothing moves";
}

TEST_F(SceneGame, IsNoFasterThanItsRate) {
  const Ended ended = run(scene(std::string(kQuick) + "--fps 5 --frames 8"));
  EXPECT_LE(figure(ended, "fps_mean"), 6) << "its first frame may take longer than its last";
}

TEST_F(SceneGame, EndsAfterItsTime) {
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = run("timeout 60 " + scene(std::string(kQuick) + "--fps 10 --seconds 1.5"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(ended.code, 0);
  EXPECT_GE(took.count(), 1.5);
  EXPECT_GE(figure(ended, "frames"), 4) << "it went on, at ten a second at most";
  EXPECT_LE(figure(ended, "frames"), 17) << "it ended";
}

/// The menu of an experiment: the least level is much cheaper, and its picture is another one.
TEST_F(SceneGame, MeasuresItsMenu) {
  const Ended ended = run(scene(" --size 96x54 --load 0.2 --menu"));
  EXPECT_EQ(ended.code, 0);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(ended.output, found,
                                std::regex("quality:\n  - \\{ name: ultra, cost: 1, quality: 1 \\}\n(  - .*\n){4}"
                                           "  - \\{ name: least, cost: ([0-9.]+), quality: ([0-9.]+) \\}\n")))
      << ended.output;
  EXPECT_LT(std::stod(found[2]), 0.6);
  EXPECT_LT(std::stod(found[3]), 0.99);
  EXPECT_GT(std::stod(found[3]), 0.2);
}

/// At this load every level adds up one lamp and one tap: what differs is resolution, samples and shadow maps.
TEST_F(SceneGame, LevelsDifferInMoreThanTheLightOfAPixel) {
  std::string before;
  for (int level = 0; level < 6; ++level) {
    const std::string path = folder_ / std::to_string(level);
    run(scene(" --size 48x27 --load 0.01 --frames 1 --level " + std::to_string(level) + " --picture " + path));
    EXPECT_EQ(bytes_of(path).size(), 13 + 3u * 48 * 27);
    EXPECT_NE(std::exchange(before, bytes_of(path)), bytes_of(path)) << "level " << level << " is as the one before";
  }
}

TEST_F(SceneGame, ListsItsLevels) {
  const Ended ended = run(scene(" --levels --size 3840x2160 --load 2"));
  EXPECT_EQ(count(ended.output, "\n"), 7u) << ended.output;
  EXPECT_NE(ended.output.find("0      ultra   3840x2160          4  4 x 2048      48   1806"), std::string::npos)
      << ended.output;
}

/// With more and more patience, for machines that are busy otherwise.
TEST_F(SceneGame, ObeysTheQualityFileWhileItRuns) {
  const std::string file = folder_ / "level";
  Ended ended;
  for (int seconds = 1; seconds <= 16; seconds *= 4) {
    std::ofstream(file, std::ios::binary) << std::string("\5\0\0\0", 4);
    const std::string wait = "sleep " + std::to_string(seconds);
    ended = run("(" + wait + "; " + write_level(4, file) + ") & CORUN_QUALITY=" + file + " timeout --preserve-status " +
                std::to_string(2 * seconds) + " " + scene(kTiny));
    if (std::regex_match(levels(ended), std::regex("0, 0, 0, 0, [1-9][0-9]*, [1-9][0-9]*"))) return;
  }
  FAIL() << ended.output;
}

TEST_F(SceneGame, KeepsItsLevelWhereTheFileNamesNone) {
  const std::string file = folder_ / "level";
  std::ofstream(file, std::ios::binary) << "\xff\xff\xff\xff";
  const Ended ended = run("CORUN_QUALITY=" + file + " " + scene(std::string(kQuick) + "--frames 3"));
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(count(ended.output, "found level -1, expected 0 (best) to 5"), 1u) << ended.output;
  EXPECT_EQ(levels(ended), "0, 0, 0, 0, 0, 3");
}

TEST_F(SceneGame, SaysWhatIsWrong) {
  const auto expect = [](const std::string& command, int code, const std::string& line) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command;
    EXPECT_NE(ended.output.find(line), std::string::npos) << ended.output;
  };
  expect("CORUN_QUALITY=" + (folder_ / "none") + " " + scene(kQuick), 2, "/none: No such file or directory");
  expect(scene(" --size 3x"), 2, "scene: --size: found 3x, expected WIDTHxHEIGHT");
  expect(scene(" --level 6"), 2, "not in range 0 to 5");
  expect(scene(" --frame 6"), 2, "--frame");
  expect(scene(" --device 31"), 3, "scene: --device 31: EGL offers ");
  expect(scene(std::string(kQuick) + "--frames 1 --picture " + (folder_ / "no/folder")), 2, "cannot be written");
}

TEST_F(SceneGame, SaysThatThereIsNoEgl) {
  std::ofstream(folder_ / "libEGL.so.1") << "no library";
  const Ended ended = run("LD_LIBRARY_PATH=" + folder_.path().string() + " " + scene(kQuick));
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.output.find("scene: no EGL: "), std::string::npos) << ended.output;
}

TEST_F(SceneGame, EndsWithItsLineWhenItIsTerminated) {
  const Ended ended = run("timeout --preserve-status 3 " + scene(kQuick));
  EXPECT_EQ(ended.code, 0);
  EXPECT_GE(figure(ended, "frames"), 0);
}

TEST_F(SceneGame, DoesNotWaitForADriverThatHangsAtTheEnd) {
  const std::string driver = (build_folder() / "libhanging_exit.so").string();
  const Ended ended =
      run("timeout -s KILL 60 env LD_PRELOAD=" + driver + " " + scene(std::string(kQuick) + "--frames 1"));
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(figure(ended, "frames"), 1);
}

}  // namespace
}  // namespace corun
