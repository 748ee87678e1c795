#include "policies/djay/model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;

const std::vector<QualityLevel> kMenu{{"high", 1.0, 1.0}, {"medium", 0.62, 0.88}, {"low", 0.33, 0.70}};

/// A game whose settings matter as it says, whatever its menu says.
struct Truth {
  double busy_ns = 20e6;
  double exponent = 1.0;
  double loss_factor = 1.0;
  double noise = 0.0;
  std::vector<QualityLevel> menu = kMenu;

  Duration cost(std::uint32_t level) const {
    return Duration{std::llround(busy_ns * std::pow(menu[level].cost, exponent))};
  }
  double quality(std::uint32_t level) const { return 1.0 - (1.0 - menu[level].quality) * loss_factor; }
};

/// Frames of a game at one level after another, and shadows of them.
struct Player {
  GameModel model;
  std::uint64_t number = 0;
  std::mt19937_64 random{1};

  explicit Player(GameModel::Settings settings = {}, const std::vector<QualityLevel>& menu = kMenu)
      : model(settings, menu) {}

  Duration frame(const Truth& truth, std::uint32_t level, std::uint32_t scene = 0) {
    FrameView frame;
    frame.number = ++number;
    frame.quality_level = level;
    frame.scene = scene;
    factor = std::exp(std::normal_distribution<double>(0.0, 1.0)(random) * truth.noise);
    frame.gpu_busy = scaled(truth.cost(level));
    model.learn_frame(frame);
    return frame.gpu_busy;
  }
  void shadow(const Truth& truth, std::uint32_t level, std::uint32_t scene = 0) {
    model.learn_shadow({number, level, scene, scaled(truth.cost(level)), truth.quality(level)});
  }
  void probe(const Truth& truth, std::uint32_t at, std::uint32_t level, std::uint32_t scene = 0) {
    frame(truth, at, scene);
    shadow(truth, level, scene);
  }

  Duration scaled(Duration d) const { return Duration{std::llround(static_cast<double>(d.count()) * factor)}; }
  double factor = 1.0;  ///< of the newest frame's content
};

double error(const GameModel& model, const Truth& truth) {
  double worst = 0.0;
  for (std::uint32_t level = 0; level < model.levels(); ++level)
    worst = std::max(worst, std::abs(std::log(static_cast<double>(model.cost(level).count()) /
                                              static_cast<double>(truth.cost(level).count()))));
  return worst;
}

TEST(DjayModel, TrustsTheMenuBeforeItHasLearnt) {
  Player player;
  player.frame(Truth{}, 1);
  for (std::uint32_t level = 0; level < 3; ++level) {
    EXPECT_NEAR(to_milliseconds(player.model.cost(level)), 20.0 * kMenu[level].cost, 1e-3);
    EXPECT_NEAR(player.model.quality(level), kMenu[level].quality, 1e-12);
  }
  EXPECT_EQ(player.model.cheapest(), 2U);
}

TEST(DjayModel, LearnsFromOneShadowThatSettingsMatterLessOrMoreThanTheMenuSays) {
  for (const double exponent : {0.5, 1.6}) {
    const Truth truth{.exponent = exponent};
    GameModel::Settings ratio;
    ratio.kind = GameModel::Kind::kRatio;
    Player learner, believer(ratio);
    for (Player* player : {&learner, &believer}) player->probe(truth, 0, 2);
    EXPECT_LT(error(learner.model, truth), 0.02) << exponent;
    EXPECT_GT(error(believer.model, truth), 0.5) << exponent;
  }
}

TEST(DjayModel, LearnsWithoutShadowsFromChangesOfLevel) {
  const Truth truth{.exponent = 1.6};
  Player player;
  for (const std::uint32_t level : {2U, 0U, 1U, 2U, 0U})
    for (int i = 0; i < 10; ++i) player.frame(truth, level);
  EXPECT_LT(error(player.model, truth), 0.03);
}

TEST(DjayModel, TellsScenesApartAndRemembersThem) {
  const Truth shallow{.busy_ns = 10e6, .exponent = 0.5}, steep{.busy_ns = 25e6, .exponent = 1.6};
  Player player;
  for (int visit = 0; visit < 3; ++visit) {
    for (int i = 0; i < 5; ++i) player.probe(shallow, 1, i % 2 * 2, 1);
    for (int i = 0; i < 5; ++i) player.probe(steep, 1, i % 2 * 2, 2);
  }
  player.frame(shallow, 1, 1);
  EXPECT_LT(error(player.model, shallow), 0.03);
  player.frame(steep, 1, 2);
  EXPECT_LT(error(player.model, steep), 0.03);
}

