// What the scheduler does with a client's memory, without a program.
#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <vector>

#include "sim/live/client/lane_gate.h"
#include "sim/live/client/lane_reader.h"
#include "tracer/gate/channel/word.h"

namespace corun {
namespace {

using namespace gate;

class LaneTest : public ::testing::Test {
 protected:
  LaneTest()
      : lane_(static_cast<Lane*>(
            mmap(nullptr, sizeof(Lane), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    lane_->gate = closed_word(0, 0);
  }
  ~LaneTest() override { munmap(lane_, sizeof(Lane)); }

  executor::WallClock clock_;
  Lane* lane_;
};

/// Its client's other processes wait while those of all together are at the bound.
TEST_F(LaneTest, AProcessThatHasDiedHasNothingInFlight) {
  live::LaneReader reader(*lane_, clock_);
  lane_->slots_used = 1;
  Slot& slot = lane_->slots[0];
  slot.in_flight = 5;
  slot.done_count = 3;
  const std::uint32_t mark = mark_of_slot(0, slot.turn);
  ASSERT_TRUE(reader.is_present(mark));
  reader.forget_process(0);
  EXPECT_EQ(slot.in_flight, 0u);
  EXPECT_FALSE(reader.is_present(mark));
  EXPECT_FALSE(reader.next_ends(0, slot.done_count)) << "what it wrote is passed over";
}

TEST_F(LaneTest, ANameEndsWithItsMemory) {
  memset(lane_->name_text, 'a', kNameBytes);
  lane_->name_at[7] = kNameBytes - 2;
  EXPECT_EQ(lane_->name(7), "aaa");
  lane_->name_at[7] = kNameBytes + 1;
  EXPECT_EQ(lane_->name(7), "");
  EXPECT_EQ(lane_->name(UINT32_MAX), "");
}

TEST_F(LaneTest, AGateThatAProgramHasChangedIsNotAsSet) {
  live::LaneGate gate(*lane_);
  EXPECT_TRUE(gate.is_as_set());
  lane_->gate.fetch_add(1);  // a launch
  EXPECT_TRUE(gate.is_as_set());
  gate.close(5);
  EXPECT_TRUE(gate.is_as_set());
  lane_->gate.fetch_add(std::uint64_t{1} << kLimitShift);
  EXPECT_FALSE(gate.is_as_set()) << "another limit";
  gate.close(6);
  EXPECT_TRUE(gate.is_as_set());
  lane_->gate.fetch_and(~kClosed);
  EXPECT_FALSE(gate.is_as_set()) << "open";
  gate.open();
  EXPECT_TRUE(gate.is_as_set());
  lane_->gate.fetch_or(kClosed);
  EXPECT_FALSE(gate.is_as_set()) << "closed";
}

TEST_F(LaneTest, ANameEndsAtItsZero) {
  memcpy(lane_->name_text, "first\0second", 13);
  lane_->name_at[1] = 1;
  lane_->name_at[2] = 7;
  EXPECT_EQ(lane_->name(1), "first");
  EXPECT_EQ(lane_->name(2), "second");
  EXPECT_EQ(lane_->name(3), "") << "not written";
  EXPECT_EQ(lane_->name(kNoName), "");
  lane_->name_text[kNameBytes - 1] = 'z';
  lane_->name_at[kMostNames - 1] = kNameBytes;
  EXPECT_EQ(lane_->name(kMostNames - 1), "z") << "the last name, in the last byte";
  EXPECT_EQ(lane_->name(kMostNames), "");
}

TEST_F(LaneTest, LaunchesBelowTheLimitPassOrHavePassed) {
  live::LaneGate gate(*lane_);
  EXPECT_FALSE(gate.is_open());
  EXPECT_FALSE(gate.has_passed(0));
  gate.close(3);
  EXPECT_EQ(lane_->gate, closed_word(0, 3));
  EXPECT_TRUE(gate.has_passed(2));
  EXPECT_FALSE(gate.has_passed(3));
  lane_->gate.fetch_add(2);
  gate.close(1);
  EXPECT_EQ(gate.limit(), 1u);
  EXPECT_TRUE(gate.has_passed(1)) << "of two that passed the higher limit";
  EXPECT_FALSE(gate.has_passed(2));
  gate.open();
  EXPECT_EQ(lane_->gate & kClosed, 0u);
  EXPECT_TRUE(gate.has_passed(1000));
  lane_->gate.fetch_add(5);
  gate.close(0);
  EXPECT_EQ(lane_->gate, closed_word(7, 0));
  EXPECT_TRUE(gate.has_passed(6)) << "they passed while it was open";
  EXPECT_FALSE(gate.has_passed(7));
  gate.close(2);
  EXPECT_TRUE(gate.has_passed(6));
}

/// Sleepers are woken where one of them may go on, and nowhere else.
TEST_F(LaneTest, WhatWaitsIsWokenWhereItMayGoOn) {
  live::LaneGate gate(*lane_);
  const auto wakes = [&] {
    const std::uint32_t before = lane_->turn;
    gate.wake_admitted();
    return lane_->turn != before;
  };
  EXPECT_FALSE(wakes());
  gate.close(2);
  EXPECT_FALSE(wakes()) << "nothing waits";
  lane_->gate.fetch_add(2);
  gate.close(3);
  EXPECT_FALSE(wakes()) << "both passed";
  lane_->gate.fetch_add(2);
  gate.close(4);
  EXPECT_TRUE(wakes()) << "the fourth waited";
  EXPECT_FALSE(wakes());
  gate.close(1);
  EXPECT_FALSE(wakes());
  gate.open();
  EXPECT_TRUE(wakes());
  gate.open();
  EXPECT_FALSE(wakes()) << "it was open";
}

TEST_F(LaneTest, WhoWaitsForAnEntryIsWokenWhenItMayBeUsedAgain) {
  live::LaneGate gate(*lane_);
  const auto wakes = [&] {
    const std::uint32_t before = lane_->turn;
    gate.wake_admitted();
    return lane_->turn != before;
  };
  gate.close(0);
  lane_->gate.fetch_add(kDepth - 1);
  gate.retire(1);
  EXPECT_EQ(lane_->retired, 1u);
  EXPECT_EQ(gate.retired(), 1u);
  EXPECT_FALSE(wakes()) << "all had an entry";
  lane_->gate.fetch_add(2);
  gate.retire(1);
  EXPECT_FALSE(wakes()) << "nothing new";
  gate.retire(2);
  EXPECT_TRUE(wakes());
}

class LaneReaderTest : public LaneTest {
 protected:
  Launch& write(std::uint64_t number) {
    Launch& entry = lane_->launches[number % kDepth];
    entry.submitted_ns = executor::WallClock::monotonic_ns();
    entry.ready = number + 1;
    return entry;
  }
  void write_end(std::uint64_t number, std::uint32_t group) {
    Launch& entry = lane_->launches[number % kDepth];
    entry.end_ns = executor::WallClock::monotonic_ns();
    entry.device_ns = 1;
    entry.group = group;
    Slot& slot = lane_->slots[0];
    slot.done[slot.done_count % kDepth] = number;
    slot.done_count.fetch_add(1);
  }
  FrameRecord& write_frame(std::uint64_t place) {
    FrameRecord& record = lane_->frames[place % kFrameDepth];
    record.at_ns = executor::WallClock::monotonic_ns();
    record.ready = place + 1;
    lane_->frame_count = place + 1;
    return record;
  }

  live::LaneReader reader_{*lane_, clock_};
};

TEST_F(LaneReaderTest, LaunchesAreReadInOrderOnceEach) {
  lane_->gate.fetch_add(2);
  EXPECT_FALSE(reader_.read_launch(0)) << "taken, and not written yet";
  write(1);
  EXPECT_FALSE(reader_.read_launch(0)) << "the second is not the first";
  Launch& first = write(0);
  first.kind = LaunchKind::kMemset;
  first.name = 5;
  first.stream = 6;
  first.blocks = UINT64_MAX, first.bytes = UINT64_MAX;
  const auto read = reader_.read_launch(0);
  ASSERT_TRUE(read && read->said);
  EXPECT_EQ(read->number, 0u);
  EXPECT_EQ(read->said->kind, LaunchKind::kMemset);
  EXPECT_EQ(read->said->name, 5u);
  EXPECT_EQ(read->said->stream, 6u);
  EXPECT_EQ(read->said->slot_mark, 0u);
  EXPECT_EQ(read->said->blocks, std::uint64_t{1} << 40) << "no more than adds up";
  EXPECT_EQ(read->said->bytes, std::uint64_t{1} << 50);
  EXPECT_EQ(read->said->submitted, clock_.at(first.submitted_ns));
  EXPECT_EQ(reader_.read_launch(0)->number, 1u);
  EXPECT_FALSE(reader_.read_launch(0));
  EXPECT_EQ(reader_.fault(), "");
}

TEST_F(LaneReaderTest, ALaunchOfAProcessThatIsNoLongerThereSaysNothing) {
  lane_->gate.fetch_add(2);
  write(0).slot = mark_of_slot(3, 0);
  write(1).slot = mark_of_slot(3, 1);
  lane_->slots[3].turn = 1;
  EXPECT_FALSE(reader_.read_launch(0)->said);
  EXPECT_TRUE(reader_.read_launch(0)->said);
}

TEST_F(LaneReaderTest, ALaunchInThePlaceOfOneThatHasNotEndedIsAFault) {
  lane_->gate.fetch_add(kDepth + 1);
  for (std::uint64_t number = 0; number < kDepth; ++number) {
    write(number);
    ASSERT_TRUE(reader_.read_launch(0)) << number;
  }
  write(kDepth);
  EXPECT_FALSE(reader_.read_launch(0));
  EXPECT_EQ(reader_.fault(), "launch 8192 is in the place of one that has not ended");
}

TEST_F(LaneReaderTest, SoManyLaunchesMayStandBeforeTheirEntriesAndNoMore) {
  lane_->gate = closed_word(kDepth + (1 << 20), 0);
  write(0);
  EXPECT_TRUE(reader_.read_launch(0));
  lane_->gate = closed_word(kDepth + (1 << 20) + 2, 0);
  write(1);
  EXPECT_FALSE(reader_.read_launch(0));
  EXPECT_EQ(reader_.fault(), "1056770 launches have been made, of 1 that were told");
}

TEST_F(LaneReaderTest, KindsAndNamesThatThereAreNotAreFaults) {
  lane_->gate.fetch_add(2);
  write(0).name = kMostNames - 1;
  EXPECT_TRUE(reader_.read_launch(0)->said);
  write(1).name = kMostNames;
  EXPECT_FALSE(reader_.read_launch(0));
  EXPECT_EQ(reader_.fault(), "launch 1 has name 2048 of 2048");
  live::LaneReader other(*lane_, clock_);
  write(0).kind = static_cast<LaunchKind>(6);
  EXPECT_FALSE(other.read_launch(0));
  EXPECT_EQ(other.fault(), "launch 0 is of kind 6");
  EXPECT_FALSE(other.read_launch(0)) << "nothing more is read";
}

TEST_F(LaneReaderTest, AGroupIsReadWhenAllOfItIsWritten) {
  lane_->slots_used = 40;
  EXPECT_EQ(reader_.slots_used(), kMostProcesses) << "no more than there are";
  write_end(4, 3);
  write_end(5, 3);
  EXPECT_EQ(reader_.ends_written(0), 2u);
  EXPECT_FALSE(reader_.next_ends(0, 2));
  write_end(7, 3);
  write_end(8, 0);
  EXPECT_FALSE(reader_.next_ends(0, 2)) << "as of then";
  const auto group = reader_.next_ends(0, 4);
  ASSERT_TRUE(group);
  ASSERT_EQ(group->ends.size(), 3u);
  EXPECT_EQ(group->slot, 0u);
  EXPECT_EQ(group->ends[2].number, 7u);
  EXPECT_EQ(group->ends[2].at, clock_.at(lane_->launches[7].end_ns));
  EXPECT_EQ(group->ends[2].device_time, Duration{1});
  EXPECT_EQ(reader_.next_ends(0, 4)->ends.front().number, 4u) << "until it is taken";
  reader_.take(*group);
  EXPECT_EQ(reader_.next_ends(0, 4)->ends.size(), 1u) << "one at least";
  reader_.take(*reader_.next_ends(0, 4));
  EXPECT_FALSE(reader_.next_ends(0, 4));
  EXPECT_EQ(reader_.fault(), "");
}

TEST_F(LaneReaderTest, EndsThatCannotBeAreFaults) {
  const auto fault_of = [&](std::uint64_t written) {
    live::LaneReader reader(*lane_, clock_);
    EXPECT_FALSE(reader.next_ends(0, written));
    return reader.fault();
  };
  write_end(kDepth - 1, 1);
  EXPECT_TRUE(reader_.next_ends(0, 1)) << "the furthest that may have been launched";
  EXPECT_EQ(fault_of(kDepth + 1), "8193 launches have ended at once");
  lane_->launches[kDepth - 1].group = kDepth + 1;
  EXPECT_EQ(fault_of(1), "8193 launches are of one group");
  lane_->launches[kDepth - 1].group = kDepth;
  EXPECT_EQ(fault_of(1), "") << "not yet written as a whole";
  lane_->slots[0].done[0] = kDepth;
  write(kDepth).group = 1;
  EXPECT_EQ(fault_of(1).substr(0, 24), "the end of a launch is a");
  lane_->launches[0].end_ns = executor::WallClock::monotonic_ns();
  lane_->launches[0].device_ns = -1;
  EXPECT_EQ(fault_of(1), "a launch took -1 ns, longer than the run");
  lane_->launches[0].device_ns = 1;
  EXPECT_EQ(fault_of(1), "launch 8192 has ended, 0 were told");
}

TEST_F(LaneReaderTest, AFrameIsReadOnceAndItsPlaceIsFree) {
  EXPECT_FALSE(reader_.read_frame());
  FrameRecord& record = write_frame(0);
  record.number = 7;
  record.moment = FrameMoment::kEnd;
  record.gpu_busy_ns = 500;
  const auto mark = reader_.read_frame();
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->number, 7u);
  EXPECT_EQ(mark->moment, FrameMoment::kEnd);
  EXPECT_EQ(mark->at, clock_.at(record.at_ns));
  EXPECT_EQ(mark->gpu_end, mark->at) << "where it is not known";
  EXPECT_EQ(mark->gpu_busy, Duration{500});
  EXPECT_EQ(lane_->frames_read, 1u);
  EXPECT_EQ(lane_->frames_lost, 0u);
  EXPECT_FALSE(reader_.read_frame());
  FrameRecord& next = write_frame(1);
  next.gpu_end_ns = next.at_ns - 1000;
  EXPECT_EQ(reader_.read_frame()->gpu_end, clock_.at(next.at_ns) - Duration{1000});
}

TEST_F(LaneReaderTest, AFrameThatNoGateTellsIsNotRead) {
  write_frame(0).number = (std::uint64_t{1} << 48) - 1;
  EXPECT_TRUE(reader_.read_frame());
  write_frame(1).moment = static_cast<FrameMoment>(3);
  EXPECT_FALSE(reader_.read_frame());
  EXPECT_EQ(reader_.fault(), "a frame has a moment 3");
  write_frame(2);
  EXPECT_FALSE(reader_.read_frame()) << "nothing more is read";
  live::LaneReader other(*lane_, clock_);
  write_frame(0).number = std::uint64_t{1} << 48;
  EXPECT_FALSE(other.read_frame());
  EXPECT_EQ(other.fault(), "a frame has number 281474976710656");
}

TEST_F(LaneReaderTest, APlaceThatIsTakenAndNotFilledIsPassedOverAfterATenthOfASecond) {
  lane_->frame_count = 1;
  write_frame(1);
  const Time begin = clock_.now();
  std::optional<live::LaneReader::FrameMark> mark;
  while (!mark && clock_.now() < begin + std::chrono::seconds{10}) mark = reader_.read_frame();
  ASSERT_TRUE(mark);
  EXPECT_GT(clock_.now() - begin, std::chrono::milliseconds{100});
  EXPECT_EQ(lane_->frames_lost, 1u);
  EXPECT_EQ(lane_->frames_read, 2u);
}

TEST_F(LaneReaderTest, DeadProcessesAreThoseThatHeldSomething) {
  lane_->slots_used = 3;
  lane_->slots[0].process = kFormerProcess;
  lane_->slots[1].process = static_cast<std::uint32_t>(getpid());
  lane_->slots[3].process = kFormerProcess;  // was never used
  EXPECT_EQ(reader_.dead_slots(), (std::vector<std::uint32_t>{0}));
  EXPECT_FALSE(reader_.dead_frame_process());
  lane_->frame_process = static_cast<std::uint32_t>(getpid());
  EXPECT_FALSE(reader_.dead_frame_process());
  lane_->frame_process = kFormerProcess;
  EXPECT_EQ(reader_.dead_frame_process(), kFormerProcess);
  reader_.free_slot(0);
  EXPECT_TRUE(reader_.dead_slots().empty());
}

TEST_F(LaneReaderTest, NamesAreReadableAndOfOneMemory) {
  memcpy(lane_->name_text, "_Z3addi", 8);
  EXPECT_EQ(reader_.name(1), "") << "not written yet";
  lane_->name_at[1] = 1;
  EXPECT_EQ(reader_.name(1), "add(int)");
  lane_->name_at[1] = 0;
  EXPECT_EQ(reader_.name(1), "add(int)") << "it is kept";
  EXPECT_EQ(reader_.name(kMostNames), "");
  memset(lane_->name_text, 'a', kNameBytes);
  lane_->name_at[2] = 1;
  EXPECT_EQ(reader_.name(2), "");
  EXPECT_EQ(reader_.fault(), "names overlap") << "together more than there is room for";
}

TEST_F(LaneTest, TimesThatCannotBeAreFaults) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto holds = [&](std::int64_t from_begin, bool is_length) {
    live::LaneChecks checks(clock_);
    const std::int64_t begin = executor::WallClock::monotonic_ns() - to_ns(clock_.elapsed());
    const bool is_good =
        is_length ? checks.length(from_begin, "it").has_value() : checks.instant(begin + from_begin, "it").has_value();
    EXPECT_EQ(is_good, !checks.has_fault());
    return is_good;
  };
  EXPECT_TRUE(holds(0, false));
  EXPECT_TRUE(holds(-kSecond * 9 / 10, false)) << "clocks of a GPU are not quite ours";
  EXPECT_FALSE(holds(-kSecond * 11 / 10, false));
  EXPECT_TRUE(holds(kSecond * 9 / 10, false));
  EXPECT_FALSE(holds(20 * kSecond, false));
  EXPECT_TRUE(holds(0, true));
  EXPECT_FALSE(holds(-1, true));
  EXPECT_TRUE(holds(kSecond, true));
  EXPECT_FALSE(holds(20 * kSecond, true));
}

}  // namespace
}  // namespace corun
