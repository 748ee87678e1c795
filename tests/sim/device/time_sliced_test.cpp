#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <vector>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;
using testing::kUs;

constexpr std::int64_t kSlice = 2'000'000;
constexpr std::int64_t kSwitch = 175'000;

DeviceSpec sliced() {
  DeviceSpec spec;
  spec.time_slice = Duration{kSlice};
  spec.switch_cost = Duration{kSwitch};
  return spec;
}

// Keeps one operation of each listed duration in flight per client, for ever.
void keep_busy(DeviceDriver& driver, const std::vector<std::int64_t>& durations) {
  driver.on_completion = [&driver, durations](const Completion& done) {
    driver.submit(done.client.value, durations[done.client.value]);
  };
  // Two in flight, so that a client never runs dry between a completion and its resubmission.
  for (std::uint32_t client = 0; client < durations.size(); ++client) {
    driver.submit(client, durations[client]);
    driver.submit(client, durations[client]);
  }
}

TEST(TimeSliced, TwoAlwaysBusyClientsEachGetTheSliceOfTheirPeriodToTheNanosecond) {
  DeviceDriver driver(sliced(), 2);
  keep_busy(driver, {700 * kUs, 3'300 * kUs});
  driver.run_to(100 * 2 * (kSlice + kSwitch));
  EXPECT_EQ(to_ns(driver.device().device_time(ClientId{0})), 100 * kSlice);
  EXPECT_EQ(to_ns(driver.device().device_time(ClientId{1})), 100 * kSlice);
  EXPECT_EQ(to_ns(driver.device().usage().switching), 200 * kSwitch);
  EXPECT_EQ(to_ns(driver.device().usage().busy), 200 * kSlice);
}

TEST(TimeSliced, ThreeAlwaysBusyClientsEachGetTheSliceOfTheirPeriodToTheNanosecond) {
  DeviceDriver driver(sliced(), 3);
  keep_busy(driver, {500 * kUs, 1'300 * kUs, 9'000 * kUs});
  driver.run_to(50 * 3 * (kSlice + kSwitch));
  for (std::uint32_t client = 0; client < 3; ++client) {
    EXPECT_EQ(to_ns(driver.device().device_time(ClientId{client})), 50 * kSlice);
  }
}

/// What two streams with dispatch gaps come to, where ends of gaps are passed if the device lets that be.
struct WithGaps {
  std::vector<std::array<std::int64_t, 4>> completions;  ///< ticket, begin, end and device time
  std::int64_t device_time = 0, busy = 0;
  int passed = 0;

  explicit WithGaps(bool passes, bool watches_begins = false) {
    const std::unique_ptr<DeviceModel> device = make_device(sliced());
    device->join(ClientId{0}, {});
    for (std::int64_t i = 0; i < 6; ++i)
      device->submit({.ticket = static_cast<Ticket>(i),
                      .stream = StreamId{static_cast<std::uint32_t>(i % 2)},
                      .duration = Duration{(7 + 5 * i) * kUs},
                      .dispatch_gap = Duration{(i == 3 ? 60 : 2 + i) * kUs},
                      .begin_is_watched = watches_begins},
                     kRunStart);
    std::vector<Completion> done;
    for (Time next = device->next_change(); next != kNever; next = device->next_change()) {
      const bool is_passed = passes && device->pass_change();
      passed += is_passed ? 1 : 0;
      if (!is_passed) device->advance(next, done);
    }
    for (const Completion& each : done)
      completions.push_back({static_cast<std::int64_t>(each.ticket), to_ns(each.begin - kRunStart),
                             to_ns(each.end - kRunStart), to_ns(each.device_time)});
    device_time = to_ns(device->device_time(ClientId{0}));
    busy = to_ns(device->usage().busy);
  }
};

TEST(TimeSliced, EndsOfGapsThatArePassedMakeNoDifference) {
  const WithGaps advanced(false), passed(true);
  EXPECT_GE(passed.passed, 4);
  EXPECT_EQ(passed.completions, advanced.completions);
  EXPECT_EQ(passed.device_time, advanced.device_time);
  EXPECT_EQ(passed.busy, advanced.busy);
}

/// Two clients' random operations on a device that is looked at in between.
class LookedAt {
 public:
  explicit LookedAt(bool passes) : passes_(passes) {
    for (std::uint32_t client = 0; client < 2; ++client) device_->join(ClientId{client}, {});
  }
  void move_to(Time to) {
    for (Time next = device_->next_change(); next <= to; next = device_->next_change())
      if (passes_ && device_->pass_change())
        ++passed;
      else
        device_->advance(next, done_);
    device_->advance(to, done_);
  }
  std::vector<std::int64_t> seen() const {
    std::vector<std::int64_t> all{to_ns(device_->usage().busy), to_ns(device_->usage().switching)};
    for (std::uint32_t client = 0; client < 2; ++client) all.push_back(to_ns(device_->device_time(ClientId{client})));
    for (const Completion& each : done_)
      all.insert(all.end(), {static_cast<std::int64_t>(each.ticket), to_ns(each.begin - kRunStart),
                             to_ns(each.end - kRunStart), to_ns(each.device_time)});
    return all;
  }
  void submit(const DeviceOp& op, Time now) { device_->submit(op, now); }
  void abort(ClientId client, Time now) { device_->abort(client, now, done_); }
  int passed = 0;

 private:
  const bool passes_;
  std::unique_ptr<DeviceModel> device_ = make_device(sliced());
  std::vector<Completion> done_;
};

TEST(TimeSliced, PassedEndsOfGapsMakeNoDifferenceWheneverTheDeviceIsLookedAt) {
  int passed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % most); };
    LookedAt reference(false), passing(true);
    Time now = kRunStart;
    for (Ticket ticket = 0; ticket < 60; ++ticket) {
      now += Duration{up_to(ticket < 30 ? 400 * kUs : 4 * kMs)};
      for (LookedAt* each : {&reference, &passing}) each->move_to(now);
      ASSERT_EQ(passing.seen(), reference.seen()) << "seed " << seed << " at " << to_ns(now - kRunStart);
      const bool aborts = up_to(40) == 0;
      const DeviceOp op{.ticket = ticket,
                        .client = ClientId{static_cast<std::uint32_t>(up_to(8) == 0)},
                        .stream = StreamId{static_cast<std::uint32_t>(up_to(3))},
                        .duration = Duration{1 + up_to(900 * kUs)},
                        .dispatch_gap = Duration{up_to(2) * up_to(200 * kUs)},
                        .ready_at = now + Duration{up_to(60 * kUs)}};
      for (LookedAt* each : {&reference, &passing}) {
        if (aborts) each->abort(ClientId{0}, now);
        each->submit(op, now);
      }
    }
    passed += passing.passed;
  }
  EXPECT_GT(passed, 1'000);
}

