#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "sim/executor/worker/device_context.h"
#include "sim/executor/worker/memory_traffic.h"

namespace corun::executor {
namespace {

/// A device on which a surrogate takes what a formula says.
class Formula : public DeviceContext {
 public:
  explicit Formula(std::function<double(double)> ns) : ns_(std::move(ns)) {}
  void describe(Channel&) override {}
  double trial_ns(const ShapeLaw&, std::uint64_t iterations) override { return ns_(static_cast<double>(iterations)); }
  void carry_out(const Command&) override {}
  void drain() override {}

 private:
  std::function<double(double)> ns_;
};

ShapeLaw measured(std::function<double(double)> ns) {
  Formula device(std::move(ns));
  ShapeLaw law;
  measure_shape(device, law);
  return law;
}

ShapeLaw law_of(const std::vector<ShapeLaw::Point>& points) {
  ShapeLaw law;
  law.points = static_cast<std::uint32_t>(points.size());
  std::ranges::copy(points, law.point);
  return law;
}

/// Rises from point to point, by steps of any size.
ShapeLaw any_law() {
  ShapeLaw law;
  law.points = *rc::gen::inRange<std::uint32_t>(2, ShapeLaw::kMostPoints + 1);
  law.point[0] = {0, *rc::gen::inRange(500, 20'000) * 1.0};
  for (std::uint32_t i = 1; i < law.points; ++i) {
    const ShapeLaw::Point& before = law.point[i - 1];
    law.point[i] = {before.iterations + *rc::gen::inRange<std::uint64_t>(1, 1'000'000),
                    before.ns + *rc::gen::inRange(1, 1'000'000) * 0.25};
  }
  return law;
}

TEST(ShapeLaw, IsExactAtItsPointsLinearBetweenThemAndGoesOnBeyondTheLast) {
  const ShapeLaw law = law_of({{0, 2'000}, {100, 2'500}, {300, 4'500}});
  EXPECT_EQ(law.ns_of(0), 2'000);
  EXPECT_EQ(law.ns_of(100), 2'500);
  EXPECT_EQ(law.ns_of(300), 4'500);
  EXPECT_EQ(law.ns_of(50), 2'250);
  EXPECT_EQ(law.ns_of(200), 3'500);
  EXPECT_EQ(law.ns_of(1'300), 14'500);
  EXPECT_EQ(law.ns_per_iteration(), 10);
  EXPECT_EQ(law.iterations_in(3'500), 200u);
  EXPECT_EQ(law.iterations_in(14'500), 1'300u);
}

TEST(ShapeLaw, WhatIsShorterThanTheShapeGetsNoIterations) {
  const ShapeLaw law = law_of({{0, 2'000}, {100, 2'500}});
  EXPECT_EQ(law.shortest_ns(), 2'000);
  EXPECT_EQ(law.iterations_in(2'000), 0u);
  EXPECT_EQ(law.iterations_in(1), 0u);
  EXPECT_EQ(law.iterations_in(-500), 0u);
}

TEST(ShapeLaw, OnAFlatStretchTheFewestIterationsAreTaken) {
  const ShapeLaw law = law_of({{0, 2'000}, {64, 2'500}, {128, 2'500}, {256, 5'000}});
  EXPECT_EQ(law.ns_of(96), 2'500);
  EXPECT_EQ(law.iterations_in(2'500), 64u);
  EXPECT_EQ(law.iterations_in(3'750), 192u);
}

RC_GTEST_PROP(ShapeLaw, TimesAndIterationsAreInversesOfEachOther, ()) {
  const ShapeLaw law = any_law();
  const auto iterations = *rc::gen::inRange<std::uint64_t>(0, 3 * law.point[law.points - 1].iterations);
  RC_ASSERT(law.iterations_in(law.ns_of(iterations)) == iterations);
  const double wanted_ns = law.shortest_ns() + *rc::gen::inRange(0, 20'000'000) * 0.5;
  const std::uint64_t asked = law.iterations_in(wanted_ns);
  RC_ASSERT(law.ns_of(asked + 1) >= wanted_ns);
  RC_ASSERT(asked == 0 || law.ns_of(asked - 1) <= wanted_ns);
}

RC_GTEST_PROP(ShapeLaw, MoreTimeIsNeverFewerIterationsNorTheOtherWayRound, ()) {
  const ShapeLaw law = any_law();
  const auto fewer = *rc::gen::inRange<std::uint64_t>(0, 30'000'000),
             more = *rc::gen::inRange(fewer, fewer * 2 + 1'000);
  RC_ASSERT(law.ns_of(fewer) <= law.ns_of(more));
  const double shorter = *rc::gen::inRange(0, 9'000'000) * 1.0, longer = shorter + *rc::gen::inRange(0, 9'000'000);
  RC_ASSERT(law.iterations_in(shorter) <= law.iterations_in(longer));
}

RC_GTEST_PROP(ShapeLaw, IsExactAtEveryPoint, ()) {
  const ShapeLaw law = any_law();
  for (std::uint32_t i = 0; i < law.points; ++i)
    RC_ASSERT(std::abs(law.ns_of(law.point[i].iterations) - law.point[i].ns) < 1e-6);
}

TEST(MeasureShape, FindsAStraightLineWithoutError) {
  const ShapeLaw law = measured([](double iterations) { return 2'000 + 1.5 * iterations; });
  EXPECT_NEAR(law.worst_error, 0, 1e-12);
  EXPECT_NEAR(law.ns_of(5'000'000), 7'502'000, 1e-3);
  EXPECT_EQ(law.iterations_in(7'502'000), 5'000'000u);
}

TEST(MeasureShape, AShapeWhoseLaunchHidesShortWorkIsMeasuredBeyondIt) {
  const auto device = [](double iterations) { return std::max(100'000.0, 2 * iterations); };
  const ShapeLaw law = measured(device);
  EXPECT_GE(law.point[law.points - 1].ns, 4 * law.shortest_ns());
  EXPECT_NEAR(law.ns_per_iteration(), 2, 1e-9);
  EXPECT_NEAR(law.ns_of(2'000'000), device(2'000'000), 1e-3);
  EXPECT_LT(law.points, 10u) << "a flat stretch is two points";
}

TEST(MeasureShape, FindsTheCornerWhereALaunchOfManyBlocksStopsHidingTheirWork) {
  const auto device = [](double iterations) { return std::max(400'000.0, 150'000 + 700 * iterations); };
  const ShapeLaw law = measured(device);
  for (double asked = 410'000; asked < 3e6; asked += 7'000)
    EXPECT_NEAR(device(static_cast<double>(law.iterations_in(asked))) / asked, 1, 0.015) << asked;
  EXPECT_LT(law.worst_error, 0.01);
}

/// A step in the middle of the last stretch is what two points cannot know of.
TEST(MeasureShape, ItsErrorIsThatBetweenItsPoints) {
  const auto device = [](double iterations) {
    const bool is_power_of_two = std::exp2(std::round(std::log2(std::max(iterations, 1.0)))) == iterations;
    return (2'000 + iterations) * (is_power_of_two || iterations == 0 ? 1.0 : 1.25);
  };
  const ShapeLaw law = measured(device);
  EXPECT_NEAR(law.worst_error, 0.2, 1e-9) << "law / measured = 1 / 1.25";
}

TEST(MeasureShape, WhatDisturbsSomeRunsDoesNotCount) {
  int run = 0;
  const ShapeLaw law =
      measured([&run](double iterations) { return 2'000 + iterations + (++run % 3 == 0 ? 9'000 : 0); });
  EXPECT_EQ(law.shortest_ns(), 2'000);
  EXPECT_NEAR(law.ns_of(100'000), 102'000, 1e-6);
  EXPECT_NEAR(law.worst_error, 0, 1e-12);
}

/// Where measurements contradict each other, points are set ever closer: the last two may say anything.
TEST(MeasureShape, GoesOnBeyondItsPointsAsItDidBetweenThemThoughEveryMeasurementIsOff) {
  for (int device = 1; device <= 100; ++device) {
    const ShapeLaw law = measured(
        [&](double iterations) { return (2'000 + 10 * iterations) * (1 + 0.02 * std::sin(iterations * device)); });
    EXPECT_NEAR(static_cast<double>(law.iterations_in(10'002'000)) / 1e6, 1, 0.1) << device;
  }
}

TEST(MeasureShape, MoreWorkThatTookLessTimeDoesNotMakeItFall) {
  const ShapeLaw law = measured([](double iterations) { return iterations == 0 ? 9'000.0 : 2'000 + iterations; });
  for (std::uint32_t i = 1; i < law.points; ++i) EXPECT_GE(law.point[i].ns, law.point[i - 1].ns) << i;
}

TEST(MeasureShape, FindsAStepBeforeItsFirstPoint) {
  const ShapeLaw law = measured([](double iterations) { return iterations < 8 ? 1'000.0 : 501'000.0; });
  EXPECT_EQ(law.ns_of(7), 1'000);
  EXPECT_EQ(law.ns_of(8), 501'000);
  EXPECT_EQ(law.worst_error, 0);
}

/// A device that answers more slowly where a surrogate reads memory: so many ns a read of all its threads.
class ReadingFormula : public Formula {
 public:
  ReadingFormula(double read_ns, double bytes_per_ns)
      : Formula([](double) { return 0.0; }), read_ns_(read_ns), bytes_per_ns_(bytes_per_ns) {}
  double trial_ns(const ShapeLaw& law, std::uint64_t iterations) override {
    const auto count = static_cast<double>(iterations);
    const auto each = static_cast<double>(law.iterations_per_load);
    return 2'000 + 10 * count + (each > 0 ? read_ns_ * count / each : 0);
  }
  double memory_bytes_per_ns() const override { return bytes_per_ns_; }

 private:
  double read_ns_, bytes_per_ns_;
};

ShapeLaw reading(double read_ns, double traffic, double bytes_per_ns = 100) {
  ReadingFormula device(read_ns, bytes_per_ns);
  ShapeLaw law{.blocks = 10, .threads = 100};
  measure_shape_with_traffic(device, law, traffic);
  return law;
}

TEST(MeasureTraffic, AReadComesAsOftenAsTheShareOfTheBandwidthAsksFor) {
  const double round_bytes = 10 * 100 * static_cast<double>(MemoryTraffic::kLoadBytes);
  const ShapeLaw free = reading(0, 0.5);
  EXPECT_EQ(free.iterations_per_load, static_cast<std::uint64_t>(std::llround(round_bytes / (0.5 * 100) / 10)));
  EXPECT_NEAR(free.traffic, 0.5, 0.05);
  const double between_ns = round_bytes / (0.5 * 100);
  const ShapeLaw slow = reading(between_ns / 2, 0.5);
  EXPECT_EQ(slow.iterations_per_load, static_cast<std::uint64_t>(std::llround(between_ns / 2 / 10)))
      << "half of the time is the read's";
  EXPECT_NEAR(slow.traffic, 0.5, 0.05);
}

TEST(MeasureTraffic, NoneIsAskedForOrPossible) {
  EXPECT_EQ(reading(100, 0).iterations_per_load, 0u);
  EXPECT_EQ(reading(100, 0.5, 0).iterations_per_load, 0u);
}

}  // namespace
}  // namespace corun::executor
