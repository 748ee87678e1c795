#include "sim/workload/power_draw.h"

#include <gtest/gtest.h>

#include <memory>

namespace corun {
namespace {

using namespace std::chrono_literals;

DeviceSpec limited() {
  DeviceSpec device;
  device.power_limit_w = 700;
  device.idle_power_w = 100;
  device.full_clock_mhz = 2000;
  return device;
}

/// A job of a 4 ms kernel every 10 ms, as it was captured.
ClientSpec program() {
  auto workload = std::make_shared<Workload>();
  WorkOp op;
  op.duration = 4ms;
  workload->ops.push_back(op);
  workload->jobs.push_back({.op_count = 1});
  workload->recorded_span = 10ms;
  ClientSpec client;
  client.workload = workload;
  return client;
}

ClientSpec captured_with(const PowerMean& power, double load) {
  ClientSpec client = program();
  auto workload = std::make_shared<Workload>(*client.workload);
  workload->power = power;
  workload->recorded_load = load;
  client.workload = workload;
  return client;
}

TEST(PowerDraw, WhatACaptureSaysIsOverTheTimeInWhichItsOperationsRan) {
  const PowerDraw draw = power_draw(captured_with({.watts = 640, .sm_mhz = 1500}, 0.9), {}, 0, limited());
  EXPECT_DOUBLE_EQ(draw.watts, 600);
  EXPECT_DOUBLE_EQ(draw.clock, 0.75);
}

TEST(PowerDraw, AClockFarBelowTheLimitIsThatOfAnIdleDevice) {
  const PowerDraw draw = power_draw(captured_with({.watts = 340, .sm_mhz = 1500}, 0.6), {}, 0, limited());
  EXPECT_DOUBLE_EQ(draw.watts, 400);
  EXPECT_DOUBLE_EQ(draw.clock, 1);
}

TEST(PowerDraw, WhatIsStatedIsAtTheRateOfTheProgramAlone) {
  const PowerMean stated{.watts = 420, .sm_mhz = 2100};
  const PowerDraw draw = power_draw(captured_with({.watts = 340, .sm_mhz = 1500}, 0.6), stated, 200, limited());
  EXPECT_DOUBLE_EQ(draw.watts, 400) << "200 jobs of 4 ms are 0.8 of a second";
  EXPECT_DOUBLE_EQ(draw.clock, 1) << "no clock is above the full one";
  EXPECT_DOUBLE_EQ(power_draw(program(), stated, 0, limited()).watts, 800) << "without a rate, as captured: 0.4";
}

TEST(PowerDraw, IsUnknownWithoutAMeanALimitOrWork) {
  const PowerMean stated{.watts = 420};
  EXPECT_EQ(power_draw(program(), {}, 200, limited()).watts, 0);
  EXPECT_EQ(power_draw(program(), stated, 200, {}).watts, 0);
  EXPECT_EQ(power_draw(program(), PowerMean{.watts = 90}, 200, limited()).watts, 0)
      << "below what an idle device takes";
}

}  // namespace
}  // namespace corun
