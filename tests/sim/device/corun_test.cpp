#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/device/device_driver.h"

// What kernels lose by others that run at the same time, though there is room for all.
namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;
using testing::kUs;

DeviceSpec ten_sms() {
  DeviceSpec spec;
  spec.sm_count = 10;
  spec.max_threads_per_sm = 1024;
  spec.sharing = Sharing::kConcurrent;
  return spec;
}

Ticket kernel(DeviceDriver& driver, std::uint32_t client, std::uint32_t blocks, std::int64_t duration_ns,
              std::uint32_t stream = 0, std::int64_t gap_ns = 0, std::uint32_t threads = 1024) {
  return driver.submit({.client = ClientId{client},
                        .stream = StreamId{stream},
                        .duration = Duration{duration_ns},
                        .dispatch_gap = Duration{gap_ns},
                        .ready_at = driver.now(),
                        .shape = {blocks, 1, 1, threads, 1, 1, 32, 0}});
}

constexpr double kRounding = 100;  // ns

struct GapCase {
  const char* name;
  std::uint32_t clients_kernel;  ///< the client that runs a long kernel meanwhile
  std::int64_t gap_ns;
};

TEST(Company, ADispatchGapIsLongerBesideKernelsOfOthers) {
  for (const GapCase& one : {GapCase{"of another client", 0, 150 * kUs}, GapCase{"of its own", 1, 100 * kUs}}) {
    DeviceSpec spec = ten_sms();
    spec.mps_gap_scale = 1.5;
    DeviceDriver driver(spec, 2);
    kernel(driver, one.clients_kernel, 5, 10 * kMs, 1);
    kernel(driver, 1, 5, kMs);
    const Ticket next = kernel(driver, 1, 5, kMs, 0, 100 * kUs);
    driver.drain();
    EXPECT_NEAR(static_cast<double>(driver.begin(next)), static_cast<double>(kMs + one.gap_ns), kRounding) << one.name;
  }
}

TEST(Company, AKernelThatBeginsHoldsUpThoseOfOthers) {
  DeviceSpec spec = ten_sms();
  spec.mps_launch_stall = Duration{100 * kUs};
  DeviceDriver driver(spec, 2);
  const Ticket first = kernel(driver, 0, 4, 10 * kMs);
  driver.run_to(kMs);
  const Ticket own = kernel(driver, 0, 2, kMs, 1);
  driver.run_to(3 * kMs);
  const Ticket others = kernel(driver, 1, 4, kMs);
  driver.drain();
  EXPECT_EQ(driver.end(own), 2 * kMs);
  EXPECT_EQ(driver.end(others), 4 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(first)), static_cast<double>(10 * kMs + 100 * kUs), kRounding);
}

/// How much longer a kernel on nine of the SMs, which takes 0.5 ms, takes that begins when one of so many blocks begins
/// to drain.
double beside_draining(std::uint32_t blocks) {
  DeviceSpec spec = ten_sms();
  spec.sm_fill_exponent = spec.sm_rate_exponent = 0.25;
  DeviceDriver driver(spec, 2);
  kernel(driver, 0, blocks, blocks * kMs, 0, 0, 512);  // 20 at once, for 20 ms
  const Ticket later = kernel(driver, 1, 9, kMs / 2, 0, 0, 512);
  driver.drain();
  return static_cast<double>(driver.end(later) - driver.begin(later)) / (kMs / 2);
}

TEST(Company, AKernelOfFewWavesLeavesAsMuchThroughputAsRoom) {
  const double first = std::pow(0.5 * 7 / 8, 0.25), later = std::pow(0.9 * 0.5, 0.25), room_left = 1 - 0.5 * 7 / 8;
  EXPECT_NEAR(beside_draining(30), later / (room_left / (first + room_left)), 1e-3);  // 1.5 waves
  EXPECT_NEAR(beside_draining(50), later / (1 - first), 1e-3);                        // 2.5: what it does not ask for
}

}  // namespace
}  // namespace corun
