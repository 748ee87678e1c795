#include "tracer/frames/frame_log.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "traces/parts/part_reader.h"

namespace corun::guest {
namespace {

namespace fs = std::filesystem;

class FrameLogTest : public testing::Test {
 protected:
  FrameLogTest() {
    std::string pattern = fs::temp_directory_path() / "corun-test-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("CORUN_TRACE_DIR", folder_.c_str(), 1);
  }
  ~FrameLogTest() override {
    for (const char* name : {"CORUN_TRACE_DIR", "CORUN_TRACE_FRAMES", "CORUN_TRACE_UNTIL_NS", "CORUN_TRACE_GL"}) {
      unsetenv(name);
    }
    fs::remove_all(folder_);
  }

  // A frame of one visit, with the times of its number.
  void play_frame() {
    const std::uint64_t frame = log_.begin_frame();
    const auto at = static_cast<std::int64_t>(frame * 1000);
    log_.visit({{}, at, at + 10, at + 20, at + 500, 5, frame, 1, 1, 0, 0});
    log_.present({{}, at + 600, at + 700, 3, frame, 1, 1, 1, 0});
  }

  PartContent content() {
    std::ifstream file(fs::directory_iterator(folder_)->path(), std::ios::binary);
    return read_part(std::string{std::istreambuf_iterator<char>(file), {}}, "part");
  }

  std::string folder_;
  FrameLog log_;
};

TEST_F(FrameLogTest, FramesAreNumberedFromOneWithTheirVisits) {
  ASSERT_TRUE(log_.start(part::Source::kGl, 0));
  for (int i = 0; i < 3; ++i) play_frame();
  log_.end(part::EndReason::kExit);
  const PartContent content = this->content();
  ASSERT_EQ(content.frames.size(), 3u);
  ASSERT_EQ(content.visits.size(), 3u);
  EXPECT_EQ(content.frames[0].frame, 1u);
  EXPECT_EQ(content.visits[2].frame, 3u);
}

TEST_F(FrameLogTest, OnlyTheFramesAskedForAreKept) {
  setenv("CORUN_TRACE_FRAMES", "3..5", 1);
  ASSERT_TRUE(log_.start(part::Source::kGl, 0));
  for (int i = 0; i < 10; ++i) play_frame();
  log_.end(part::EndReason::kExit);
  const PartContent content = this->content();
  ASSERT_EQ(content.frames.size(), 3u);
  EXPECT_EQ(content.frames.front().frame, 3u);
  EXPECT_EQ(content.visits.back().frame, 5u);
}

TEST_F(FrameLogTest, AGameThatPlaysOnAfterItsWindowEndsThePart) {
  setenv("CORUN_TRACE_FRAMES", "1..2", 1);
  ASSERT_TRUE(log_.start(part::Source::kGl, 0));
  for (int i = 0; i < 250; ++i) play_frame();
  for (int i = 0; i < 1000 && log_.is_recording(); ++i) usleep(10'000);
  EXPECT_FALSE(log_.is_recording());
  log_.end(part::EndReason::kExit);
  const PartContent content = this->content();
  ASSERT_TRUE(content.end.has_value());
  EXPECT_EQ(content.end->reason, part::EndReason::kWindow);
}

TEST_F(FrameLogTest, ASourceThatIsSwitchedOffMakesNoPart) {
  setenv("CORUN_TRACE_GL", "off", 1);
  EXPECT_FALSE(log_.start(part::Source::kGl, 0));
  EXPECT_FALSE(log_.is_recording());
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace corun::guest
