// How a device treats clients differently: slices, priorities, shares, instances, and the end of a context. Every
// number is worked out by hand from the laws in docs/mechanisms.md.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;
using testing::kUs;

constexpr double kRounding = 100;  // ns: rates are multiples of 2^-20

void control(DeviceDriver& driver, std::uint32_t client, const ContextControls& controls) {
  driver.device().control(ClientId{client}, controls, driver.now());
}

/// Keeps two operations of a client in flight for ever.
void keep_busy(DeviceDriver& driver, std::uint32_t clients, std::int64_t duration_ns) {
  driver.on_completion = [&driver, duration_ns](const Completion& done) {
    driver.submit(done.client.value, duration_ns);
  };
  for (std::uint32_t client = 0; client < 2 * clients; ++client) driver.submit(client % clients, duration_ns);
}

std::int64_t device_ns(DeviceDriver& driver, std::uint32_t client) {
  return to_ns(driver.device().device_time(ClientId{client}));
}

DeviceSpec sliced() {
  DeviceSpec spec;
  spec.time_slice = Duration{2 * kMs};
  spec.switch_cost = Duration{100 * kUs};
  return spec;
}

// Ten SMs that hold one block each: a grid of n blocks fills n tenths.
DeviceSpec ten_sms(Sharing sharing = Sharing::kConcurrent) {
  DeviceSpec spec = sliced();
  spec.sm_count = 10;
  spec.max_threads_per_sm = 1024;
  spec.sharing = sharing;
  return spec;
}

Ticket kernel(DeviceDriver& driver, std::uint32_t client, std::uint32_t blocks, std::int64_t duration_ns) {
  return driver.submit({.client = ClientId{client},
                        .duration = Duration{duration_ns},
                        .ready_at = driver.now(),
                        .shape = {blocks, 1, 1, 1024, 1, 1, 32, 0}});
}

TEST(TimeSlice, ContextsShareTheDeviceInProportionToTheirSlices) {
  DeviceDriver driver(sliced(), 2);
  control(driver, 0, {.time_slice = Duration{6 * kMs}});
  keep_busy(driver, 2, 700 * kUs);
  driver.run_to(100 * (6 + 2) * kMs + 200 * 100 * kUs);
  EXPECT_EQ(device_ns(driver, 0), 100 * 6 * kMs);
  EXPECT_EQ(device_ns(driver, 1), 100 * 2 * kMs);
}

