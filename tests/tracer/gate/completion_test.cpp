// How the ends of launches are detected: when groups of launches are closed, and what is reported of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/tracer/gate/gate_driver.h"
#include "tests/tracer/gate/scheduler_side.h"
#include "tracer/cuda/cupti_abi.h"
#include "tracer/gate/completion/completion_tracker.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using guest::monotonic_ns;
using testing::comes_true;
using testing::GateDriver;
using Done = std::vector<std::uint64_t>;

void* at_place(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
void* const kOne = at_place(0x100);
void* const kOther = at_place(0x200);
void* const kStreamA = at_place(0x10);
void* const kStreamB = at_place(0x20);
constexpr std::int64_t kMs = 1'000'000;

class Completion : public ::testing::Test {
 protected:
  Completion() {
    EXPECT_TRUE(link_.open() && link_.take_slot() && tracker_.start(link_));
    lane().every = 64;
    set_typical(1);
  }
  ~Completion() override { tracker_.stop(); }

  gate::Lane& lane() const { return scheduler_.lane(); }
  void set_typical(std::int64_t ns) const { link_.slot().typical_ns = ns; }
  /// A launch whose call was made then; by default, before any group was opened.
  std::uint64_t submit(std::int64_t at_ns = 0) {
    lane().launches[next_ % gate::kDepth].submitted_ns = at_ns;
    tracker_.launched();
    return next_++;
  }
  void launch(void* stream, int count = 1, void* context = kOne) {
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = submit();
      tracker_.before_launch(context, stream);
      tracker_.after_launch(context, stream, number);
    }
  }
  /// What is reported as complete, once it is so much.
  Done done(std::size_t count) const {
    comes_true([&] { return scheduler_.done().size() >= count; });
    return scheduler_.done();
  }
  /// ... if anything is, for a while.
  Done done_in_a_while() const {
    std::this_thread::sleep_for(20ms);
    return scheduler_.done();
  }
  std::uint32_t group_of(std::uint64_t number) const { return scheduler_.launch(number).group; }
  std::uint64_t unobserved() const { return lane().unobserved; }

  testing::SchedulerSide scheduler_;
  GateDriver& driver_ = testing::kept<GateDriver>();
  gate::GateLink& link_ = testing::kept<gate::GateLink>();
  gate::CompletionTracker& tracker_ = testing::kept<gate::CompletionTracker>();
  std::uint64_t next_ = 0;
};

