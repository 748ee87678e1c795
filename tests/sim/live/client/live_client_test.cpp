// One client of a live run, whose program a test plays in the memory of its gate.
#include <fcntl.h>

#include <thread>

#include "tests/sim/live/client/one_client.h"
#include "tracer/gate/channel/process.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using gate::FrameMoment;
using gate::LaunchKind;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint32_t kDead = gate::kFormerProcess;

class LiveClientTest : public testing::OneClient {
 protected:
  /// A capture of jobs with so many operations each, all of one kernel.
  static std::shared_ptr<const Workload> capture_of(std::uint32_t jobs, std::uint32_t ops) {
    Workload workload;
    workload.names = {"kernel"};
    for (std::uint32_t i = 0; i < jobs; ++i) workload.jobs.push_back(Job{.first_op = ops * i, .op_count = ops});
    for (std::uint32_t i = 0; i < jobs * ops; ++i) workload.ops.push_back(WorkOp{});
    return std::make_shared<const Workload>(workload);
  }
  /// Numbers of facts, those that were lost apart.
  Numbers ended(bool is_lost) const {
    Numbers numbers;
    for (const OpFact& op : facts_.ops)
      if (op.is_lost == is_lost) numbers.push_back(op.number);
    return numbers;
  }
  Numbers completed() const {
    Numbers numbers;
    for (const auto& [number, time] : policy_.completed) numbers.push_back(number);
    return numbers;
  }
  std::uint64_t limit() const {
    const std::uint64_t word = lane_->gate;
    EXPECT_TRUE(gate::is_closed(word));
    return word >> gate::kLimitShift & gate::kLimits;
  }
};

TEST_F(LiveClientTest, TellsWhetherThereWasNews) {
  join();
  set_open(true);
  EXPECT_FALSE(client_->poll());
  launch();
  EXPECT_TRUE(client_->poll());
  EXPECT_FALSE(client_->poll());
  end({0}, 1us);
  EXPECT_TRUE(client_->poll());
  EXPECT_FALSE(client_->poll());
  tell(FrameMoment::kBegin, 0, now_ns());
  EXPECT_TRUE(client_->poll());
  EXPECT_FALSE(client_->poll());
}

TEST_F(LiveClientTest, APolicySeesWhatAProgramLaunches) {
  spec_.workload = capture_of(2, 2);
  join();
  name("kernel");
  for (const LaunchKind kind : {LaunchKind::kKernel, LaunchKind::kGraph, LaunchKind::kCopyToDevice,
                                LaunchKind::kCopyFromDevice, LaunchKind::kCopy, LaunchKind::kMemset})
    launch(kind);
  client_->poll();
  ASSERT_EQ(policy_.submitted.size(), 6u);
  for (std::uint32_t i = 0; i < 6; ++i) {
    const OpView& op = policy_.submitted[i];
    EXPECT_EQ(op.number, i);
    EXPECT_EQ(op.position, i % 2) << "two launches a job";
    EXPECT_EQ(op.is_copy, i >= 2 && i <= 4) << i;
    EXPECT_EQ(op.is_to_device, i == 2) << i;
    EXPECT_EQ(op.is_from_device, i == 3) << i;
    EXPECT_FALSE(op.is_render);
    EXPECT_EQ(op.blocks, 12u);
    EXPECT_EQ(op.bytes, 700u);
    EXPECT_EQ(policy_.names[i], "kernel");
    EXPECT_EQ(op.submitted, clock_.at(entry_of(i).submitted_ns));
  }
  EXPECT_EQ(client_->counts().launches, 6u);
  EXPECT_EQ(client_->counts().graphs, 1u);
  EXPECT_EQ(client_->counts().first_work, policy_.submitted[0].submitted);
}

TEST_F(LiveClientTest, ItsFactsAreOfTheKindOfTheLaunch) {
  join();
  set_open(true);
  constexpr std::pair<LaunchKind, OpKind> kKinds[] = {
      {LaunchKind::kKernel, OpKind::kKernel},           {LaunchKind::kGraph, OpKind::kKernel},
      {LaunchKind::kCopy, OpKind::kCopyDeviceToDevice}, {LaunchKind::kCopyToDevice, OpKind::kCopyHostToDevice},
      {LaunchKind::kMemset, OpKind::kMemset},           {LaunchKind::kCopyFromDevice, OpKind::kCopyDeviceToHost}};
  for (const auto& [kind, expected] : kKinds) {
    end({launch(kind)}, 5us);
    client_->poll();
    EXPECT_EQ(facts_.ops.back().kind, expected);
    EXPECT_EQ(facts_.ops.back().device_time, 5us);
    EXPECT_EQ(facts_.ops.back().stream.value, 3u);
  }
  EXPECT_EQ(facts_.ops.size(), 6u);
}