TEST(TimeSlice, AContextWithEndlessSlicesWaitsForOneTinySliceAndASwitch) {
  DeviceDriver driver(sliced(), 2);
  control(driver, 0, {.time_slice = Duration{1'000 * kMs}});
  control(driver, 1, {.time_slice = Duration{200 * kUs}});
  driver.submit(1, 500 * kMs);
  driver.run_to(10 * kMs + 50 * kUs);
  const Ticket urgent = driver.submit(0, 30 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(urgent), 10 * kMs + 200 * kUs + 100 * kUs);
  EXPECT_EQ(driver.end(urgent) - driver.begin(urgent), 30 * kMs);
}

TEST(TimeSlice, ANewLengthHoldsFromTheEndOfTheSliceThatRuns) {
  DeviceDriver driver(sliced(), 2);
  driver.submit(0, 50 * kMs);
  driver.run_to(3 * kMs);
  control(driver, 0, {.time_slice = Duration{500 * kUs}});
  driver.run_to(4 * kMs + 600 * kUs);
  const Ticket woken = driver.submit(1, 100 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(woken), 5 * kMs + 100 * kUs);
}

TEST(TimeSlice, ShorteningItDoesNotCutTheSliceThatRuns) {
  DeviceDriver driver(sliced(), 2);
  driver.submit(0, 50 * kMs);
  driver.submit(1, 50 * kMs);
  driver.run_to(1 * kMs);
  control(driver, 0, {.time_slice = Duration{100 * kUs}});
  driver.run_to(2 * kMs + 100 * kUs);
  EXPECT_EQ(device_ns(driver, 0), 2 * kMs);
}

TEST(Priority, APendingKernelOfHigherPriorityGoesFirst) {
  DeviceDriver driver(ten_sms(), 3);
  control(driver, 2, {.priority = 1});
  kernel(driver, 0, 10, 4 * kMs);
  driver.run_to(1 * kMs);
  const Ticket low = kernel(driver, 1, 10, 4 * kMs);
  const Ticket high = kernel(driver, 2, 10, 4 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(high), 4 * kMs);
  EXPECT_EQ(driver.begin(low), 8 * kMs);
}

TEST(Priority, ARunningKernelYieldsAtTheEndOfItsWaveAndGoesOnLater) {
  DeviceDriver driver(ten_sms(), 2);
  control(driver, 1, {.priority = 1});
  const Ticket low = kernel(driver, 0, 40, 8 * kMs);  // four waves of 2 ms
  driver.run_to(3 * kMs);
  const Ticket high = kernel(driver, 1, 10, 1 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(high), 4 * kMs);
  EXPECT_EQ(driver.end(high), 5 * kMs);
  EXPECT_EQ(driver.end(low), 9 * kMs);
}

TEST(Priority, ARunningKernelYieldsToTheHighestOfThoseThatWait) {
  DeviceDriver driver(ten_sms(), 3);
  control(driver, 2, {.priority = 1});
  kernel(driver, 0, 40, 8 * kMs);  // four waves of 2 ms
  driver.run_to(3 * kMs);
  kernel(driver, 1, 10, 1 * kMs);
  const Ticket high = kernel(driver, 2, 10, 1 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(high), 4 * kMs);
}

TEST(Priority, AKernelOfOneLongWaveIsNotDisplaced) {
  DeviceDriver driver(ten_sms(), 2);
  control(driver, 1, {.priority = 5});
  const Ticket low = kernel(driver, 0, 10, 50 * kMs);
  driver.run_to(1 * kMs);
  const Ticket high = kernel(driver, 1, 10, 1 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(low), 50 * kMs);
  EXPECT_EQ(driver.begin(high), 50 * kMs);
}

TEST(Priority, TheHigherOneTakesWhatItWantsAndLeavesTheRest) {
  DeviceDriver driver(ten_sms(), 2);
  control(driver, 1, {.priority = 1});
  const Ticket low = kernel(driver, 0, 100, 10 * kMs);  // ten waves of 1 ms
  driver.run_to(500 * kUs);
  const Ticket high = kernel(driver, 1, 6, 3 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(high), 1 * kMs);
  EXPECT_EQ(driver.end(high), 4 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(low)), 10e6 + 0.6 * 3e6, kRounding);
}

TEST(Priority, AKernelThatPagesDoesNotComeToTheEndOfItsWave) {
  DeviceSpec spec = ten_sms();
  spec.memory_bytes = 10'000'000'000;
  spec.handover_bandwidth_bytes_per_s = 1'000'000'000;
  spec.to_device_bytes_per_s = 10'000'000'000'000;
  DeviceDriver driver(spec);
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 8'000'000'000});
  driver.join({});
  control(driver, 2, {.priority = 1});
  kernel(driver, 0, 100'000, 10 * kMs);  // waves of 1 us
  driver.run_to(1 * kMs);
  driver.device().prefetch(ClientId{1}, driver.now());
  driver.run_to(2 * kMs + 500);
  driver.submit(0, 1 * kMs, 1);  // what was evicted has to come back: 8 s
  const Ticket high = kernel(driver, 2, 10, 1 * kMs);
  int changes = 0;
  driver.on_change = [&] { ++changes; };
  driver.run_to(1'000 * kMs);
  EXPECT_LT(changes, 1'000);
  driver.drain();
  EXPECT_GT(driver.begin(high), 7'000 * kMs);
}

TEST(Priority, AChangeReachesKernelsThatAreAlreadyPending) {
  DeviceDriver driver(ten_sms(), 3);
  kernel(driver, 0, 10, 4 * kMs);
  const Ticket first = kernel(driver, 1, 10, 4 * kMs);
  const Ticket second = kernel(driver, 2, 10, 4 * kMs);
  driver.run_to(1 * kMs);
  control(driver, 2, {.priority = 3});
  driver.drain();
  EXPECT_EQ(driver.begin(second), 4 * kMs);
  EXPECT_EQ(driver.begin(first), 8 * kMs);
}

TEST(SmCap, AChangeReachesTheKernelThatRuns) {
  DeviceDriver driver(ten_sms(), 1);
  const Ticket capped = kernel(driver, 0, 10, 10 * kMs);
  driver.run_to(5 * kMs);
  control(driver, 0, {.sm_cap = 0.5});
  driver.drain();
  EXPECT_EQ(driver.end(capped), 15 * kMs);
}

TEST(SmShare, NobodyElseUsesReservedSmsEvenIdleOnes) {
  DeviceDriver driver(ten_sms(), 2);
  control(driver, 0, {.sm_share = 0.6});
  const Ticket other = kernel(driver, 1, 10, 4 * kMs);  // ten blocks on four SMs: three waves
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(other)), 12e6, kRounding);
}

TEST(SmShare, AKernelThatFitsItsShareRunsAsIfAloneBesideAFlood) {
  DeviceDriver driver(ten_sms(), 2);
  control(driver, 0, {.sm_share = 0.3});
  for (int i = 0; i < 5; ++i) kernel(driver, 1, 10, 10 * kMs);
  driver.run_to(1 * kMs);
  const Ticket small = kernel(driver, 0, 3, 2 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(small), 1 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(small)), 3e6, kRounding);
}

TEST(SmShare, BlocksFallIntoWholeWavesOfTheShare) {
  DeviceDriver driver(ten_sms(), 1);
  control(driver, 0, {.sm_share = 0.4});
  const Ticket nine = kernel(driver, 0, 9, 2 * kMs);  // one partial wave on ten SMs, three waves on four
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(nine)), 6e6, kRounding);
}

// With the exponent 0.5 half of the SMs alone have the throughput sqrt(1/2); two busy halves have 1/2 each.
TEST(SmShare, BusySharesCompeteForMemoryBandwidthAndSumToTheWhole) {
  DeviceSpec spec = ten_sms();
  spec.sm_rate_exponent = 0.5;
  for (const bool both : {false, true}) {
    DeviceDriver driver(spec, 2);
    control(driver, 0, {.sm_share = 0.5});
    control(driver, 1, {.sm_share = 0.5});
    const Ticket measured = kernel(driver, 0, 10, 10 * kMs);
    if (both) kernel(driver, 1, 100, 100 * kMs);
    driver.drain();
    EXPECT_NEAR(static_cast<double>(driver.end(measured)), both ? 20e6 : 10e6 * std::sqrt(2.0), kRounding) << both;
  }
}

TEST(SmShare, IsFreeAgainWhenItsClientLeaves) {
  DeviceDriver driver(ten_sms(), 2);
  control(driver, 0, {.sm_share = 0.5});
  const Ticket other = kernel(driver, 1, 10, 10 * kMs);
  driver.run_to(10 * kMs);
  driver.device().leave(ClientId{0}, driver.now());
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(other)), 15e6, kRounding);
}

