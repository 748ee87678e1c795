// The parts that detect when launches end: ends as they are written, groups with their events, streams, captures.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/tracer/gate/gate_driver.h"
#include "tests/tracer/gate/scheduler_side.h"
#include "tracer/cuda/cupti_abi.h"
#include "tracer/gate/channel/link.h"
#include "tracer/gate/completion/captures.h"
#include "tracer/gate/completion/end_writer.h"
#include "tracer/gate/completion/launch_groups.h"
#include "tracer/gate/completion/stream_table.h"

namespace corun {
namespace {

using gate::LaunchGroup;
using gate::LaunchGroups;
using gate::StreamTable;
using gate::TrackedStream;
using guest::monotonic_ns;
using testing::GateDriver;
using Numbers = std::vector<std::uint64_t>;

void* place(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
void* const kContext = place(0x100);
void* const kOtherContext = place(0x200);
void* const kThreadStream = place(cupti::kStreamPerThread);
void* const kLegacyStream = place(cupti::kStreamLegacy);

class EndWriterTest : public ::testing::Test {
 protected:
  EndWriterTest() {
    EXPECT_TRUE(link_.open() && link_.take_slot());
    writer_.start(link_);
    slot().in_flight = 10;
  }
  ~EndWriterTest() override { link_.close(); }
  gate::Slot& slot() const { return link_.slot(); }
  void submit(std::uint64_t number, std::int64_t at_ns) {
    scheduler_.lane().launches[number % gate::kDepth].submitted_ns = at_ns;
  }
  static LaunchGroup group_of(const Numbers& numbers) {
    LaunchGroup group{};
    for (const std::uint64_t number : numbers) group.numbers[group.count++] = number;
    return group;
  }

  testing::SchedulerSide scheduler_;
  gate::GateLink link_;
  gate::EndWriter writer_;
};

TEST_F(EndWriterTest, LaunchesOfAGroupRanOneAfterAnotherInEqualParts) {
  const std::int64_t before = monotonic_ns();
  writer_.write_group(group_of({5, 6, 8}), 90'001);
  const std::int64_t after = monotonic_ns();
  EXPECT_EQ(scheduler_.done(), (Numbers{5, 6, 8}));
  EXPECT_EQ(slot().in_flight, 7u);
  const std::int64_t begin = scheduler_.launch(5).begin_ns;
  EXPECT_GE(begin, before - 90'001);
  EXPECT_LE(begin, after - 90'001);
  std::int64_t at = begin;
  for (const std::uint64_t number : {5, 6, 8}) {
    const gate::Launch& launch = scheduler_.launch(number);
    EXPECT_EQ(launch.begin_ns, at) << number;
    EXPECT_EQ(launch.end_ns, at += 30'000) << number;
    EXPECT_EQ(launch.device_ns, 30'000) << number;
    EXPECT_EQ(launch.group, 3u) << number;
  }
  EXPECT_EQ(scheduler_.lane().unobserved, 0u);
}

TEST_F(EndWriterTest, NoLaunchBeganBeforeItsCall) {
  const std::int64_t now = monotonic_ns();
  submit(5, now + 1'000'000'000);
  writer_.write_group(group_of({5}), 1000);
  EXPECT_EQ(scheduler_.launch(5).begin_ns, now + 1'000'000'000);
  EXPECT_EQ(scheduler_.launch(5).end_ns, now + 1'000'000'000);
  EXPECT_EQ(scheduler_.launch(5).device_ns, 1000);
}

TEST_F(EndWriterTest, WhatALaunchTypicallyTakesFollowsTheNewestByAnEighth) {
  EXPECT_EQ(writer_.typical_ns(), 50'000) << "before any has ended";
  writer_.write_group(group_of({0, 1}), 20'000);
  EXPECT_EQ(writer_.typical_ns(), 45'000);
  writer_.write_group(group_of({2}), 445'000);
  EXPECT_EQ(writer_.typical_ns(), 95'000);
  writer_.write_group(group_of({3}), gate::EndWriter::kUnknownNs);
  EXPECT_EQ(writer_.typical_ns(), 95'000) << "a time that is not known says nothing";
  EXPECT_EQ(scheduler_.launch(3).device_ns, 0);
  EXPECT_EQ(scheduler_.launch(3).begin_ns, scheduler_.launch(3).end_ns);
  writer_.write_group(group_of({4}), 0);
  EXPECT_EQ(writer_.typical_ns(), 83'125) << "a time of zero is known";
}

TEST_F(EndWriterTest, WhatIsNotObservedIsCountedByLaunches) {
  writer_.write_unobserved(group_of({1, 2, 3}));
  EXPECT_EQ(scheduler_.lane().unobserved, 3u);
  EXPECT_EQ(scheduler_.launch(2).device_ns, 0);
  EXPECT_EQ(scheduler_.launch(2).group, 3u);
  writer_.write_unobserved(7);
  EXPECT_EQ(scheduler_.lane().unobserved, 4u);
  EXPECT_EQ(scheduler_.done(), (Numbers{1, 2, 3, 7}));
  EXPECT_EQ(scheduler_.launch(7).device_ns, 0);
  EXPECT_EQ(scheduler_.launch(7).group, 1u);
  EXPECT_EQ(slot().in_flight, 6u);
}

TEST_F(EndWriterTest, WhatEndsWithItsCallBeganWithItsCall) {
  const std::int64_t submitted = monotonic_ns() - 3'000'000;
  submit(7, submitted);
  writer_.write_ended_now(7);
  const gate::Launch& launch = scheduler_.launch(7);
  EXPECT_EQ(launch.begin_ns, submitted);
  EXPECT_GE(launch.end_ns, submitted + 3'000'000);
  EXPECT_EQ(launch.device_ns, launch.end_ns - launch.begin_ns);
  EXPECT_EQ(launch.group, 1u);
  EXPECT_EQ(scheduler_.done(), (Numbers{7}));
  EXPECT_EQ(slot().in_flight, 9u);
}

TEST_F(EndWriterTest, OrWhenTheOneBeforeEnded) {
  submit(7, monotonic_ns() - 3'000'000);
  const std::int64_t before = monotonic_ns();
  writer_.write_group(group_of({6}), 1000);
  writer_.write_ended_now(7);
  EXPECT_EQ(scheduler_.launch(7).begin_ns, scheduler_.launch(6).end_ns);
  EXPECT_GE(scheduler_.launch(7).begin_ns, before);
  submit(8, monotonic_ns() + 1'000'000'000);
  writer_.write_ended_now(8);
  EXPECT_EQ(scheduler_.launch(8).device_ns, 0) << "a call that is to come took nothing";
}

TEST_F(EndWriterTest, WakesTheSchedulerWhereThatIsWanted) {
  const std::uint32_t silent = scheduler_.common().bell;
  writer_.write_unobserved(1);
  writer_.write_group(group_of({2}), 1);
  writer_.write_ended_now(3);
  EXPECT_EQ(scheduler_.common().bell, silent);
  scheduler_.lane().tells = 1;
  writer_.write_unobserved(4);
  EXPECT_EQ(scheduler_.common().bell, silent + 1);
  writer_.write_group(group_of({5, 6}), 1);
  EXPECT_EQ(scheduler_.common().bell, silent + 2) << "once a group";
  writer_.write_ended_now(7);
  EXPECT_EQ(scheduler_.common().bell, silent + 3);
}

class LaunchGroupsTest : public ::testing::Test {
 protected:
  LaunchGroupsTest() { EXPECT_TRUE(calls_.load()); }
  /// Closed now, as the tracker closes one.
  void close(LaunchGroup& group, std::int64_t ago_ns = 0) {
    group.stream = &stream_;
    group.closed_ns = monotonic_ns() - ago_ns;
  }

  GateDriver driver_;
  gate::Driver calls_;
  std::unique_ptr<LaunchGroups> groups_ = std::make_unique<LaunchGroups>(calls_);
  TrackedStream stream_{kContext, place(0x10), {}, nullptr, nullptr},
      other_{kContext, place(0x20), {}, nullptr, nullptr};
};

TEST_F(LaunchGroupsTest, AGroupHasTwoEventsThatTheNextOneOfItsContextUsesAgain) {
  LaunchGroup* first = groups_->make(kContext);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(driver_.events, 2);
  EXPECT_NE(first->begin, first->end);
  first->count = 3;
  groups_->release(*first);
  LaunchGroup* second = groups_->make(kContext);
  EXPECT_EQ(second, first);
  EXPECT_EQ(second->count, 0u);
  EXPECT_EQ(driver_.events, 2);
  LaunchGroup* third = groups_->make(kContext);
  EXPECT_NE(third, second) << "that one is in use";
  EXPECT_EQ(driver_.events, 4);
  groups_->release(*third);
  LaunchGroup* other = groups_->make(kOtherContext);
  EXPECT_NE(other, third) << "an event is of one context";
  EXPECT_EQ(other->context, kOtherContext);
  EXPECT_EQ(driver_.events, 6);
}

TEST_F(LaunchGroupsTest, WithoutEventsThereIsNone) {
  driver_.most_events = 0;
  EXPECT_EQ(groups_->make(kContext), nullptr);
  driver_.most_events = 1;
  EXPECT_EQ(groups_->make(kContext), nullptr) << "one of two";
  driver_.most_events = 10;
  LaunchGroup* group = groups_->make(kContext);
  ASSERT_NE(group, nullptr);
  EXPECT_NE(group->end, nullptr);
}

TEST_F(LaunchGroupsTest, ThereIsRoomForAThousandAndTwentyFour) {
  LaunchGroup* last = nullptr;
  for (int i = 0; i < 1024; ++i) ASSERT_NE(last = groups_->make(kContext), nullptr) << i;
  EXPECT_EQ(groups_->make(kContext), nullptr);
  EXPECT_EQ(groups_->end() - groups_->begin(), 1024);
  groups_->release(*last);
  EXPECT_EQ(groups_->make(kContext), last);
}

TEST_F(LaunchGroupsTest, OneThatFollowsAtOnceBeginsWhereTheOneBeforeEnds) {
  LaunchGroup *first = groups_->make(kContext), *second = groups_->make(kContext);
  ASSERT_TRUE(groups_->begin(*first, nullptr, stream_));
  ASSERT_EQ(driver_.records().size(), 1u);
  EXPECT_EQ(driver_.records()[0].event, first->begin);
  EXPECT_EQ(driver_.records()[0].stream, stream_.stream);
  close(*first, -1'000'000'000);  // at once, however busy the machine is
  ASSERT_TRUE(groups_->begin(*second, first, stream_));
  EXPECT_EQ(driver_.record_count(), 1u);
  EXPECT_EQ(second->before, first);
  EXPECT_EQ(first->next, second);

  void *const shared = first->end, *const spare = second->begin;
  groups_->release(*first);
  EXPECT_EQ(second->begin, shared) << "the event that both need";
  EXPECT_EQ(first->end, spare);
  EXPECT_EQ(second->before, nullptr);
  EXPECT_EQ(first->next, nullptr);
  EXPECT_FALSE(first->is_used);
  EXPECT_TRUE(second->is_used);
}

TEST_F(LaunchGroupsTest, AFollowerThatIsGivenUpIsForgottenByTheOneBefore) {
  LaunchGroup *first = groups_->make(kContext), *second = groups_->make(kContext);
  groups_->begin(*first, nullptr, stream_);
  close(*first, -1'000'000'000);
  groups_->begin(*second, first, stream_);
  groups_->release(*second);
  EXPECT_EQ(first->next, nullptr);
  EXPECT_EQ(second->before, nullptr);
  void* const its_end = first->end;
  groups_->release(*first);
  EXPECT_EQ(first->end, its_end);
}

TEST_F(LaunchGroupsTest, OneThatFollowsLaterOrInAnotherStreamHasABeginOfItsOwn) {
  LaunchGroup *first = groups_->make(kContext), *second = groups_->make(kContext);
  groups_->begin(*first, nullptr, stream_);
  const auto has_its_own = [&] {
    const std::size_t before = driver_.record_count();
    EXPECT_TRUE(groups_->begin(*second, first, stream_));
    EXPECT_EQ(second->before, nullptr);
    return driver_.record_count() == before + 1 && driver_.records().back().event == second->begin;
  };
  close(*first, 20'000);
  EXPECT_TRUE(has_its_own()) << "20 us later";
  close(*first, -1'000'000'000);
  first->stream = &other_;
  EXPECT_TRUE(has_its_own()) << "of another stream";
  first->stream = &stream_;
  groups_->release(*first);
  EXPECT_TRUE(has_its_own()) << "its events may be used again";
}

TEST_F(LaunchGroupsTest, WhereTheDriverRefusesTheEventItDoesNotBegin) {
  LaunchGroup* group = groups_->make(kContext);
  driver_.record = GateDriver::kRefused;
  EXPECT_FALSE(groups_->begin(*group, nullptr, stream_));
}

TEST_F(LaunchGroupsTest, WithAContextItsGroupsAndEventsEnd) {
  LaunchGroup *ours = groups_->make(kContext), *other = groups_->make(kOtherContext);
  groups_->forget_context(kContext);
  EXPECT_FALSE(ours->is_used);
  EXPECT_EQ(ours->begin, nullptr);
  EXPECT_TRUE(other->is_used);
  EXPECT_NE(other->begin, nullptr);
}

class StreamTableTest : public ::testing::Test {
 protected:
  std::uint32_t number_of(void* context, void* stream) { return table_.number_of(table_.find(context, stream)); }
  const GateDriver driver_;
  StreamTable& table_ = testing::kept<StreamTable>();
};

TEST_F(StreamTableTest, StreamsAreNumberedInTheOrderOfTheirFirstLaunches) {
  EXPECT_EQ(number_of(kContext, place(0x10)), 0u);
  EXPECT_EQ(number_of(kContext, place(0x20)), 1u);
  EXPECT_EQ(number_of(kOtherContext, place(0x10)), 2u) << "of another context";
  EXPECT_EQ(number_of(kContext, place(0x10)), 0u);
  EXPECT_EQ(table_.end() - table_.begin(), 3);
}

TEST_F(StreamTableTest, TheRowOfAStreamThatIsForgottenIsTheNextOnes) {
  for (const std::uintptr_t stream : {0x10, 0x20, 0x30}) table_.find(kContext, place(stream));
  table_.forget(*table_.find(kContext, place(0x20)));
  EXPECT_EQ(number_of(kContext, place(0x30)), 2u);
  EXPECT_EQ(number_of(kContext, place(0x40)), 1u);
  EXPECT_EQ(number_of(kContext, place(0x50)), 3u);
}

TEST_F(StreamTableTest, HasRoomForTwoHundredAndFiftySix) {
  for (std::uintptr_t i = 0; i < 256; ++i) ASSERT_EQ(number_of(kContext, place(0x1000 + i)), i);
  EXPECT_EQ(table_.find(kContext, place(0x2000)), nullptr);
  EXPECT_EQ(table_.number_of(nullptr), 256u);
  EXPECT_EQ(number_of(kContext, place(0x1000 + 255)), 255u) << "those that are there are found";
  table_.forget(*table_.find(kContext, place(0x1000 + 9)));
  EXPECT_EQ(number_of(kContext, place(0x2000)), 9u);
}

TEST_F(StreamTableTest, EachThreadHasADefaultStreamOfItsOwn) {
  TrackedStream* ours = table_.find(kContext, kThreadStream);
  TrackedStream* common = table_.find(kContext, place(0x10));
  EXPECT_TRUE(ours->is_of_thread());
  EXPECT_FALSE(ours->is_of_another_thread());
  EXPECT_FALSE(common->is_of_thread());
  std::thread([&] {
    EXPECT_NE(table_.find(kContext, kThreadStream), ours);
    EXPECT_EQ(table_.find(kContext, place(0x10)), common);
    EXPECT_TRUE(ours->is_of_another_thread());
    EXPECT_FALSE(common->is_of_another_thread());
  }).join();
  EXPECT_EQ(table_.find(kContext, kThreadStream), ours);
}

TEST_F(StreamTableTest, AThreadKnowsTheStreamThatItFoundLast) {
  EXPECT_FALSE(table_.is_known(kContext, place(0x10)));
  TrackedStream* learnt = table_.learn(kContext, place(0x10));
  EXPECT_TRUE(table_.is_known(kContext, place(0x10)));
  EXPECT_EQ(StreamTable::known(), learnt);
  EXPECT_FALSE(table_.is_known(kContext, place(0x20)));
  EXPECT_FALSE(table_.is_known(kOtherContext, place(0x10)));
  std::thread([&] { EXPECT_FALSE(table_.is_known(kContext, place(0x10))); }).join();
  table_.forget(*table_.find(kContext, place(0x10)));
  EXPECT_FALSE(table_.is_known(kContext, place(0x10))) << "its row may be another's";
}

TEST(Captures, AreCountedAndNeverFewerThanNone) {
  GateDriver driver;
  gate::Driver calls;
  ASSERT_TRUE(calls.load());
  gate::Captures captures(calls);
  captures.ended();
  EXPECT_FALSE(captures.has_any());
  captures.began();
  EXPECT_TRUE(captures.has_any()) << "the end of none counts for nothing";
  captures.began();
  captures.ended();
  EXPECT_TRUE(captures.has_any());
  captures.ended();
  EXPECT_FALSE(captures.has_any());
}

TEST(Captures, NoEventGoesIntoAStreamThatIsCapturedOrIntoTheLegacyOneMeanwhile) {
  GateDriver driver;
  gate::Driver calls;
  ASSERT_TRUE(calls.load());
  gate::Captures captures(calls);
  driver.capture(place(0x10));
  EXPECT_FALSE(captures.includes(place(0x10))) << "no capture of this process began";
  EXPECT_TRUE(captures.may_record(kLegacyStream));
  captures.began();
  EXPECT_TRUE(captures.includes(place(0x10)));
  EXPECT_FALSE(captures.includes(place(0x20)));
  EXPECT_FALSE(captures.may_record(place(0x10)));
  EXPECT_FALSE(captures.may_record(kLegacyStream));
  EXPECT_TRUE(captures.may_record(place(0x20)));
}

}  // namespace
}  // namespace corun