TEST(DjayModel, SceneNeverSeenIsTakenToBeLikeTheOthers) {
  const Truth truth{.exponent = 0.5};
  Player player;
  for (std::uint32_t scene = 1; scene <= 4; ++scene) player.probe(truth, 0, 2, scene);
  player.frame(truth, 0, 5);
  EXPECT_LT(error(player.model, truth), 0.15) << "0.55 for one that trusts the menu";
}

TEST(DjayModel, LearnsEachKnobOfAMenuMadeOfKnobs) {
  // Two knobs: the menu thinks that both halve the cost; the first one does nothing, the second one quarters it.
  const std::vector<std::uint8_t> knobs[] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  const double stated[] = {1.0, 0.5, 0.5, 0.25}, costs[] = {1.0, 1.0, 0.25, 0.25};
  std::vector<QualityLevel> menu;
  for (std::size_t i = 0; i < 4; ++i) menu.push_back({"", stated[i], 1.0 - 0.1 * static_cast<double>(i), knobs[i]});
  Truth truth{.menu = menu};
  for (std::size_t i = 0; i < 4; ++i) truth.menu[i].cost = costs[i];
  Player player({}, menu);
  for (const std::uint32_t level : {1U, 2U}) player.probe(truth, 0, level);
  EXPECT_LT(error(player.model, truth), 0.03) << "the fourth combination was never rendered";
}

TEST(DjayModel, AShadowThatTookNoTimeOrIsOfNoLevelTeachesNothing) {
  for (const auto& [level, busy] : {std::pair<std::uint32_t, Duration>{1, Duration{0}}, {3, 10ms}}) {
    Player player;
    player.frame(Truth{}, 0);
    player.model.learn_shadow({player.number, level, 0, busy, 0.1});
    EXPECT_NEAR(to_milliseconds(player.model.cost(1)), 20.0 * kMenu[1].cost, 1e-3);
    EXPECT_NEAR(player.model.quality(1), kMenu[1].quality, 1e-12);
  }
}

TEST(DjayModel, WhatWasLearntLongAgoGivesWayTheSoonerTheMoreIsForgotten) {
  const auto error_after_a_change = [](double forgetting) {
    GameModel::Settings settings;
    settings.forgetting = forgetting;
    Player player(settings);
    for (int i = 0; i < 40; ++i) player.probe({.exponent = 0.5}, 0, 1 + i % 2);
    for (int i = 0; i < 4; ++i) player.probe({.exponent = 1.6}, 0, 1 + i % 2);
    return error(player.model, {.exponent = 1.6});
  };
  EXPECT_LT(error_after_a_change(0.5), 0.5 * error_after_a_change(1.0));
}

TEST(DjayModel, FindsOutAMisreportedQuality) {
  const Truth truth{.loss_factor = 2.0};
  Player player;
  for (int i = 0; i < 3; ++i) player.probe(truth, 0, 2), player.probe(truth, 0, 1);
  EXPECT_NEAR(player.model.quality(2), 0.40, 0.01);
  EXPECT_NEAR(player.model.quality(1), 0.76, 0.01);
  EXPECT_EQ(player.model.quality(0), 1.0);
}

TEST(DjayModel, PredictionFollowsTheNewestFrameAtOnce) {
  Player player;
  for (int i = 0; i < 50; ++i) player.frame(Truth{}, 1);
  player.frame(Truth{.busy_ns = 40e6}, 1);
  EXPECT_NEAR(to_milliseconds(player.model.cost(0)), 40.0, 0.5);
}

TEST(DjayModel, QuantileCoversNoise) {
  GameModel::Settings settings;
  settings.quantile = 0.9;
  Player player(settings);
  const Truth truth{.noise = 0.1};
  for (int i = 0; i < 16; ++i) player.frame(truth, 0);
  int above = 0;
  for (int i = 0; i < 2000; ++i) {
    const Duration predicted = player.model.cost(0);
    if (player.frame(truth, 0) > predicted) ++above;
  }
  EXPECT_LT(above, 240) << "of 2000: a quantile of 0.9, and a little for its being estimated";
  EXPECT_GT(above, 100) << "what is never exceeded is wasted";
}

