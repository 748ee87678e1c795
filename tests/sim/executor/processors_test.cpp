#include "sim/executor/host/processors.h"

#include <gtest/gtest.h>

namespace corun::executor {
namespace {

std::vector<int> usable_now() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> usable;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set)) usable.push_back(processor);
  return usable;
}

TEST(Processors, AreChosenAmongThoseThatMayBeUsedButTheFirstOfTheMachine) {
  std::vector<int> all = usable_now();
  if (all.front() == 0) all.erase(all.begin());
  EXPECT_EQ(choose_processors(all.size()), all);
  EXPECT_TRUE(choose_processors(all.size() + 1).empty()) << "there are not so many";
  EXPECT_TRUE(choose_processors(0).empty());
  const std::vector<int> first(all.begin(), all.begin() + (all.empty() ? 0 : 1));
  EXPECT_EQ(choose_processors(first.size()), first);
}

TEST(Processors, AThreadIsPinnedToOneUntilThatEnds) {
  const std::vector<int> before = usable_now();
  {
    const Pinned pinned(before.back());
    EXPECT_EQ(usable_now(), std::vector<int>{before.back()});
  }
  EXPECT_EQ(usable_now(), before);
  {
    const Pinned anywhere(kAnyProcessor);
    EXPECT_EQ(usable_now(), before);
  }
  EXPECT_EQ(usable_now(), before);
}

}  // namespace
}  // namespace corun::executor
