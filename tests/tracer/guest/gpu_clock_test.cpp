#include "tracer/guest/gpu_clock.h"

#include <gtest/gtest.h>

namespace corun::guest {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(GpuClock, OneReadingIsAnOffset) {
  GpuClock clock;
  clock.add({.gpu_ns = 1000, .monotonic_ns = 5000, .width_ns = 40});
  EXPECT_EQ(clock.to_monotonic(1500), 5500);
  EXPECT_EQ(clock.to_monotonic(500), 4500);
  EXPECT_EQ(clock.error_ns(1500), 20);
  EXPECT_EQ(clock.known_until(), 1000);
}

TEST(GpuClock, DriftBetweenReadingsIsTakenOut) {
  GpuClock clock;  // the GPU's clock runs 50 ppm fast
  for (int i = 0; i < 5; ++i) clock.add({i * (kSecond + 50'000), 7 * kSecond + i * kSecond, 100});
  EXPECT_NEAR(static_cast<double>(clock.to_monotonic(2 * (kSecond + 50'000) + (kSecond + 50'000) / 2)),
              static_cast<double>(9 * kSecond + kSecond / 2), 2);
}

TEST(GpuClock, EachStretchHasItsOwnSlope) {
  GpuClock clock;
  clock.add({0, 0, 10});
  clock.add({1000, 1000, 10});
  clock.add({2000, 3000, 30});
  EXPECT_EQ(clock.to_monotonic(500), 500);
  EXPECT_EQ(clock.to_monotonic(1500), 2000);
  EXPECT_EQ(clock.to_monotonic(3000), 5000) << "behind the last reading its slope goes on";
  EXPECT_EQ(clock.error_ns(500), 5);
  EXPECT_EQ(clock.error_ns(1500), 15);
}

TEST(GpuClock, ForgetsOldReadingsAndKeepsConverting) {
  GpuClock clock;
  for (int i = 0; i < 10 * GpuClock::kKept; ++i) clock.add({i * 1000, 1'000'000 + i * 1000, 2});
  EXPECT_EQ(clock.to_monotonic(159'500), 1'159'500);
}

TEST(GpuClock, AClockThatWentBackStartsOver) {
  GpuClock clock;
  clock.add({1'000'000, 50, 2});
  clock.add({2'000'000, 1'000'050, 2});
  clock.add({10, 2'000'000, 2});
  EXPECT_EQ(clock.to_monotonic(20), 2'000'010);
}

}  // namespace
}  // namespace corun::guest