TEST(DjayModel, QuantileForgetsASingleSpike) {
  GameModel::Settings settings;
  settings.quantile = 0.9;
  Player player(settings);
  for (int i = 0; i < 20; ++i) player.frame(Truth{}, 0);
  player.frame(Truth{.busy_ns = 80e6}, 0);
  EXPECT_NEAR(to_milliseconds(player.model.cost(0)), 80.0, 0.5);
  player.frame(Truth{}, 0);
  EXPECT_NEAR(to_milliseconds(player.model.cost(0)), 20.0, 0.5);
}

TEST(DjayModel, StaticTableTakesTheMeanOfAllFrames) {
  GameModel::Settings settings;
  settings.kind = GameModel::Kind::kStaticTable;
  Player player(settings);
  for (const double busy : {10e6, 10e6, 10e6, 30e6}) player.frame(Truth{.busy_ns = busy}, 1);
  EXPECT_NEAR(to_milliseconds(player.model.cost(0)), 15.0, 0.01);
}

TEST(DjayModel, ErrorIsKnownAfterThreeShadowsAndRisesWithASurprisingChangeOfLevel) {
  const Truth truth{.exponent = 0.5};
  Player player;
  player.probe(truth, 0, 2);
  player.probe(truth, 0, 2);
  EXPECT_TRUE(std::isinf(player.model.error()));
  player.probe(truth, 0, 2);
  EXPECT_GT(player.model.error(), 0.5) << "the first shadow was a surprise";
  for (int i = 0; i < 3; ++i) player.probe(truth, 0, 1);
  EXPECT_LT(player.model.error(), 0.05);
  player.frame(truth, 0);
  player.frame(Truth{.exponent = 1.6}, 2);
  EXPECT_GT(player.model.error(), 0.5);
}

TEST(DjayModel, MostIsUnknownOfLevelsUnlikeThoseSeen) {
  Player player;
  player.frame(Truth{}, 0);
  EXPECT_EQ(player.model.uncertainty(0), 0.0);
  EXPECT_GT(player.model.uncertainty(2), player.model.uncertainty(1));
  const double before = player.model.uncertainty(2);
  player.shadow(Truth{}, 2);
  EXPECT_LT(player.model.uncertainty(2), 0.1 * before);
}

TEST(DjayModel, MoreScenesThanAreToldApartReuseTheOldestAndKeepTheNewest) {
  const Truth shallow{.exponent = 0.5}, steep{.exponent = 1.6};
  Player player;
  for (std::uint32_t scene = 1; scene <= 100; ++scene)
    for (int i = 0; i < 4; ++i) player.probe(scene % 2 == 0 ? steep : shallow, 0, 2, scene);
  player.frame(shallow, 0, 99);
  EXPECT_LT(error(player.model, shallow), 0.05);
  player.frame(steep, 0, 100);
  EXPECT_LT(error(player.model, steep), 0.05);
}

