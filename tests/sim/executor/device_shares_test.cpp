#include "sim/executor/device_time/device_shares.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/executor/device_time/busy_time.h"
#include "sim/executor/device_time/device_times.h"
#include "traces/base/error.h"

namespace corun::executor {
namespace {

using namespace std::chrono_literals;

constexpr ClientId kFirst{0}, kSecond{1}, kThird{2};

Time at(Duration after) { return kRunStart + after; }

TEST(DeviceShares, AClientAloneReceivesAllTheTimeInWhichItHasWork) {
  DeviceShares shares(2);
  shares.add(kFirst, at(1ms), at(4ms));
  shares.add(kFirst, at(6ms), at(7ms));
  EXPECT_EQ(shares.received(kFirst), 4ms);
  EXPECT_EQ(shares.received(kSecond), 0ms);
}

TEST(DeviceShares, TwoThatHaveWorkReceiveHalfOfTheDeviceEach) {
  DeviceShares shares(2);
  shares.add(kFirst, at(0ms), at(10ms));
  shares.add(kSecond, at(0ms), at(10ms));
  EXPECT_EQ(shares.received(kFirst), 5ms);
  EXPECT_EQ(shares.received(kSecond), 5ms);
}

TEST(DeviceShares, CompanyCountsWhileItLasts) {
  DeviceShares shares(3);
  shares.add(kFirst, at(0ms), at(9ms));
  shares.add(kSecond, at(3ms), at(9ms));
  shares.add(kThird, at(6ms), at(9ms));
  EXPECT_EQ(shares.received(kFirst), 3ms + 1500us + 1ms);
  EXPECT_EQ(shares.received(kFirst, at(2ms), at(6ms)), 1ms + 1500us) << "of a stretch";
  EXPECT_EQ(shares.received(kThird), 1ms);
}

TEST(DeviceShares, WhatGoesOnIsToldAsFarAsItHasCome) {
  DeviceShares shares(2);
  shares.add(kFirst, at(0ms), at(2ms));
  EXPECT_EQ(shares.received(kFirst), 2ms);
  shares.add(kFirst, at(0ms), at(5ms));
  shares.add(kSecond, at(4ms), at(5ms));
  EXPECT_EQ(shares.received(kFirst), 4500us);
}

TEST(DeviceShares, WhatIsToldLateChangesWhatOthersHaveReceived) {
  DeviceShares shares(2);
  shares.add(kFirst, at(0ms), at(10ms));
  EXPECT_EQ(shares.received(kFirst), 10ms);
  shares.add(kSecond, at(2ms), at(6ms));
  EXPECT_EQ(shares.received(kFirst), 8ms);
}

TEST(DeviceShares, StreamsOfOneClientAreNoCompany) {
  DeviceShares shares(2);
  shares.add(kFirst, at(0ms), at(4ms));
  shares.add(kFirst, at(2ms), at(6ms));
  EXPECT_EQ(shares.received(kFirst), 6ms);
}

TEST(DeviceShares, RefusesMoreClientsThanItCanTellApart) {
  EXPECT_NO_THROW(DeviceShares{DeviceShares::kMostClients});
  EXPECT_THROW(DeviceShares{DeviceShares::kMostClients + 1}, Error);
}

struct Stretch {
  ClientId client;
  Time begin, end;
};

constexpr std::uint32_t kClients = 4;

/// In an order that has nothing to do with their times.
std::vector<Stretch> any_stretches() {
  const auto drawn = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(rc::gen::tuple(
      rc::gen::inRange(0, static_cast<int>(kClients)), rc::gen::inRange(0, 200), rc::gen::inRange(1, 60)));
  std::vector<Stretch> stretches;
  for (const auto& [client, begin, length] : drawn)
    stretches.push_back({ClientId{static_cast<std::uint32_t>(client)}, at(begin * 12ns), at((begin + length) * 12ns)});
  return stretches;
}

/// Asks every instant which clients have work.
Duration received_by_counting(const std::vector<Stretch>& stretches, ClientId client, Time begin, Time end) {
  Duration received{};
  for (Time now = begin; now < end; now += 12ns) {
    std::uint64_t company = 0;
    for (const Stretch& stretch : stretches)
      if (stretch.begin <= now && now < stretch.end) company |= 1U << stretch.client.value;
    if ((company >> client.value & 1U) != 0) received += 12ns / std::popcount(company);
  }
  return received;
}

RC_GTEST_PROP(DeviceShares, AreWhatCountingEveryInstantGives, ()) {
  const auto stretches = any_stretches();
  DeviceShares shares(kClients);
  for (const auto& [client, begin, end] : stretches) shares.add(client, begin, end);
  const Time from = at(*rc::gen::inRange(0, 250) * 12ns), to = from + *rc::gen::inRange(0, 100) * 12ns;
  for (std::uint32_t i = 0; i < kClients; ++i) {
    RC_ASSERT(shares.received(ClientId{i}) == received_by_counting(stretches, ClientId{i}, kRunStart, at(4us)));
    RC_ASSERT(shares.received(ClientId{i}, from, to) == received_by_counting(stretches, ClientId{i}, from, to));
  }
}

RC_GTEST_PROP(DeviceShares, SumToTheTimeInWhichAnybodyHasWork, ()) {
  DeviceShares shares(kClients);
  BusyTime busy;
  for (const auto& [client, begin, end] : any_stretches()) {
    shares.add(client, begin, end);
    busy.add(begin, end);
  }
  Duration sum{};
  for (std::uint32_t i = 0; i < kClients; ++i) sum += shares.received(ClientId{i});
  RC_ASSERT(sum == busy.total());
}

RC_GTEST_PROP(DeviceShares, AreTheSameWhenWhatCannotChangeIsForgotten, ()) {
  auto stretches = any_stretches();
  std::ranges::sort(stretches, {}, &Stretch::begin);
  DeviceShares all(kClients), settled(kClients);
  for (const auto& [client, begin, end] : stretches) {
    settled.settle(begin);
    all.add(client, begin, end);
    settled.add(client, begin, end);
  }
  for (std::uint32_t i = 0; i < kClients; ++i) RC_ASSERT(all.received(ClientId{i}) == settled.received(ClientId{i}));
}

TEST(DeviceTimes, UnderMpsAnOperationReceivesItsSpanWhoeverElseRuns) {
  DeviceTimes at_once(2, false), in_turns(2, true);
  const Completion done{0, kFirst, at(0ms), at(4ms), 4ms};
  for (DeviceTimes* times : {&at_once, &in_turns}) {
    times->worked(kFirst, at(0ms), at(4ms));
    times->worked(kSecond, at(0ms), at(4ms));
  }
  EXPECT_EQ(at_once.received(done), 4ms);
  EXPECT_EQ(at_once.received(kFirst), 4ms);
  EXPECT_EQ(in_turns.received(done), 2ms);
  EXPECT_EQ(in_turns.received(kFirst), 2ms);
  EXPECT_EQ(at_once.busy(), 4ms);
  EXPECT_EQ(in_turns.busy(), 4ms);
}

TEST(DeviceTimes, ACounterNeverGoesBack) {
  DeviceTimes times(2, true);
  times.worked(kFirst, at(0ms), at(10ms));
  EXPECT_EQ(times.received(kFirst), 10ms);
  times.worked(kSecond, at(2ms), at(6ms));
  EXPECT_EQ(times.received(kFirst), 10ms);
  times.worked(kFirst, at(10ms), at(13ms));
  EXPECT_EQ(times.received(kFirst), 11ms);
}

}  // namespace
}  // namespace corun::executor
