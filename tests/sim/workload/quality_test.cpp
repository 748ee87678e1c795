#include "sim/workload/quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

bool beats(const QualityLevel& a, const QualityLevel& b) {
  return a.cost <= b.cost && a.quality >= b.quality && (a.cost < b.cost || a.quality > b.quality);
}

/// Knobs of which every level is a fair trade, so that every combination is on the menu.
std::vector<QualityKnob> two_knobs() {
  return {{"shadows", {{1, 0}, {0.5, 0.1}}, 5ms}, {"textures", {{1, 0}, {0.8, 0.02}}, 40ms}};
}

std::vector<std::string> names(const std::vector<QualityLevel>& menu) {
  std::vector<std::string> names;
  for (const QualityLevel& setting : menu) names.push_back(setting.name);
  return names;
}

TEST(KnobMenu, CostsMultiplyLossesAddAndTheBestComesFirst) {
  const auto menu = menu_of(two_knobs(), 32);
  EXPECT_EQ(names(menu), (std::vector<std::string>{"0/0", "0/1", "1/0", "1/1"}));
  EXPECT_DOUBLE_EQ(menu[3].cost, 0.4);
  EXPECT_DOUBLE_EQ(menu[3].quality, 0.88);
  EXPECT_EQ(menu[2].knobs, (std::vector<std::uint8_t>{1, 0}));
}

TEST(KnobMenu, WhatAnotherSettingBeatsIsLeftOut) {
  const auto menu =
      menu_of(std::vector<QualityKnob>{{"dear", {{1, 0}, {0.9, 0.2}}}, {"cheap", {{1, 0}, {0.5, 0.1}}}}, 32);
  EXPECT_EQ(names(menu), (std::vector<std::string>{"0/0", "0/1", "1/1"})) << "1/0 costs and loses more than 0/1";
}

TEST(KnobMenu, NoSettingOfTheUsualKnobsBeatsAnother) {
  const auto menu = menu_of(usual_knobs(), 3000);
  EXPECT_GT(menu.size(), 32u);
  for (std::size_t i = 1; i < menu.size(); ++i) {
    EXPECT_LT(menu[i].cost, menu[i - 1].cost);
    EXPECT_LT(menu[i].quality, menu[i - 1].quality);
  }
}

TEST(KnobMenu, EveryCombinationIsOnTheMenuOrBeatenOrMatchedByOneThatIs) {
  std::vector<QualityKnob> knobs = usual_knobs();
  knobs.resize(4);
  const auto menu = menu_of(knobs, 3000);
  for (int number = 0; number < 81; ++number) {
    QualityLevel one{"", 1, 1, {}};
    for (int k = 0, rest = number; k < 4; ++k, rest /= 3) {
      one.cost *= knobs[k].levels[rest % 3].cost;
      one.quality -= knobs[k].levels[rest % 3].loss;
    }
    EXPECT_TRUE(std::ranges::any_of(menu, [&](const QualityLevel& kept) {
      return kept.cost < one.cost + 1e-8 && kept.quality > one.quality - 1e-8;
    })) << number;
  }
}

TEST(KnobMenu, TheUsualKnobsEndNearThePresets) {
  const auto menu = menu_of(usual_knobs(), 32);
  EXPECT_EQ(menu.front().cost, 1);
  EXPECT_EQ(menu.front().quality, 1);
  EXPECT_NEAR(menu.back().cost, 0.33, 0.01);
  EXPECT_NEAR(menu.back().quality, 0.70, 1e-6);
  QualityLevel middle{"", 1, 1, {}};
  for (const QualityKnob& knob : usual_knobs()) {
    middle.cost *= knob.levels[1].cost;
    middle.quality -= knob.levels[1].loss;
  }
  EXPECT_NEAR(middle.cost, 0.62, 0.01);
  EXPECT_NEAR(middle.quality, 0.88, 1e-6);
}

TEST(KnobMenu, OfManySettingsSoManyAreKeptWithBothEndsAndNoneBeaten) {
  const auto all = menu_of(usual_knobs(), 3000);
  for (const std::size_t most : {2u, 3u, 17u, 32u}) {
    const auto menu = menu_of(usual_knobs(), most);
    ASSERT_EQ(menu.size(), most);
    EXPECT_EQ(menu.front().name, all.front().name);
    EXPECT_EQ(menu.back().name, all.back().name);
    for (const QualityLevel& a : menu)
      for (const QualityLevel& b : menu) EXPECT_FALSE(beats(a, b)) << a.name << " " << b.name;
    EXPECT_EQ(names(menu_of(usual_knobs(), most)), names(menu)) << "the same each time";
  }
}