TEST(Instance, ClientsWithInstancesRunBesideOneAnotherWithoutSwitches) {
  DeviceDriver driver(ten_sms(Sharing::kTimeSliced), 2);
  control(driver, 0, {.instance = 0.5});
  control(driver, 1, {.instance = 0.5});
  const Ticket first = kernel(driver, 0, 10, 10 * kMs);
  const Ticket second = kernel(driver, 1, 5, 10 * kMs);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(first)), 20e6, kRounding);   // two waves on half of the SMs
  EXPECT_NEAR(static_cast<double>(driver.end(second)), 10e6, kRounding);  // fits its half
  EXPECT_EQ(driver.device().usage().switching, Duration{});
  EXPECT_EQ(driver.device().usage().busy, Duration{driver.end(first)});
}

TEST(Instance, IsNotDisturbedByTheOthersWhateverTheyDo) {
  std::set<std::int64_t> ends;
  for (const int others : {0, 1, 4}) {
    DeviceDriver driver(ten_sms(Sharing::kTimeSliced), 3);
    control(driver, 0, {.instance = 3.0 / 7});
    for (int i = 0; i < others; ++i) kernel(driver, 1 + static_cast<std::uint32_t>(i % 2), 50, 30 * kMs);
    const Ticket measured = kernel(driver, 0, 35, 20 * kMs);
    driver.drain();
    ends.insert(driver.end(measured));
  }
  EXPECT_EQ(ends.size(), 1U);
}