TEST(TimeSliced, TheEndOfAGapBeforeABeginThatIsWatchedIsNotPassed) { EXPECT_EQ(WithGaps(true, true).passed, 0); }

/// When a copy of client 1 ends that was submitted 1 ms after client 0 began to work without a pause.
std::int64_t end_of_copy(OpKind kind, std::uint64_t bytes, Sharing sharing = Sharing::kTimeSliced) {
  DeviceSpec spec = sliced();
  spec.sharing = sharing;
  DeviceDriver driver(spec, 2);
  for (int i = 0; i < 10; ++i) driver.submit(0, kMs);
  driver.run_to(kMs);
  const Ticket copy = driver.submit(
      {.client = ClientId{1}, .kind = kind, .duration = Duration{10 * kUs}, .ready_at = driver.now(), .bytes = bytes});
  driver.drain();
  return driver.end(copy);
}

TEST(TimeSliced, ASmallCopyToTheDeviceWaitsForItsTurnAndOtherCopiesDoNot) {
  EXPECT_EQ(end_of_copy(OpKind::kCopyHostToDevice, 65536), kSlice + kSwitch + 10 * kUs);
  EXPECT_EQ(end_of_copy(OpKind::kCopyHostToDevice, 65537), kMs + 10 * kUs);
  EXPECT_EQ(end_of_copy(OpKind::kCopyHostToDevice, 0), kMs + 10 * kUs) << "of unknown size";
  EXPECT_EQ(end_of_copy(OpKind::kCopyDeviceToHost, 8), kMs + 10 * kUs);
  EXPECT_EQ(end_of_copy(OpKind::kCopyHostToDevice, 8, Sharing::kConcurrent), kMs + 10 * kUs) << "there are no turns";
}

