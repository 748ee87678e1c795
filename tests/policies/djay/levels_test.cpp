#include "policies/djay/levels.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

namespace corun {
namespace {

using Contender = LevelChooser::Contender;
using std::chrono_literals::operator""ms;

/// A number of the whole range, however small what it is a part of is to be.
template <class Number>
rc::Gen<Number> any_between(Number least, Number beyond) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, beyond));
}

/// Anything that a profiler may predict: costs and values in any order, and a level that the game has by chance.
rc::Gen<Contender> any_contender() {
  const auto item = rc::gen::apply(
      [](int cost, int value) {
        return MenuItem{Duration{cost * 1'000}, value * 0.01};
      },
      any_between(1, 30'000), any_between(0, 101));
  return rc::gen::map(
      rc::gen::tuple(rc::gen::nonEmpty(rc::gen::container<Menu>(item)), rc::gen::arbitrary<std::uint32_t>(),
                     rc::gen::arbitrary<bool>(), any_between(0, 10)),
      [](const auto& drawn) {
        const auto& [menu, level, may_change, switch_ms] = drawn;
        return Contender{menu, level % static_cast<std::uint32_t>(menu.size()), may_change,
                         Duration{switch_ms * 1'000'000}};
      });
}

LevelChooser::Settings any_settings() {
  using Objective = LevelChooser::Objective;
  using Solver = LevelChooser::Solver;
  LevelChooser::Settings settings;
  settings.objective = *rc::gen::element(Objective::kSum, Objective::kMaxMin);
  settings.solver = *rc::gen::element(Solver::kGreedyHull, Solver::kExact, Solver::kBins);
  settings.hysteresis_gain = *rc::gen::element(0.0, 0.02, 0.5);
  settings.reserve = 2ms;
  return settings;
}

Duration cost_of(const std::vector<Contender>& contenders, const std::vector<std::uint32_t>& levels) {
  Duration sum{};
  for (std::size_t i = 0; i < contenders.size(); ++i) sum += contenders[i].menu[levels[i]].cost;
  return sum;
}

Duration cheapest_cost(const std::vector<Contender>& contenders) {
  Duration sum{};
  for (const Contender& contender : contenders) sum += std::ranges::min(contender.menu, {}, &MenuItem::cost).cost;
  return sum;
}

RC_GTEST_PROP(DjayLevels, FitTheBudgetWheneverTheCheapestOnesDo, ()) {
  const auto contenders = *rc::gen::resize(6, rc::gen::container<std::vector<Contender>>(any_contender()));
  const Duration budget{*rc::gen::inRange(0, 100'000'000)};
  const auto answer = LevelChooser(any_settings()).choose(contenders, budget);
  const bool could_fit = cheapest_cost(contenders) <= budget;
  RC_CLASSIFY(could_fit, "could fit");
  RC_ASSERT(answer.fits == could_fit);
  RC_ASSERT((cost_of(contenders, answer.levels) <= budget) == could_fit);
  if (!could_fit) RC_ASSERT(cost_of(contenders, answer.levels) == cheapest_cost(contenders));
}

RC_GTEST_PROP(DjayLevels, GameThatMayNotChangeKeepsALevelThatFits, ()) {
  const auto contenders = *rc::gen::resize(6, rc::gen::container<std::vector<Contender>>(any_contender()));
  const Duration budget{*rc::gen::inRange(0, 100'000'000)};
  std::vector<std::uint32_t> current;
  for (const Contender& contender : contenders) current.push_back(contender.current);
  RC_PRE(cost_of(contenders, current) <= budget);
  const auto answer = LevelChooser(any_settings()).choose(contenders, budget);
  for (std::size_t i = 0; i < contenders.size(); ++i)
    RC_ASSERT(contenders[i].may_change || answer.levels[i] == current[i]);
}

RC_GTEST_PROP(DjayLevels, ChoosingAgainFromTheAnswerChangesNothing, ()) {
  auto contenders = *rc::gen::resize(6, rc::gen::container<std::vector<Contender>>(any_contender()));
  const Duration budget{*rc::gen::inRange(0, 100'000'000)};
  LevelChooser::Settings settings = any_settings();
  settings.solver = LevelChooser::Solver::kExact;
  settings.objective = LevelChooser::Objective::kSum;
  for (Contender& contender : contenders) contender.may_change = true;
  const LevelChooser chooser(settings);
  const auto first = chooser.choose(contenders, budget);
  for (std::size_t i = 0; i < contenders.size(); ++i) contenders[i].current = first.levels[i];
  for (Contender& contender : contenders) contender.switch_cost = Duration{0};
  RC_PRE(std::ranges::none_of(first.is_held_back, std::identity{}));
  RC_ASSERT(chooser.choose(contenders, budget).levels == first.levels);
}

RC_GTEST_PROP(DjayLevels, UpgradesNeverOverrunThePeriodWithTheirFirstFrames, ()) {
  const auto contenders = *rc::gen::resize(6, rc::gen::container<std::vector<Contender>>(any_contender()));
  const Duration budget{*rc::gen::inRange(0, 100'000'000)};
  const auto settings = any_settings();
  const auto answer = LevelChooser(settings).choose(contenders, budget);
  Duration first_frames = cost_of(contenders, answer.levels);
  bool has_upgrade = false;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (answer.levels[i] == contenders[i].current) continue;
    first_frames += contenders[i].switch_cost;
    has_upgrade |= contenders[i].switch_cost > Duration{0} &&
                   contenders[i].menu[answer.levels[i]].cost > contenders[i].menu[contenders[i].current].cost;
  }
  if (has_upgrade) RC_ASSERT(first_frames <= budget + settings.reserve);
}

/// A filler's: in proportion to its cost, up to some share of a period of 33 ms.
rc::Gen<Menu> any_share_menu() {
  return rc::gen::map(rc::gen::tuple(any_between(0, 21), any_between(0, 500)), [](const auto& drawn) {
    Menu menu;
    for (int step = 0; step <= std::get<0>(drawn); ++step)
      menu.push_back({step * Duration{1'650'000}, step * 0.0005 * std::get<1>(drawn)});
    return menu;
  });
}

struct Shared {
  std::vector<Contender> contenders = *rc::gen::resize(6, rc::gen::container<std::vector<Contender>>(any_contender()));
  std::vector<Menu> others = *rc::gen::resize(3, rc::gen::container<std::vector<Menu>>(any_share_menu()));
  Duration budget{*any_between(0, 100'000'000)};

  Duration cost(const LevelChooser::Answer& answer) const {
    Duration sum = cost_of(contenders, answer.levels);
    for (std::size_t i = 0; i < others.size(); ++i) sum += others[i][answer.others[i]].cost;
    return sum;
  }
  double value(const LevelChooser::Answer& answer) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < contenders.size(); ++i) sum += contenders[i].menu[answer.levels[i]].value;
    for (std::size_t i = 0; i < others.size(); ++i) sum += others[i][answer.others[i]].value;
    return sum;
  }
};

LevelChooser::Settings any_settings_of_sums() {
  LevelChooser::Settings settings = any_settings();
  settings.objective = LevelChooser::Objective::kSum;
  return settings;
}

RC_GTEST_PROP(DjayLevels, LevelsAndSharesOfOthersFitTheBudgetTogetherIfTheLevelsCan, ()) {
  const Shared shared;
  const auto answer = LevelChooser(any_settings_of_sums()).choose(shared.contenders, shared.budget, {}, shared.others);
  RC_ASSERT(answer.others.size() == shared.others.size());
  RC_CLASSIFY(answer.fits, "fits");
  if (answer.fits) RC_ASSERT(shared.cost(answer) <= shared.budget);
  RC_ASSERT(answer.fits == (cheapest_cost(shared.contenders) <= shared.budget));
}

RC_GTEST_PROP(DjayLevels, FirstFramesAtNewLevelsFitWithTheSharesOfOthers, ()) {
  const Shared shared;
  const auto settings = any_settings_of_sums();
  const auto answer = LevelChooser(settings).choose(shared.contenders, shared.budget, {}, shared.others);
  Duration first_frames = shared.cost(answer);
  bool has_share = false;
  for (std::size_t i = 0; i < shared.contenders.size(); ++i)
    if (answer.levels[i] != shared.contenders[i].current) first_frames += shared.contenders[i].switch_cost;
  for (const std::uint32_t share : answer.others) has_share |= share > 0;
  if (has_share) RC_ASSERT(first_frames <= shared.budget + settings.reserve);
}

RC_GTEST_PROP(DjayLevels, LevelsAndSharesTogetherAreWorthAtLeastLevelsFirstAndSharesOfTheRest, ()) {
  Shared shared;
  for (Contender& contender : shared.contenders) {
    contender.may_change = true;
    contender.switch_cost = Duration{0};
  }
  LevelChooser::Settings settings;
  settings.solver = *rc::gen::element(LevelChooser::Solver::kGreedyHull, LevelChooser::Solver::kExact);
  const LevelChooser chooser(settings);
  const auto together = chooser.choose(shared.contenders, shared.budget, {}, shared.others);
  auto in_turn = chooser.choose(shared.contenders, shared.budget);
  RC_PRE(in_turn.fits);
  in_turn.others =
      chooser.choose({}, shared.budget - cost_of(shared.contenders, in_turn.levels), {}, shared.others).others;
  const double least = shared.value(in_turn), found = shared.value(together);
  RC_CLASSIFY(found > least + 1e-9, "better");
  const bool is_exact = settings.solver == LevelChooser::Solver::kExact;
  RC_ASSERT(found >= least * (is_exact ? 1.0 : 0.995) - 1e-9);
}

RC_GTEST_PROP(DjayLevels, OthersOfNoValueChangeNoLevel, ()) {
  Shared shared;
  for (Menu& menu : shared.others)
    for (MenuItem& item : menu) item.value = 0.0;
  const LevelChooser chooser(any_settings_of_sums());
  const auto with = chooser.choose(shared.contenders, shared.budget, {}, shared.others);
  const auto without = chooser.choose(shared.contenders, shared.budget);
  RC_ASSERT(with.levels == without.levels);
  RC_ASSERT(with.is_held_back == without.is_held_back);
}

const Menu kSteps{{30ms, 1.0}, {20ms, 0.9}, {10ms, 0.7}};

TEST(DjayLevels, GainBelowTheHysteresisIsNoReasonToChange) {
  LevelChooser::Settings settings;
  for (const double gain : {0.05, 0.15}) {
    settings.hysteresis_gain = gain;
    const std::vector<Contender> contenders{{kSteps, 1}};
    EXPECT_EQ(LevelChooser(settings).choose(contenders, 40ms).levels[0], gain < 0.1 ? 0U : 1U);
  }
}

TEST(DjayLevels, LevelsThatDoNotFitAreLeftHoweverLatelyTheyChanged) {
  const std::vector<Contender> contenders{{kSteps, 0, false, 5ms}, {kSteps, 0, false, 5ms}};
  const auto answer = LevelChooser({}).choose(contenders, 40ms);
  EXPECT_TRUE(answer.fits);
  EXPECT_EQ(answer.levels, (std::vector<std::uint32_t>{1, 1}));
}

TEST(DjayLevels, OfEquallyGoodAnswersTheOneWithTheFewestChangesIsTaken) {
  LevelChooser::Settings settings;
  settings.hysteresis_gain = 0.02;
  for (const auto solver : {LevelChooser::Solver::kGreedyHull, LevelChooser::Solver::kExact}) {
    settings.solver = solver;
    for (const std::uint32_t stays : {0U, 1U, 2U}) {
      std::vector<Contender> contenders(3, Contender{kSteps, 1});
      contenders[stays].current = 0;
      contenders[(stays + 1) % 3].current = 2;
      EXPECT_EQ(LevelChooser(settings).choose(contenders, 70ms).levels[stays], 0U);
    }
  }
}

TEST(DjayLevels, SwitchCostThatDoesNotFitHoldsAnUpgradeBackAndSaysSo) {
  LevelChooser::Settings settings;
  settings.reserve = 1ms;
  for (const Duration switch_cost : {3ms, 12ms}) {
    const std::vector<Contender> contenders{{kSteps, 1, true, switch_cost}};
    const auto answer = LevelChooser(settings).choose(contenders, 32ms);
    EXPECT_EQ(answer.levels[0], switch_cost == 3ms ? 0U : 1U);
    EXPECT_EQ(answer.is_held_back[0], switch_cost == 12ms);
  }
}

TEST(DjayLevels, FirstFrameMayUseTheReserveToItsEndLessWhatIsPending) {
  LevelChooser::Settings settings;
  settings.reserve = 1ms;
  const auto is_held_back = [&](Duration switch_cost, Duration pending) -> bool {
    const std::vector<Contender> contenders{{kSteps, 1, true, switch_cost}};
    return LevelChooser(settings).choose(contenders, 32ms, pending).is_held_back[0];
  };
  EXPECT_FALSE(is_held_back(3ms, Duration{0})) << "30 and 3 ms of 33";
  EXPECT_TRUE(is_held_back(3ms + Duration{1}, Duration{0}));
  EXPECT_TRUE(is_held_back(3ms, Duration{1}));
  EXPECT_FALSE(is_held_back(2ms, 1ms));
}

TEST(DjayLevels, LastUpgradeIsHeldBackFirst) {
  LevelChooser::Settings settings;
  const std::vector<Contender> contenders(3, Contender{kSteps, 1, true, 2ms});
  const auto answer = LevelChooser(settings).choose(contenders, 95ms);
  EXPECT_EQ(answer.levels, (std::vector<std::uint32_t>{0, 0, 1})) << "30, 30 and 20 ms, and two times 2 ms";
  EXPECT_EQ(answer.is_held_back, (std::vector<bool>{false, false, true}));
}

TEST(DjayLevels, DowngradeMakesRoomForTheFirstFrameOfAnUpgrade) {
  // 20 ms less for the one, 10 ms more for the other, and 2 ms for each first frame.
  const std::vector<Contender> contenders{{{{30ms, 0.71}, {10ms, 0.7}}, 0, true, 2ms}, {kSteps, 1, true, 2ms}};
  LevelChooser::Settings settings;
  const auto answer = LevelChooser(settings).choose(contenders, 50ms);
  EXPECT_EQ(answer.levels, (std::vector<std::uint32_t>{1, 0}));
}

TEST(DjayLevels, FairnessIsWorthAChangeThatTheSumIsNot) {
  const Menu menu{{30ms, 1.0}, {20ms, 0.8}, {10ms, 0.7}};
  const std::vector<Contender> unequal{{menu, 2}, {menu, 0}};
  LevelChooser::Settings settings;
  settings.objective = LevelChooser::Objective::kMaxMin;
  for (const double gain : {0.05, 0.15}) {
    settings.hysteresis_gain = gain;
    const auto answer = LevelChooser(settings).choose(unequal, 40ms);
    const std::vector<std::uint32_t> fair{1, 1}, as_before{2, 0};
    EXPECT_EQ(answer.levels, gain < 0.1 ? fair : as_before);
  }
  settings.objective = LevelChooser::Objective::kSum;
  EXPECT_EQ(LevelChooser(settings).choose(unequal, 40ms).levels, (std::vector<std::uint32_t>{2, 0}));
}

TEST(DjayLevels, FairnessRaisesTheOthersWhereTheWorstOffStays) {
  const std::vector<Contender> contenders{{Menu{{10ms, 0.5}}, 0}, {kSteps, 1}};
  LevelChooser::Settings settings;
  settings.objective = LevelChooser::Objective::kMaxMin;
  settings.hysteresis_gain = 0.05;
  EXPECT_EQ(LevelChooser(settings).choose(contenders, 40ms).levels[1], 0U);
  settings.hysteresis_gain = 0.15;
  EXPECT_EQ(LevelChooser(settings).choose(contenders, 40ms).levels[1], 1U);
}

}  // namespace
}  // namespace corun
