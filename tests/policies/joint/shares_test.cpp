#include "policies/joint/shares.h"

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/djay/knapsack.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;

constexpr Duration kPeriod = 20ms;

/// Two fillers and nothing else, seen whenever a test says so.
class Seen {
 public:
  explicit Seen(const FillerShares::Settings& settings) : shares(settings), gate_(pilotfish_policy().defaults()) {
    clients_ = {fake_client("a"), fake_client("b")};
    for (std::uint32_t i = 0; i < 2; ++i) {
      clients_[i].id = ClientId{i};
      clients_[i].is_present = true;
    }
    gate_.on_joined(view(Duration{}), ClientId{0});
    for (std::uint32_t i = 0; i < 2; ++i) shares.joined(view(Duration{}), ClientId{i});
  }

  bool look(Duration at) { return shares.look(view(at), gate_); }
  /// From now on an operation of the filler waits, which it submitted at the run's start; or none does.
  void set_waiting(std::uint32_t filler, bool waits) {
    clients_[filler].waiting = waits ? std::span<const OpView>(&kernel_, 1) : std::span<const OpView>{};
  }
  Verdict judge(std::uint32_t filler, Duration at) {
    return ShareRule(shares, gate_, view(at)).judge(clients_[filler], kernel_);
  }

  FillerShares shares;

 private:
  GpuView view(Duration at) { return {kRunStart + at, fake_device(), clients_}; }

  const OpView kernel_{.name = "k", .predicted_by_name = 1ms, .submitted = kRunStart};
  std::vector<ClientView> clients_;
  PilotFish gate_;
};

FillerShares::Settings settings(double weight, bool gives_spare = false) {
  return {.period = kPeriod, .weight = weight, .weights = {{"b", 3.0}}, .step = 0.1, .gives_spare = gives_spare};
}

TEST(FillerShares, MenuIsInProportionToTheShare) {
  Seen seen(settings(2.0));
  seen.look(1ms);
  const auto menus = seen.shares.menus();
  ASSERT_EQ(menus.size(), 2U);
  ASSERT_EQ(menus[0].size(), 11U);
  EXPECT_EQ(menus[0][4].cost, 8ms);
  EXPECT_NEAR(menus[0][4].value, 2.0 * 0.4, 0.002);
  EXPECT_NEAR(menus[1][10].value, 3.0 * 2.0, 0.01);
}

TEST(FillerShares, FillersWithoutAValueHaveNoMenus) {
  Seen seen(settings(0.0));
  EXPECT_FALSE(seen.look(1ms));
  EXPECT_TRUE(seen.shares.menus().empty());
}

TEST(FillerShares, MenuEndsAboveWhatAContentFillerUsesUntilItWaits) {
  Seen seen(settings(1.0));
  seen.look(1ms);
  for (int period = 0; period < 40; ++period) {
    seen.look(period * kPeriod + 1ms);
    seen.shares.completed(ClientId{0}, 5ms);
  }
  EXPECT_EQ(seen.shares.menus().size(), 1U) << "b has used nothing";
  EXPECT_EQ(seen.shares.menus()[0].back().cost, 8ms) << "5 ms are 2.5 steps, and a step more";
  seen.set_waiting(0, true);
  EXPECT_TRUE(seen.look(40 * kPeriod));
  EXPECT_EQ(seen.shares.menus()[0].size(), 11U);
}

TEST(FillerShares, KernelMayBeginWhileSomethingIsLeftAndWhatItTakesTooMuchIsPaidBack) {
  Seen seen(settings(1.0));
  seen.look(1ms);
  seen.shares.grant(std::vector<std::uint32_t>{3, 0});
  EXPECT_FALSE(seen.judge(0, 1ms).passes()) << "shares begin with the next period";
  EXPECT_EQ(seen.judge(0, 1ms).again, kRunStart + kPeriod);
  seen.look(kPeriod);
  EXPECT_TRUE(seen.judge(0, kPeriod).passes());
  seen.shares.completed(ClientId{0}, 11ms);
  EXPECT_FALSE(seen.judge(0, kPeriod).passes());
  seen.look(2 * kPeriod);
  EXPECT_EQ(seen.shares.left(ClientId{0}), 1ms) << "6 - 11 + 6";
}

TEST(FillerShares, WhatIsLeftOfAShareIsNotCarriedOver) {
  Seen seen(settings(1.0));
  seen.look(1ms);
  seen.shares.grant(std::vector<std::uint32_t>{3, 0});
  seen.look(20 * kPeriod);
  EXPECT_EQ(seen.shares.left(ClientId{0}), 6ms);
}

TEST(FillerShares, SpareTimeIsForOthersWhileNoFillerWithAShareWaits) {
  Seen seen(settings(1.0, true));
  seen.look(1ms);
  seen.shares.grant(std::vector<std::uint32_t>{3, 0});
  seen.look(kPeriod);
  EXPECT_TRUE(seen.judge(1, kPeriod).passes());
  seen.set_waiting(0, true);
  EXPECT_FALSE(seen.judge(1, kPeriod).passes());
  EXPECT_EQ(seen.judge(1, kPeriod).hold.rule, "share");
  EXPECT_TRUE(seen.judge(0, kPeriod).passes());
}

}  // namespace
}  // namespace corun
