#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;
using testing::kUs;

TEST(DeviceOrder, CopiesOverlapKernelsOfOtherStreamsAndClients) {
  DeviceDriver driver(DeviceSpec{}, 2);
  const Ticket kernel = driver.submit(0, 1 * kMs);
  const Ticket up = driver.submit(0, 1 * kMs, 1, OpKind::kCopyHostToDevice);
  const Ticket down = driver.submit(1, 1 * kMs, 0, OpKind::kCopyDeviceToHost);
  driver.drain();
  for (const Ticket ticket : {kernel, up, down}) EXPECT_EQ(driver.end(ticket), 1 * kMs);
}

TEST(DeviceOrder, CopiesOfOneDirectionQueueOverAllClients) {
  DeviceDriver driver(DeviceSpec{}, 2);
  driver.submit(0, 300 * kUs, 0, OpKind::kCopyHostToDevice);
  const Ticket second = driver.submit(1, 300 * kUs, 0, OpKind::kCopyHostToDevice);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 300 * kUs);
}

TEST(DeviceOrder, MoreCopyEnginesServeMoreCopiesAtOnce) {
  DeviceSpec spec;
  spec.copy_engines_per_direction = 2;
  DeviceDriver driver(spec, 3);
  for (std::uint32_t client = 0; client < 3; ++client) driver.submit(client, 300 * kUs, 0, OpKind::kCopyHostToDevice);
  driver.drain();
  EXPECT_EQ(driver.begin(1), 0);
  EXPECT_EQ(driver.begin(2), 300 * kUs);
}

TEST(DeviceOrder, TheGapBeforeACopyDelaysTheCopyAndLeavesTheEngineToOthers) {
  DeviceDriver driver(DeviceSpec{}, 2);
  const Ticket late = driver.submit({.client = ClientId{0},
                                     .kind = OpKind::kCopyHostToDevice,
                                     .duration = Duration{100},
                                     .dispatch_gap = Duration{900}});
  const Ticket other = driver.submit(1, 500, 0, OpKind::kCopyHostToDevice);
  driver.drain();
  EXPECT_EQ(driver.end(other), 500);
  EXPECT_EQ(driver.begin(late), 900);
}

TEST(DeviceOrder, AStreamWaitsForTheCopyThatAnotherStreamMakes) {
  DeviceDriver driver(DeviceSpec{}, 1);
  const Ticket copy = driver.submit(0, 700 * kUs, 1, OpKind::kCopyHostToDevice);
  const Ticket after[] = {copy};
  const Ticket kernel = driver.submit({.client = ClientId{0}, .duration = Duration{100 * kUs}, .after = after});
  driver.drain();
  EXPECT_EQ(driver.begin(kernel), 700 * kUs);
}

TEST(DeviceOrder, AClientThatOnlyWaitsForItsCopyDoesNotHoldTheDevice) {
  DeviceDriver driver(DeviceSpec{}, 2);
  const Ticket copy = driver.submit(0, 50 * kMs, 1, OpKind::kCopyHostToDevice);
  const Ticket after[] = {copy};
  driver.submit({.client = ClientId{0}, .duration = Duration{1 * kMs}, .after = after});
  const Ticket other = driver.submit(1, 20 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(other), 20 * kMs);
}

TEST(DeviceOrder, AnOperationIsInvisibleBeforeItsReadyTime) {
  DeviceDriver driver(DeviceSpec{}, 1);
  const Ticket late =
      driver.submit({.client = ClientId{0}, .duration = Duration{kMs}, .ready_at = time_from_ns(5 * kUs)});
  EXPECT_EQ(driver.device().next_change(), time_from_ns(5 * kUs));
  driver.drain();
  EXPECT_EQ(driver.begin(late), 5 * kUs);
}

TEST(DeviceOrder, TheBeginOfARunningOperationIsKnownAndThatOfAWaitingOneIsNot) {
  DeviceDriver driver(DeviceSpec{}, 1);
  const Ticket running = driver.submit(0, 1 * kMs);
  const Ticket waiting = driver.submit(0, 1 * kMs);
  driver.run_to(100 * kUs);
  EXPECT_EQ(driver.device().begin_of(running), kRunStart);
  EXPECT_EQ(driver.device().begin_of(waiting), kNever);
}

TEST(DeviceOrder, AnExclusiveDeviceServesByReadyTimeThenBySubmission) {
  DeviceSpec spec;
  spec.sharing = Sharing::kExclusive;
  DeviceDriver driver(spec, 3);
  const auto ready = [&](std::uint32_t client, std::int64_t at, std::int64_t duration) {
    return driver.submit({.client = ClientId{client}, .duration = Duration{duration}, .ready_at = time_from_ns(at)});
  };
  ready(0, 0, 100);
  const Ticket third = ready(1, 20, 10);
  const Ticket second = ready(2, 10, 10);
  const Ticket fourth = ready(0, 20, 10);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 100);
  EXPECT_EQ(driver.begin(third), 110);
  EXPECT_EQ(driver.begin(fourth), 120);
}