TEST(DjayModel, SceneInThePlaceOfAnotherBeginsUnknown) {
  const Truth truth;
  Player player;
  for (std::uint32_t scene = 1; scene <= GameModel::kMostScenes; ++scene)
    for (int i = 0; i < 4; ++i) player.probe(truth, 0, 2, scene);
  player.frame(truth, 0, 2);
  const double known = player.model.uncertainty(2);
  player.frame(truth, 0, 1'000);
  EXPECT_GT(player.model.uncertainty(2), 10.0 * known);
  EXPECT_TRUE(std::isinf(player.model.error()));
}

TEST(DjayModel, OddMenusAndMeasurementsLeaveCostsAndQualitiesInRange) {
  const std::vector<QualityLevel> odd{{"free", 0.0, 0.5}, {"dear", 50.0, 1.0}, {"worst", 0.2, 0.0}};
  Player player({}, odd);
  for (const std::int64_t ns : {0LL, 1LL, 1'000'000'000'000LL}) {
    FrameView frame;
    frame.number = ++player.number;
    frame.quality_level = 7;
    frame.gpu_busy = Duration{ns};
    player.model.learn_frame(frame);
    player.model.learn_shadow({player.number, 1, 0, Duration{ns}, 2.0});
    player.model.learn_shadow({player.number, 9, 0, Duration{ns}, 0.5});
    for (std::uint32_t level = 0; level < 3; ++level) {
      EXPECT_GT(player.model.cost(level), Duration{0});
      EXPECT_GE(player.model.quality(level), 0.0);
      EXPECT_LE(player.model.quality(level), 1.0);
    }
  }
}

RC_GTEST_PROP(DjayModel, AnyExponentIsLearntToAFewPercentAfterSixNoisyShadows, ()) {
  const double exponent = *rc::gen::inRange(20, 200) * 0.01;
  const double loss = *rc::gen::inRange(20, 300) * 0.01;
  const auto own = *rc::gen::inRange<std::uint32_t>(0, 3);
  const Truth truth{.exponent = exponent, .loss_factor = loss, .noise = 0.05};
  Player player;
  for (std::uint32_t i = 0; i < 6; ++i) player.probe(truth, own, (own + 1 + i % 2) % 3, 1);
  for (std::uint32_t level = 0; level < 3; ++level) {
    const double true_ratio =
        static_cast<double>(truth.cost(level).count()) / static_cast<double>(truth.cost(own).count());
    const double ratio =
        static_cast<double>(player.model.cost(level).count()) / static_cast<double>(player.model.cost(own).count());
    RC_ASSERT(std::abs(std::log(ratio / true_ratio)) < 0.03);
  }
}

TEST(DjayModel, ShadowWithoutAMeasuredTimeOrOfNoLevelSaysNothing) {
  for (const auto& [level, busy] : {std::pair(2U, Duration{0}), std::pair(3U, Duration{5ms})}) {
    Player player;
    player.frame(Truth{}, 0);
    const double unknown = player.model.uncertainty(2);
    player.model.learn_shadow({player.number, level, 0, busy, 0.1});
    EXPECT_EQ(player.model.uncertainty(2), unknown) << level;
    EXPECT_NEAR(player.model.quality(2), 0.70, 1e-12);
    EXPECT_NEAR(to_milliseconds(player.model.cost(2)), 6.6, 1e-5);
  }
}

TEST(DjayModel, WhatIsNotSeenAgainIsForgottenAtTheRateThatIsStated) {
  for (const double forgetting : {1.0, 0.9}) {
    GameModel::Settings settings;
    settings.forgetting = forgetting;
    Player player(settings);
    player.probe(Truth{}, 0, 2);
    const double known = player.model.uncertainty(2);
    for (int i = 0; i < 10; ++i) player.frame(Truth{}, 0);
    // Of the variances that both regressions had of the level, 0.9^10 is left; the rest is what they began with: 100
    // for the cost's feature, which is the log of 0.33, and for each of the two of the quality's.
    const double kept = std::pow(forgetting, 10), square = std::log(0.33) * std::log(0.33);
    EXPECT_NEAR(player.model.uncertainty(2), kept * known + (1 - kept) * 100 * (2 * square + 1), 1e-6) << forgetting;
  }
}

/// Predicted cost in ms of a game whose frames took these, by a quantile of the newest four.
double cost_by_quantile(double quantile, const std::vector<double>& milliseconds) {
  GameModel::Settings settings;
  settings.kind = GameModel::Kind::kRatio;
  settings.quantile = quantile;
  settings.frames = 4;
  Player player(settings);
  for (const double ms : milliseconds) player.frame(Truth{.busy_ns = ms * 1e6}, 0);
  return to_milliseconds(player.model.cost(0));
}

TEST(DjayModel, QuantileIsTheNearestRankOfTheNewestFramesOrTheNewestOne) {
  const std::vector<double> frames{90, 40, 20, 30, 5};
  EXPECT_NEAR(cost_by_quantile(0.0, frames), 5, 1e-5);
  EXPECT_NEAR(cost_by_quantile(0.5, frames), 20, 1e-5) << "the second of 5, 20, 30 and 40";
  EXPECT_NEAR(cost_by_quantile(0.51, frames), 30, 1e-5);
  EXPECT_NEAR(cost_by_quantile(1.0, frames), 40, 1e-5) << "90 is too long ago";
  EXPECT_NEAR(cost_by_quantile(0.5, {40, 20, 30, 35}), 35, 1e-5) << "the newest is more than the second";
}

TEST(DjayModel, MenuIsTakenWithinWhatCostsAndPicturesCanBe) {
  const GameModel odd({}, std::vector<QualityLevel>{{"best", 1.0, 1.0}, {"free", 0.0, 1.0}, {"blank", 0.0, -1.0}});
  EXPECT_EQ(odd.stated_cost(1), 0.001);
  EXPECT_DOUBLE_EQ(odd.quality(1), 0.9999) << "only the best level is perfect";
  EXPECT_EQ(odd.quality(0), 1.0);
  EXPECT_EQ(odd.quality(2), 0.0);
  EXPECT_EQ(odd.cheapest(), 1U) << "of equal ones the first";
  const GameModel single({}, {});
  EXPECT_EQ(single.levels(), 1U);
  EXPECT_EQ(single.stated_cost(0), 1.0);
  EXPECT_EQ(single.quality(0), 1.0);
  EXPECT_EQ(single.uncertainty(0), 0.0);
}

TEST(DjayModel, NoFrameIsExpectedToTakeMoreThanAnHour) {
  Player player;
  player.frame(Truth{.busy_ns = 5e12}, 0);
  EXPECT_EQ(player.model.cost(0), Duration{3'600'000'000'000});
}

TEST(RidgeRegression, AgreesWithTheNormalEquations) {
  // Two features, solved by hand: theta = (X'X + ridge I)^-1 X'y.
  const double ridge = 0.5;
  const std::vector<std::vector<double>> x{{1, 2}, {1, -1}, {0.5, 3}, {2, 0}};
  const std::vector<double> y{1, 4, -2, 3};
  RidgeRegression regression(ridge);
  regression.grow(2);
  double a = ridge, b = 0, d = ridge, p = 0, q = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    regression.learn(x[i], y[i]);
    a += x[i][0] * x[i][0], b += x[i][0] * x[i][1], d += x[i][1] * x[i][1];
    p += x[i][0] * y[i], q += x[i][1] * y[i];
  }
  const double determinant = a * d - b * b;
  EXPECT_NEAR(regression.predict({1, 0}), (d * p - b * q) / determinant, 1e-12);
  EXPECT_NEAR(regression.predict({0, 1}), (a * q - b * p) / determinant, 1e-12);
  EXPECT_NEAR(regression.variance({1, 0}), d / determinant, 1e-12);
}