TEST(Instance, ThoseWithoutOneTakeTurnsOnWhatIsLeft) {
  DeviceDriver driver(ten_sms(Sharing::kTimeSliced), 3);
  control(driver, 0, {.instance = 0.5});
  keep_busy(driver, 3, 1 * kMs);
  driver.run_to(100 * 2 * (2 * kMs + 100 * kUs));
  EXPECT_EQ(device_ns(driver, 0), 420 * kMs);
  EXPECT_EQ(device_ns(driver, 1), 200 * kMs);
  EXPECT_EQ(device_ns(driver, 2), 200 * kMs);
  std::int64_t done = 0;
  for (const Completion& completion : driver.completions()) done += completion.client == ClientId{1} ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(done), 100, 1);  // kernels of unknown shape go at half speed on half of the device
}

TEST(Instance, ARunningKernelMovesIntoItAndBack) {
  DeviceDriver driver(ten_sms(Sharing::kTimeSliced), 2);
  const Ticket moved = driver.submit(0, 10 * kMs);
  driver.run_to(4 * kMs);
  control(driver, 0, {.instance = 0.5});
  driver.run_to(8 * kMs);
  control(driver, 0, {});
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(moved)), 12e6, kRounding);  // 4 + 4 / 2 + 4
}

TEST(Instance, ACopyHasTheWholeLink) {
  DeviceDriver driver(ten_sms(Sharing::kTimeSliced), 2);
  control(driver, 0, {.instance = 0.5});
  const Ticket copy = driver.submit(0, 10 * kMs, 0, OpKind::kCopyHostToDevice);
  driver.drain();
  EXPECT_EQ(driver.end(copy), 10 * kMs);
}

TEST(Instance, AFewBytesAreSetAsFastInItAsOnTheWholeDevice) {
  DeviceDriver driver(ten_sms(Sharing::kTimeSliced), 1);
  control(driver, 0, {.instance = 0.5});
  const Ticket few_bytes = driver.submit(0, 10 * kUs, 0, OpKind::kMemset);
  driver.drain();
  EXPECT_EQ(driver.end(few_bytes), 10 * kUs) << "it takes no SMs";
}

TEST(Instance, OfADeviceWhoseKernelsShareSpaceTakesItsSmsFromTheOthers) {
  DeviceDriver driver(ten_sms(), 2);
  control(driver, 0, {.instance = 0.4});
  const Ticket rest = kernel(driver, 1, 6, 5 * kMs);
  const Ticket own = kernel(driver, 0, 8, 5 * kMs);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(rest)), 5e6, kRounding);
  EXPECT_NEAR(static_cast<double>(driver.end(own)), 10e6, kRounding);
}

TEST(Instance, MemoryBandwidthIsDividedWithTheSms) {
  DeviceSpec spec = ten_sms(Sharing::kTimeSliced);
  spec.sm_rate_exponent = 0.5;
  DeviceDriver driver(spec, 1);
  control(driver, 0, {.instance = 0.5});
  const Ticket full = kernel(driver, 0, 10, 10 * kMs);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(full)), 20e6, kRounding);  // not 10 ms * sqrt(2)
}

TEST(Controls, MeanNothingToAnExclusiveDevice) {
  DeviceDriver driver(ten_sms(Sharing::kExclusive), 2);
  control(driver, 0, {.time_slice = Duration{1 * kUs}, .priority = 3, .sm_cap = 0.1, .sm_share = 0.2, .instance = 0.3});
  const Ticket first = driver.submit(0, 5 * kMs);
  const Ticket second = driver.submit(1, 5 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(first), 5 * kMs);
  EXPECT_EQ(driver.end(second), 10 * kMs);
}