TEST(DeviceOrder, AnExclusiveDeviceNeverInterruptsForAnOperationThatWasReadyEarlier) {
  DeviceSpec spec;
  spec.sharing = Sharing::kExclusive;
  DeviceDriver driver(spec, 2);
  const Ticket copy = driver.submit(0, 150, 1, OpKind::kCopyHostToDevice);
  const Ticket after[] = {copy};
  const Ticket held = driver.submit({.client = ClientId{0}, .duration = Duration{10}, .after = after});
  const Ticket running =
      driver.submit({.client = ClientId{1}, .duration = Duration{1000}, .ready_at = time_from_ns(50)});
  driver.drain();
  EXPECT_EQ(driver.completion(running).device_time, Duration{1000});
  EXPECT_EQ(driver.end(running), 1050);
  EXPECT_EQ(driver.begin(held), 1050);
}

TEST(DeviceOrderDeathTest, TimeThatGoesBackIsABrokenPromise) {
  DeviceDriver driver(DeviceSpec{}, 1);
  driver.run_to(100);
  std::vector<Completion> completions;
  EXPECT_DEATH(driver.device().advance(time_from_ns(99), completions), "promise broken");
}

struct RandomOp {
  DeviceOp op;
  std::int64_t submit_ns;
  std::vector<Ticket> after;
};

DeviceSpec random_spec() {
  DeviceSpec spec;
  spec.sharing = *rc::gen::element(Sharing::kTimeSliced, Sharing::kConcurrent, Sharing::kExclusive);
  spec.graphics =
      *rc::gen::element(GraphicsScheduling::kToCompletion, GraphicsScheduling::kSliced, GraphicsScheduling::kFirst);
  spec.spatial_rule = *rc::gen::element(SpatialRule::kDispatchOrder, SpatialRule::kMaxMin);
  spec.time_slice = Duration{*rc::gen::inRange(1, 500)};
  spec.switch_cost = Duration{*rc::gen::inRange(0, 60)};
  spec.sm_count = 4;
  spec.max_blocks_per_sm = 2;
  spec.sm_rate_exponent = *rc::gen::element(1.0, 0.7);
  return spec;
}

std::vector<RandomOp> random_ops() {
  std::vector<RandomOp> ops;
  std::int64_t at = 0;
  const auto count = *rc::gen::inRange<Ticket>(1, 40);
  for (Ticket ticket = 0; ticket < count; ++ticket) {
    at += *rc::gen::inRange(0, 120);
    RandomOp random;
    random.submit_ns = at;
    random.op.client = ClientId{*rc::gen::inRange(0u, 3u)};
    random.op.stream = StreamId{*rc::gen::inRange(0u, 2u)};
    random.op.kind = static_cast<OpKind>(*rc::gen::inRange(0, 7));
    random.op.duration = Duration{*rc::gen::inRange(0, 400)};
    random.op.dispatch_gap = Duration{*rc::gen::inRange(0, 20)};
    random.op.ready_at = time_from_ns(at + *rc::gen::inRange(0, 50));
    random.op.shape = {*rc::gen::inRange(0u, 24u), 1, 1, 64, 1, 1, 16, 0};
    if (ticket > 0 && *rc::gen::inRange(0, 4) == 0) random.after.push_back(*rc::gen::inRange<Ticket>(0, ticket));
    ops.push_back(random);
  }
  return ops;
}

std::vector<Completion> replay(const DeviceSpec& spec, const std::vector<RandomOp>& ops, std::int64_t extra_step_ns) {
  DeviceDriver driver(spec, 3);
  for (const RandomOp& random : ops) {
    while (extra_step_ns > 0 && to_ns(driver.now()) + extra_step_ns < random.submit_ns) {
      driver.run_to(to_ns(driver.now()) + extra_step_ns);
    }
    driver.run_to(random.submit_ns);
    DeviceOp op = random.op;
    op.after = random.after;
    driver.submit(op);
  }
  driver.drain(extra_step_ns > 0 ? extra_step_ns : INT64_MAX);
  const DeviceUsage usage = driver.device().usage();
  RC_ASSERT(usage.busy + usage.switching <= driver.now() - kRunStart);
  return driver.completions();
}

bool on_copy_engine(OpKind kind) {
  return kind == OpKind::kCopyHostToDevice || kind == OpKind::kCopyDeviceToHost || kind == OpKind::kCopyPeer;
}

