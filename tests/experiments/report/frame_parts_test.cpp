#include <gtest/gtest.h>

#include <numeric>

#include "experiments/report/frames.h"

namespace corun::report {
namespace {

ShownFrame frame() {
  return {.number = 1,
          .start_ns = 110,
          .submit_ns = 120,
          .gpu_begin_ns = 140,
          .gpu_end_ns = 180,
          .present_ns = 200,
          .gpu_busy_ns = 10,
          .interval_ns = 100};
}

TEST(FrameParts, AreTheTimeBetweenTwoPresentsInOrder) {
  EXPECT_EQ(parts_of(frame()), (FrameParts{10, 10, 20, 10, 30, 20}));
}

TEST(FrameParts, ItsOwnWorkTakesNoLongerThanTheStretchItIsIn) {
  ShownFrame odd = frame();
  odd.gpu_busy_ns = 500;  // as in a results file of another's
  EXPECT_EQ(parts_of(odd), (FrameParts{10, 10, 20, 40, 0, 20}));
}

TEST(FrameParts, WhatWasBeforeTheLastPresentDoesNotCount) {
  ShownFrame late = frame();
  late.interval_ns = 50;  // since 150
  EXPECT_EQ(parts_of(late), (FrameParts{0, 0, 0, 8, 22, 20}));
  const FrameParts parts = parts_of(late);
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), 50);
}

}  // namespace
}  // namespace corun::report
