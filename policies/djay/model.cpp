#include "policies/djay/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corun {

namespace {

constexpr double kSmallestCost = 1e-3;    // of the best level's
constexpr double kSmallestLoss = 1e-4;    // of quality: four nines, where pictures stop to differ visibly
constexpr double kLongestFrame = 3.6e12;  // ns
constexpr double kLoadStep = 1.0;         // variance of a game's load from frame to frame, in that of a measurement
constexpr std::size_t kFeaturesPerScene = 2;

double log_time(Duration gpu_busy) {
  return std::log(static_cast<double>(std::max<std::int64_t>(1, gpu_busy.count())));
}

double loss_of(double quality) { return std::clamp(1.0 - quality, kSmallestLoss, 1.0); }

bool has_knobs(std::span<const QualityLevel> menu) {
  return std::ranges::all_of(menu, [&](const QualityLevel& level) {
    return !level.knobs.empty() && level.knobs.size() == menu.front().knobs.size();
  });
}

}  // namespace

GameModel::GameModel(const Settings& settings, std::span<const QualityLevel> menu)
    : settings_(settings), cost_(settings.ridge), loss_(settings.ridge), scenes_(1) {
  for (const QualityLevel& level : menu) {
    const double cost = std::max(level.cost, kSmallestCost);
    levels_.push_back({cost, loss_of(level.quality), {std::log(cost)}});
    if (has_knobs(menu)) levels_.back().settings.assign(level.knobs.begin(), level.knobs.end());
  }
  if (menu.empty()) levels_.push_back({1.0, kSmallestLoss, {0.0}});
  for (RidgeRegression* regression : {&cost_, &loss_}) regression->grow(1 + levels_.front().settings.size());
  estimate();
}

void GameModel::learn_frame(const FrameView& frame) {
  show(frame.scene);
  const auto level = std::min(frame.quality_level, static_cast<std::uint32_t>(levels_.size() - 1));
  const Measured measured{frame.number, level, log_time(frame.gpu_busy)};
  note_surprise(measured);
  recent_.push_back(measured);
  if (recent_.size() > settings_.frames) recent_.pop_front();
  ++frames_;
  const double stated = std::log(levels_[level].stated_cost);
  weight_sum_ += std::exp(measured.log_time - stated);
  if (!first_log_weight_) first_log_weight_ = measured.log_time - stated;
  if (settings_.kind == Kind::kRegression) {
    for (RidgeRegression* regression : {&cost_, &loss_}) regression->fade(settings_.forgetting);
    cost_.wander(0, kLoadStep);
    cost_.learn(features(level), measured.log_time - stated - *first_log_weight_);
  }
  estimate();
}

void GameModel::learn_shadow(const ShadowFrame& shadow) {
  if (shadow.gpu_busy <= Duration{0} || shadow.quality_level >= levels_.size()) return;
  if (settings_.kind != Kind::kRegression) return;
  show(shadow.scene);
  const double error = std::abs(shadow.quality - quality(shadow.quality_level));
  // Where the frame itself carried a cost of changed settings, there is nothing to compare the shadow's cost with.
  if (!recent_.empty() && recent_.back().number == shadow.number) note_error(std::max(error, learn_cost(shadow)));
  if (shadow.quality_level > 0) {
    const double stated_loss = levels_[shadow.quality_level].stated_loss;
    loss_.learn(features(shadow.quality_level), std::log(loss_of(shadow.quality) / stated_loss));
  }
  estimate();
}

/// Compared with the frame that it shadows, which has the same content, a shadow shows how two levels differ.
/// Returns how wrong the prediction was.
double GameModel::learn_cost(const ShadowFrame& shadow) {
  const Level& frame = levels_[recent_.back().level];
  const Level& other = levels_[shadow.quality_level];
  const double difference_of_logs = log_time(shadow.gpu_busy) - recent_.back().log_time;
  cost_.learn(difference(recent_.back().level, shadow.quality_level),
              difference_of_logs - std::log(other.stated_cost / frame.stated_cost));
  return std::abs(difference_of_logs - (other.log_cost - frame.log_cost));
}

std::uint32_t GameModel::cheapest() const {
  const auto cheapest = std::ranges::min_element(levels_, {}, &Level::log_cost);
  return static_cast<std::uint32_t>(cheapest - levels_.begin());
}