RC_GTEST_PROP(DeviceProperty, EveryOperationCompletesOnceInOrderWithItsOwnDeviceTime, ()) {
  const DeviceSpec spec = random_spec();
  const std::vector<RandomOp> ops = random_ops();
  std::vector<const Completion*> of(ops.size(), nullptr);
  const std::vector<Completion> completions = replay(spec, ops, 0);
  RC_ASSERT(completions.size() == ops.size());
  Time last = kRunStart;
  for (const Completion& done : completions) {
    RC_ASSERT(of[done.ticket] == nullptr);
    of[done.ticket] = &done;
    RC_ASSERT(done.end >= last);
    last = done.end;
  }
  std::map<std::pair<ClientId, StreamId>, Time> stream_end;
  for (Ticket ticket = 0; ticket < ops.size(); ++ticket) {
    const DeviceOp& op = ops[ticket].op;
    const Completion& done = *of[ticket];
    RC_ASSERT(done.begin >= op.ready_at && done.end >= done.begin);
    RC_ASSERT(done.begin >= stream_end[std::pair(op.client, op.stream)]);
    stream_end[std::pair(op.client, op.stream)] = done.end;
    for (const Ticket awaited : ops[ticket].after) RC_ASSERT(done.begin >= of[awaited]->end);
    const bool exact = spec.sharing != Sharing::kConcurrent || on_copy_engine(op.kind);
    const bool right = exact ? done.device_time == op.duration : done.device_time >= op.duration;
    RC_ASSERT(right);
    RC_ASSERT(done.device_time <= done.end - done.begin);
  }
}

RC_GTEST_PROP(DeviceProperty, LookingAtTheDeviceMoreOftenChangesNothing, ()) {
  const DeviceSpec spec = random_spec();
  const std::vector<RandomOp> ops = random_ops();
  const std::vector<Completion> seldom = replay(spec, ops, 0);
  const std::vector<Completion> often = replay(spec, ops, 7);
  RC_ASSERT(seldom.size() == often.size());
  for (std::size_t i = 0; i < seldom.size(); ++i) {
    RC_ASSERT(seldom[i].ticket == often[i].ticket);
    RC_ASSERT(seldom[i].begin == often[i].begin);
    RC_ASSERT(seldom[i].end == often[i].end);
    RC_ASSERT(seldom[i].device_time == often[i].device_time);
  }
}

RC_GTEST_PROP(DeviceProperty, StretchingEveryTimeStretchesEveryResult, ()) {
  DeviceSpec spec = random_spec();
  spec.sharing = *rc::gen::element(Sharing::kTimeSliced, Sharing::kExclusive);
  std::vector<RandomOp> ops = random_ops();
  const std::vector<Completion> once = replay(spec, ops, 0);
  spec.time_slice *= 3;
  spec.switch_cost *= 3;
  for (RandomOp& random : ops) {
    random.submit_ns *= 3;
    random.op.duration *= 3;
    random.op.dispatch_gap *= 3;
    random.op.ready_at = time_from_ns(3 * to_ns(random.op.ready_at));
  }
  const std::vector<Completion> thrice = replay(spec, ops, 0);
  RC_ASSERT(once.size() == thrice.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    RC_ASSERT(thrice[i].ticket == once[i].ticket);
    RC_ASSERT(to_ns(thrice[i].end) == 3 * to_ns(once[i].end));
  }
}

/// When an operation begins that was submitted behind one of 1 ms, or after it, and is visible at `ready_ns`.
std::int64_t begin_behind(Sharing sharing, std::int64_t gap_ns, std::int64_t ready_ns, bool is_queued) {
  DeviceSpec spec;
  spec.sharing = sharing;
  DeviceDriver driver(spec, 1);
  driver.submit(0, 1'000'000);
  if (!is_queued) driver.run_to(1'000'000);
  const Ticket next = driver.submit({.client = ClientId{0},
                                     .duration = Duration{1'000},
                                     .dispatch_gap = Duration{gap_ns},
                                     .ready_at = time_from_ns(ready_ns)});
  driver.drain();
  return driver.begin(next);
}

TEST(DispatchGap, BeginsWithTheEndOfTheOperationBefore) {
  for (const Sharing sharing : {Sharing::kTimeSliced, Sharing::kConcurrent, Sharing::kExclusive})
    for (const bool is_queued : {true, false}) {
      EXPECT_EQ(begin_behind(sharing, 100'000, 0, is_queued), 1'100'000);
      EXPECT_EQ(begin_behind(sharing, 100'000, 1'060'000, is_queued), 1'100'000) << "40 us of it were left";
      EXPECT_EQ(begin_behind(sharing, 100'000, 1'300'000, is_queued), 1'300'000) << "it was long over";
    }
}

}  // namespace
}  // namespace corun
