#include "tracer/cuda/event_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>
#include <vector>

namespace corun::cupti {
namespace {

const void* handle(std::uintptr_t number) { return reinterpret_cast<const void*>(0x7F00'0000'0000 + 64 * number); }

class EventTableTest : public testing::Test {
 protected:
  EventTableTest() { EXPECT_TRUE(table_.map()); }

  EventTable table_;
};

TEST_F(EventTableTest, AnEventKeepsItsNumberAndEveryRecordHasOneOfItsOwn) {
  const EventMark first = table_.record(handle(1)), other = table_.record(handle(2)), again = table_.record(handle(1));
  EXPECT_EQ(first.event, again.event);
  EXPECT_NE(first.event, other.event);
  EXPECT_EQ(std::set({first.sync, other.sync, again.sync, std::uint64_t{0}}).size(), 4u);
}

TEST_F(EventTableTest, AWaitIsForTheLastRecord) {
  table_.record(handle(1));
  const EventMark last = table_.record(handle(1));
  table_.record(handle(2));
  EXPECT_EQ(table_.last(handle(1)).event, last.event);
  EXPECT_EQ(table_.last(handle(1)).sync, last.sync);
}

TEST_F(EventTableTest, WhatWasNeverRecordedIsNotKnown) {
  table_.record(handle(1));
  for (const void* event : {handle(2), static_cast<const void*>(nullptr)}) {
    EXPECT_EQ(table_.last(event).event, 0u);
    EXPECT_EQ(table_.last(event).sync, 0u);
  }
}

TEST_F(EventTableTest, AForgottenEventIsNotKnownUntilItIsRecordedAgain) {
  const std::uint32_t event = table_.record(handle(1)).event;
  table_.forget(handle(1));
  table_.forget(handle(2));
  EXPECT_EQ(table_.last(handle(1)).event, 0u);
  table_.record(handle(1));
  EXPECT_EQ(table_.last(handle(1)).event, event);
}

TEST_F(EventTableTest, AFullTableStillKnowsTheEventsItHas) {
  std::map<std::uint32_t, std::uintptr_t> known;
  for (std::uintptr_t i = 0; i < 2 * EventTable::kSlots; ++i) {
    const std::uint32_t event = table_.record(handle(i)).event;
    if (event == 0) continue;
    EXPECT_TRUE(known.emplace(event, i).second) << "a number given twice";
  }
  EXPECT_GT(known.size(), EventTable::kSlots / 2);
  EXPECT_LE(known.size(), EventTable::kSlots);
  for (const auto& [event, i] : known) ASSERT_EQ(table_.last(handle(i)).event, event);
}

TEST_F(EventTableTest, WithoutMemoryNoEventIsKnown) {
  EventTable table;
  EXPECT_EQ(table.record(handle(1)).event, 0u);
  EXPECT_EQ(table.last(handle(1)).event, 0u);
}

TEST_F(EventTableTest, ThreadsThatMeetNewEventsTogetherAgreeOnTheirNumbers) {
  constexpr std::uintptr_t kEvents = 2000;
  std::vector<std::uint32_t> seen[3];
  std::vector<std::thread> threads;
  for (auto& numbers : seen) {
    threads.emplace_back([this, &numbers] {
      for (std::uintptr_t i = 0; i < kEvents; ++i) numbers.push_back(table_.record(handle(i)).event);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_EQ(std::set(seen[0].begin(), seen[0].end()).size(), kEvents);
}

}  // namespace
}  // namespace corun::cupti