TEST_F(Completion, AGroupIsClosedAfterAsManyLaunchesAsTheLaneSays) {
  lane().every = 3;
  driver_.let_all_pass();
  launch(kStreamA, 7);
  EXPECT_EQ(done(6), (Done{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(done_in_a_while().size(), 6u) << "the seventh waits for two more";
  for (std::uint64_t number = 0; number < 6; ++number) EXPECT_EQ(group_of(number), 3u);
  EXPECT_EQ(link_.slot().in_flight, 1u);
  EXPECT_EQ(unobserved(), 0u);
}

TEST_F(Completion, EachStreamHasAGroupOfItsOwn) {
  lane().every = 2;
  driver_.let_all_pass();
  launch(kStreamA);
  launch(kStreamB);
  launch(kStreamA, 1, kOther);
  EXPECT_TRUE(done_in_a_while().empty());
  launch(kStreamB);
  EXPECT_EQ(done(2), (Done{1, 3}));
}

TEST_F(Completion, AGroupHasAtLeastOneLaunchAndAtMostSixtyFour) {
  driver_.let_all_pass();
  lane().every = 0;
  launch(kStreamA);
  EXPECT_EQ(done(1), (Done{0}));
  lane().every = 1000;
  launch(kStreamA, 63);
  EXPECT_EQ(done_in_a_while().size(), 1u);
  launch(kStreamA);
  EXPECT_EQ(done(65).size(), 65u);
  EXPECT_EQ(group_of(64), 64u);
}

TEST_F(Completion, AGroupIsClosedWhenItsLaunchesTakeHalfAMillisecond) {
  driver_.let_all_pass();
  set_typical(100'000);
  launch(kStreamA, 4);
  EXPECT_TRUE(done_in_a_while().empty());
  launch(kStreamA);
  EXPECT_EQ(done(5).size(), 5u);
  EXPECT_EQ(group_of(0), 5u);
}

TEST_F(Completion, AGroupIsClosedByALaunchAMillisecondAfterItsFirst) {
  driver_.let_all_pass();
  const std::int64_t before = monotonic_ns();
  launch(kStreamA);
  const std::int64_t after = monotonic_ns();
  tracker_.after_launch(kOne, kStreamA, submit(before + kMs - 1));
  EXPECT_TRUE(done_in_a_while().empty());
  tracker_.after_launch(kOne, kStreamA, submit(after + kMs));
  EXPECT_EQ(done(3), (Done{0, 1, 2}));
}

TEST_F(Completion, AGroupThatGetsNoMoreLaunchesIsClosedAMillisecondAfterItsFirst) {
  driver_.let_all_pass();
  driver_.set(&GateDriver::set_context, 0);
  std::int64_t quickest = INT64_MAX;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::size_t before = driver_.record_count();
    const std::int64_t opened = monotonic_ns();
    launch(kStreamA);
    EXPECT_EQ(done(round + 1).size(), round + 1) << "by a thread of the gate";
    quickest = std::min(quickest, round % 2 == 0 ? INT64_MAX : monotonic_ns() - opened);
    ASSERT_EQ(driver_.record_count(), before + 2);
    EXPECT_GE(driver_.records().back().at_ns - opened, kMs);
    std::this_thread::sleep_for(round % 2 == 0 ? 10ms : 0ms);  // until that thread sleeps
  }
  EXPECT_LT(quickest, 500 * kMs) << "that thread is woken by a launch";
}

TEST_F(Completion, IntoTheDefaultStreamOfAThreadEachLaunchIsAGroup) {
  driver_.let_all_pass();
  launch(at_place(cupti::kStreamPerThread), 3);
  EXPECT_EQ(done(3), (Done{0, 1, 2}));
  EXPECT_EQ(group_of(1), 1u);
}

TEST_F(Completion, GroupsOfOneStreamEndInTheOrderOfClosing) {
  lane().every = 1;
  launch(kStreamA, 2);
  launch(kStreamB);
  const std::vector<GateDriver::Record> records = driver_.records();
  ASSERT_GE(records.size(), 4u);
  driver_.let_pass(records.back().event);
  for (const GateDriver::Record& record : records)
    if (record.stream == kStreamA && record.event != records[1].event) driver_.let_pass(record.event);
  EXPECT_EQ(done(1), (Done{2})) << "the other stream's";
  EXPECT_EQ(done_in_a_while(), (Done{2})) << "the first of this one has not ended";
  driver_.let_pass(records[1].event);
  EXPECT_EQ(done(3), (Done{2, 0, 1}));
}

/// A thread may launch into one stream within a call that launches into another.
TEST_F(Completion, ALaunchIsOfItsOwnStreamWhateverThreadsLaunchedIntoLast) {
  const std::uint64_t first = submit(), second = submit();
  tracker_.before_launch(kOne, kStreamA);
  tracker_.before_launch(kOne, kStreamB);
  tracker_.after_launch(kOne, kStreamA, first);
  tracker_.after_launch(kOne, kStreamB, second);
  driver_.set(&GateDriver::record, GateDriver::kRefused);
  tracker_.forget_stream(kOne, kStreamB);
  EXPECT_EQ(scheduler_.done(), (Done{second}));
  tracker_.forget_stream(kOne, kStreamA);
  EXPECT_EQ(scheduler_.done(), (Done{second, first}));
}

TEST_F(Completion, WhatAGroupTookIsSharedOut) {
  lane().every = 4;
  driver_.set(&GateDriver::took_ms, 2.0F);
  driver_.let_all_pass();
  set_typical(1000);
  launch(kStreamA, 4);
  done(4);
  EXPECT_EQ(scheduler_.launch(0).device_ns, 500'000);
  EXPECT_EQ(link_.slot().typical_ns, 1000 + (500'000 - 1000) / 8);
  driver_.set(&GateDriver::took_ms, -1.0F);
  lane().every = 1;
  set_typical(8000);
  launch(kStreamA);
  done(5);
  EXPECT_EQ(scheduler_.launch(4).device_ns, 0) << "no less than nothing";
  EXPECT_EQ(link_.slot().typical_ns, 7000);
}

TEST_F(Completion, ATimeThatTheDriverDoesNotKnowCountsForNothing) {
  lane().every = 1;
  driver_.set(&GateDriver::took_ms, 2.0F);
  driver_.set(&GateDriver::elapsed, GateDriver::kRefused);
  driver_.let_all_pass();
  launch(kStreamA);
  done(1);
  EXPECT_EQ(scheduler_.launch(0).device_ns, 0);
  EXPECT_EQ(link_.slot().typical_ns, 1);
  EXPECT_EQ(unobserved(), 0u);
}

TEST_F(Completion, WhereTheDriverRefusesAnEventTheEndIsNotObserved) {
  lane().every = 1;
  driver_.set(&GateDriver::most_events, 0);
  launch(kStreamA);
  EXPECT_EQ(scheduler_.done(), (Done{0})) << "complete at once";
  driver_.set(&GateDriver::most_events, 100);
  driver_.set(&GateDriver::record, GateDriver::kRefused);
  launch(kStreamA);
  EXPECT_EQ(scheduler_.done(), (Done{0, 1}));
  driver_.set(&GateDriver::record, 0);
  const std::uint64_t number = submit();
  tracker_.before_launch(kOne, kStreamA);
  driver_.set(&GateDriver::record, GateDriver::kRefused);
  tracker_.after_launch(kOne, kStreamA, number);
  EXPECT_EQ(scheduler_.done(), (Done{0, 1, 2})) << "it began and could not be closed";
  EXPECT_EQ(unobserved(), 3u);
  driver_.set(&GateDriver::record, 0);
  driver_.set(&GateDriver::query_error, 700);
  launch(kStreamA);
  EXPECT_EQ(done(4).size(), 4u);
  EXPECT_EQ(unobserved(), 4u) << "an event that has failed is no end";
}

TEST_F(Completion, AStreamThatIsCapturedGetsNoEvents) {
  driver_.let_all_pass();
  launch(kStreamA, 2);
  driver_.capture(kStreamA);
  tracker_.captures().began();
  const std::size_t before = driver_.record_count();
  tracker_.close_groups(kOne);
  EXPECT_EQ(driver_.record_count(), before);
  launch(kStreamB);
  EXPECT_EQ(driver_.record_count(), before + 1) << "another stream may have some";
  driver_.end_captures();
  tracker_.captures().ended();
  tracker_.close_groups(kOne);
  EXPECT_EQ(driver_.record_count(), before + 3);
  EXPECT_EQ(done(3), (Done{0, 1, 2}));
  driver_.capture(kStreamB);
  tracker_.captures().began();
  launch(kStreamB);
  EXPECT_EQ(unobserved(), 1u) << "a launch into one that is captured meanwhile is not seen to end";
}

TEST_F(Completion, WhenTheProgramWaitsTheGroupsOfItsContextAreClosed) {
  driver_.let_all_pass();
  launch(kStreamA);
  launch(kStreamB);
  launch(kStreamA, 1, kOther);
  tracker_.close_groups(kOne);
  EXPECT_EQ(done(2).size(), 2u);
  EXPECT_EQ(done_in_a_while().size(), 2u);
  tracker_.close_groups(kOther);
  EXPECT_EQ(done(3).back(), 2u);
}

TEST_F(Completion, ALaunchThatEndsWithItsCallEndsAfterThoseThatHaveEnded) {
  lane().every = 1;
  launch(kStreamA);
  const std::uint64_t copy = submit(monotonic_ns());
  driver_.let_all_pass();
  tracker_.ended_with_call(copy);
  EXPECT_EQ(scheduler_.done(), (Done{0, copy}));
  EXPECT_EQ(group_of(copy), 1u);
  EXPECT_EQ(unobserved(), 0u);
}

TEST_F(Completion, ALaunchThatFailedTakesItsEmptyGroupWithIt) {
  const std::uint64_t failed = submit();
  tracker_.before_launch(kOne, kStreamA);
  EXPECT_EQ(driver_.record_count(), 1u);
  tracker_.has_failed(kOne, kStreamA, failed);
  EXPECT_EQ(scheduler_.done(), (Done{failed}));
  driver_.let_all_pass();
  launch(kStreamA);
  EXPECT_EQ(driver_.record_count(), 2u) << "the next one begins anew";
  EXPECT_EQ(driver_.records()[0].event, driver_.records()[1].event) << "with the events of that group";
  tracker_.close_groups(kOne);
  EXPECT_EQ(done(2), (Done{failed, 1}));
}

TEST_F(Completion, ALaunchThatFailedAmongOthersLeavesTheirGroup) {
  launch(kStreamA);
  const std::uint64_t failed = submit();
  tracker_.before_launch(kOne, kStreamA);
  tracker_.has_failed(kOne, kStreamA, failed);
  driver_.let_all_pass();
  launch(kStreamA);
  tracker_.close_groups(kOne);
  EXPECT_EQ(done(3), (Done{failed, 0, 2}));
  EXPECT_EQ(group_of(0), 2u);
  EXPECT_EQ(unobserved(), 0u);
}

TEST_F(Completion, ALaunchThatIsForgottenIsCompleteAndNotObserved) {
  tracker_.forget_launch(submit());
  EXPECT_EQ(scheduler_.done(), (Done{0}));
  EXPECT_EQ(unobserved(), 1u);
  EXPECT_EQ(link_.slot().in_flight, 0u);
}

TEST_F(Completion, AStreamThatIsDestroyedHasItsLaunchesSeenToEnd) {
  launch(kStreamA, 2);
  launch(kStreamB);
  EXPECT_EQ(tracker_.number_of(kOne, kStreamB), 1u);
  tracker_.forget_stream(kOne, kStreamA);
  driver_.let_all_pass();
  EXPECT_EQ(done(2), (Done{0, 1}));
  EXPECT_EQ(done_in_a_while().size(), 2u) << "the other stream goes on";
  EXPECT_EQ(unobserved(), 0u);
  EXPECT_EQ(tracker_.number_of(kOne, at_place(0x30)), 0u) << "its number is free";
  EXPECT_EQ(tracker_.number_of(kOne, kStreamB), 1u);
}

TEST_F(Completion, AStreamThatIsDestroyedWhereItGetsNoEventIsNotObserved) {
  launch(kStreamA, 2);
  driver_.set(&GateDriver::record, GateDriver::kRefused);
  tracker_.forget_stream(kOne, kStreamA);
  EXPECT_EQ(scheduler_.done(), (Done{0, 1}));
  EXPECT_EQ(unobserved(), 2u);
  driver_.set(&GateDriver::record, 0);
  launch(kStreamB);
  driver_.capture(kStreamB);
  tracker_.captures().began();
  tracker_.forget_stream(kOne, kStreamB);
  EXPECT_EQ(scheduler_.done(), (Done{0, 1, 2})) << "one that is captured";
  EXPECT_EQ(unobserved(), 3u);
}

TEST_F(Completion, AStreamThatIsDestroyedWithAnEmptyGroupGivesItBack) {
  tracker_.before_launch(kOne, kStreamA);
  tracker_.forget_stream(kOne, kStreamA);
  EXPECT_EQ(driver_.events, 2);
  launch(kStreamB);
  EXPECT_EQ(driver_.events, 2);
  EXPECT_TRUE(scheduler_.done().empty());
}

TEST_F(Completion, WithItsContextWhatIsInFlightInItEnds) {
  lane().every = 2;
  launch(kStreamA, 3);
  launch(kStreamB, 3, kOther);
  tracker_.forget_context(kOne);
  EXPECT_EQ(scheduler_.done(), (Done{0, 1, 2}));
  EXPECT_EQ(unobserved(), 3u);
  EXPECT_EQ(link_.slot().in_flight, 3u);
  driver_.let_all_pass();
  EXPECT_EQ(done(5), (Done{0, 1, 2, 3, 4})) << "of the other one it is seen";
  tracker_.close_groups(kOther);
  EXPECT_EQ(done(6).back(), 5u);
  EXPECT_EQ(unobserved(), 3u);
}

TEST_F(Completion, WhatHasEndedBeforeItsContextIsObserved) {
  lane().every = 1;
  launch(kStreamA);
  driver_.let_all_pass();
  tracker_.forget_context(kOne);
  EXPECT_EQ(scheduler_.done(), (Done{0}));
  EXPECT_EQ(unobserved(), 0u);
  driver_.let_none_pass();
  launch(kStreamA);
  EXPECT_EQ(driver_.events, 4) << "events of a context that has ended are none";
}

TEST_F(Completion, AllContextsMayEndAtOnce) {
  lane().every = 2;
  launch(kStreamA, 3);
  launch(kStreamB, 3, kOther);
  tracker_.forget_stream(kOther, kStreamB);
  tracker_.forget_contexts();
  Done all = scheduler_.done();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Done{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(unobserved(), 6u);
  EXPECT_EQ(link_.slot().in_flight, 0u);
}

struct Released {
  GateDriver::Result state;
  int is_active;
  GateDriver::Result device_result;
  int current_device;
  bool ends;
};

TEST_F(Completion, AContextEndsWhenItIsGivenBackForTheLastTime) {
  constexpr GateDriver::Result kRefused = GateDriver::kRefused;
  constexpr Released kCases[] = {{0, 0, 0, 3, true},         {0, 1, 0, 3, false},       {0, 0, 0, 2, false},
                                 {kRefused, 0, 0, 3, false}, {0, 0, kRefused, 2, true}, {0, 1, kRefused, 2, false}};
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    const Released& each = kCases[i];
    driver_.set(&GateDriver::primary_state, each.state);
    driver_.set(&GateDriver::is_active, each.is_active);
    driver_.set(&GateDriver::device_result, each.device_result);
    driver_.set(&GateDriver::device, each.current_device);
    const std::size_t before = scheduler_.done().size();
    launch(kStreamA);
    tracker_.released_primary(3, kOne);
    EXPECT_EQ(scheduler_.done().size() > before, each.ends) << "case " << i;
    tracker_.forget_context(kOne);
  }
}

TEST_F(Completion, AProgramThatEndsIsNotAskedForItsEventsAnyMore) {
  lane().every = 2;
  launch(kStreamA, 3);
  const std::size_t before = driver_.record_count();
  tracker_.stop();
  driver_.let_all_pass();
  launch(kStreamA);
  tracker_.close_groups(kOne);
  tracker_.look();
  EXPECT_EQ(driver_.record_count(), before);
  EXPECT_EQ(done_in_a_while(), (Done{3})) << "complete at once, as nothing else is";
  EXPECT_EQ(unobserved(), 1u);
}

TEST_F(Completion, StreamsBeyondTheRoomAreNotObserved) {
  for (std::uintptr_t i = 0; i < 256; ++i) EXPECT_EQ(tracker_.number_of(kOne, at_place(0x1000 + i)), i);
  EXPECT_EQ(tracker_.number_of(kOne, kStreamA), 256u);
  launch(kStreamA);
  EXPECT_EQ(scheduler_.done(), (Done{0}));
  EXPECT_EQ(unobserved(), 1u);
}

TEST(CompletionStart, NeedsADriverThatHasAllFunctions) {
  const testing::SchedulerSide scheduler;
  GateDriver driver;
  driver.missing = {"cuEventElapsedTime"};
  auto& link = testing::kept<gate::GateLink>();
  ASSERT_TRUE(link.open() && link.take_slot());
  EXPECT_FALSE(testing::kept<gate::CompletionTracker>().start(link));
}

}  // namespace
}  // namespace corun