TEST_F(LiveClientTest, LaunchesOfAGroupRanOneAfterAnotherUpToItsEnd) {
  join();
  set_open(true);
  for (int i = 0; i < 3; ++i) launch();
  client_->poll();
  std::this_thread::sleep_for(5ms);
  end({0, 1, 2}, 1ms);
  client_->poll();
  ASSERT_EQ(facts_.ops.size(), 3u);
  const Time end = clock_.at(entry_of(2).end_ns);
  for (int i = 0; i < 3; ++i) {
    const OpFact& op = facts_.ops[static_cast<std::size_t>(i)];
    EXPECT_EQ(op.end, end - (2 - i) * 1ms);
    EXPECT_EQ(op.begin, op.end - 1ms);
    EXPECT_EQ(op.launched, op.submitted) << "through an open gate";
    EXPECT_FALSE(op.is_lost);
  }
  EXPECT_EQ(use_.of(ClientId{0}), 3ms);
  EXPECT_EQ(completed(), (Numbers{0, 1, 2}));
  EXPECT_EQ(policy_.completed[1].second, 1ms);
}

TEST_F(LiveClientTest, NoLaunchBeganBeforeItPassed) {
  join();
  set_open(true);
  launch();
  client_->poll();
  end({0}, 500ms);
  client_->poll();
  ASSERT_EQ(facts_.ops.size(), 1u);
  EXPECT_EQ(facts_.ops[0].begin, facts_.ops[0].launched);
  EXPECT_GE(facts_.ops[0].end, facts_.ops[0].begin);
  EXPECT_EQ(facts_.ops[0].device_time, 500ms);
}

TEST_F(LiveClientTest, AGroupWaitsUntilAllOfItsLaunchesAreKnownAndHavePassed) {
  join();
  launch();
  client_->poll();
  end({0}, 1us);
  client_->poll();
  EXPECT_TRUE(facts_.ops.empty()) << "the arbiter has not let it pass";
  set_open(true);
  client_->poll();
  EXPECT_EQ(ended(false), (Numbers{0}));
  const std::uint64_t taken = take_number();
  entry_of(taken).end_ns = now_ns();
  end({taken}, 1us);
  client_->poll();
  EXPECT_EQ(ended(false), (Numbers{0})) << "its launch has not been read";
}

TEST_F(LiveClientTest, TheGateOfTheLaneIsTheArbiters) {
  join();
  EXPECT_EQ(limit(), 0u);
  launch();
  launch();
  client_->poll();
  decide();
  EXPECT_EQ(limit(), 0u);
  policy_.to_admit = 1;
  decide();
  EXPECT_EQ(policy_.launched, (Numbers{0}));
  EXPECT_EQ(limit(), 1u) << "one has been admitted";
  EXPECT_FALSE(client_->has_promise());
  set_open(true);
  EXPECT_FALSE(gate::is_closed(lane_->gate));
  EXPECT_EQ(policy_.launched, (Numbers{0, 1}));
  EXPECT_FALSE(client_->has_promise());
  EXPECT_EQ(client_->fault(), "");
  lane_->gate.fetch_or(gate::kClosed);
  client_->follow();
  EXPECT_EQ(client_->fault(), "its gate has been changed");
}

TEST_F(LiveClientTest, WhatAPolicyWouldAdmitPassesUnasked) {
  policy_.ahead = 3;
  join();
  launch();
  policy_.to_admit = 1;
  client_->poll();
  decide();
  EXPECT_EQ(limit(), 4u) << "one that was admitted, and three that would be";
  EXPECT_TRUE(client_->has_promise());
  launch();
  client_->poll();
  decide();
  EXPECT_EQ(client_->counts().slipped, 1u) << "it passed, and the policy did not admit it";
  EXPECT_EQ(policy_.launched, (Numbers{0, 1}));
  EXPECT_EQ(client_->counts().heard_late.size(), 2u);
  EXPECT_EQ(client_->last_question(), kNever) << "neither stood at the gate";
}