TEST(RidgeRegression, GrowingChangesNoAnswer) {
  RidgeRegression regression(0.1);
  regression.grow(2);
  regression.learn({1, 2}, 3);
  const double answer = regression.predict({1, 1}), variance = regression.variance({1, 1});
  regression.grow(2);
  EXPECT_EQ(regression.predict({1, 1, 0, 0}), answer);
  EXPECT_EQ(regression.variance({1, 1, 0, 0}), variance);
  EXPECT_EQ(regression.variance({0, 0, 1, 0}), 10.0);
}

TEST(RidgeRegression, FadingNeverMakesItLessCertainThanAtTheStart) {
  RidgeRegression regression(0.1);
  regression.grow(2);
  for (int i = 0; i < 10'000; ++i) {
    regression.fade(0.9);
    regression.learn({1, 0}, 2);
  }
  EXPECT_LE(regression.variance({0, 1}), 10.0 * (1 + 1e-9));
  EXPECT_NEAR(regression.predict({1, 0}), 2.0, 1e-3);
}

TEST(RidgeRegression, FadedLessonsGiveWayToNewOnes) {
  RidgeRegression keeping(0.01), fading(0.01);
  for (RidgeRegression* regression : {&keeping, &fading}) {
    regression->grow(1);
    for (int i = 0; i < 100; ++i) regression->learn({1}, 0);
    for (int i = 0; i < 20; ++i) {
      regression->fade(regression == &fading ? 0.99 : 1.0);
      regression->learn({1}, 1);
    }
  }
  EXPECT_LT(keeping.predict({1}), 0.2);
  EXPECT_GT(fading.predict({1}), 0.9);
}

TEST(RidgeRegression, ForgottenFeatureIsAsUnknownAsANewOne) {
  RidgeRegression regression(0.1);
  regression.grow(2);
  regression.learn({1, 1}, 4);
  regression.forget(1);
  EXPECT_EQ(regression.predict({0, 1}), 0.0);
  EXPECT_EQ(regression.variance({0, 1}), 10.0);
}

}  // namespace
}  // namespace corun