TEST(TimeSliced, ALoneClientReplaysItsDurationsAndGapsExactly) {
  DeviceDriver driver(sliced(), 1);
  const Ticket first = driver.submit(0, 5 * kMs);
  const Ticket second =
      driver.submit({.client = ClientId{0}, .duration = Duration{7 * kMs}, .dispatch_gap = Duration{900}});
  driver.drain();
  EXPECT_EQ(driver.begin(first), 0);
  EXPECT_EQ(driver.end(first), 5 * kMs);
  EXPECT_EQ(driver.begin(second), 5 * kMs + 900);
  EXPECT_EQ(driver.end(second), 12 * kMs + 900);
  EXPECT_EQ(driver.completion(second).device_time, Duration{7 * kMs});
  EXPECT_EQ(driver.device().usage().switching, Duration{});
}

/// Four SMs of 2048 threads; of a switch of 200 us, 80 go with threads.
DeviceSpec sliced_with_state() {
  DeviceSpec spec = sliced();
  spec.sm_count = 4;
  spec.switch_cost = Duration{200 * kUs};
  spec.switch_state = 0.4;
  return spec;
}

DeviceOp kernel_of(std::uint32_t client, std::uint32_t blocks, std::int64_t duration_ns) {
  return {.client = ClientId{client},
          .duration = Duration{duration_ns},
          .shape = {.grid_x = blocks, .grid_y = 1, .grid_z = 1, .block_x = 1024, .block_y = 1, .block_z = 1}};
}