TEST(KnobMenu, WhatIsKeptIsSpreadOverTheWholeMenu) {
  const auto menu = menu_of(usual_knobs(), 32);
  for (std::size_t i = 1; i < menu.size(); ++i) {
    const double cost = (menu[i - 1].cost - menu[i].cost) / (menu.front().cost - menu.back().cost);
    const double quality = (menu[i - 1].quality - menu[i].quality) / (menu.front().quality - menu.back().quality);
    EXPECT_LT(std::hypot(cost, quality), 3 * std::sqrt(2.0) / 31) << i;
  }
}

TEST(KnobMenu, QualityDoesNotFallBelowNone) {
  const auto menu = menu_of(std::vector<QualityKnob>{{"a", {{1, 0}, {0.5, 0.8}}}, {"b", {{1, 0}, {0.4, 0.9}}}}, 8);
  EXPECT_EQ(menu.back().quality, 0);
  EXPECT_EQ(menu.back().name, "1/1");
}

TEST(SceneEffect, ScalesTheExponentOfCostAndTheLossOfQuality) {
  const QualityLevel low{"LO", 0.25, 0.7, {}};
  EXPECT_DOUBLE_EQ(cost_in({0.5, 1}, low), 0.5);
  EXPECT_DOUBLE_EQ(cost_in({0, 1}, low), 1);
  EXPECT_DOUBLE_EQ(quality_in({1, 2}, low), 0.4);
  EXPECT_DOUBLE_EQ(quality_in({1, 10}, low), 0);
  EXPECT_DOUBLE_EQ(cost_in({}, low), 0.25);
  EXPECT_DOUBLE_EQ(quality_in({}, low), 0.7);
}

/// Opens every gate, does what a test wants at given instants, and keeps what it hears.
class Scripted : public Policy {
 public:
  using Step = std::function<void(const GpuView&, Actions&)>;

  void at(Duration when, Step step) { steps_.emplace(kRunStart + when, std::move(step)); }
  void on_shadow(const GpuView&, ClientId, const ShadowFrame& shadow) override {
    EXPECT_FALSE(frames.empty() || frames.back().number != shadow.number) << "heard after its frame's end";
    shadows.push_back(shadow);
  }
  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override {
    if (event == FrameEvent::kEnd) frames.push_back(view.client(client).frame);
  }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present && !client.gate_is_open) actions.open(client.id);
    while (!steps_.empty() && steps_.begin()->first <= view.now) steps_.extract(steps_.begin()).mapped()(view, actions);
    if (!steps_.empty()) actions.wake_at(steps_.begin()->first);
  }

  std::vector<ShadowFrame> shadows;
  std::vector<FrameView> frames;

 private:
  std::multimap<Time, Step> steps_;
};

constexpr ClientId kGame{0};
constexpr Duration kPeriod{100ms};

/// Frames of 10 ms at the best level, in visits of those lengths, one each 100 ms.
ClientSpec game(const std::vector<Duration>& visits = {10ms}) {
  Workload workload;
  workload.job_kind = JobKind::kFrame;
  workload.names = {"frame"};
  Job job;
  for (const Duration visit : visits) {
    WorkOp op;
    op.kind = OpKind::kRender;
    op.duration = visit;
    workload.ops.push_back(op);
    workload.steps.push_back({0ns, StepKind::kSubmit, job.op_count++});
  }
  job.step_count = job.op_count;
  workload.jobs = {job};
  workload.recorded_span = kPeriod;
  workload.check();
  ClientSpec spec;
  spec.name = "game";
  spec.role = Role::kInteractive;
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.pacing = {Pacing::Mode::kLimited, kPeriod, Pacing::kByMode};
  spec.quality_menu = {{"HI", 1, 1}, {"ME", 0.6, 0.9}, {"LO", 0.3, 0.7}};
  return spec;
}

/// The same with its frames in two scenes by turns.
ClientSpec game_of_two_scenes(const SceneEffect& first, const SceneEffect& second) {
  ClientSpec spec = game({10ms});
  Workload workload = *spec.workload;
  workload.ops.push_back(workload.ops[0]);
  workload.steps.push_back({0ns, StepKind::kSubmit, 1});
  workload.jobs.push_back({1, 1, 1, 1, kRunStart + kPeriod, 2});
  workload.jobs[0].scene = 1;
  workload.scenes = {first, second};
  workload.recorded_span = 2 * kPeriod;
  workload.check();
  spec.workload = std::make_shared<Workload>(std::move(workload));
  return spec;
}

testing::Facts play(Scripted& policy, const ClientSpec& spec, Duration horizon = 450ms) {
  const RunInput input{DeviceSpec{}, {spec}, &policy, "scripted", horizon, {}, 1};
  testing::Facts facts;
  simulate(input, facts);
  return facts;
}

