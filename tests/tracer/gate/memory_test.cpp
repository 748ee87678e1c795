// Device memory that a program allocates: what its calls ask for, what is kept of them, what its client may have.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/tracer/gate/gate_driver.h"
#include "tests/tracer/gate/scheduler_side.h"
#include "tracer/gate/memory/allocation_table.h"
#include "tracer/gate/memory/memory_call_passing.h"
#include "tracer/gate/memory/memory_calls.h"
#include "tracer/gate/memory/memory_limit.h"

namespace corun {
namespace {

using gate::AllocationCall;
using gate::AllocationTable;
using gate::MemoryKind;
namespace cbid = gate::cbid;

using Word = std::uint64_t;

template <class T>
Word word(T* pointer) {
  return reinterpret_cast<Word>(pointer);
}

struct Shape {
  std::uint64_t width, height;
  std::uint32_t format, channels;
};
struct Shape3d {
  std::uint64_t width, height, depth;
  std::uint32_t format, channels, flags;
};

TEST(MemoryCalls, AllocationsSayHowMuchOfWhat) {
  Word handle = 0;
  const auto read = [&](std::uint32_t function, Word a, Word b = 0, Word c = 0, Word d = 0) {
    const Word words[] = {word(&handle), a, b, c, d};
    return gate::read_allocation(function, words);
  };
  for (const std::uint32_t function :
       {cbid::cuMemAlloc_v2, cbid::cuMemAllocManaged, cbid::cuMemAllocAsync, cbid::cuMemAllocAsync_ptsz,
        cbid::cuMemAllocFromPoolAsync, cbid::cuMemAllocFromPoolAsync_ptsz}) {
    const AllocationCall call = read(function, 12345);
    EXPECT_EQ(call.handle, &handle);
    EXPECT_EQ(call.bytes, 12345u) << function;
    EXPECT_EQ(call.kind, MemoryKind::kAddress);
    EXPECT_EQ(call.can_be_managed, function == cbid::cuMemAlloc_v2) << function;
    EXPECT_EQ(call.is_managed, function == cbid::cuMemAllocManaged) << function;
  }
  EXPECT_EQ(read(cbid::cuMemAllocPitch_v2, 0x999, 300, 20, 4).bytes, 6000u) << "width and height, in bytes and rows";
  const Shape shape{100, 0, 0x10, 2};
  EXPECT_EQ(read(cbid::cuArrayCreate_v2, word(&shape)).bytes, 400u) << "a line of two halves";
  EXPECT_EQ(read(cbid::cuArrayCreate_v2, word(&shape)).kind, MemoryKind::kArray);
  const std::pair<std::uint32_t, std::uint64_t> formats[] = {{0x01, 1}, {0x08, 1}, {0x02, 2}, {0x09, 2},
                                                             {0x10, 2}, {0x03, 4}, {0x0a, 4}, {0x20, 4}};
  for (const auto& [format, bytes] : formats) {
    const Shape3d box{10, 5, 3, format, 4, 0};
    EXPECT_EQ(read(cbid::cuArray3DCreate_v2, word(&box)).bytes, 600 * bytes) << format;
    EXPECT_EQ(read(cbid::cuMipmappedArrayCreate, word(&box)).bytes, 800 * bytes) << "all levels";
  }
}

TEST(MemoryCalls, MappingsOfTheHostAreNoDeviceMemory) {
  Word handle = 0;
  for (const int location : {0, 1, 2, 3, 4, 5}) {
    const int properties[3] = {1, 0, location};
    const Word words[] = {word(&handle), 4096, word(properties), 0};
    const AllocationCall call = gate::read_allocation(cbid::cuMemCreate, words);
    EXPECT_EQ(call.is_elsewhere, location >= 2 && location <= 4) << location;
    EXPECT_EQ(call.bytes, 4096u);
    EXPECT_EQ(call.kind, MemoryKind::kMapping);
  }
}

TEST(MemoryCalls, WhatTheDriverRefusesIsNoAllocation) {
  Word handle = 0;
  const Word of_nothing[] = {word(&handle), 0, 0, 0, 0}, to_nowhere[] = {0, 100, 100, 100, 0};
  for (const std::uint32_t function : {cbid::cuMemAlloc_v2, cbid::cuMemAllocPitch_v2, cbid::cuMemCreate,
                                       cbid::cuArrayCreate_v2, cbid::cuArray3DCreate_v2, cbid::cuMipmappedArrayCreate})
    EXPECT_EQ(gate::read_allocation(function, of_nothing).handle, nullptr) << function;
  EXPECT_EQ(gate::read_allocation(cbid::cuMemAlloc_v2, to_nowhere).handle, nullptr);
  const Word too_many[] = {word(&handle), 0, Word{1} << 40, Word{1} << 40, 4};
  EXPECT_EQ(gate::read_allocation(cbid::cuMemAllocPitch_v2, too_many).bytes, UINT64_MAX) << "no overflow";
}

TEST(MemoryCalls, HandlesAreFreedByTheFunctionsOfTheirKind) {
  EXPECT_EQ(gate::freed_kind(cbid::cuMemFree_v2), MemoryKind::kAddress);
  EXPECT_EQ(gate::freed_kind(cbid::cuMemFreeAsync), MemoryKind::kAddress);
  EXPECT_EQ(gate::freed_kind(cbid::cuMemRelease), MemoryKind::kMapping);
  EXPECT_EQ(gate::freed_kind(cbid::cuArrayDestroy), MemoryKind::kArray);
  EXPECT_EQ(gate::freed_kind(cbid::cuMipmappedArrayDestroy), MemoryKind::kMipmappedArray);
}

class AllocationTableTest : public ::testing::Test {
 protected:
  bool keep(Word handle, std::uint64_t bytes, MemoryKind kind = MemoryKind::kAddress, const void* context = nullptr) {
    return table_->keep({handle, kind, bytes, context}, replaced_);
  }
  std::uint64_t take(Word handle, MemoryKind kind = MemoryKind::kAddress) { return table_->take(handle, kind).bytes; }