Duration GameModel::cost(std::uint32_t level) const {
  const double ns = std::exp(log_weight_ + levels_[level].log_cost);
  return Duration{static_cast<std::int64_t>(std::clamp(ns, 1.0, kLongestFrame))};
}

double GameModel::uncertainty(std::uint32_t level) const {
  if (recent_.empty()) return 0.0;
  const double of_cost = cost_.variance(difference(recent_.back().level, level));
  return level == 0 ? of_cost : of_cost + loss_.variance(features(level));
}

double GameModel::error() const {
  const std::deque<double>& errors = scenes_[shown_].errors;
  return errors.size() < kErrors ? std::numeric_limits<double>::infinity() : std::ranges::max(errors);
}

/// Frames of another scene say nothing of how heavy this one is.
void GameModel::show(std::uint32_t scene) {
  ++sightings_;
  const std::uint32_t before = scenes_[shown_].number;
  const auto known = std::ranges::find(scenes_, scene, &Scene::number);
  if (known == scenes_.end()) scene_to_reuse().number = scene;
  shown_ = static_cast<std::size_t>(std::ranges::find(scenes_, scene, &Scene::number) - scenes_.begin());
  scenes_[shown_].last_seen = sightings_;
  if (before != scene) recent_.clear();
}

GameModel::Scene& GameModel::scene_to_reuse() {
  if (scenes_.size() <= kMostScenes) {
    for (RidgeRegression* regression : {&cost_, &loss_}) regression->grow(kFeaturesPerScene);
    return scenes_.emplace_back();
  }
  const auto oldest = std::ranges::min_element(scenes_.begin() + 1, scenes_.end(), {}, &Scene::last_seen);
  const std::size_t first = cost_.size() - kFeaturesPerScene * static_cast<std::size_t>(scenes_.end() - oldest);
  for (RidgeRegression* regression : {&cost_, &loss_})
    for (std::size_t i = 0; i < kFeaturesPerScene; ++i) regression->forget(first + i);
  return *oldest = Scene{};
}

RidgeRegression::Features GameModel::features(std::uint32_t level) const {
  const Level& its = levels_[level];
  RidgeRegression::Features features(cost_.size());
  features[0] = 1.0;
  std::ranges::copy(its.settings, features.begin() + 1);
  if (shown_ == 0) return features;
  const std::size_t first = 1 + its.settings.size() + kFeaturesPerScene * (shown_ - 1);
  features[first] = 1.0;
  features[first + 1] = std::log(its.stated_cost);
  return features;
}

RidgeRegression::Features GameModel::difference(std::uint32_t from, std::uint32_t to) const {
  const RidgeRegression::Features subtracted = features(from);
  RidgeRegression::Features result = features(to);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= subtracted[i];
  return result;
}

/// A change of level can only show that a model was trusted too early: it says nothing of pictures.
void GameModel::note_surprise(const Measured& measured) {
  if (recent_.empty() || recent_.back().level == measured.level) return;
  const double error_of_change = std::abs(weight_of(measured) - weight_of(recent_.back()));
  if (error_of_change > error()) note_error(error_of_change);
}

void GameModel::note_error(double error) {
  std::deque<double>& errors = scenes_[shown_].errors;
  errors.push_back(error);
  if (errors.size() > kErrors) errors.pop_front();
}

double GameModel::recent_quantile() const {
  std::vector<double> weights;
  for (const Measured& frame : recent_) weights.push_back(weight_of(frame));
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(settings_.quantile * static_cast<double>(weights.size())));
  const auto at = weights.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
  std::ranges::nth_element(weights, at);
  return *at;
}

void GameModel::estimate() {
  for (std::uint32_t level = 0; level < levels_.size(); ++level) {
    Level& its = levels_[level];
    const RidgeRegression::Features x = features(level);
    its.log_cost = std::log(its.stated_cost) + cost_.predict(x);
    its.quality = level == 0 ? 1.0 : 1.0 - std::min(1.0, its.stated_loss * std::exp(loss_.predict(x)));
  }
  if (settings_.kind == Kind::kStaticTable && frames_ > 0)
    log_weight_ = std::log(weight_sum_ / static_cast<double>(frames_));
  else if (!recent_.empty())
    log_weight_ = std::max(weight_of(recent_.back()), recent_quantile());
}

}  // namespace corun
