#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;
using testing::kUs;

constexpr std::int64_t kSlice = 2'000'000;
constexpr std::int64_t kSwitch = 175'000;
constexpr std::int64_t kTurn = kSlice + kSwitch;

DeviceSpec device(TurnOrder order, LoneSlice lone_slice = LoneSlice::kUsedUp) {
  DeviceSpec spec;
  spec.time_slice = Duration{kSlice};
  spec.switch_cost = Duration{kSwitch};
  spec.turn_order = order;
  spec.lone_slice = lone_slice;
  return spec;
}

/// How long a short kernel waits that is submitted at `woken_ns` by the client in `place` among `busy` busy ones.
std::int64_t wait_beside(std::uint32_t busy, std::uint32_t place, std::int64_t woken_ns, const DeviceSpec& spec) {
  DeviceDriver driver(spec, busy + 1);
  for (std::uint32_t client = 0; client <= busy; ++client)
    if (client != place) driver.submit(client, 1'000 * kMs);
  driver.run_to(woken_ns);
  const Ticket woken = driver.submit(place, 20 * kUs);
  while (driver.completions().empty()) driver.run_to(to_ns(driver.now()) + kTurn);
  return driver.begin(woken) - woken_ns;
}

// The last one's place comes after that of the last busy one, and is looked at when that one's slice begins: a
// context that wakes just before waits for one turn, one that wakes just after for a round more.
TEST(TurnOrder, InAFixedOrderWaitsLieBetweenOneTurnAndOneRoundMore) {
  for (const std::uint32_t busy : {2U, 3U, 4U}) {
    const std::int64_t round = busy * kTurn, last_begins = 20 * round - kTurn;
    EXPECT_EQ(wait_beside(busy, busy, last_begins - 1, device(TurnOrder::kFixed)), kTurn + 1) << busy;
    EXPECT_EQ(wait_beside(busy, busy, last_begins, device(TurnOrder::kFixed)), kTurn + round) << busy;
    double sum = 0;
    constexpr int kPhases = 40;
    for (int i = 0; i < kPhases; ++i)
      sum += static_cast<double>(
          wait_beside(busy, busy, 20 * round + (2 * i + 1) * round / (2 * kPhases), device(TurnOrder::kFixed)));
    const double mean = static_cast<double>(kTurn) + static_cast<double>(round) / 2;
    EXPECT_NEAR(sum / kPhases, mean, static_cast<double>(round) / (2 * kPhases)) << busy;
  }
}

// With more queued, the last one's place is looked at when the slice before it ends: from no turn to one round.
TEST(TurnOrder, BesideQueuesNothingIsSettledAhead) {
  for (const std::uint32_t busy : {2U, 3U})
    for (const std::int64_t before : {1 * kUs, 700 * kUs, kTurn + 1 * kUs, busy * kTurn - 1 * kUs}) {
      DeviceDriver driver(device(TurnOrder::kFixed), busy + 1);
      for (std::uint32_t client = 0; client < busy; ++client)
        for (int i = 0; i < 2; ++i) driver.submit(client, 1'000 * kMs);
      driver.run_to(20 * busy * kTurn - kSwitch - before);
      const Ticket woken = driver.submit(busy, 20 * kUs);
      while (driver.completions().empty()) driver.run_to(to_ns(driver.now()) + kTurn);
      EXPECT_EQ(driver.begin(woken), 20 * busy * kTurn)
          << busy << " busy, " << before << " ns before the last slice ends";
    }
}

TEST(TurnOrder, AsWokenTheWaitIsTheRestOfTheSliceAndATurnOfEachOther) {
  for (const std::uint32_t busy : {2U, 3U, 4U})
    for (const std::int64_t into : {1 * kUs, 700 * kUs, kSlice - 1})
      EXPECT_EQ(wait_beside(busy, busy, 20 * busy * kTurn + into, device(TurnOrder::kAsWoken)), busy * kTurn - into);
}

TEST(TurnOrder, AContextKeepsThePlaceInWhichItWasMade) {
  // Slices begin in the order 0, 2, 0, 2: place 1 comes after 0 and is looked at when 0's begins.
  const std::int64_t first_begins = 40 * kTurn;
  EXPECT_EQ(wait_beside(2, 1, first_begins - 1, device(TurnOrder::kFixed)), kTurn + 1);
  EXPECT_EQ(wait_beside(2, 1, first_begins, device(TurnOrder::kFixed)), 3 * kTurn);
}

RC_GTEST_PROP(TurnOrder, BetweenTwoContextsBothOrdersAreTheSame, ()) {
  const auto lone_slice = *rc::gen::element(LoneSlice::kRolls, LoneSlice::kUsedUp);
  const auto lengths =
      *rc::gen::container<std::vector<std::int64_t>>(20, rc::gen::inRange<std::int64_t>(1 * kUs, 6 * kMs));
  std::vector<std::int64_t> ends[2];
  for (const TurnOrder order : {TurnOrder::kAsWoken, TurnOrder::kFixed}) {
    DeviceDriver driver(device(order, lone_slice), 2);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      driver.submit(i % 3 == 0, lengths[i]);
      driver.run_to(to_ns(driver.now()) + lengths[(i + 7) % lengths.size()]);
    }
    driver.drain();
    for (const Completion& done : driver.completions()) ends[order == TurnOrder::kFixed].push_back(to_ns(done.end));
  }
  RC_ASSERT(ends[0] == ends[1]);
}

TEST(TurnOrder, ASuccessorThatLosesItsWorkLosesItsTurn) {
  DeviceDriver driver(device(TurnOrder::kFixed), 3);
  for (std::uint32_t client : {0U, 1U, 2U}) driver.submit(client, 50 * kMs);
  driver.run_to(1 * kMs);  // 1 is settled to be next
  std::vector<Completion> lost;
  driver.device().abort(ClientId{1}, driver.now(), lost);
  ASSERT_EQ(lost.size(), 1U);
  driver.run_to(kTurn + kSlice);
  EXPECT_EQ(to_ns(driver.device().device_time(ClientId{2})), kSlice);
}

TEST(TurnOrder, GraphicsHasAPlaceToo) {
  DeviceDriver driver(device(TurnOrder::kFixed), 3);
  driver.submit(0, 1'000 * kMs);
  driver.submit(1, 1'000 * kMs);
  driver.run_to(20 * kTurn + 1 * kUs);  // 0's slice has begun: 1 is next, then the frame
  const Ticket early = driver.submit(2, 1 * kMs, 0, OpKind::kRender);
  driver.run_to(30 * kTurn);
  EXPECT_EQ(driver.begin(early), 22 * kTurn);
}

}  // namespace
}  // namespace corun
