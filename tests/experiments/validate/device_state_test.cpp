#include "experiments/validate/device_state.h"

#include <gtest/gtest.h>

#include <thread>

namespace corun::validation {
namespace {

using namespace std::chrono_literals;

TEST(DeviceMonitor, SaysWhatTheDeviceDid) {
  DeviceMonitor monitor(0, CORUN_FAKE_NVML);
  ASSERT_EQ(monitor.absence(), "");
  monitor.begin();
  std::this_thread::sleep_for(650ms);
  const DeviceState state = monitor.end();
  EXPECT_GE(state.samples, 2U);
  EXPECT_LE(state.samples, 8U) << "ten times a second";
  EXPECT_EQ(state.sm_clock_mhz.least, 1800);
  EXPECT_EQ(state.sm_clock_mhz.most, 1980);
  EXPECT_GT(state.sm_clock_mhz.mean, 1800);
  EXPECT_LT(state.sm_clock_mhz.mean, 1980);
  EXPECT_EQ(state.memory_clock_mhz.mean, 3201);
  EXPECT_EQ(state.power_w.mean, 300);
  EXPECT_EQ(state.temperature_c.mean, 55);
  EXPECT_EQ(throttle_text(state.throttle_reasons), "power cap") << "an idle device is not throttled";
}

TEST(DeviceMonitor, WithoutALibraryOrDeviceSaysSoAndReadsNothing) {
  DeviceMonitor none(0, "libnosuchnvml.so.1"), other(7, CORUN_FAKE_NVML);
  EXPECT_NE(none.absence().find("libnosuchnvml"), std::string::npos) << none.absence();
  EXPECT_NE(other.absence().find("no device 7"), std::string::npos) << other.absence();
  none.begin();
  EXPECT_EQ(none.end().samples, 0U);
}

TEST(DeviceMonitor, StatesOfSeveralRunsAreOne) {
  DeviceState state;
  DeviceState one, other;
  one.samples = 1;
  one.power_w = {100, 100, 100};
  one.throttle_reasons = 0x4;
  other.samples = 3;
  other.power_w = {180, 200, 220};
  other.throttle_reasons = 0x40;
  merge(state, {});
  merge(state, one);
  merge(state, other);
  EXPECT_EQ(state.samples, 4U);
  EXPECT_EQ(state.power_w.least, 100);
  EXPECT_EQ(state.power_w.most, 220);
  EXPECT_DOUBLE_EQ(state.power_w.mean, 175);
  EXPECT_EQ(throttle_text(state.throttle_reasons), "power cap, hardware thermal");
}

}  // namespace
}  // namespace corun::validation
