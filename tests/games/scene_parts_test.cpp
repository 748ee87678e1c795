#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "games/scene/drawing/picture.h"
#include "games/scene/frame_times.h"
#include "games/scene/quality_file.h"
#include "games/scene/world/failure.h"
#include "games/scene/world/level.h"
#include "games/scene/world/world.h"
#include "tests/support/temporary_folder.h"

namespace scene {
namespace {

constexpr Size k4k{3840, 2160};

TEST(SceneLevels, EachIsLessWorkThanTheOneBefore) {
  for (double load : {0.1, 1.0, 3.0, 10.0})
    for (std::size_t i = 1; i < kLevels.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "level " << i << ", load " << load);
      const Work work = work_of(kLevels[i], k4k, load), before = work_of(kLevels[i - 1], k4k, load);
      EXPECT_LT(work.shader_steps, before.shader_steps);
      EXPECT_LT(work.samples + work.shadow_pixels, before.samples + before.shadow_pixels);
      EXPECT_LE(work.draws, before.draws);
    }
}

TEST(SceneLevels, WorkIsProportionalToTheLoad) {
  for (const Level& level : kLevels) {
    const auto at_one = static_cast<double>(work_of(level, k4k, 1).shader_steps);
    for (double load : {0.5, 0.9, 1.1, 1.35, 2.0, 4.0})
      EXPECT_NEAR(static_cast<double>(work_of(level, k4k, load).shader_steps) / at_one, load, 0.03 * load + 0.01)
          << level.name << " at " << load;
  }
}

TEST(SceneLevels, TheBestOneRendersWhatIsShown) {
  EXPECT_EQ(rendered_size(kLevels[0], k4k), k4k);
  EXPECT_EQ(rendered_size(kLevels[5], k4k), (Size{1920, 1080}));
  EXPECT_EQ(rendered_size(kLevels[5], {1, 1}), (Size{1, 1}));
}

TEST(SceneWorld, DependsOnTheNumberOfTheFrameAlone) {
  const Moment once = moment_of(1000), again = moment_of(1000), later = moment_of(1001);
  ASSERT_EQ(once.objects.size(), static_cast<std::size_t>(kObjects));
  for (std::size_t i = 0; i < once.objects.size(); ++i) EXPECT_EQ(once.objects[i].model, again.objects[i].model);
  EXPECT_NE(once.eye.x, later.eye.x);
}

TEST(SceneFigures, OfAHundredFramesTheSlowestIsTheOnePerCentLow) {
  std::vector<double> shown = {0};
  for (int i = 1; i <= 100; ++i) shown.push_back(shown.back() + (i == 40 ? 50 : 10));
  const FrameFigures figures = figures_of(shown, {3, 1, 2});
  EXPECT_EQ(figures.frames, 101u);
  EXPECT_DOUBLE_EQ(figures.fps_mean, 1000 * 100 / 1040.0);
  EXPECT_DOUBLE_EQ(figures.fps_1low, 20);
  EXPECT_DOUBLE_EQ(figures.frame_time_p50_ms, 10);
  EXPECT_DOUBLE_EQ(figures.frame_time_p99_ms, 10);
  EXPECT_DOUBLE_EQ(figures.gpu_time_p50_ms, 2);
  EXPECT_DOUBLE_EQ(figures.gpu_time_p99_ms, 3);
}

TEST(SceneFigures, OfNoFramesAreZero) { EXPECT_EQ(figures_of({}, {}).fps_1low, 0); }

Picture stripes(int period) {
  Picture picture{{64, 64}, {}};
  for (int i = 0; i < 64 * 64 * 3; ++i) picture.bytes.push_back((i / 3 % 64) % period < period / 2 ? 30 : 220);
  return picture;
}

TEST(ScenePictures, AreSimilarToThemselvesAndLessSoToOthers) {
  const Picture picture = stripes(8);
  Picture noisy = picture;
  for (std::size_t i = 0; i < noisy.bytes.size(); i += 7) noisy.bytes[i] += 20;
  EXPECT_DOUBLE_EQ(similarity(picture, picture), 1);
  EXPECT_GT(similarity(picture, noisy), 0.9);
  EXPECT_LT(similarity(picture, noisy), 1);
  EXPECT_LT(similarity(picture, stripes(4)), 0.5);
}

class SceneQuality : public ::testing::Test {
 protected:
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  const corun::testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "level";
};

TEST_F(SceneQuality, IsALittleEndianIntegerThatMayChange) {
  write(std::string("\2\0\0\0", 4));
  QualityFile file(path_);
  EXPECT_EQ(file.level(6), 2u);
  std::fstream(path_, std::ios::binary | std::ios::in | std::ios::out).write("\5\0\0\0", 4);
  EXPECT_EQ(file.level(6), 5u);
}

TEST_F(SceneQuality, ThatIsNoLevelIsSaidOnce) {
  write(std::string("\6\0\0\0", 4));
  QualityFile file(path_);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(file.level(6));
  EXPECT_FALSE(file.level(6));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "scene: " + path_ + ": found level 6, expected 0 (best) to 5; the last good one stays\n");
}

TEST_F(SceneQuality, NeedsAFileOfFourBytes) {
  EXPECT_THROW(QualityFile file(path_), Failure);
  write("abc");
  try {
    QualityFile file(path_);
    FAIL() << "three bytes are no level";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.what(),
              "CORUN_QUALITY=" + path_ + ": found 3 bytes, expected a level: one little-endian 32-bit integer");
  }
}

}  // namespace
}  // namespace scene
