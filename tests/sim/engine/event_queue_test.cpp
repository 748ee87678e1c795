#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
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

/// The queue and a sorted map, in which the same happens until they differ.
class Pair {
 public:
  explicit Pair(unsigned seed) : random_(seed) {}

  std::size_t size() const { return model_.size(); }
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  void push(std::int64_t delay_ns) {
    const auto phase = static_cast<int>(draw(5));
    const std::tuple entry(now_ + delay_ns, phase, name_);
    const bool is_first = model_.empty() || entry < model_.begin()->first;
    ASSERT_EQ(queue_.would_be_first(time_from_ns(now_ + delay_ns), static_cast<Phase>(phase)), is_first);
    model_[entry] = corun::push(queue_, now_ + delay_ns, static_cast<Phase>(phase), name_++);
  }
  void cancel(std::int64_t from_ns) {
    auto chosen = model_.lower_bound({now_ + from_ns, 0, 0});
    if (chosen == model_.end()) chosen = model_.begin();
    ASSERT_TRUE(queue_.cancel(chosen->second));
    ASSERT_FALSE(queue_.cancel(chosen->second));
    model_.erase(chosen);
  }
  void pop() {
    const auto [time, phase, name] = model_.begin()->first;
    ASSERT_EQ(to_ns(queue_.next_time()), time);
    const EventQueue::Event popped = queue_.pop();
    ASSERT_EQ(popped.argument, name);
    ASSERT_EQ(popped.phase, static_cast<Phase>(phase));
    now_ = time;
    model_.erase(model_.begin());
  }
  void check_size() const {
    ASSERT_EQ(queue_.size(), model_.size());
    ASSERT_EQ(queue_.empty(), model_.empty());
  }

 private:
  std::mt19937_64 random_;
  EventQueue queue_;
  std::map<std::tuple<std::int64_t, int, std::uint64_t>, EventHandle> model_;
  std::int64_t now_ = 0;
  std::uint64_t name_ = 0;
};

class EventQueueOfThousands : public testing::TestWithParam<int> {};

/// Grows to `most` events and shrinks again, twice, under pushes, cancels and pops in random order.
void grow_and_shrink(Pair& pair, std::size_t most, const std::function<std::int64_t(Pair&)>& delay) {
  for (int phase = 0; phase < 4; ++phase) {
    const bool grows = phase % 2 == 0;
    while (grows ? pair.size() < most : pair.size() > 0) {
      const std::uint64_t choice = pair.draw(10);
      if (choice < (grows ? 6 : 2) || pair.size() == 0) {
        pair.push(delay(pair));
      } else if (choice < (grows ? 7 : 4)) {
        pair.cancel(static_cast<std::int64_t>(pair.draw(1'000'000'000)));
      } else {
        pair.pop();
      }
      pair.check_size();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_P(EventQueueOfThousands, AgreesWithASortedMapUnderRandomPushesPopsAndCancels) {
  const std::function<std::int64_t(Pair&)> delays[] = {
      [](Pair& pair) { return pair.draw(100); },                                             // many ties
      [](Pair& pair) { return pair.draw(1'000'000'000); },                                   // evenly far
      [](Pair& pair) { return pair.draw(2) == 0 ? pair.draw(50) : pair.draw(1ull << 50); },  // near, and very far
      [](Pair& pair) { return std::int64_t{1} << pair.draw(55); },                           // of all magnitudes
      [](Pair& pair) { return pair.draw(20) == 0 ? 5000 : 7000; },                           // first in, first out
  };
  Pair pair(static_cast<unsigned>(GetParam()));
  grow_and_shrink(pair, 6000, delays[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(Delays, EventQueueOfThousands, testing::Range(0, 5));

TEST(EventQueue, EventsThatAreMovedOverAndOverTakeNoMoreMemory) {
  EventQueue queue;
  std::vector<EventHandle> handles;
  for (int i = 0; i < 10'000; ++i) handles.push_back(push(queue, 1'000'000 + i, Phase::kTimer, i));
  for (int round = 0; round < 20; ++round)
    for (std::size_t i = 0; i < handles.size(); ++i) {
      EXPECT_TRUE(queue.cancel(handles[i]));
      handles[i] = push(queue, static_cast<std::int64_t>(2'000'000 - 2 * i + round), Phase::kTimer, i);
      ASSERT_LT(slot_of(handles[i]), 10'000U);
    }
  EXPECT_EQ(queue.size(), 10'000U);
  std::vector<std::uint64_t> names = drain(queue);
  EXPECT_TRUE(std::ranges::is_sorted(names, std::greater()));
}

}  // namespace
}  // namespace corun
