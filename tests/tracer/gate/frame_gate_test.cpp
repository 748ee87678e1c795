// How the frames of a program are told: begin, present and the end of their work, which fences say.
#include "tracer/gate/frame_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "tests/tracer/gate/scheduler_side.h"

namespace corun {

constinit gate::FrameGate gate::frame_gate{gate::FrameTeller::kGl};

namespace {

using namespace std::chrono_literals;
using gate::Fence;
using gate::FrameMoment;
using guest::monotonic_ns;
using testing::comes_true;

/// Fences of any owner, and what became of them.
class Fences {
 public:
  Fence make(void* owner) {
    const std::lock_guard lock(mutex_);
    return {owner, reinterpret_cast<void*>(++made_), &Fences::has_passed, &Fences::destroy};
  }
  void let_pass(std::uintptr_t first, std::uintptr_t last) {
    const std::lock_guard lock(mutex_);
    for (std::uintptr_t handle = first; handle <= last; ++handle) passed_[handle] = true;
  }
  std::vector<std::uintptr_t> destroyed() {
    const std::lock_guard lock(mutex_);
    return destroyed_;
  }
  /// Times that one was asked about.
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  void forget_all() {
    const std::lock_guard lock(mutex_);
    made_ = 0, asked_ = 0;
    passed_.clear();
    destroyed_.clear();
  }

 private:
  static bool has_passed(void*, void* handle);
  static void destroy(void*, void* handle);

  std::mutex mutex_;
  std::uintptr_t made_ = 0;
  int asked_ = 0;
  std::map<std::uintptr_t, bool> passed_;
  std::vector<std::uintptr_t> destroyed_;
};
Fences& fences() {
  static auto& only = *new Fences;
  return only;
}
bool Fences::has_passed(void*, void* handle) {
  const std::lock_guard lock(fences().mutex_);
  ++fences().asked_;
  return fences().passed_[reinterpret_cast<std::uintptr_t>(handle)];
}
void Fences::destroy(void*, void* handle) {
  const std::lock_guard lock(fences().mutex_);
  fences().destroyed_.push_back(reinterpret_cast<std::uintptr_t>(handle));
}

struct Told {
  FrameMoment moment;
  std::uint64_t frame;
  friend bool operator==(const Told&, const Told&) = default;
};
void PrintTo(const Told& told, std::ostream* out) { *out << static_cast<int>(told.moment) << " of " << told.frame; }

class FrameGateTest : public ::testing::Test {
 protected:
  FrameGateTest() { fences().forget_all(); }
  ~FrameGateTest() override { gate_.stop(); }

  std::vector<Told> told() const {
    std::vector<Told> all;
    const gate::Lane& lane = scheduler_.lane();
    for (std::uint64_t i = 0; i < lane.frame_count; ++i) {
      comes_true([&] { return lane.frames[i].ready == i + 1; });
      all.push_back({lane.frames[i].moment, lane.frames[i].number});
    }
    return all;
  }
  std::vector<Told> told(std::size_t count) const {
    comes_true([&] { return scheduler_.lane().frame_count >= count; });
    return told();
  }
  const gate::FrameRecord& record(std::size_t place) const { return scheduler_.lane().frames[place]; }
  /// Frames that are shown and await one fence of this owner each.
  void show(int count, void* owner) {
    for (int i = 0; i < count; ++i) {
      gate_.begin();
      gate_.await(fences().make(owner), true);
      gate_.present(true);
    }
  }
  /// Fences alone, of which the gate's thread then has the first.
  void await(int count, void* owner) {
    for (int i = 0; i < count; ++i) gate_.await(fences().make(owner), false);
    comes_true([] { return fences().asked() > 0; });
  }

