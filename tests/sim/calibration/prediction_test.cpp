#include "sim/calibration/fits/prediction.h"

#include <gtest/gtest.h>

namespace corun::calibration {
namespace {

using namespace std::chrono_literals;

DeviceSpec device() {
  DeviceSpec spec;
  spec.time_slice = 2ms;
  spec.switch_cost = 100us;
  return spec;
}

TEST(Prediction, AloneAProgramGetsTheWholeDevice) {
  const std::vector<Progress> all = predict(device(), {{.ops = {1ms}, .ahead = 2}}, 1s);
  EXPECT_NEAR(all[0].jobs_per_s, 1000, 1);
  EXPECT_NEAR(all[0].device_share, 1.0, 1e-6);
  EXPECT_DOUBLE_EQ(all[0].job_ns, 1e6);
}

TEST(Prediction, TwoThatAreNeverDoneShareLessTheirSwitches) {
  const std::vector<Progress> all = predict(device(), {{.ops = {1ms}, .ahead = 3}, {.ops = {1ms}, .ahead = 3}}, 4s);
  for (const Progress& its : all) EXPECT_NEAR(its.device_share, 2.0 / 4.2, 0.001);
}

TEST(Prediction, AFrameOfTwoVisitsWaitsTwoSlicesAndFourSwitches) {
  const Program frames{.kind = OpKind::kRender, .ops = {2245us, 1us}};
  const std::vector<Progress> all = predict(device(), {frames, {.ops = {10s}}}, 2s);
  EXPECT_NEAR(all[0].job_ns, 2'246'000 + 2 * 2'000'000 + 4 * 100'000, 1'000);
}

TEST(Prediction, PacedFramesComeAtTheirPeriod) {
  const Program frames{.kind = OpKind::kRender, .ops = {1ms}, .period = 10ms};
  EXPECT_NEAR(predict(device(), {frames}, 1s)[0].jobs_per_s, 100, 1);
}

}  // namespace
}  // namespace corun::calibration
