#include "tracer/cuda/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace corun::cupti {
namespace {

class BufferPoolTest : public testing::Test {
 protected:
  BufferPoolTest() { EXPECT_TRUE(pool_.map()); }

  std::set<std::uint8_t*> take_all() {
    std::set<std::uint8_t*> taken;
    for (std::size_t i = 0; i < BufferPool::kBuffers; ++i) taken.insert(pool_.take());
    return taken;
  }

  BufferPool pool_;
};

TEST_F(BufferPoolTest, EveryBufferIsHandedOutOnce) {
  const std::set<std::uint8_t*> taken = take_all();
  EXPECT_EQ(taken.size(), BufferPool::kBuffers);
  EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [&](auto* buffer) { return pool_.is_kept(buffer); }));
}

TEST_F(BufferPoolTest, ADryPoolStillHandsOutSomethingToWriteTo) {
  take_all();
  for (std::size_t i = 0; i < 3 * BufferPool::kSpares; ++i) {
    std::uint8_t* const spare = pool_.take();
    ASSERT_NE(spare, nullptr);
    EXPECT_FALSE(pool_.is_kept(spare));
    spare[0] = spare[BufferPool::kBufferBytes - 1] = 1;
  }
}

TEST_F(BufferPoolTest, ABufferThatCameBackIsZeroAndHandedOutAgain) {
  std::uint8_t* const buffer = *take_all().rbegin();
  std::fill_n(buffer, BufferPool::kBufferBytes, std::uint8_t{0xFF});
  pool_.give_back(buffer);
  EXPECT_EQ(pool_.take(), buffer);
  EXPECT_TRUE(std::all_of(buffer, buffer + BufferPool::kBufferBytes, [](std::uint8_t byte) { return byte == 0; }));
}

TEST_F(BufferPoolTest, ForeignPointersAreNotTakenBack) {
  std::uint8_t foreign = 0xFF;
  pool_.give_back(&foreign);
  pool_.give_back(nullptr);
  EXPECT_EQ(foreign, 0xFF);
  EXPECT_EQ(take_all().size(), BufferPool::kBuffers);
}

TEST_F(BufferPoolTest, ThreadsNeverShareABuffer) {
  const auto work = [&](std::uint8_t mark, bool& is_shared) {
    for (int round = 0; round < 200; ++round) {
      std::uint8_t* const buffer = pool_.take();
      is_shared |= buffer[0] != 0;
      buffer[0] = mark;
      is_shared |= buffer[0] != mark;
      pool_.give_back(buffer);
    }
  };
  bool shared[3] = {};
  std::vector<std::thread> threads;
  for (std::uint8_t i = 0; i < 3; ++i)
    threads.emplace_back(work, static_cast<std::uint8_t>(i + 1), std::ref(shared[i]));
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(shared[0] || shared[1] || shared[2]);
}

}  // namespace
}  // namespace corun::cupti
