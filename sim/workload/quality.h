#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/policy/client_traits.h"
#include "traces/base/time.h"

namespace corun {

/// One of a game's settings, such as shadows, in levels from the best (first) down.
struct QualityKnob {
  struct Level {
    double cost = 1.0;  ///< GPU time relative to the best level's; the knobs' costs multiply
    double loss = 0.0;  ///< quality given up against the best level, in [0, 1]; the knobs' losses add up
  };
  std::string name;
  std::vector<Level> levels;
  Duration switch_cost{};  ///< GPU time that the first frame after a change takes more: reloaded textures
};

/// How far settings matter in one part of a game. A menu holds for a scene whose effects are 1.
struct SceneEffect {
  double on_cost = 1.0;  ///< exponent on a setting's cost: 0 = GPU time is the same at every setting
  double on_loss = 1.0;  ///< factor on a setting's loss of quality
};

/// A setting's cost and quality in one scene.
double cost_in(const SceneEffect& scene, const QualityLevel& setting);
double quality_in(const SceneEffect& scene, const QualityLevel& setting);

/// The seven knobs of dJay's poster with three levels each; their costs, losses and switch costs are ours: together
/// they come close to the presets ME (0.62, 0.88) and LO (0.33, 0.70).
std::vector<QualityKnob> usual_knobs();

/// All combinations of the knobs' levels, of which at most `most` (>= 2) are kept: none that another one beats in cost
/// and quality; of those first the ends, then always the one that lies farthest from its kept neighbours, cost and
/// quality measured in parts of what lies between the ends. Best first; a setting's name is its levels: "0/2/1".
std::vector<QualityLevel> menu_of(std::span<const QualityKnob> knobs, std::size_t most);

}  // namespace corun
