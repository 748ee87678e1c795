#include "tracer/gl/draw_sample.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace corun::gl {
namespace {

int stamps_taken = 0;

QueryApi stamping_api() {
  QueryApi api;
  api.has_queries = true;
  api.gen_queries = [](int count, unsigned* queries) {
    static unsigned names = 0;
    for (int i = 0; i < count; ++i) queries[i] = ++names;
  };
  api.query_counter = [](unsigned, unsigned) { ++stamps_taken; };
  return api;
}

class DrawSampleTest : public testing::Test {
 protected:
  void SetUp() override { stamps_taken = 0; }

  void visit(std::uint64_t frame, std::uint32_t calls, bool may_stamp = true) {
    sample_->meet(frame);
    sample_->begin_visit(api_, 3);
    for (std::uint32_t i = 1; i < calls && sample_->wants_calls(); ++i) sample_->call(api_, may_stamp);
    sample_->end_visit(api_);
  }

  std::uint32_t calls_of_pieces() const {
    std::uint32_t calls = 0;
    for (std::uint32_t i = 0; i < sample_->stamp_count(); ++i) calls += sample_->stamp(i).calls;
    return calls;
  }

  QueryApi api_ = stamping_api();
  std::unique_ptr<DrawSample> sample_ = std::make_unique<DrawSample>();
};

TEST_F(DrawSampleTest, TheFirstFrameIsCountedAndTheSecondStamped) {
  visit(1, 5);
  EXPECT_EQ(stamps_taken, 0);
  visit(2, 5);
  EXPECT_EQ(stamps_taken, 6) << "before the first call, between calls, behind the last";
  EXPECT_FALSE(sample_->is_in_flight()) << "another visit of the frame may come";
  visit(2, 4);
  sample_->meet(3);
  EXPECT_TRUE(sample_->is_in_flight());
  EXPECT_EQ(sample_->frame(), 2u);
  EXPECT_EQ(sample_->swapchain(), 3u);
  EXPECT_EQ(calls_of_pieces(), 9u);
  EXPECT_EQ(sample_->stamp(6).calls, 0u) << "the second visit begins";
}

TEST_F(DrawSampleTest, ManyCallsShareAStamp) {
  visit(1, 1'000);
  visit(2, 1'000);
  sample_->meet(3);
  EXPECT_TRUE(sample_->is_in_flight());
  EXPECT_LE(sample_->stamp_count(), DrawSample::kMostPieces + 1);
  EXPECT_EQ(sample_->stamp(1).calls, 4u);
  EXPECT_EQ(calls_of_pieces(), 1'000u);
}

TEST_F(DrawSampleTest, APassBeginsWithAStampAndSoDoesAVisit) {
  visit(1, 1'024);
  sample_->meet(2);
  for (const std::uint32_t calls : {6u, 9u}) {
    sample_->begin_visit(api_, 3);
    for (std::uint32_t i = 1; i < calls; ++i) {
      if (i == 2) sample_->end_pass();
      sample_->call(api_, true);
    }
    sample_->end_visit(api_);
  }
  std::vector<std::pair<int, bool>> pieces;
  for (std::uint32_t i = 0; i < sample_->stamp_count(); ++i)
    if (sample_->stamp(i).calls > 0) pieces.emplace_back(sample_->stamp(i).calls, sample_->stamp(i).begins_pass);
  EXPECT_EQ(pieces, (std::vector<std::pair<int, bool>>{{2, true}, {4, true}, {2, true}, {5, true}, {2, false}}))
      << "five calls share a stamp within a pass";
}

TEST_F(DrawSampleTest, APassWithoutCallsIsNone) {
  visit(1, 10);
  for (std::uint32_t i = 0; i < DrawSample::kMostPasses; ++i) {
    sample_->meet(2);
    sample_->begin_visit(api_, 3);
    sample_->end_pass();
    sample_->end_visit(api_);
  }
  std::uint32_t passes = 0;
  for (std::uint32_t i = 0; i < sample_->stamp_count(); ++i) passes += sample_->stamp(i).begins_pass ? 1 : 0;
  EXPECT_EQ(passes, DrawSample::kMostPasses) << "one a visit";
}

TEST_F(DrawSampleTest, AFrameOfManyPassesKeepsRoomForItsPieces) {
  visit(1, 2'000);
  sample_->meet(2);
  sample_->begin_visit(api_, 3);
  for (std::uint32_t i = 1; i < 2'000; ++i) {
    sample_->end_pass();
    sample_->call(api_, true);
  }
  sample_->end_visit(api_);
  sample_->meet(3);
  EXPECT_TRUE(sample_->is_in_flight());
  EXPECT_EQ(calls_of_pieces(), 2'000u);
  std::uint32_t passes = 0;
  for (std::uint32_t i = 0; i < sample_->stamp_count(); ++i) passes += sample_->stamp(i).begins_pass ? 1 : 0;
  EXPECT_EQ(passes, DrawSample::kMostPasses);
}

TEST_F(DrawSampleTest, WhereGlAllowsNoStampTheCallGoesWithTheNext) {
  visit(1, 10);
  visit(2, 10, false);
  EXPECT_EQ(stamps_taken, 2);
  EXPECT_EQ(sample_->last_stamp().calls, 10u);
}

TEST_F(DrawSampleTest, AFrameWithFarMoreCallsThanTheOneBeforeIsNotKept) {
  visit(1, 10);
  visit(2, 5'000);
  sample_->meet(3);
  EXPECT_FALSE(sample_->is_in_flight());
  EXPECT_LE(stamps_taken, static_cast<int>(DrawSample::kMostStamps));
}

TEST_F(DrawSampleTest, AFrameOfTooManyCallsIsGivenUp) {
  visit(1, 1);
  sample_->meet(2);
  sample_->begin_visit(api_, 3);
  std::uint32_t calls = 1;
  for (; sample_->wants_calls(); ++calls) sample_->call(api_, true);
  EXPECT_EQ(calls, DrawSample::kMostCalls);
  sample_->end_visit(api_);
  sample_->meet(3);
  EXPECT_FALSE(sample_->is_in_flight());
}

TEST_F(DrawSampleTest, WhileOneIsInFlightNoOtherBeginsAndNoneBeginsInTheMiddleOfAFrame) {
  visit(1, 5);
  visit(2, 5);
  visit(3, 5);
  EXPECT_EQ(stamps_taken, 6);
  EXPECT_EQ(sample_->frame(), 2u);
  sample_->forget();
  visit(3, 5);
  EXPECT_EQ(stamps_taken, 6) << "its first visit is missing";
  visit(4, 5);
  EXPECT_EQ(stamps_taken, 12);
}

}  // namespace
}  // namespace corun::gl