TEST(Abort, EverythingOfTheClientIsLostAtOnceAndTheOthersGoOn) {
  DeviceDriver driver(sliced(), 2);
  const Ticket running = driver.submit(0, 10 * kMs);
  const Ticket queued = driver.submit(0, 10 * kMs);
  const Ticket copy = driver.submit(0, 5 * kMs, 1, OpKind::kCopyHostToDevice);
  const Ticket late = driver.submit({.client = ClientId{0},
                                     .stream = StreamId{2},
                                     .duration = Duration{1 * kMs},
                                     .ready_at = driver.now() + Duration{20 * kMs}});
  const Ticket other = driver.submit(1, 3 * kMs);
  driver.run_to(1 * kMs);
  std::vector<Completion> lost;
  driver.device().abort(ClientId{0}, driver.now(), lost);
  ASSERT_EQ(lost.size(), 4U);
  const Ticket tickets[] = {running, queued, copy, late};
  for (std::size_t i = 0; i < lost.size(); ++i) {
    EXPECT_EQ(lost[i].ticket, tickets[i]);
    EXPECT_TRUE(lost[i].is_lost);
    EXPECT_EQ(lost[i].end, driver.now());
  }
  EXPECT_EQ(lost[0].device_time, Duration{1 * kMs});
  EXPECT_EQ(lost[1].device_time, Duration{});
  driver.drain();
  ASSERT_EQ(driver.completions().size(), 1U);
  EXPECT_EQ(driver.begin(other), 1 * kMs + 100 * kUs);
}

TEST(Abort, WhoWaitedForALostOperationGoesOn) {
  DeviceDriver driver(sliced(), 2);
  const Ticket lost = driver.submit(0, 10 * kMs);
  const Ticket waits =
      driver.submit({.client = ClientId{1}, .duration = Duration{1 * kMs}, .after = std::span<const Ticket>(&lost, 1)});
  driver.run_to(2 * kMs);
  std::vector<Completion> completions;
  driver.device().abort(ClientId{0}, driver.now(), completions);
  driver.drain();
  EXPECT_EQ(driver.begin(waits), 2 * kMs + 100 * kUs);
}

TEST(Abort, ALostOperationThatWaitedForAnotherClientIsNotWokenLater) {
  DeviceDriver driver(sliced(), 2);
  const Ticket awaited = driver.submit(1, 10 * kMs);
  driver.submit({.client = ClientId{0}, .duration = Duration{1 * kMs}, .after = std::span<const Ticket>(&awaited, 1)});
  driver.run_to(1 * kMs);
  std::vector<Completion> completions;
  driver.device().abort(ClientId{0}, driver.now(), completions);
  ASSERT_EQ(completions.size(), 1U);
  const Ticket next = driver.submit(0, 1 * kMs);
  driver.drain();
  EXPECT_EQ(driver.completions().size(), 2U);
  EXPECT_LT(driver.end(next), driver.end(awaited));
}

/// Three clients that submit, are controlled and are killed at random.
class RandomHistory {
 public:
  RandomHistory(Sharing sharing, std::uint64_t seed) : driver_(spec(sharing), kClients), random_(seed) {}

  void play() {
    for (int step = 0; step < 200; ++step) {
      for (std::uint64_t ops = below(4); ops > 0; --ops) submit();
      if (below(8) == 0) control();
      if (below(10) == 0) abort();
      driver_.run_to(to_ns(driver_.now()) + static_cast<std::int64_t>(below(3 * kMs)));
      check_usage();
    }
    for (std::uint32_t client = 0; client < kClients; ++client)
      driver_.device().control(ClientId{client}, {}, driver_.now());
    driver_.drain();
  }

  void expect_each_completed_once() const {
    std::multiset<Ticket> completed(lost_);
    for (const Completion& done : driver_.completions()) {
      EXPECT_FALSE(done.is_lost);
      EXPECT_LE(done.begin + done.device_time, done.end);
      completed.insert(done.ticket);
    }
    EXPECT_EQ(completed.size(), submitted_.size());
    EXPECT_TRUE(std::ranges::equal(completed, submitted_));
  }