  std::unique_ptr<AllocationTable> table_ = std::make_unique<AllocationTable>();
  std::uint64_t replaced_ = 0;
};

TEST_F(AllocationTableTest, EachIsTakenOnce) {
  EXPECT_TRUE(keep(1, 100));
  EXPECT_TRUE(keep(2, 200));
  EXPECT_TRUE(keep(1, 300, MemoryKind::kMapping)) << "another one";
  EXPECT_EQ(replaced_, 0u);
  EXPECT_EQ(take(1), 100u);
  EXPECT_EQ(take(1), 0u);
  EXPECT_EQ(take(1, MemoryKind::kMapping), 300u);
  EXPECT_EQ(take(2), 200u);
  EXPECT_EQ(take(3), 0u);
}

TEST_F(AllocationTableTest, OneThatComesAgainReplacesWhatWasFreedUnseen) {
  keep(1, 100);
  EXPECT_TRUE(keep(1, 250));
  EXPECT_EQ(replaced_, 100u);
  EXPECT_EQ(take(1), 250u);
  EXPECT_EQ(take(1), 0u);
}

TEST_F(AllocationTableTest, HoldsSoManyAndTheFreedOnesMakeRoom) {
  constexpr Word kStep = 512;
  for (Word i = 0; i < AllocationTable::kMost; ++i) ASSERT_TRUE(keep(i * kStep, i + 1));
  EXPECT_FALSE(keep(AllocationTable::kMost * kStep, 1));
  EXPECT_TRUE(keep(7 * kStep, 1)) << "known already";
  EXPECT_EQ(take(9 * kStep), 10u);
  EXPECT_TRUE(keep(AllocationTable::kMost * kStep, 77));
  EXPECT_EQ(take(AllocationTable::kMost * kStep), 77u);
  for (Word i = 0; i < AllocationTable::kMost; ++i) {
    const std::uint64_t wanted = i == 7 ? 1 : i == 9 ? 0 : i + 1;
    ASSERT_EQ(take(i * kStep), wanted) << i;
  }
}

TEST_F(AllocationTableTest, AContextThatEndsTakesItsOwnWithIt) {
  int one = 0, other = 0;
  keep(1, 100, MemoryKind::kAddress, &one);
  keep(2, 20, MemoryKind::kArray, &one);
  keep(3, 3, MemoryKind::kAddress, &other);
  keep(4, 4, MemoryKind::kMapping);
  EXPECT_EQ(table_->forget_context(&one), 120u);
  EXPECT_EQ(table_->forget_context(&one), 0u);
  EXPECT_EQ(take(3), 3u);
  keep(3, 3, MemoryKind::kAddress, &other);
  EXPECT_EQ(table_->forget_context(nullptr), 3u) << "mappings are of none";
  EXPECT_EQ(take(4, MemoryKind::kMapping), 4u);
}

/// A process at the gate of its client.
class MemoryLimitTest : public ::testing::Test {
 protected:
  MemoryLimitTest() {
    EXPECT_TRUE(link_.open());
    EXPECT_TRUE(link_.take_slot());
    limit_->start(link_);
    calls_.allocate_managed = [](std::uint64_t* address, std::size_t bytes, unsigned flags) {
      managed = {bytes, flags};
      *address = 0xabc;
      return managed_result;
    };
  }
  gate::Lane& lane() { return scheduler_.lane(); }
  std::uint64_t allocated() { return lane().slots[0].allocated; }