TEST(TimeSliced, SwitchesBetweenContextsThatFillTheDeviceCostAllOfTheSwitchCost) {
  DeviceDriver driver(sliced_with_state(), 2);
  driver.submit(kernel_of(0, 1'000, 50 * kMs));
  driver.submit(kernel_of(1, 8, 50 * kMs));
  driver.run_to(10 * 2 * (kSlice + 200 * kUs));
  // The first switch to the second client brings nothing back: 40 us less, and the first client has begun its next
  // slice.
  EXPECT_EQ(to_ns(driver.device().usage().switching), 20 * 200 * kUs - 40 * kUs);
  EXPECT_EQ(to_ns(driver.device().device_time(ClientId{0})), 10 * kSlice + 40 * kUs);
}

TEST(TimeSliced, WhoRunsDryLeavesNothingToSaveAndWhoIsNewBringsNothingBack) {
  DeviceDriver driver(sliced_with_state(), 2);
  driver.submit(kernel_of(0, 8, 3 * kMs));
  const Ticket brief = driver.submit(kernel_of(1, 8, 100 * kUs));
  const Ticket after = driver.submit(kernel_of(0, 8, 100 * kUs));
  driver.drain();
  EXPECT_EQ(driver.begin(brief), kSlice + 160 * kUs);                                // one is saved
  EXPECT_EQ(driver.begin(after), kSlice + 160 * kUs + 100 * kUs + 160 * kUs + kMs);  // and brought back
}

TEST(TimeSliced, AQuarterOfTheThreadsTakesHalfAsLongToSave) {
  DeviceDriver driver(sliced_with_state(), 2);
  driver.submit(kernel_of(0, 2, 3 * kMs));
  const Ticket brief = driver.submit(kernel_of(1, 8, 100 * kUs));
  driver.drain();
  EXPECT_EQ(driver.begin(brief), kSlice + 120 * kUs + 20 * kUs);
}

TEST(TimeSliced, AKernelOfUnknownShapeFillsTheDevice) {
  DeviceDriver driver(sliced_with_state(), 2);
  driver.submit(0, 3 * kMs);
  const Ticket brief = driver.submit(1, 100 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(brief), kSlice + 160 * kUs);
}

TEST(TimeSliced, AClientThatRunsDryLeavesAtOnce) {
  DeviceDriver driver(sliced(), 2);
  driver.submit(0, 300 * kUs);
  const Ticket other = driver.submit(1, 100 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(other), 300 * kUs + kSwitch);
}

TEST(TimeSliced, AWokenClientWaitsForTheEndOfTheRollingSlice) {
  DeviceDriver driver(sliced(), 2);
  driver.submit(0, 50 * kMs);
  driver.run_to(3 * kSlice + 400 * kUs);
  const Ticket woken = driver.submit(1, 100 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(woken), 4 * kSlice + kSwitch);
}

TEST(TimeSliced, ASliceThatEndsAsTheClientRunsDryCostsOneSwitch) {
  DeviceDriver driver(sliced(), 2);
  driver.submit(0, kSlice);
  const Ticket other = driver.submit(1, kSlice);
  driver.drain();
  EXPECT_EQ(driver.begin(other), kSlice + kSwitch);
  EXPECT_EQ(to_ns(driver.device().usage().switching), kSwitch);
}

TEST(TimeSliced, TheSameClientResumesForNothingAndAnotherPaysTheSwitch) {
  DeviceDriver driver(sliced(), 2);
  driver.submit(0, 100 * kUs);
  driver.run_to(1 * kMs);
  const Ticket same = driver.submit(0, 100 * kUs);
  driver.run_to(2 * kMs);
  const Ticket another = driver.submit(1, 100 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(same), 1 * kMs);
  EXPECT_EQ(driver.begin(another), 2 * kMs + kSwitch);
}

TEST(TimeSliced, AClientWithShortWorkIsServedAfterEachSliceOfABusyOne) {
  DeviceDriver driver(sliced(), 2);
  std::vector<std::int64_t> begins;
  driver.on_completion = [&](const Completion& done) {
    if (done.client == ClientId{1}) begins.push_back(to_ns(done.begin));
    driver.submit(done.client.value, done.client == ClientId{0} ? 10 * kMs : 50 * kUs);
  };
  driver.submit(0, 10 * kMs);
  driver.submit(0, 10 * kMs);
  driver.submit(1, 50 * kUs);
  driver.run_to(100 * kMs);
  ASSERT_GT(begins.size(), 10u);
  for (std::size_t i = 1; i < begins.size(); ++i) {
    EXPECT_EQ(begins[i] - begins[i - 1], kSlice + 2 * kSwitch + 50 * kUs);
  }
}

TEST(TimeSliced, StreamsOfOneClientProgressTogetherAndKeepTheirOwnOrder) {
  DeviceDriver driver(sliced(), 1);
  const Ticket a = driver.submit(0, 800 * kUs, 0);
  const Ticket b = driver.submit(0, 500 * kUs, 1);
  const Ticket c = driver.submit(0, 500 * kUs, 1);
  driver.drain();
  EXPECT_EQ(driver.end(a), 800 * kUs);
  EXPECT_EQ(driver.end(b), 500 * kUs);
  EXPECT_EQ(driver.begin(c), 500 * kUs);
  EXPECT_EQ(driver.end(c), 1'000 * kUs);
}

TEST(TimeSliced, AnInterruptedOperationReportsOnlyItsOwnDeviceTime) {
  DeviceDriver driver(sliced(), 2);
  const Ticket interrupted = driver.submit(0, 3 * kMs);
  driver.submit(1, 10 * kMs);
  driver.drain();
  EXPECT_EQ(driver.completion(interrupted).device_time, Duration{3 * kMs});
  EXPECT_EQ(driver.end(interrupted), 3 * kMs + kSlice + 2 * kSwitch);
}

}  // namespace
}  // namespace corun
