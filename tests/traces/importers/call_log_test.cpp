#include "traces/call_log.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

constexpr std::uint32_t kNone = OpRecord::kNoIndex;

/// A log with one host thread and streams numbered from 0.
class CallLogTest : public testing::Test {
 protected:
  std::uint32_t op(std::int64_t start_us, std::int64_t us, std::uint64_t correlation, std::uint64_t stream = 0,
                   bool blocks = false) {
    const std::uint32_t row = builder_.add(
        OpRecord{.start_ns = start_us * 1000, .duration_ns = us * 1000, .queue = builder_.queue({.stream = stream})});
    log_.add_submission(row, 0, correlation, blocks);
    return row;
  }
  void call(std::int64_t start_us, std::int64_t us, std::uint64_t correlation, std::optional<CallKind> kind,
            bool is_driver = false) {
    LoggedCall logged;
    logged.start_ns = start_us * 1000;
    logged.duration_ns = us * 1000;
    logged.thread = {1, 2};
    logged.correlation = correlation;
    logged.kind = kind;
    logged.is_driver = is_driver;
    log_.add(logged);
  }
  Timeline joined() {
    log_.join(builder_);
    return std::move(builder_).seal();
  }

  TimelineBuilder builder_;
  CallLog log_;
};

TEST_F(CallLogTest, JoinsOperationsWithCallsAddedInAnyOrder) {
  op(300, 5, 8);
  op(200, 5, 7);
  call(110, 10, 8, CallKind::kLaunch);
  call(100, 9, 7, CallKind::kLaunch);
  const Timeline timeline = joined();
  ASSERT_EQ(timeline.calls().size(), 2U);
  EXPECT_EQ(timeline.ops()[0].call, 0U);
  EXPECT_EQ(timeline.ops()[1].call, 1U);
  EXPECT_EQ(timeline.calls()[0].queue, timeline.ops()[0].queue);
}

TEST_F(CallLogTest, LeavesOperationsWithoutACallAndCallsWithoutEffectAlone) {
  op(200, 5, 7);
  call(100, 9, 9, std::nullopt);
  const Timeline timeline = joined();
  EXPECT_TRUE(timeline.calls().empty());
  EXPECT_EQ(timeline.ops()[0].call, kNone);
}

TEST_F(CallLogTest, KeepsACallOfUnknownNameThatSubmittedSomething) {
  op(200, 5, 7);
  call(100, 9, 7, std::nullopt);
  const Timeline timeline = joined();
  ASSERT_EQ(timeline.calls().size(), 1U);
  EXPECT_EQ(timeline.calls()[0].kind, CallKind::kLaunch);
}

TEST_F(CallLogTest, CountsADriverCallInsideARuntimeCallOnce) {
  op(200, 5, 8);
  call(100, 20, 7, CallKind::kLaunch);
  call(105, 10, 8, CallKind::kLaunch, true);
  const Timeline timeline = joined();
  ASSERT_EQ(timeline.calls().size(), 1U);
  EXPECT_EQ(timeline.calls()[0].duration_ns, 20000);
  EXPECT_EQ(timeline.ops()[0].call, 0U);
}

TEST_F(CallLogTest, DoesNotMergeNeighbouringRuntimeCallsThatTouch) {
  op(200, 5, 7);
  op(210, 5, 8);
  call(100, 1, 7, CallKind::kLaunch);
  call(101, 0, 8, CallKind::kLaunch);
  EXPECT_EQ(joined().calls().size(), 2U);
}

TEST_F(CallLogTest, TakesTheLastCallBeforeTheOperationWhereIdsRepeat) {
  op(200, 5, 7);
  op(600, 5, 7);
  call(100, 9, 7, CallKind::kLaunch);
  call(500, 9, 7, CallKind::kLaunch);
  const Timeline timeline = joined();
  EXPECT_EQ(timeline.ops()[0].call, 0U);
  EXPECT_EQ(timeline.ops()[1].call, 1U);
}

