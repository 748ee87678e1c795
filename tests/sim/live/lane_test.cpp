// What the scheduler does with a client's memory, without a program.
#include <gtest/gtest.h>
#include <sys/mman.h>

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

}  // namespace
}  // namespace corun