TEST_F(LiveClientTest, WhatPassedBeforeTheGateWasClosedHasSlipped) {
  join();
  set_open(true);
  launch();
  launch();
  set_open(false);
  launch();
  client_->poll();
  EXPECT_TRUE(policy_.launched.empty()) << "the arbiter's gate is closed";
  client_->follow();
  EXPECT_EQ(policy_.launched, (Numbers{0, 1}));
  EXPECT_EQ(client_->counts().slipped, 2u);
  client_->follow();
  EXPECT_EQ(client_->counts().slipped, 2u);
}

TEST_F(LiveClientTest, AQuestionIsALaunchAtAClosedGate) {
  join();
  set_open(true);
  launch();
  const Time before = clock_.now();
  client_->poll();
  EXPECT_EQ(client_->last_question(), kNever);
  ASSERT_EQ(client_->counts().heard_late.size(), 1u);
  EXPECT_GE(client_->counts().heard_late[0], before - clock_.at(entry_of(0).submitted_ns));
  EXPECT_LT(client_->counts().heard_late[0], 10s);
  set_open(false);
  launch();
  const Time asked = clock_.now();
  client_->poll();
  EXPECT_GE(client_->last_question(), asked);
  EXPECT_LE(client_->last_question(), clock_.now());
  EXPECT_EQ(client_->counts().heard_late.size(), 1u);
}

TEST_F(LiveClientTest, TheOldestUnfinishedIsTheOldestLaunchThatHasNotEndedOrTenthOfASecondAgo) {
  join();
  set_open(true);
  const auto is_by_clock = [&] {
    const Time before = clock_.now() - 100ms, oldest = client_->oldest_unfinished(), after = clock_.now() - 100ms;
    return before <= oldest && oldest <= after;
  };
  EXPECT_TRUE(is_by_clock());
  launch();
  launch();
  entry_of(0).submitted_ns -= 500'000'000;
  client_->poll();
  EXPECT_EQ(client_->oldest_unfinished(), clock_.at(entry_of(0).submitted_ns));
  end({0}, 1us);
  client_->poll();
  EXPECT_TRUE(is_by_clock()) << "the other one is newer";
}

TEST_F(LiveClientTest, OneThatLeavesIsReadToItsEndAndLosesWhatIsInFlight) {
  join();
  set_open(true);
  for (int i = 0; i < 3; ++i) launch();
  client_->poll();
  end({0}, 1us);
  set_open(false);
  launch();
  client_->leave();
  EXPECT_EQ(ended(false), (Numbers{0}));
  EXPECT_EQ(ended(true), (Numbers{1, 2}));
  EXPECT_EQ(completed(), (Numbers{0, 1, 2}));
  EXPECT_EQ(policy_.submitted.size(), 4u) << "the last one was read, and waits no longer";
  EXPECT_EQ(lane_->retired, 4u);
  for (const OpFact& op : facts_.ops) EXPECT_GE(op.end, op.begin);
  EXPECT_EQ(facts_.ops.back().device_time, 0us);
}

TEST_F(LiveClientTest, OneThatIsPutOutIsNotReadAnyFurther) {
  join();
  launch();
  client_->poll();
  launch();
  launch();
  client_->evict();
  EXPECT_EQ(policy_.submitted.size(), 1u);
  EXPECT_TRUE(facts_.ops.empty()) << "what was never launched is not lost";
  EXPECT_EQ(lane_->retired, 3u);
  EXPECT_EQ(limit(), 3u) << "what stands at the gate passes";
  client_->poll();
  EXPECT_EQ(policy_.submitted.size(), 1u);
}

TEST_F(LiveClientTest, OneThatIsPutOutAtAnOpenGateLeavesItOpen) {
  join();
  set_open(true);
  launch();
  client_->poll();
  client_->evict();
  EXPECT_EQ(ended(true), (Numbers{0}));
  EXPECT_FALSE(gate::is_closed(lane_->gate));
}

TEST_F(LiveClientTest, AProcessThatDiesTakesItsOwnWorkWithItAndItsSlotIsFree) {
  join();
  set_open(true);
  lane_->slots_used = 2;
  lane_->slots[0].process = 1, lane_->slots[1].process = kDead;
  lane_->slots[1].in_flight = 2;
  launch(LaunchKind::kKernel, 0);
  launch(LaunchKind::kKernel, 1);
  launch(LaunchKind::kKernel, 1);
  client_->poll();
  end({1}, 1us, 1);
  EXPECT_TRUE(client_->reap_dead_processes());
  EXPECT_EQ(ended(false), (Numbers{1})) << "what it had said before it died";
  EXPECT_EQ(ended(true), (Numbers{2}));
  EXPECT_EQ(lane_->slots[1].process, gate::kNoProcess);
  EXPECT_EQ(lane_->slots[1].in_flight, 0u);
  EXPECT_EQ(lane_->slots[0].process, 1u);
  EXPECT_FALSE(client_->reap_dead_processes());
  end({0}, 1us, 0);
  client_->poll();
  EXPECT_EQ(ended(false), (Numbers{1, 0}));
  EXPECT_EQ(lane_->retired, 3u);
}

