#include "tracer/gl/draw_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

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

TEST_F(DrawSampleTest, PiecesThatTookLongAreDividedInTheNextSample) {
  visit(1, 1'000);
  visit(2, 1'000);
  sample_->meet(3);
  ASSERT_EQ(sample_->stamp(100).calls, 4u);
  for (std::uint32_t i = 1; i < sample_->stamp_count(); ++i) sample_->set_took(i, i == 100 ? 4'000'000 : 10'000);
  sample_->plan_next();
  sample_->forget();
  visit(4, 1'000);
  sample_->meet(5);
  ASSERT_TRUE(sample_->is_in_flight());
  EXPECT_EQ(calls_of_pieces(), 1'000u) << "none is lost";
  EXPECT_LE(sample_->stamp_count(), DrawSample::kMostPieces + 1);
  std::uint32_t behind = 0, longest = 0;
  for (std::uint32_t i = 1; i < sample_->stamp_count(); ++i) {
    const std::uint32_t before = behind;
    behind += sample_->stamp(i).calls;
    longest = std::max(longest, sample_->stamp(i).calls);
    const bool is_of_the_long_one = before >= 396 && behind <= 400;
    EXPECT_LE(sample_->stamp(i).calls, is_of_the_long_one ? 1u : 1'000u) << "behind call " << before;
  }
  EXPECT_GT(longest, 4u) << "short ones are put together";
}

TEST_F(DrawSampleTest, EachOfFewCallsKeepsItsStamp) {
  visit(1, 255);
  for (std::uint64_t frame = 2; frame < 10; frame += 2) {
    visit(frame, 255);
    sample_->meet(frame + 1);
    ASSERT_TRUE(sample_->is_in_flight());
    EXPECT_EQ(sample_->stamp_count(), 256u);
    for (std::uint32_t i = 1; i < sample_->stamp_count(); ++i) sample_->set_took(i, 40'000);
    sample_->plan_next();
    sample_->forget();
  }
}

TEST_F(DrawSampleTest, LongAndShortCallsInTurnsAreSampledAgainAndAgain) {
  visit(1, 1'024);
  for (std::uint64_t frame = 2; frame < 10; frame += 2) {
    visit(frame, 1'024);
    sample_->meet(frame + 1);
    ASSERT_TRUE(sample_->is_in_flight());
    EXPECT_EQ(calls_of_pieces(), 1'024u);
    for (std::uint32_t i = 1; i < sample_->stamp_count(); ++i) sample_->set_took(i, i % 2 * 100'000);
    sample_->plan_next();
    sample_->forget();
  }
}

TEST_F(DrawSampleTest, AFrameOfOtherCallsThanPlannedIsSampledWhole) {
  visit(1, 500);
  visit(2, 500);
  sample_->meet(3);
  for (std::uint32_t i = 1; i < sample_->stamp_count(); ++i) sample_->set_took(i, 1 + i % 3 * 50'000);
  sample_->plan_next();
  sample_->forget();
  visit(4, 700);
  sample_->meet(5);
  EXPECT_TRUE(sample_->is_in_flight());
  EXPECT_EQ(calls_of_pieces(), 700u);
  sample_->forget();
  visit(6, 20);
  sample_->meet(7);
  EXPECT_EQ(calls_of_pieces(), 20u);
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
