#include "policies/limits/gaiagpu_sensor.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

/// A sensor, and the counters of a device with one client that it samples.
struct Counters {
  Counters(Duration window, Duration period) : sensor(window, period) { sensor.start(kRunStart); }

  bool sample(Duration now, Duration own, Duration busy) {
    clients[0].device_time = own;
    DeviceView device;
    device.busy = busy;
    return sensor.sample({after(now), device, clients});
  }
  std::int64_t own(Duration now) const { return sensor.own(ClientId{0}, after(now)); }
  std::int64_t system(Duration now) const { return sensor.system(after(now)); }

  std::vector<ClientView> clients = std::vector<ClientView>(1);
  UtilisationSensor sensor;
};

TEST(UtilisationSensor, SamplesAtItsPeriodWhetherOrNotItIsRead) {
  Counters counters(1000ms, 250ms);
  EXPECT_TRUE(counters.sample(0ms, 0ms, 0ms));
  EXPECT_EQ(counters.sensor.next(), after(250ms));
  EXPECT_FALSE(counters.sample(249ms, 0ms, 0ms));
  EXPECT_TRUE(counters.sample(250ms, 0ms, 0ms));
  EXPECT_TRUE(counters.sample(1'100ms, 0ms, 0ms)) << "late: those of 500, 750 and 1000 ms";
  EXPECT_EQ(counters.sensor.next(), after(1'250ms));
}

TEST(UtilisationSensor, ReadsWholePercentOfTheWindowRoundedDown) {
  Counters counters(1000ms, 250ms);
  counters.sample(0ms, 0ms, 0ms);
  counters.sample(250ms, 79'999us, 150ms);
  EXPECT_EQ(counters.own(250ms), 7) << "a window that is not full yet counts as a whole one";
  EXPECT_EQ(counters.system(250ms), 15);
  counters.sample(500ms, 80ms, 1'200ms);
  EXPECT_EQ(counters.own(500ms), 8);
  EXPECT_EQ(counters.system(500ms), 100) << "no more than all of it";
}

TEST(UtilisationSensor, ForgetsWhatWasReceivedBeforeTheWindow) {
  Counters counters(1000ms, 250ms);
  for (Duration now = 0ms; now <= 1000ms; now += 250ms) counters.sample(now, now > 0ms ? 200ms : 0ms, 0ms);
  EXPECT_EQ(counters.own(1000ms), 20) << "from 0 to 1000 ms";
  counters.sample(1250ms, 230ms, 0ms);
  EXPECT_EQ(counters.own(1250ms), 3) << "from 250 to 1250 ms";
}

TEST(UtilisationSensor, SampleAsOldAsTheWindowReadsAsIdle) {
  Counters counters(1000ms, 2000ms);
  counters.sample(0ms, 0ms, 0ms);
  counters.sample(2000ms, 1000ms, 1200ms);
  EXPECT_EQ(counters.own(2'999ms), 50) << "of the 2 s between two samples, which are longer than the window";
  EXPECT_EQ(counters.system(2'999ms), 60);
  EXPECT_EQ(counters.own(3'000ms), 0);
  EXPECT_EQ(counters.system(3'000ms), 0);
  counters.sample(4000ms, 1500ms, 1200ms);
  EXPECT_EQ(counters.own(4000ms), 25) << "the newest two samples count";
}

TEST(UtilisationSensor, BeginsAnew) {
  Counters counters(1000ms, 250ms);
  counters.sample(0ms, 0ms, 0ms);
  counters.sample(250ms, 100ms, 100ms);
  counters.sensor.start(after(300ms));
  EXPECT_EQ(counters.sensor.next(), after(300ms));
  EXPECT_TRUE(counters.sample(300ms, 120ms, 120ms));
  EXPECT_EQ(counters.own(300ms), 0);
}

}  // namespace
}  // namespace corun
