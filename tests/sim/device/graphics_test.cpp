#include <gtest/gtest.h>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;
using testing::kUs;

constexpr std::int64_t kSlice = 2'097'152;
constexpr std::int64_t kSwitch = 175'000;
constexpr std::uint32_t kGame = 0;

DeviceSpec device(GraphicsScheduling graphics) {
  DeviceSpec spec;
  spec.time_slice = Duration{kSlice};
  spec.switch_cost = Duration{kSwitch};
  spec.graphics = graphics;
  return spec;
}

Ticket render(DeviceDriver& driver, std::int64_t duration_ns) {
  return driver.submit(kGame, duration_ns, 0, OpKind::kRender);
}

// An uncapped game: a frame is two visits, submitted together when the frame before has finished. Clients from 1 on
// compute without end. Returns the instants at which frames finished.
std::vector<std::int64_t> frame_ends(std::uint32_t computing, std::int64_t first_visit, std::int64_t second_visit) {
  DeviceDriver driver(device(GraphicsScheduling::kToCompletion), computing + 1);
  std::vector<std::int64_t> ends;
  Ticket last_visit = 0;
  const auto frame = [&] {
    render(driver, first_visit);
    last_visit = render(driver, second_visit);
  };
  driver.on_completion = [&](const Completion& done) {
    if (done.client != ClientId{kGame}) {
      driver.submit(done.client.value, 900 * kUs);
    } else if (done.ticket == last_visit) {
      ends.push_back(to_ns(done.end));
      frame();
    }
  };
  frame();
  for (std::uint32_t client = 1; client <= computing; ++client) {
    driver.submit(client, 900 * kUs);
    driver.submit(client, 900 * kUs);
  }
  driver.run_to(400 * kMs);
  return ends;
}

TEST(Graphics, AnUncappedFrameOfTwoVisitsWaitsTwoRoundsOfTheRing) {
  for (const std::uint32_t computing : {1u, 2u, 3u}) {
    const std::vector<std::int64_t> ends = frame_ends(computing, 2'200 * kUs, 45 * kUs);
    ASSERT_GT(ends.size(), 10u);
    const std::int64_t round = computing * kSlice + (computing + 1) * kSwitch;
    for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_EQ(ends[i] - ends[i - 1], 2'245 * kUs + 2 * round);
  }
}

TEST(Graphics, AFrameBesideOneComputeClientTakesWhatAnH200Measures) {
  const std::vector<std::int64_t> ends = frame_ends(1, 2'200 * kUs, 45 * kUs);
  const double frames_per_second = 1e9 / static_cast<double>(ends[5] - ends[4]);
  EXPECT_NEAR(frames_per_second, 141, 3);
}

TEST(Graphics, AVisitRunsToItsEndPastItsSlice) {
  DeviceDriver driver(device(GraphicsScheduling::kToCompletion), 2);
  const Ticket visit = render(driver, 17'700 * kUs);
  const Ticket kernel = driver.submit(1, 100 * kUs);
  driver.drain();
  EXPECT_EQ(driver.end(visit), 17'700 * kUs);
  EXPECT_EQ(driver.begin(kernel), 17'700 * kUs + kSwitch);
}

/// When the equal draws of a frame begin while an endless kernel runs.
std::vector<std::int64_t> draw_begins(std::int64_t draws, std::int64_t draw_ns, std::int64_t graphics_slice_ns) {
  DeviceSpec spec = device(GraphicsScheduling::kToCompletion);
  spec.graphics_slice = Duration{graphics_slice_ns};
  DeviceDriver driver(spec, 2);
  std::vector<Ticket> tickets;
  for (std::int64_t i = 0; i < draws; ++i) tickets.push_back(render(driver, draw_ns));
  driver.submit(1, 100 * kMs);
  driver.drain();
  std::vector<std::int64_t> begins;
  for (const Ticket ticket : tickets) begins.push_back(driver.begin(ticket));
  return begins;
}

TEST(Graphics, DrawsThatAreQueuedFollowOneAnotherUntilTheirTurnHasLastedASlice) {
  const std::int64_t round = kSlice + 2 * kSwitch;
  EXPECT_EQ(draw_begins(4, 567 * kUs, 1'024 * kUs),
            (std::vector<std::int64_t>{0, 567 * kUs, 1'134 * kUs + round, 1'701 * kUs + round}));
  EXPECT_EQ(draw_begins(2, 1'124 * kUs, 1'024 * kUs), (std::vector<std::int64_t>{0, 1'124 * kUs + round}));
}

TEST(Graphics, WithoutASliceOfItsOwnEachDrawIsATurn) {
  const std::int64_t round = kSlice + 2 * kSwitch;
  EXPECT_EQ(draw_begins(3, 100 * kUs, 0), (std::vector<std::int64_t>{0, 100 * kUs + round, 200 * kUs + 2 * round}));
}

TEST(Graphics, ATurnThatHasLastedASliceIsNotCutInsideADraw) {
  EXPECT_EQ(draw_begins(2, 900 * kUs, 1'024 * kUs), (std::vector<std::int64_t>{0, 900 * kUs}));
  EXPECT_EQ(draw_begins(3, 900 * kUs, 1'024 * kUs)[2], 1'800 * kUs + kSlice + 2 * kSwitch);
}

TEST(Graphics, ALoneGamePaysNothing) {
  DeviceDriver driver(device(GraphicsScheduling::kToCompletion), 1);
  render(driver, 3 * kMs);
  const Ticket second = render(driver, 4 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(second), 7 * kMs);
}

TEST(Graphics, SlicedVisitsAreInterruptedLikeCompute) {
  DeviceDriver driver(device(GraphicsScheduling::kSliced), 2);
  const Ticket visit = render(driver, 3 * kMs);
  const Ticket kernel = driver.submit(1, 100 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(kernel), kSlice + kSwitch);
  EXPECT_EQ(driver.end(visit), 3 * kMs + 100 * kUs + 2 * kSwitch);
  EXPECT_EQ(driver.completion(visit).device_time, Duration{3 * kMs});
}

TEST(Graphics, FirstTakesTheDeviceAtOnceAndComputeGoesOnAfterwards) {
  DeviceDriver driver(device(GraphicsScheduling::kFirst), 2);
  const Ticket kernel = driver.submit(1, 5 * kMs);
  driver.run_to(300 * kUs);
  const Ticket visit = render(driver, 6 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(visit), 300 * kUs + kSwitch);
  EXPECT_EQ(driver.end(visit), 6'300 * kUs + kSwitch);
  EXPECT_EQ(driver.end(kernel), 11 * kMs + 2 * kSwitch);
}

TEST(Graphics, UnderConcurrentSharingTheWholeComputeGroupTakesOneTurn) {
  DeviceSpec spec = device(GraphicsScheduling::kToCompletion);
  spec.sharing = Sharing::kConcurrent;
  DeviceDriver driver(spec, 3);
  const Ticket visit = render(driver, 1 * kMs);
  driver.submit(1, 10 * kMs);
  driver.submit(2, 10 * kMs);
  const Ticket next_visit = render(driver, 1 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(visit), 1 * kMs);
  EXPECT_EQ(driver.begin(next_visit), 1 * kMs + kSlice + 2 * kSwitch);
}

}  // namespace
}  // namespace corun
