#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "policies/djay/regression.h"
#include "sim/policy/view.h"

namespace corun {

/// What dJay's profiler knows of one game: what a frame would cost and how good it would look at each quality level, in
/// the scene that the game shows.
///
/// What the menu states is the prior; two regressions learn by how much it is wrong, in logarithms:
///
///     log(cost / stated cost)   and   log((1 - quality) / (1 - stated quality))
///
/// over the features: 1; the level of each knob, or the log of the stated cost where a menu has no knobs; the scene,
/// one of kMostScenes; the scene times the log of the stated cost. A frame shows its own cost, a shadow frame that of
/// another level relative to the frame it shadows, whose content is the same. The best level's quality is always 1.
///
/// The regression says how levels differ; how heavy the game is just now is measured: a prediction is what the newest
/// frame would have taken at that level or, where that is more, a quantile of what the newest few would have.
class GameModel {
 public:
  /// Where differences between levels come from, and how heavy the game is said to be.
  enum class Kind : std::uint8_t {
    kRegression,   ///< as above
    kRatio,        ///< the menu's costs; newest frames as above
    kStaticTable,  ///< the menu's costs; the mean of all frames
  };
  struct Settings {
    Kind kind = Kind::kRegression;
    double ridge = 0.01;      ///< > 0; see RidgeRegression
    double forgetting = 1.0;  ///< weight in (0, 1] that what was learned keeps from frame to frame
    double quantile = 0.5;    ///< [0, 1]; 0 = the newest frame alone
    std::size_t frames = 16;  ///< how many newest frames of the scene the quantile is taken of; > 0
  };

  /// Scenes of one game that are distinguished; beyond, the one not seen for longest gives way. With seven knobs that
  /// bounds both regressions together to 26 KB.
  static constexpr std::size_t kMostScenes = 16;
  /// How many errors error() looks back on.
  static constexpr std::size_t kErrors = 3;

  /// Nothing is kept of `menu` after the call. An empty one is a single level.
  GameModel(const Settings& settings, std::span<const QualityLevel> menu);

  /// A frame ended that carried no cost of changed settings.
  void learn_frame(const FrameView& frame);
  /// A shadow frame without a measured time says nothing.
  void learn_shadow(const ShadowFrame& shadow);

  std::uint64_t frames() const { return frames_; }  ///< learnt; without one, there are no costs
  std::size_t levels() const { return levels_.size(); }
  std::uint32_t cheapest() const;            ///< of equal ones the first; by the menu without a frame
  Duration cost(std::uint32_t level) const;  ///< GPU time of the next frame, if it has that level
  double quality(std::uint32_t level) const { return levels_[level].quality; }  ///< [0, 1]
  double stated_cost(std::uint32_t level) const { return levels_[level].stated_cost; }

  /// How little is known of a level against the newest frame's: predictive variance of both regressions.
  double uncertainty(std::uint32_t level) const;
  /// Largest error of the last kErrors predictions in the scene shown: of a level's cost relative to another one's (as
  /// a log) or of its quality. Shadow frames show it, and changes of level that show a larger one. Infinite while there
  /// were fewer.
  double error() const;

 private:
  struct Level {
    double stated_cost, stated_loss;
    std::vector<double> settings;  // features of the level alone
    double log_cost = 0.0;         // up to how heavy the game is
    double quality = 1.0;
  };
  struct Scene {
    std::uint32_t number = 0;
    std::uint64_t last_seen = 0;
    std::deque<double> errors{};  // newest last
  };
  struct Measured {
    std::uint64_t number;
    std::uint32_t level;
    double log_time;
  };

  double weight_of(const Measured& frame) const { return frame.log_time - levels_[frame.level].log_cost; }
  void show(std::uint32_t scene);
  Scene& scene_to_reuse();
  RidgeRegression::Features features(std::uint32_t level) const;
  RidgeRegression::Features difference(std::uint32_t from, std::uint32_t to) const;
  double learn_cost(const ShadowFrame& shadow);
  void note_surprise(const Measured& measured);
  void note_error(double error);
  double recent_quantile() const;
  void estimate();

  const Settings settings_;
  std::vector<Level> levels_;
  RidgeRegression cost_, loss_;
  std::vector<Scene> scenes_;               // the first one is scene 0, of which nothing is known: it has no features
  std::size_t shown_ = 0;                   // index into scenes_
  std::deque<Measured> recent_;             // of the scene shown, newest last
  std::optional<double> first_log_weight_;  // that of the first frame: the origin of cost_
  std::uint64_t frames_ = 0, sightings_ = 0;
  double log_weight_ = 0.0;  // how heavy the game is: log of GPU time at a level whose log_cost is 0
  double weight_sum_ = 0.0;  // of all frames, for the static table
};

}  // namespace corun