 private:
  static constexpr std::uint32_t kClients = 3;
  static DeviceSpec spec(Sharing sharing) {
    DeviceSpec spec = ten_sms(sharing);
    spec.sm_rate_exponent = 0.5;
    return spec;
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void submit() {
    constexpr OpKind kKinds[] = {OpKind::kKernel, OpKind::kKernel,           OpKind::kKernel,          OpKind::kRender,
                                 OpKind::kMemset, OpKind::kCopyHostToDevice, OpKind::kCopyDeviceToHost};
    DeviceOp op{.client = ClientId{static_cast<std::uint32_t>(below(kClients))},
                .stream = StreamId{static_cast<std::uint32_t>(below(3))},
                .kind = kKinds[below(std::size(kKinds))],
                .duration = Duration{static_cast<std::int64_t>(below(4 * kMs))},
                .dispatch_gap = Duration{static_cast<std::int64_t>(below(5'000))},
                .ready_at = driver_.now() + Duration{static_cast<std::int64_t>(below(100'000))}};
    if (op.kind == OpKind::kKernel && below(4) != 0)
      op.shape = {static_cast<std::uint32_t>(1 + below(45)), 1, 1, 1024, 1, 1, 32, 0};
    std::vector<Ticket> after;
    if (!submitted_.empty() && below(3) == 0) after.push_back(*submitted_.rbegin());
    op.after = after;
    submitted_.insert(driver_.submit(op));
  }

  void control() {
    ContextControls controls;
    controls.time_slice = Duration{static_cast<std::int64_t>(below(3) * 300'000)};
    controls.priority = static_cast<std::int32_t>(below(3));
    controls.sm_cap = 0.1 * static_cast<double>(1 + below(10));
    if (below(2) == 0) controls.sm_share = 0.1 * static_cast<double>(below(4));
    if (below(3) == 0) controls.instance = 0.1 * static_cast<double>(below(4));
    driver_.device().control(ClientId{static_cast<std::uint32_t>(below(kClients))}, controls, driver_.now());
  }

  void abort() {
    std::vector<Completion> lost;
    const ClientId client{static_cast<std::uint32_t>(below(kClients))};
    driver_.device().abort(client, driver_.now(), lost);
    for (const Completion& completion : lost) {
      EXPECT_TRUE(completion.is_lost);
      EXPECT_EQ(completion.client, client);
      lost_.insert(completion.ticket);
    }
  }

  void check_usage() {
    const DeviceUsage usage = driver_.device().usage();
    EXPECT_LE(usage.busy + usage.switching + usage.paging, driver_.now() - kRunStart);
    for (std::uint32_t client = 0; client < kClients; ++client)
      EXPECT_LE(driver_.device().device_time(ClientId{client}), driver_.now() - kRunStart);
  }

  DeviceDriver driver_;
  std::mt19937_64 random_;
  std::multiset<Ticket> submitted_;
  std::multiset<Ticket> lost_;
};

TEST(Abort, AtAnyTimeLeavesADeviceOnWhichEverythingCompletesExactlyOnce) {
  for (const Sharing sharing : {Sharing::kTimeSliced, Sharing::kConcurrent, Sharing::kExclusive})
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE(::testing::Message() << "sharing " << static_cast<int>(sharing) << ", seed " << seed);
      RandomHistory history(sharing, seed);
      history.play();
      history.expect_each_completed_once();
    }
}

TEST(Control, AnInstanceGoesBeforeAShareOfWhatTheInstancesLeave) {
  DeviceDriver driver(ten_sms(), 3);
  control(driver, 0, {.sm_share = 0.5, .instance = 0.5});
  control(driver, 1, {.sm_cap = 0.25});
  const Ticket capped = kernel(driver, 1, 10, 10 * kMs);
  const Ticket beside = kernel(driver, 2, 10, 10 * kMs);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(capped)), 40e6, 1e3) << "half of the half that the instance leaves";
  EXPECT_EQ(driver.begin(beside), 0) << "on the other half of it";
}

}  // namespace
}  // namespace corun
