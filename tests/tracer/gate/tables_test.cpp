// What a gate keeps of kernels and graphs: names, grids, sums.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/tracer/gate/gate_driver.h"
#include "tracer/gate/graph_table.h"
#include "tracer/gate/kernel_table.h"
#include "tracer/gate/name_table.h"

namespace corun {
namespace {

using gate::kMostNames;
using gate::kNameBytes;
using gate::kNoName;
using testing::GateDriver;

void* handle(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

class GraphTableTest : public ::testing::Test {
 protected:
  GraphTableTest() { EXPECT_TRUE(table_->load()); }

  /// The sum of an executable that was made of these nodes.
  std::pair<std::uint32_t, std::uint64_t> sum(const std::vector<GateDriver::Node>& nodes) {
    driver_.graphs[handle(1)] = nodes;
    table_->made(handle(2), handle(1));
    return sum_of(handle(2));
  }
  std::pair<std::uint32_t, std::uint64_t> sum_of(const void* executable) {
    const gate::GraphTable::Sum sum = table_->sum_of(executable);
    return {sum.kernels, sum.blocks};
  }

  using Sum = std::pair<std::uint32_t, std::uint64_t>;
  GateDriver driver_;
  std::unique_ptr<gate::GraphTable> table_ = std::make_unique<gate::GraphTable>();
};

TEST_F(GraphTableTest, CountsKernelsAndTheirBlocksAlone) {
  const GateDriver::Node copy{{9, 9, 9}, 1};
  EXPECT_EQ(sum({{{2, 3, 5}}, copy, {{7, 1, 1}}, copy}), (Sum{2, 37}));
  EXPECT_EQ(sum({{{65535, 65535, 2}}}), (Sum{1, 2 * 65535ull * 65535ull})) << "more than 32 bits hold";
}

TEST_F(GraphTableTest, AGraphWithoutNodesIsEmpty) { EXPECT_EQ(sum({}), (Sum{0, 0})); }

TEST_F(GraphTableTest, CountsNothingWhereTheDriverSaysNothing) {
  const GateDriver::Node of_no_type{{2, 2, 2}, 0, GateDriver::kRefused},
      of_no_grid{{3, 3, 3}, 0, 0, GateDriver::kRefused};
  EXPECT_EQ(sum({of_no_type, of_no_grid, {{4, 1, 1}}}), (Sum{2, 4})) << "a kernel, but of an unknown grid";
  for (const int calls : {0, 1}) {
    driver_.node_calls_until_refused = calls;
    EXPECT_EQ(sum({{{4, 1, 1}}}), (Sum{0, 0})) << "refused after " << calls << " calls";
  }
}

TEST_F(GraphTableTest, OfMoreNodesThanThereIsRoomForTheFirstAreCountedAndScaled) {
  constexpr std::size_t kRoom = gate::GraphTable::kMostNodes;
  std::vector<GateDriver::Node> nodes(2 * kRoom, GateDriver::Node{{50, 1, 1}});
  for (std::size_t i = 0; i < kRoom; ++i) nodes[i] = {{3, 1, 1}, i % 2 == 0 ? 0 : 1};
  EXPECT_EQ(sum(nodes), (Sum{kRoom, 3 * kRoom}));
  EXPECT_EQ(sum(std::vector<GateDriver::Node>(kRoom)), (Sum{kRoom, kRoom})) << "as many as there is room for";
}

TEST_F(GraphTableTest, AnExecutableHoldsWhatItWasMadeOfLast) {
  EXPECT_EQ(sum({{{5, 1, 1}}}), (Sum{1, 5}));
  EXPECT_EQ(sum({{{6, 1, 1}}, {{1, 1, 1}}}), (Sum{2, 7}));
  EXPECT_EQ(sum_of(handle(3)), (Sum{0, 0})) << "never made";
  table_->destroyed(handle(3));
  EXPECT_EQ(sum_of(handle(2)), (Sum{2, 7}));
  table_->destroyed(handle(2));
  EXPECT_EQ(sum_of(handle(2)), (Sum{0, 0}));
}

TEST_F(GraphTableTest, GraphsThatAreMadeAtTheSameTimeAreCountedApart) {
  constexpr std::uint32_t kNodes = 2000;
  const auto make = [&](std::uint32_t number) {
    for (int i = 0; i < 20; ++i) {
      table_->made(handle(10 + number), handle(number));
      EXPECT_EQ(sum_of(handle(10 + number)), (Sum{kNodes, number * kNodes}));
    }
  };
  for (const std::uint32_t number : {1U, 2U})
    driver_.graphs[handle(number)].assign(kNodes, GateDriver::Node{{number, 1, 1}});
  std::thread other([&] { make(1); });
  make(2);
  other.join();
}

TEST_F(GraphTableTest, GraphsBeyondTheMostAreEmptyUntilAnotherIsDestroyed) {
  constexpr std::uintptr_t kMost = 2048;
  driver_.graphs[handle(1)] = {{{5, 1, 1}}};
  for (std::uintptr_t i = 1; i <= kMost + 1; ++i) table_->made(handle(100 + i), handle(1));
  EXPECT_EQ(sum_of(handle(101)), (Sum{1, 5}));
  EXPECT_EQ(sum_of(handle(100 + kMost)), (Sum{1, 5}));
  EXPECT_EQ(sum_of(handle(100 + kMost + 1)), (Sum{0, 0}));
  table_->destroyed(handle(107));
  table_->made(handle(100 + kMost + 1), handle(1));
  EXPECT_EQ(sum_of(handle(100 + kMost + 1)), (Sum{1, 5}));
  EXPECT_EQ(sum_of(handle(107)), (Sum{0, 0}));
}

TEST_F(GraphTableTest, ADriverWithoutOneOfItsFunctionsIsNotLoaded) {
  for (const char* name :
       {"cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime", "cuStreamIsCapturing",
        "cuCtxSetCurrent", "cuThreadExchangeStreamCaptureMode", "cuGraphGetNodes", "cuGraphNodeGetType",
        "cuGraphKernelNodeGetParams_v2", "cuCtxGetCurrent"}) {
    driver_.missing = {name};
    EXPECT_FALSE(table_->load()) << name;
  }
  driver_.missing = {"cuFuncGetName", "cuDevicePrimaryCtxGetState", "cuCtxGetDevice"};
  EXPECT_TRUE(table_->load()) << "those that a driver may lack";
}

class KernelTableTest : public ::testing::Test {
 protected:
  std::unique_ptr<gate::KernelTable> table_ = std::make_unique<gate::KernelTable>();
};

/// Many of them meet in one entry, whatever their handles are.
TEST_F(KernelTableTest, KnowsAThirdAsManyKernelsAsItHasRoomFor) {
  constexpr std::uintptr_t kMany = 20'000;
  const std::vector<std::string> names(kMany, "kernel");
  for (std::uintptr_t i = 0; i < kMany; ++i) table_->learn(handle(0x5000'0000 + 64 * i), names[i].c_str());
  std::uintptr_t known = 0;
  for (std::uintptr_t i = 0; i < kMany; ++i)
    known += table_->name_of(handle(0x5000'0000 + 64 * i)) == names[i].c_str() ? 1 : 0;
  EXPECT_EQ(known, kMany);
  for (std::uintptr_t i = 0; i < kMany; ++i) ASSERT_EQ(table_->name_of(handle(0x9000'0000 + 64 * i)), nullptr);
}

TEST_F(KernelTableTest, AHandleThatComesAgainIsOfSomethingNew) {
  table_->learn(handle(64), "one");
  table_->learn(handle(128), "other");
  table_->learn(handle(64), "new");
  EXPECT_STREQ(table_->name_of(handle(64)), "new");
  EXPECT_STREQ(table_->name_of(handle(128)), "other");
  EXPECT_EQ(table_->name_of(handle(192)), nullptr);
}

TEST_F(KernelTableTest, OfMoreThanThereIsRoomForSomeAreLeftOutAndNoneIsMistaken) {
  constexpr std::uintptr_t kTooMany = 70'000;
  const std::vector<std::string> names(kTooMany, "kernel");
  for (std::uintptr_t i = 0; i < kTooMany; ++i) table_->learn(handle(0x5000'0000 + 64 * i), names[i].c_str());
  std::uintptr_t known = 0;
  for (std::uintptr_t i = 0; i < kTooMany; ++i) {
    const char* name = table_->name_of(handle(0x5000'0000 + 64 * i));
    known += name != nullptr ? 1 : 0;
    ASSERT_TRUE(name == nullptr || name == names[i].c_str());
  }
  EXPECT_GT(known, 60'000u);
  EXPECT_LT(known, kTooMany);
  EXPECT_EQ(table_->name_of(handle(0x9000'0040)), nullptr);
}

class NameTableTest : public ::testing::Test {
 protected:
  std::uint32_t number_of(const char* name) { return table_->number_of(name, *lane_); }
  /// Adds a name that is one letter after another `letters` times.
  std::uint32_t add_long(std::size_t letters) {
    texts_.push_back(std::make_unique<std::string>(letters, static_cast<char>('a' + texts_.size())));
    return number_of(texts_.back()->c_str());
  }

  std::unique_ptr<gate::Lane> lane_ = std::make_unique<gate::Lane>();
  std::unique_ptr<gate::NameTable> table_ = std::make_unique<gate::NameTable>();
  std::vector<std::unique_ptr<std::string>> texts_;
};

TEST_F(NameTableTest, NumbersNamesFromOneAndWritesEachOnce) {
  const std::string again = "first";
  EXPECT_EQ(number_of("first"), 1u);
  EXPECT_EQ(number_of("second"), 2u);
  EXPECT_EQ(number_of(again.c_str()), 1u) << "at another place";
  EXPECT_EQ(number_of("second"), 2u);
  EXPECT_EQ(lane_->name(1), "first");
  EXPECT_EQ(lane_->name(2), "second");
  EXPECT_EQ(lane_->names_taken, std::uint64_t{2} << 32 | (sizeof("first") + sizeof("second")));
}

TEST_F(NameTableTest, NoNameHasNoNumber) {
  EXPECT_EQ(number_of(nullptr), kNoName);
  EXPECT_EQ(number_of(""), kNoName);
  EXPECT_EQ(lane_->names_taken, 0u);
}

TEST_F(NameTableTest, KnowsTheNamesThatOtherProcessesHaveAdded) {
  const auto other = std::make_unique<gate::NameTable>();
  EXPECT_EQ(other->number_of("theirs", *lane_), 1u);
  EXPECT_EQ(number_of("ours"), 2u);
  EXPECT_EQ(number_of("theirs"), 1u);
}

/// Names far enough from one another, whose numbers are odd and even.
TEST_F(NameTableTest, FindsANameAtTheSamePlaceWithoutALookAtAllOthers) {
  alignas(64) static constexpr char kNames[4][64] = {"one", "two", "three", "four"};
  for (const auto& name : kNames) number_of(name);
  lane_->names_taken = 0;
  EXPECT_EQ(number_of(kNames[2]), 3u);
  EXPECT_EQ(number_of(kNames[3]), 4u);
}

TEST_F(NameTableTest, AnotherNameAtTheSamePlaceIsAnother) {
  char text[] = "before";
  EXPECT_EQ(number_of(text), 1u);
  std::string("behind").copy(text, 6);
  EXPECT_EQ(number_of(text), 2u);
  EXPECT_EQ(number_of(text), 2u);
}

TEST_F(NameTableTest, TakesAsManyNamesAsTheLaneHasNumbers) {
  for (std::uint32_t i = 1; i < kMostNames; ++i) {
    texts_.push_back(std::make_unique<std::string>(std::to_string(i)));
    ASSERT_EQ(number_of(texts_.back()->c_str()), i);
  }
  EXPECT_EQ(number_of("one too many"), kNoName);
  EXPECT_EQ(number_of("2047"), kMostNames - 1) << "the last one is known";
  EXPECT_EQ(lane_->name(kMostNames - 1), "2047");
}

TEST_F(NameTableTest, TakesNamesUpToTheLastByteOfTheLane) {
  EXPECT_EQ(add_long(kNameBytes - 11), 1u);
  EXPECT_EQ(add_long(10), kNoName) << "its zero has no place";
  EXPECT_EQ(add_long(9), 2u);
  EXPECT_EQ(lane_->name(2), std::string(9, 'c'));
  EXPECT_EQ(add_long(1), kNoName);
}

TEST_F(NameTableTest, ANameThatIsAsLongAsTheLaneFits) {
  EXPECT_EQ(add_long(kNameBytes), kNoName);
  EXPECT_EQ(add_long(kNameBytes - 1), 1u);
  EXPECT_EQ(lane_->name(1).size(), kNameBytes - 1);
}

/// Another process may write anything there.
TEST_F(NameTableTest, ALaneThatSaysItHasMoreThanFitsIsFull) {
  lane_->names_taken = std::uint64_t{3} << 32 | 0xffff'fff0u;
  EXPECT_EQ(number_of("name"), kNoName);
}

}  // namespace
}  // namespace corun
