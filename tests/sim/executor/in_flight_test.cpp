#include "sim/executor/device_time/in_flight.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "sim/executor/device_time/busy_time.h"

namespace corun::executor {
namespace {

using namespace std::chrono_literals;

Time at(Duration after) { return kRunStart + after; }

/// A channel whose worker and device are the test.
class InFlightTest : public ::testing::Test {
 protected:
  void launch(std::uint64_t number, std::uint32_t stream, Time launched = kRunStart) {
    Command command;
    command.number = number;
    command.stream = stream;
    flight_.launch(command, launched, channel_);
  }

  /// The worker's call for it returns.
  void returned(std::uint64_t number, std::int64_t called_ns) {
    channel_.calls[number % Channel::kDepth].begin_ns = called_ns;
    channel_.taken = number + 1;
  }

  /// The device leaves its stamp.
  void ended(std::uint64_t number, std::uint64_t begin_ns, std::uint64_t end_ns) {
    channel_.stamp(number) = Stamp{begin_ns, end_ns, number + 1};
  }

  /// As a kernel of 1 us whose device has the host's clock.
  void done(std::uint64_t number) {
    const std::int64_t now = WallClock::monotonic_ns();
    ended(number, static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(now + 1'000));
    returned(number, now);
    ASSERT_TRUE(flight_.take_completed(channel_, clock_)) << number;
  }

  MappedChannel mapped_ = MappedChannel::create();
  Channel& channel_ = *mapped_;
  WallClock clock_;
  InFlight flight_{ClientId{0}, 2};
};

TEST_F(InFlightTest, AnEntryOfTheRingIsKeptUntilItsOperationHasEnded) {
  launch(0, 1);
  for (std::uint64_t n = 1; n < Channel::kDepth; ++n) {
    launch(n, 0);
    done(n);
  }
  EXPECT_EQ(channel_.posted, Channel::kDepth);
  launch(Channel::kDepth, 0);
  EXPECT_EQ(channel_.posted, Channel::kDepth) << "its entry is the first operation's";
  EXPECT_EQ(channel_.command(0).stream, 1u);
  done(0);
  EXPECT_EQ(channel_.posted, Channel::kDepth + 1);
  EXPECT_EQ(channel_.command(Channel::kDepth).number, Channel::kDepth);
  done(Channel::kDepth);
  EXPECT_EQ(flight_.count(), 0u);
}

TEST_F(InFlightTest, OnlyWhatIsInFlightIsAwaited) {
  launch(0, 1);
  launch(1, 1);
  Command command;
  command.number = 2;
  command.awaits[1] = 1 + 1;
  flight_.launch(command, kRunStart, channel_);
  EXPECT_EQ(channel_.command(2).awaits[1], 2u);
  done(0);
  done(1);
  command.number = 3;
  flight_.launch(command, kRunStart, channel_);
  EXPECT_EQ(channel_.command(3).awaits[1], 0u);
}

TEST_F(InFlightTest, AnOperationIsCompleteWhenItsLaunchHasReturnedToo) {
  launch(0, 0);
  ended(0, 1, 2);
  EXPECT_FALSE(flight_.take_completed(channel_, clock_));
  returned(0, WallClock::monotonic_ns());
  EXPECT_TRUE(flight_.take_completed(channel_, clock_));
}

TEST_F(InFlightTest, TheDevicesClockIsCorrectedWhereItSaysWhatCannotBe) {
  for (const std::int64_t wrong : {-5'000'000, 5'000'000}) {
    const std::uint64_t number = channel_.posted;
    channel_.clock_offset_ns = wrong;
    const std::int64_t called = WallClock::monotonic_ns();
    const Time launched = clock_.at(called);
    launch(number, 0, launched);
    while (WallClock::monotonic_ns() < called + 200'000) {
    }
    ended(number, static_cast<std::uint64_t>(called + 50'000), static_cast<std::uint64_t>(called + 150'000));
    returned(number, called);
    const auto done = flight_.take_completed(channel_, clock_);
    ASSERT_TRUE(done);
    EXPECT_GE(done->begin, launched);
    EXPECT_LE(done->end, clock_.now());
    EXPECT_EQ(done->device_time, 100us);
    EXPECT_EQ(done->end - done->begin, 100us);
  }
}

TEST_F(InFlightTest, WhatIsHeldBackIsPostedWhenItIsReleased) {
  flight_.hold_back();
  launch(0, 0);
  launch(1, 1);
  EXPECT_EQ(channel_.posted, 0u);
  EXPECT_EQ(flight_.next_number(), 2u);
  flight_.release(channel_);
  EXPECT_EQ(channel_.posted, 2u);
}

TEST_F(InFlightTest, AStreamHasWorkFromItsLaunchToItsEndWhateverOthersHave) {
  const StreamId first{0}, second{1};
  flight_.hold_back();
  launch(0, 1);
  EXPECT_TRUE(flight_.has_work(second));
  EXPECT_FALSE(flight_.has_work(first));
  flight_.release(channel_);
  EXPECT_TRUE(flight_.has_work(second));
  done(0);
  EXPECT_FALSE(flight_.has_work(second));
  flight_.hold_back();
  launch(1, 0);
  flight_.abort(kRunStart, channel_, clock_);
  EXPECT_FALSE(flight_.has_work(first));
}

TEST_F(InFlightTest, WhatIsAbortedIsLostButForWhatHadEnded) {
  for (std::uint64_t n = 0; n < Channel::kDepth + 1; ++n) launch(n, n == 1 ? 1 : 0);
  const std::int64_t begun = WallClock::monotonic_ns();
  const auto begin = static_cast<std::uint64_t>(begun);
  returned(0, begun);
  ended(0, begin, begin + 1'000);
  channel_.stamp(1).begin_ns = begin;
  const Time now = clock_.at(begun) + 1ms;
  while (clock_.now() < now) {
  }
  EXPECT_EQ(flight_.running_since(channel_, clock_), clock_.at(begun)) << "of the one that has not ended";
  const std::vector<Ended> ended = flight_.abort(now, channel_, clock_);
  ASSERT_EQ(ended.size(), Channel::kDepth + 1) << "what the ring had no room for included";
  EXPECT_FALSE(ended[0].is_lost);
  EXPECT_EQ(ended[0].device_time, 1us);
  for (std::uint64_t n = 1; n < ended.size(); ++n) {
    EXPECT_TRUE(ended[n].is_lost);
    EXPECT_EQ(ended[n].ticket, n);
    EXPECT_EQ(ended[n].end, now);
    EXPECT_EQ(ended[n].device_time, n == 1 ? now - clock_.at(begun) : Duration{0}) << n;
  }
  EXPECT_EQ(flight_.count(), 0u);
  EXPECT_EQ(flight_.waiting_since(), kNever);
  EXPECT_EQ(flight_.next_number(), Channel::kDepth + 1);
}

TEST_F(InFlightTest, WorkThatIsQueuedOnTheDeviceGoesOnBetweenTwoKernels) {
  const std::int64_t start = WallClock::monotonic_ns();
  const auto at_ns = [start](std::int64_t us) { return static_cast<std::uint64_t>(start + us * 1'000); };
  const auto take = [&](std::uint64_t number, std::int64_t called_us, std::int64_t begin_us, std::int64_t end_us) {
    launch(number, 0, clock_.at(start));
    channel_.calls[number].end_ns = start + called_us * 1'000;
    while (WallClock::monotonic_ns() < start + end_us * 1'000) {
    }
    ended(number, at_ns(begin_us), at_ns(end_us));
    returned(number, start);
    return flight_.take_completed(channel_, clock_).value();
  };
  const Ended first = take(0, 5, 10, 100);
  EXPECT_EQ(first.at_work_since, first.begin);
  const Ended queued = take(1, 6, 110, 200);
  EXPECT_EQ(queued.at_work_since, first.end);
  const Ended late = take(2, 250, 255, 300);
  EXPECT_EQ(late.at_work_since, late.begin) << "the device waited for its launch";
}

TEST_F(InFlightTest, ItIsPatientWithAQueueThatGoesOn) {
  EXPECT_EQ(flight_.waiting_since(), kNever);
  launch(0, 0);
  launch(1, 0);
  EXPECT_EQ(flight_.waiting_since(), kRunStart);
  const Time before = clock_.now();
  done(0);
  EXPECT_GE(flight_.waiting_since(), before);
  done(1);
  EXPECT_EQ(flight_.waiting_since(), kNever);
}

TEST_F(InFlightTest, OtherProgramsDoNotInheritTheChannel) {
  EXPECT_TRUE(fcntl(mapped_.descriptor(), F_GETFD) & FD_CLOEXEC);
}

TEST(BusyTime, IsTheUnionOfWhatItIsToldInAnyOrder) {
  BusyTime busy;
  busy.add(at(2ms), at(3ms));
  busy.add(at(5ms), at(6ms));
  EXPECT_EQ(busy.total(), 2ms);
  busy.add(at(0ms), at(10ms));
  EXPECT_EQ(busy.total(), 10ms);
  busy.add(at(20ms), at(21ms));
  busy.add(at(10ms), at(12ms));
  busy.add(at(4ms), at(7ms));
  EXPECT_EQ(busy.total(), 13ms);
}

}  // namespace
}  // namespace corun::executor
