#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>

namespace corun {
namespace {

void nothing(void*, std::uint64_t) {}

EventHandle push(EventQueue& queue, std::int64_t time_ns, Phase phase, std::uint64_t name) {
  return queue.push(time_from_ns(time_ns), phase, nothing, nullptr, name);
}

std::vector<std::uint64_t> drain(EventQueue& queue) {
  std::vector<std::uint64_t> names;
  while (!queue.empty()) names.push_back(queue.pop().argument);
  return names;
}

TEST(EventQueue, SimultaneousEventsComeByPhaseThenInTheOrderOfScheduling) {
  EventQueue queue;
  push(queue, 5, Phase::kSample, 5);
  push(queue, 5, Phase::kCompletion, 1);
  push(queue, 5, Phase::kArrival, 3);
  push(queue, 4, Phase::kSample, 0);
  push(queue, 5, Phase::kCompletion, 2);
  push(queue, 5, Phase::kArrival, 4);
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(EventQueue, AThousandTiesComeFirstInFirstOut) {
  EventQueue queue;
  for (std::uint64_t i = 0; i < 1000; ++i) push(queue, 7, Phase::kTimer, i);
  const std::vector<std::uint64_t> names = drain(queue);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

std::uint64_t slot_of(EventHandle handle) { return handle.order % (1u << 24); }

TEST(EventQueue, NextTimeOfAnEmptyQueueIsNever) { EXPECT_EQ(EventQueue().next_time(), kNever); }

TEST(EventQueue, CancellingTwiceOrAfterFiringOrWithADefaultHandleDoesNothing) {
  EventQueue queue;
  const EventHandle fired = push(queue, 1, Phase::kTimer, 1);
  queue.pop();
  EXPECT_FALSE(queue.cancel(fired));
  EXPECT_FALSE(queue.cancel(EventHandle{}));
  const EventHandle reused = push(queue, 2, Phase::kTimer, 2);
  EXPECT_EQ(slot_of(reused), slot_of(fired));
  EXPECT_FALSE(queue.cancel(fired)) << "a stale handle must not take the slot's next event away";
  EXPECT_TRUE(queue.cancel(reused));
  EXPECT_FALSE(queue.cancel(reused));
  EXPECT_TRUE(queue.empty());
}

RC_GTEST_PROP(EventQueueProperty, AgreesWithASortedListUnderRandomPushesPopsAndCancels, ()) {
  using Entry = std::tuple<std::int64_t, int, std::uint64_t>;  // time, phase, name in order of scheduling
  EventQueue queue;
  std::vector<Entry> model;
  std::vector<std::pair<EventHandle, Entry>> handles;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 10), rc::gen::inRange(0, 20), rc::gen::inRange(0, 5)));
  std::uint64_t name = 0;
  const int before = *rc::gen::inRange(0, 100);  // more than are kept outside the heap
  for (int number = 0; number < before; ++number) {
    const int time = number * 37 % 23;
    model.emplace_back(time, 0, name);
    handles.emplace_back(push(queue, time, Phase::kCompletion, name++), model.back());
  }
  for (const auto& [choice, number, phase] : steps) {
    if (choice < 6) {
      const Entry entry{number, phase, name};
      handles.emplace_back(push(queue, number, static_cast<Phase>(phase), name++), entry);
      model.push_back(entry);
    } else if (choice < 8 && !handles.empty()) {
      const auto& [handle, entry] = handles[static_cast<std::size_t>(number + 20 * phase) % handles.size()];
      const auto found = std::find(model.begin(), model.end(), entry);
      RC_ASSERT(queue.cancel(handle) == (found != model.end()));
      if (found != model.end()) model.erase(found);
    } else if (!model.empty()) {
      const auto least = std::min_element(model.begin(), model.end());
      RC_ASSERT(to_ns(queue.next_time()) == std::get<0>(*least));
      RC_ASSERT(queue.pop().argument == std::get<2>(*least));
      model.erase(least);
    }
    RC_ASSERT(queue.size() == model.size());
  }
  std::sort(model.begin(), model.end());
  for (const Entry& entry : model) RC_ASSERT(queue.pop().argument == std::get<2>(entry));
}

}  // namespace
}  // namespace corun