Scripted::Step shadow_at(std::uint32_t level) {
  return [=](const GpuView&, Actions& actions) { actions.shadow(kGame, level); };
}

Scripted::Step set_level(std::uint32_t level) {
  return [=](const GpuView&, Actions& actions) { actions.set_quality(kGame, level); };
}

struct ShadowCase {
  const char* what;
  std::uint32_t own, asked;
  Duration frame, extra, reported;
  double quality;
};
class ShadowFrames : public ::testing::TestWithParam<ShadowCase> {};

TEST_P(ShadowFrames, TakeGpuTimeOfOneFrameAndTellWhatItCostAndHowItLooked) {
  const ShadowCase& expected = GetParam();
  ClientSpec spec = game();
  spec.quality_level = expected.own;
  Scripted policy;
  policy.at(50ms, shadow_at(expected.asked));
  const auto facts = play(policy, spec);
  ASSERT_GE(facts.ops.size(), 3u);
  EXPECT_EQ(facts.ops[0].device_time, expected.frame);
  EXPECT_EQ(facts.ops[1].device_time, expected.frame + expected.extra);
  EXPECT_EQ(facts.ops[2].device_time, expected.frame);
  ASSERT_EQ(policy.shadows.size(), 1u) << "asked once, told once";
  EXPECT_EQ(policy.shadows[0].number, 1u);
  EXPECT_EQ(policy.shadows[0].quality_level, expected.asked);
  EXPECT_EQ(policy.shadows[0].gpu_busy, expected.reported);
  EXPECT_DOUBLE_EQ(policy.shadows[0].quality, expected.quality);
}