  testing::SchedulerSide scheduler_;
  gate::FrameGate& gate_ = testing::kept<gate::FrameGate>(gate::FrameTeller::kGl);
  int ours_ = 0, other_ = 0;  // owners
};

constexpr auto kBegin = FrameMoment::kBegin, kPresent = FrameMoment::kPresent, kEnd = FrameMoment::kEnd;

TEST_F(FrameGateTest, AFrameBeginsOnceHoweverOftenTheProgramGivesWork) {
  EXPECT_FALSE(gate_.is_on());
  const std::int64_t before = monotonic_ns();
  EXPECT_TRUE(gate_.begin());
  EXPECT_TRUE(gate_.is_on());
  EXPECT_TRUE(gate_.begin());
  EXPECT_TRUE(gate_.begin());
  EXPECT_EQ(told(), (std::vector<Told>{{kBegin, 0}}));
  EXPECT_GE(record(0).at_ns, before);
  EXPECT_LE(record(0).at_ns, monotonic_ns());
}

TEST_F(FrameGateTest, AFrameWithoutAFenceEndsAsItIsShown) {
  gate_.begin();
  gate_.present(false);
  gate_.begin();
  gate_.present(false);
  EXPECT_EQ(told(), (std::vector<Told>{{kBegin, 0}, {kPresent, 0}, {kEnd, 0}, {kBegin, 1}, {kPresent, 1}, {kEnd, 1}}));
  EXPECT_EQ(record(2).gpu_begin_ns, record(0).at_ns);
  EXPECT_EQ(record(2).gpu_end_ns, record(2).at_ns);
  EXPECT_EQ(record(5).gpu_begin_ns, record(3).at_ns);
  EXPECT_GE(record(5).gpu_begin_ns, record(2).gpu_end_ns);
}

TEST_F(FrameGateTest, AFrameEndsWhenItsFenceHasPassed) {
  gate_.begin();
  gate_.await(fences().make(&ours_), false);
  gate_.await(fences().make(&ours_), true);
  gate_.present(true);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(told(), (std::vector<Told>{{kBegin, 0}, {kPresent, 0}}));
  fences().let_pass(1, 1);
  comes_true([] { return !fences().destroyed().empty(); });
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(told().size(), 2u) << "that is not its end";
  fences().let_pass(2, 2);
  EXPECT_EQ(told(3), (std::vector<Told>{{kBegin, 0}, {kPresent, 0}, {kEnd, 0}}));
  EXPECT_EQ(record(2).gpu_begin_ns, record(0).at_ns);
  EXPECT_TRUE(comes_true([] { return fences().destroyed() == std::vector<std::uintptr_t>{1, 2}; }));
}

/// On a machine that is busy otherwise, one of some.
TEST_F(FrameGateTest, AnEndIsSeenSoon) {
  std::int64_t quickest = INT64_MAX;
  for (std::uintptr_t i = 1; i <= 3; ++i) {
    const int before = fences().asked();
    show(1, &ours_);
    comes_true([&] { return fences().asked() > before; });
    fences().let_pass(i, i);
    const std::int64_t passed = monotonic_ns();
    EXPECT_EQ(told(3 * i).size(), 3 * i);
    quickest = std::min(quickest, monotonic_ns() - passed);
  }
  EXPECT_LT(quickest, 500'000'000);
}

TEST_F(FrameGateTest, WhatAFrameTookCountsFromTheEndOfTheOneBefore) {
  show(2, &ours_);
  std::this_thread::sleep_for(5ms);
  fences().let_pass(1, 2);
  EXPECT_EQ(told(6).back(), (Told{kEnd, 1}));
  EXPECT_EQ(record(5).gpu_begin_ns, record(4).gpu_end_ns) << "it had begun long before";
}

TEST_F(FrameGateTest, WhatIsForgottenOfAnOwnerHasEndedAndTheOthersIsAwaited) {
  show(2, &ours_);
  show(2, &other_);
  show(1, &ours_);
  comes_true([] { return fences().asked() > 0; });
  gate_.forget(&other_);
  const std::vector<Told> after = told();
  ASSERT_EQ(after.size(), 12u);
  EXPECT_EQ(after[10], (Told{kEnd, 2}));
  EXPECT_EQ(after[11], (Told{kEnd, 3}));
  EXPECT_EQ(fences().destroyed(), (std::vector<std::uintptr_t>{3, 4}));
  fences().let_pass(1, 5);
  EXPECT_EQ(told(15), (std::vector<Told>{after[0],
                                         after[1],
                                         after[2],
                                         after[3],
                                         after[4],
                                         after[5],
                                         after[6],
                                         after[7],
                                         after[8],
                                         after[9],
                                         {kEnd, 2},
                                         {kEnd, 3},
                                         {kEnd, 0},
                                         {kEnd, 1},
                                         {kEnd, 4}}));
}

TEST_F(FrameGateTest, WhatIsWatchedOfAnOwnerThatIsForgottenEndsFirst) {
  show(3, &ours_);
  comes_true([] { return fences().asked() > 0; });
  gate_.forget(&ours_);
  const std::vector<Told> after = told();
  ASSERT_EQ(after.size(), 9u);
  for (std::uint64_t frame = 0; frame < 3; ++frame) EXPECT_EQ(after[6 + frame], (Told{kEnd, frame}));
  EXPECT_EQ(fences().destroyed(), (std::vector<std::uintptr_t>{1, 2, 3}));
  show(1, &ours_);
  EXPECT_EQ(told().size(), 11u) << "a new fence of it is awaited";
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(told().size(), 11u);
}

TEST_F(FrameGateTest, HasRoomWhileEightThreadsMayEachAddOne) {
  gate_.begin();
  await(1, &ours_);
  for (int i = 0; i < 248; ++i) gate_.await(fences().make(&ours_), false);
  EXPECT_TRUE(gate_.has_room());
  gate_.await(fences().make(&ours_), false);
  EXPECT_FALSE(gate_.has_room());
}

TEST_F(FrameGateTest, WithoutRoomTheOldestFenceGoes) {
  gate_.begin();
  await(1, &ours_);
  for (int i = 0; i < 256; ++i) gate_.await(fences().make(&ours_), false);
  EXPECT_TRUE(fences().destroyed().empty());
  gate_.await(fences().make(&ours_), false);
  EXPECT_EQ(fences().destroyed(), (std::vector<std::uintptr_t>{2})) << "the first is watched";
  gate_.await(fences().make(&ours_), true);
  EXPECT_EQ(fences().destroyed(), (std::vector<std::uintptr_t>{2, 3}));
  fences().let_pass(1, 300);
  EXPECT_EQ(told(2).back(), (Told{kEnd, 0}));
  EXPECT_TRUE(comes_true([] { return fences().destroyed().size() == 259; })) << "each is destroyed once";
}

TEST_F(FrameGateTest, AfterItsEndNothingIsToldAndNoFenceIsTouched) {
  show(1, &ours_);
  comes_true([] { return fences().asked() > 0; });
  gate_.stop();
  EXPECT_FALSE(gate_.is_on());
  EXPECT_FALSE(gate_.begin());
  const int asked = fences().asked();
  fences().let_pass(1, 1);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(fences().asked(), asked);
  EXPECT_TRUE(fences().destroyed().empty());
  EXPECT_EQ(told().size(), 2u);
  gate_.forget(&ours_);
  EXPECT_TRUE(fences().destroyed().empty());
}

TEST_F(FrameGateTest, OfTwoLibrariesInAProgramOneTellsItsFrames) {
  EXPECT_TRUE(gate_.begin());
  auto& second = testing::kept<gate::FrameGate>(gate::FrameTeller::kVulkan);
  EXPECT_FALSE(second.begin());
  EXPECT_FALSE(second.begin());
  EXPECT_EQ(told().size(), 1u);
}

TEST(FrameGate, WithoutAGateNothingHappens) {
  unsetenv(gate::kFileVariable);
  auto& frames = testing::kept<gate::FrameGate>(gate::FrameTeller::kGl);
  EXPECT_FALSE(frames.begin());
  EXPECT_FALSE(frames.is_on());
  frames.forget(nullptr);
  frames.stop();
}

}  // namespace
}  // namespace corun
