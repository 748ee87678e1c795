#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/tgs/rate_control.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

Time after(Duration duration) { return kRunStart + duration; }

/// The artifact's control after its profile at a rate of 100,000 blocks per window.
TgsRateControl profiled() {
  TgsRateControl control({.band = 0.03,
                          .growth = 1.5,
                          .increase = 0.025,
                          .decrease = 0.08,
                          .collapse = 10,
                          .initial_limit = 20'000,
                          .profile_reports = 5});
  for (int i = 0; i < 5; ++i) control.report(100'000);
  return control;
}

TEST(TgsRateControl, stops_the_others_while_it_learns_the_undisturbed_rate) {
  TgsRateControl control = profiled();
  EXPECT_FALSE(control.is_profiling());
  EXPECT_EQ(control.limit(), 0);
  EXPECT_EQ(control.top_rate(), 100'000);
}

TEST(TgsRateControl, slow_start_grows_by_half_while_the_rate_stays_in_the_band) {
  TgsRateControl control = profiled();
  control.report(100'000);
  EXPECT_EQ(control.limit(), 20'000);
  control.report(97'500);
  EXPECT_EQ(control.limit(), 30'001);
  control.report(100'000);
  EXPECT_EQ(control.limit(), 45'002.5);
}

TEST(TgsRateControl, first_disturbance_ends_slow_start_and_then_steps_are_additive) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 3; ++i) control.report(100'000);
  control.report(96'000);  // 4 %
  EXPECT_FALSE(control.is_slow_start());
  EXPECT_NEAR(control.limit(), 45'002.5 / 1.5, 0.01);
  control.report(100'000);
  EXPECT_NEAR(control.limit(), 45'002.5 / 1.5 + 2'500, 0.01);
}

TEST(TgsRateControl, disturbance_takes_a_share_of_the_limit_and_a_collapse_most_of_it) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 8; ++i) control.report(100'000);
  control.report(96'000);
  const double limit = control.limit();
  control.report(95'000);
  EXPECT_NEAR(control.limit(), 0.92 * limit, 0.01);
  control.report(90'000);  // 10 %: three bands
  EXPECT_NEAR(control.limit(), 0.92 * 0.92 * limit / 10, 0.01);
  EXPECT_TRUE(control.is_slow_start());
}

TEST(TgsRateControl, learns_anew_when_the_high_priority_job_has_changed) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 20; ++i) control.report(40'000);
  EXPECT_NEAR(control.top_rate(), 40'000, 1'500);
}

TEST(TgsRateControl, idle_high_priority_side_frees_the_others) {
  TgsRateControl control = profiled();
  for (int i = 0; i < 40; ++i) control.report(0);
  EXPECT_GT(control.limit(), 1e11);
}

/// A high-priority client 0 with 1000 blocks each ms, and a low-priority client 1 with 1000 blocks each 100 us.
struct World : FakeBackend {
  explicit World(Role first = Role::kInteractive, Duration retry = Duration::zero())
      : FakeBackend(tgs_policy(), quick(retry), {fake_client("high", first), fake_client("low")}) {
    join(0);
    join(1);
  }
  /// The artifact's constants in a shorter period, and no sleep between two looks unless one is given.
  static Parameters quick(Duration retry) {
    Parameters parameters = tgs_policy().defaults();
    parameters.set("report_period", Duration{100ms});
    parameters.set("retry", retry);
    return parameters;
  }
  void busy(std::uint32_t client, int count, Duration duration) {
    for (int i = 0; i < count; ++i) script(client, {.duration = duration, .blocks = 1000});
  }
  std::int64_t launched(Duration from, Duration to) const {
    const auto its = launches_of(1);
    return std::ranges::count_if(its, [&](const auto& l) { return l.time >= after(from) && l.time < after(to); });
  }
};

TEST(Tgs, low_priority_side_gets_one_kernel_a_window_during_the_profile_and_the_limit_afterwards) {
  World world;
  world.busy(0, 2000, 1ms);
  world.busy(1, 20'000, 100us);
  world.run_until(after(1s));
  EXPECT_EQ(world.launched(100ms, 500ms), 8);
  // 20,000 blocks may be exceeded by one kernel: 21 of 1000 blocks.
  EXPECT_EQ(world.launched(600ms, 650ms), 21);
  EXPECT_EQ(world.launched(700ms, 750ms), 31);
}

TEST(Tgs, says_what_the_launch_rate_allows) {
  World world;
  world.busy(0, 2000, 1ms);
  world.busy(1, 20'000, 100us);
  world.run_until(after(640ms));
  const Hold& hold = *world.arbiter().hold_of(ClientId{1});
  EXPECT_EQ(hold.rule, "launch_rate");
  EXPECT_EQ(hold.available, 20'000);
  EXPECT_EQ(hold.unit, "blocks");
}

TEST(Tgs, launch_that_sleeps_through_the_begin_of_a_window_is_not_said_to_wait_for_the_limit) {
  World world(Role::kInteractive, 40ms);
  world.busy(0, 2000, 1ms);
  world.busy(1, 20'000, 100us);
  world.run_until(after(1s));
  const auto& holds = world.holds();
  const auto lies = [](const HoldFact& fact) {
    return fact.hold.rule == "launch_rate" && fact.hold.needed <= fact.hold.available;
  };
  EXPECT_TRUE(std::ranges::none_of(holds, lies));
  EXPECT_TRUE(std::ranges::any_of(holds, [](const HoldFact& fact) { return fact.hold.rule == "back_off"; }));
}

TEST(Tgs, high_priority_client_that_only_renders_is_not_noticed) {
  World world;
  for (int i = 0; i < 100; ++i) world.script(0, {.name = "frame", .duration = 5ms, .is_render = true});
  world.busy(1, 1000, 100us);
  world.run_until(after(100ms));
  EXPECT_GE(world.launched(0ms, 100ms), 999);
}

TEST(Tgs, low_priority_client_is_free_when_the_high_priority_one_has_left) {
  World world;
  world.busy(0, 50, 1ms);
  world.busy(1, 20'000, 100us);
  world.at(after(40ms), [&] { world.leave(0); });
  world.run_until(after(200ms));
  EXPECT_TRUE(world.gate_is_open(1));
  EXPECT_GE(world.launched(100ms, 200ms), 990);
}

TEST(Tgs, clients_of_one_rank_are_not_limited) {
  World world(Role::kBestEffort);
  world.busy(0, 100, 1ms);
  world.busy(1, 1000, 100us);
  world.run_until(after(100ms));
  EXPECT_GE(world.launched(0ms, 100ms), 999);
}

}  // namespace
}  // namespace corun