TEST_P(ShadowFrames, LeaveTheFramesOwnTimeEndAndPresentAsTheyAre) {
  const ShadowCase& expected = GetParam();
  ClientSpec spec = game();
  spec.quality_level = expected.own;
  Scripted policy;
  policy.at(50ms, shadow_at(expected.asked));
  const auto facts = play(policy, spec);
  ASSERT_GE(facts.frames.size(), 3u);
  ASSERT_GE(policy.frames.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(facts.frames[i].gpu_busy, expected.frame) << i;
    EXPECT_EQ(facts.frames[i].gpu_end, facts.frames[i].start + expected.frame) << i;
    EXPECT_EQ(facts.frames[i].present, kRunStart + i * kPeriod + expected.frame) << i;
    EXPECT_EQ(facts.frames[i].quality_level, expected.own) << i;
    EXPECT_EQ(policy.frames[i].gpu_busy, expected.frame) << "as the policy sees it";
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ShadowFrames,
                         ::testing::Values(ShadowCase{"of_another_level_at_the_best", 0, 2, 10ms, 3ms, 3ms, 0.7},
                                           ShadowCase{"of_the_best_level_at_the_best", 0, 0, 10ms, 0ms, 10ms, 1},
                                           ShadowCase{"of_the_own_level", 2, 2, 3ms, 10ms, 3ms, 0.7},
                                           ShadowCase{"of_the_best_level", 2, 0, 3ms, 10ms, 10ms, 1},
                                           ShadowCase{"of_neither", 2, 1, 3ms, 16ms, 6ms, 0.9}),
                         [](const auto& shadow) { return shadow.param.what; });

TEST(Shadows, FollowTheLastVisitOfAFrame) {
  Scripted policy;
  policy.at(50ms, shadow_at(2));
  const auto facts = play(policy, game({6ms, 4ms}));
  ASSERT_GE(facts.ops.size(), 4u);
  EXPECT_EQ(facts.ops[2].device_time, Duration{6ms});
  EXPECT_EQ(facts.ops[3].device_time, Duration{4ms + 3ms});
}

TEST(Shadows, AreAwaitedFromTheWishToTheAnswer) {
  std::vector<bool> awaits;
  Scripted policy;
  const auto look = [&](const GpuView& view, Actions&) { awaits.push_back(view.client(kGame).awaits_shadow); };
  policy.at(40ms, look);
  policy.at(50ms, shadow_at(1));
  policy.at(60ms, look);
  policy.at(60ms, shadow_at(1));
  policy.at(150ms, look);
  play(policy, game());
  EXPECT_EQ(awaits, (std::vector{false, true, false}));
  EXPECT_EQ(policy.shadows.size(), 1u) << "asked twice before the frame, rendered once";
}

TEST(Shadows, AreOfTheirFramesScene) {
  Scripted policy;
  policy.at(50ms, shadow_at(2));
  policy.at(150ms, shadow_at(2));
  play(policy, game_of_two_scenes({1, 1}, {0, 2}));
  ASSERT_EQ(policy.shadows.size(), 2u);
  EXPECT_EQ(policy.shadows[0].scene, 2u);
  EXPECT_EQ(policy.shadows[0].gpu_busy, Duration{10ms}) << "settings do not matter for its cost";
  EXPECT_DOUBLE_EQ(policy.shadows[0].quality, 0.4);
  EXPECT_EQ(policy.shadows[1].scene, 1u);
  EXPECT_EQ(policy.shadows[1].gpu_busy, Duration{3ms});
  EXPECT_DOUBLE_EQ(policy.shadows[1].quality, 0.7);
}

std::vector<Duration> busy(const testing::Facts& facts) {
  std::vector<Duration> busy;
  for (const FrameFact& frame : facts.frames) busy.push_back(frame.gpu_busy);
  busy.resize(4);
  return busy;
}

TEST(SwitchCost, IsPaidByTheFirstFrameAtASettingThatStatesIt) {
  ClientSpec spec = game();
  spec.switch_costs = {0ms, 0ms, 20ms};
  Scripted policy;
  policy.at(50ms, set_level(2));
  policy.at(250ms, set_level(0));
  EXPECT_EQ(busy(play(policy, spec)), (std::vector<Duration>{10ms, 23ms, 3ms, 10ms}));
}

TEST(SwitchCost, OfKnobsIsTheSumOverThoseThatChange) {
  ClientSpec spec = game();
  spec.knobs = two_knobs();
  spec.quality_menu = menu_of(spec.knobs, 32);
  Scripted policy;
  policy.at(50ms, set_level(3));   // both, to 0.4 of the cost
  policy.at(250ms, set_level(1));  // shadows alone, to 0.8
  EXPECT_EQ(busy(play(policy, spec)), (std::vector<Duration>{10ms, 49ms, 4ms, 13ms}));
}

TEST(SwitchCost, IsPaidOnceByAFrameOfSeveralVisits) {
  ClientSpec spec = game({6ms, 4ms});
  spec.switch_costs = {0ms, 0ms, 20ms};
  Scripted policy;
  policy.at(50ms, set_level(2));
  EXPECT_EQ(busy(play(policy, spec)), (std::vector<Duration>{10ms, 23ms, 3ms, 3ms}));
}

TEST(SwitchCost, IsNotPaidWhereAClientBegins) {
  ClientSpec spec = game();
  spec.switch_costs = {0ms, 0ms, 20ms};
  spec.quality_level = 2;
  Scripted policy;
  EXPECT_EQ(busy(play(policy, spec)), (std::vector<Duration>{3ms, 3ms, 3ms, 3ms}));
}

TEST(SwitchCost, IsPaidByTheFirstRenderOperationOfAFrameThatBeginsWithACopy) {
  ClientSpec spec = game({1ms, 10ms});
  Workload workload = *spec.workload;
  workload.ops.change(0, [](WorkOp& op) { op.kind = OpKind::kMemset; });
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.switch_costs = {0ms, 0ms, 20ms};
  Scripted policy;
  policy.at(50ms, set_level(2));
  EXPECT_EQ(busy(play(policy, spec)), (std::vector<Duration>{11ms, 24ms, 4ms, 4ms}));
}

TEST(Scenes, ChangeWhatASettingCostsAndGivesAndFramesTellTheirs) {
  ClientSpec spec = game_of_two_scenes({1, 1}, {0.5, 2});
  spec.quality_menu[2].cost = 0.25;
  spec.quality_level = 2;
  Scripted policy;
  const auto facts = play(policy, spec);
  ASSERT_GE(facts.frames.size(), 4u);
  EXPECT_EQ(facts.frames[0].gpu_busy, Duration{2500us});
  EXPECT_DOUBLE_EQ(facts.frames[0].quality, 0.7);
  EXPECT_EQ(facts.frames[1].gpu_busy, Duration{5ms});
  EXPECT_DOUBLE_EQ(facts.frames[1].quality, 0.4);
  EXPECT_EQ(facts.frames[2].gpu_busy, Duration{2500us});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(policy.frames[i].scene, 1 + i % 2);
    EXPECT_EQ(policy.frames[i].quality_level, 2u);
  }
}

TEST(QualityLevel, APolicySeesAndCanLeaveTheLevelWhereAClientBegins) {
  ClientSpec spec = game();
  spec.quality_level = 2;
  Scripted policy;
  policy.at(50ms, [](const GpuView& view, Actions& actions) {
    EXPECT_EQ(view.client(kGame).quality_level, 2u);
    actions.set_quality(kGame, 0);
  });
  const auto facts = play(policy, spec);
  EXPECT_EQ(facts.frames[0].quality_level, 2u);
  EXPECT_EQ(facts.frames[1].quality_level, 0u);
  EXPECT_EQ(busy(facts), (std::vector<Duration>{3ms, 10ms, 10ms, 10ms}));
}

}  // namespace
}  // namespace corun