  /// What a program gets from cuMemAlloc(), and others, where the driver answers so.
  int allocate(std::uint64_t bytes, Word handle = 0x1000, int answer = 0,
               std::uint32_t function = cbid::cuMemAlloc_v2) {
    const Word given[] = {word(&handle_), bytes, 0, 0, 0};
    return passing_.allocate(function, given, &context_, [&] {
      ++asked_;
      if (answer == 0) handle_ = handle;
      return answer;
    });
  }
  int free(Word handle, int answer = 0) {
    const Word given[] = {handle, 0};
    return passing_.free(cbid::cuMemFree_v2, given, [&] { return answer; });
  }
  std::pair<std::uint64_t, std::uint64_t> told(std::uint64_t free, std::uint64_t total) {
    const Word given[] = {word(&free), word(&total)};
    EXPECT_EQ(passing_.tell(cbid::cuMemGetInfo_v2, given, [] { return 0; }), 0);
    return {free, total};
  }

  struct Managed {
    std::size_t bytes;
    unsigned flags;
  };
  static Managed managed;
  static int managed_result;
  testing::SchedulerSide scheduler_;
  gate::GateLink link_;
  std::unique_ptr<gate::MemoryLimit> limit_ = std::make_unique<gate::MemoryLimit>();
  gate::Driver calls_;
  gate::MemoryCallPassing passing_{*limit_, calls_};
  Word handle_ = 0;
  int context_ = 0, asked_ = 0;
};
MemoryLimitTest::Managed MemoryLimitTest::managed{};
int MemoryLimitTest::managed_result = 0;

TEST_F(MemoryLimitTest, WithoutOneAllocationsAreCountedAndPass) {
  EXPECT_EQ(allocate(100, 1), 0);
  EXPECT_EQ(handle_, 1u);
  EXPECT_EQ(allocate(UINT64_MAX / 2, 2, 2), 2) << "as the driver answers";
  EXPECT_EQ(allocated(), 100u);
  EXPECT_EQ(told(5, 7), (std::pair<std::uint64_t, std::uint64_t>{5, 7}));
  EXPECT_EQ(free(1), 0);
  EXPECT_EQ(allocated(), 0u);
  EXPECT_EQ(lane().most_allocated, 100u);
  EXPECT_EQ(lane().refused_allocations, 0u);
  EXPECT_EQ(asked_, 2);
}

TEST_F(MemoryLimitTest, ExactlySoMuchFits) {
  lane().memory_limit = 1000;
  EXPECT_EQ(allocate(400, 1), 0);
  EXPECT_EQ(allocate(601, 2), gate::Driver::kOutOfMemory);
  EXPECT_EQ(asked_, 1) << "the driver is not asked for what is refused";
  EXPECT_EQ(handle_, 1u) << "nor anything written";
  EXPECT_EQ(allocate(600, 2), 0);
  EXPECT_EQ(allocate(1, 3), gate::Driver::kOutOfMemory);
  EXPECT_EQ(allocate(1001, 3), gate::Driver::kOutOfMemory);
  EXPECT_EQ(lane().refused_allocations, 3u);
  EXPECT_EQ(lane().refused_bytes, 1u) << "the smallest";
  EXPECT_EQ(lane().most_allocated, 1000u);
  EXPECT_EQ(free(1), 0);
  EXPECT_EQ(allocate(400, 4), 0);
}

TEST_F(MemoryLimitTest, ProcessesOfAClientShareIt) {
  lane().memory_limit = 1000;
  lane().slots_used = 3;
  lane().slots[2].allocated = 700;
  EXPECT_EQ(allocate(301), gate::Driver::kOutOfMemory);
  EXPECT_EQ(allocate(300), 0);
  EXPECT_EQ(lane().most_allocated, 1000u);
}

TEST_F(MemoryLimitTest, WhatTheDriverDoesNotFreeStillCounts) {
  lane().memory_limit = 1000;
  allocate(800, 1);
  EXPECT_EQ(free(1, 700), 700);
  EXPECT_EQ(allocated(), 800u);
  EXPECT_EQ(free(99), 0) << "none that is known";
  EXPECT_EQ(free(0), 0);
  EXPECT_EQ(allocated(), 800u);
  EXPECT_EQ(free(1), 0);
  EXPECT_EQ(allocated(), 0u);
}

TEST_F(MemoryLimitTest, ContextsThatEndGiveTheirsBack) {
  lane().memory_limit = 1000;
  allocate(800, 1);
  limit_->forget_context(&asked_);
  EXPECT_EQ(allocated(), 800u) << "that of another";
  limit_->forget_context(&context_);
  EXPECT_EQ(allocated(), 0u);
  allocate(800, 1);
  limit_->forget_contexts();
  EXPECT_EQ(allocated(), 0u);
}

TEST_F(MemoryLimitTest, ProgramsAreToldOfWhatTheyMayHave) {
  lane().memory_limit = 900;
  lane().told_memory = 1000;
  using Told = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(told(5000, 8000), (Told{900, 1000}));
  allocate(300);
  EXPECT_EQ(told(5000, 8000), (Told{600, 1000}));
  EXPECT_EQ(told(50, 8000), (Told{50, 1000})) << "no more than is free";
  lane().is_managed = 1;
  EXPECT_EQ(told(50, 8000), (Told{600, 1000})) << "of managed memory that does not count";
  lane().slots[0].allocated = 5000;
  EXPECT_EQ(told(50, 8000).first, 0u);
  std::uint64_t total = 8000;
  const Word given[] = {word(&total), 0};
  EXPECT_EQ(passing_.tell(cbid::cuDeviceTotalMem_v2, given, [] { return 0; }), 0);
  EXPECT_EQ(total, 1000u);
  total = 8000;
  EXPECT_EQ(passing_.tell(cbid::cuDeviceTotalMem_v2, given, [] { return 3; }), 3);
  EXPECT_EQ(total, 8000u) << "nothing is written where the driver has written nothing";
  const Word nowhere[] = {0, 0};
  EXPECT_EQ(passing_.tell(cbid::cuMemGetInfo_v2, nowhere, [] { return 0; }), 0);
}

TEST_F(MemoryLimitTest, PlainAllocationsBecomeManagedAndOthersAreTold) {
  lane().is_managed = 1;
  EXPECT_EQ(allocate(100), 0);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(handle_, 0xabcu);
  EXPECT_EQ(managed.bytes, 100u);
  EXPECT_EQ(managed.flags, 1u) << "for all streams";
  EXPECT_EQ(allocate(30, 2, 0, cbid::cuMemAllocManaged), 0) << "managed already";
  EXPECT_EQ(lane().never_managed, 0u);
  EXPECT_EQ(allocate(50, 3, 0, cbid::cuMemAllocAsync), 0);
  EXPECT_EQ(lane().never_managed, 50u);
  EXPECT_EQ(allocated(), 180u);
  managed_result = 2;
  EXPECT_EQ(allocate(1000), 2);
  managed_result = 0;
  EXPECT_EQ(allocated(), 180u);
  calls_.allocate_managed = nullptr;
  EXPECT_EQ(allocate(7, 4), 0) << "a driver that has none";
  EXPECT_EQ(lane().never_managed, 57u);
}

TEST_F(MemoryLimitTest, AllocationsThatThereIsNoRoomToRememberAreLetThroughAndTold) {
  lane().memory_limit = 1 << 20;
  for (Word i = 1; i <= AllocationTable::kMost; ++i) ASSERT_EQ(allocate(1, i * 256), 0);
  EXPECT_EQ(lane().uncounted, 0u);
  EXPECT_EQ(allocate(1, 1), 0);
  EXPECT_EQ(lane().uncounted, 1u);
  EXPECT_EQ(allocated(), AllocationTable::kMost);
}

TEST_F(MemoryLimitTest, ThreadsThatAskAtATimeNeverGetMoreTogether) {
  lane().memory_limit = 1000;
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> got{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n)
        if (limit_->take(3)) got += 3;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(got, 1000u);
  EXPECT_EQ(allocated(), got);
}

}  // namespace
}  // namespace corun