TEST_F(CallLogTest, GivesAllOperationsOfAGraphOneCall) {
  for (int i = 0; i < 4; ++i) op(200 + 10 * i, 5, 7, static_cast<std::uint64_t>(i % 2));
  call(100, 9, 7, CallKind::kGraphLaunch);
  const Timeline timeline = joined();
  ASSERT_EQ(timeline.calls().size(), 1U);
  for (const OpRecord& record : timeline.ops()) EXPECT_EQ(record.call, 0U);
}

TEST_F(CallLogTest, FindsTheOperationBeforeAnEventRecord) {
  op(200, 5, 7);
  op(210, 5, 8);
  op(220, 5, 10);
  op(300, 5, 12, 1);
  call(100, 2, 7, CallKind::kLaunch);
  call(103, 2, 8, CallKind::kLaunch);
  call(109, 2, 10, CallKind::kLaunch);
  call(112, 2, 11, CallKind::kStreamWaitEvent);
  LoggedWait wait;
  wait.correlation = 11;
  wait.queue = builder_.queue({.stream = 1});
  wait.record_queue = builder_.queue({.stream = 0});
  wait.record_correlation = 9;
  log_.add(wait);
  const Timeline timeline = joined();
  ASSERT_EQ(timeline.calls().size(), 4U);
  EXPECT_EQ(timeline.calls()[3].kind, CallKind::kStreamWaitEvent);
  EXPECT_EQ(timeline.calls()[3].awaited, 1U);
  EXPECT_EQ(timeline.queues()[timeline.calls()[3].queue].stream, 1U);
}

TEST_F(CallLogTest, LeavesOutAWaitForWorkBeforeTheCapture) {
  op(200, 5, 20);
  call(90, 2, 11, CallKind::kStreamWaitEvent);
  LoggedWait wait;
  wait.correlation = 11;
  wait.queue = wait.record_queue = builder_.queue({.stream = 0});
  wait.record_correlation = 9;
  log_.add(wait);
  EXPECT_TRUE(joined().calls().empty());
}

TEST_F(CallLogTest, LeavesOutAndNotesStreamWaitsForEventsWithoutAName) {
  op(200, 5, 7);
  call(100, 2, 7, CallKind::kLaunch);
  call(103, 2, 8, CallKind::kStreamWaitEvent);
  const Timeline timeline = joined();
  EXPECT_EQ(timeline.calls().size(), 1U);
  EXPECT_EQ(timeline.provenance().notes.size(), 1U);
}

TEST_F(CallLogTest, TakesAnUnnamedEventWaitForTheWorkThatEndedLastBeforeItReturned) {
  op(200, 50, 7);
  op(250, 500, 8);
  call(100, 2, 7, CallKind::kLaunch);
  call(103, 2, 8, CallKind::kLaunch);
  call(110, 150, 9, CallKind::kSynchronizeEvent);
  const Timeline timeline = joined();
  ASSERT_EQ(timeline.calls().size(), 3U);
  EXPECT_EQ(timeline.calls()[2].awaited, 0U);
}

TEST_F(CallLogTest, TakesAnUnnamedStreamWaitForTheStreamThatWasEmptyLast) {
  op(200, 50, 7, 5);
  op(210, 900, 8, 6);
  call(100, 2, 7, CallKind::kLaunch);
  call(103, 2, 8, CallKind::kLaunch);
  call(110, 150, 9, CallKind::kSynchronizeStream);
  const Timeline timeline = joined();
  ASSERT_EQ(timeline.calls().size(), 3U);
  EXPECT_EQ(timeline.queues()[timeline.calls()[2].queue].stream, 5U);
}

TEST_F(CallLogTest, MarksTheCallOfACopyIntoPageableMemoryAsBlocking) {
  op(200, 5, 7, 0, true);
  call(100, 110, 7, CallKind::kLaunch);
  EXPECT_EQ(joined().calls()[0].kind, CallKind::kBlockingCopy);
}

}  // namespace
}  // namespace corun