TEST_F(LiveClientTest, WhatOthersHaveWaitingIsSubmittedAnewWhenAProcessDies) {
  join();
  lane_->slots_used = 2;
  lane_->slots[0].process = 1, lane_->slots[1].process = kDead;
  launch(LaunchKind::kKernel, 1);
  launch(LaunchKind::kMemset, 0);
  launch(LaunchKind::kKernel, 1);
  launch(LaunchKind::kCopy, 0);
  client_->poll();
  ASSERT_EQ(policy_.submitted.size(), 4u);
  EXPECT_TRUE(client_->reap_dead_processes());
  ASSERT_EQ(policy_.submitted.size(), 6u);
  EXPECT_EQ(policy_.submitted[4].number, 0u) << "numbers of launches that were never made are used again";
  EXPECT_EQ(policy_.submitted[5].number, 1u);
  EXPECT_TRUE(policy_.submitted[5].is_copy);
  EXPECT_TRUE(facts_.ops.empty());
  policy_.to_admit = 1;
  decide();
  EXPECT_EQ(limit(), 3u) << "the live one's first, and the dead one's behind it";
  set_open(true);
  end({1, 3}, 1us, 0);
  client_->poll();
  EXPECT_EQ(ended(false), (Numbers{0, 1}));
  EXPECT_EQ(facts_.ops[0].kind, OpKind::kMemset);
  EXPECT_EQ(lane_->retired, 4u);
}

TEST_F(LiveClientTest, WhereNoneOfTheDeadWaitsNothingIsSubmittedAnew) {
  join();
  lane_->slots_used = 2;
  lane_->slots[0].process = 1, lane_->slots[1].process = kDead;
  launch(LaunchKind::kKernel, 0);
  client_->poll();
  EXPECT_TRUE(client_->reap_dead_processes());
  EXPECT_EQ(policy_.submitted.size(), 1u);
}

TEST_F(LiveClientTest, ALaunchOfOneThatHasDiedSinceIsPassedOver) {
  join();
  set_open(true);
  launch();
  lane_->slots[0].turn = 1;
  launch();
  client_->poll();
  EXPECT_EQ(policy_.submitted.size(), 1u);
  EXPECT_EQ(policy_.submitted[0].number, 0u);
  end({1}, 1us);
  client_->poll();
  EXPECT_EQ(ended(false), (Numbers{0}));
  EXPECT_EQ(lane_->retired, 2u);
}

TEST_F(LiveClientTest, EndsOfLaunchesThatWerePassedOverHoldNoOthersUp) {
  join();
  set_open(true);
  launch();
  launch(LaunchKind::kKernel, 1);
  lane_->slots[1].turn = 1;
  launch(LaunchKind::kKernel, 1);
  client_->poll();
  ASSERT_EQ(policy_.submitted.size(), 2u);
  end({1}, 1us, 1);
  end({2}, 1us, 1);
  client_->poll();
  EXPECT_EQ(ended(false), (Numbers{1}));
  end({0}, 1us);
  client_->poll();
  ASSERT_EQ(lane_->retired, 3u);
  end({1}, 1us, 1);
  client_->poll();
  EXPECT_EQ(ended(false), (Numbers{1, 0})) << "again, when it is forgotten";
}

TEST_F(LiveClientTest, ANumberThatIsTakenAndNotFilledHoldsTheOthersUpForATenthOfASecond) {
  join();
  set_open(true);
  take_number();
  launch();
  const Time begin = clock_.now();
  while (policy_.submitted.empty() && clock_.now() < begin + 10s) {
    client_->poll();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GT(clock_.now() - begin, 100ms);
  EXPECT_EQ(policy_.submitted.size(), 1u);
  end({1}, 1us);
  client_->poll();
  EXPECT_EQ(lane_->retired, 2u);
}

}  // namespace
}  // namespace corun
