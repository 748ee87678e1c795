#include "sim/workload/quality.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "traces/base/error.h"

namespace corun {

namespace {

/// Sums and products that differ by the order of their terms alone must compare equal.
double rounded(double value) { return std::round(value * 1e9) * 1e-9; }

/// Every setting with every level of one more knob.
std::vector<QualityLevel> combined(const std::vector<QualityLevel>& settings, const QualityKnob& knob) {
  std::vector<QualityLevel> all;
  for (const QualityLevel& setting : settings)
    for (std::size_t i = 0; i < knob.levels.size(); ++i) {
      QualityLevel& more = all.emplace_back(setting);
      more.cost = rounded(setting.cost * knob.levels[i].cost);
      more.quality = rounded(std::max(0.0, setting.quality - knob.levels[i].loss));
      more.knobs.push_back(static_cast<std::uint8_t>(i));
    }
  return all;
}

/// Those that no other one beats, best first: each is cheaper than the one before.
std::vector<QualityLevel> unbeaten(std::vector<QualityLevel> settings) {
  std::ranges::stable_sort(settings, [](const QualityLevel& a, const QualityLevel& b) {
    return a.quality != b.quality ? a.quality > b.quality : a.cost < b.cost;
  });
  std::vector<QualityLevel> best;
  for (QualityLevel& setting : settings)
    if (best.empty() || setting.cost < best.back().cost) best.push_back(std::move(setting));
  return best;
}

/// The ends, then over and over the one whose nearest kept one is farthest away, in parts of what the menu spans.
std::vector<QualityLevel> spread_out(std::vector<QualityLevel> menu, std::size_t most) {
  if (menu.size() <= most) return menu;
  const double costs = menu.front().cost - menu.back().cost, qualities = menu.front().quality - menu.back().quality;
  std::vector<double> distance(menu.size(), std::numeric_limits<double>::infinity());
  const auto keep = [&](std::size_t kept) {
    for (std::size_t i = 0; i < menu.size(); ++i)
      distance[i] = std::min(distance[i], std::hypot((menu[i].cost - menu[kept].cost) / costs,
                                                     (menu[i].quality - menu[kept].quality) / qualities));
  };
  keep(0);
  keep(menu.size() - 1);
  for (std::size_t count = 2; count < most; ++count)
    keep(static_cast<std::size_t>(std::ranges::max_element(distance) - distance.begin()));
  std::vector<QualityLevel> kept;
  for (std::size_t i = 0; i < menu.size(); ++i)
    if (distance[i] == 0) kept.push_back(std::move(menu[i]));
  return kept;
}

}  // namespace

double cost_in(const SceneEffect& scene, const QualityLevel& setting) {
  return scene.on_cost == 1.0 ? setting.cost : std::pow(setting.cost, scene.on_cost);
}

double quality_in(const SceneEffect& scene, const QualityLevel& setting) {
  return std::clamp(1.0 - (1.0 - setting.quality) * scene.on_loss, 0.0, 1.0);
}

std::vector<QualityKnob> usual_knobs() {
  constexpr Duration kTextureReload{40'000'000};
  return {
      {"texture detail", {{1, 0}, {0.97, 0.03}, {0.93, 0.07}}, kTextureReload},
      {"anti-aliasing", {{1, 0}, {0.91, 0.02}, {0.82, 0.05}}},
      {"lights", {{1, 0}, {0.94, 0.02}, {0.85, 0.05}}},
      {"shadows", {{1, 0}, {0.89, 0.02}, {0.77, 0.05}}},
      {"environment details", {{1, 0}, {0.92, 0.015}, {0.84, 0.04}}},
      {"fog", {{1, 0}, {0.98, 0.005}, {0.95, 0.01}}},
      {"tessellation", {{1, 0}, {0.93, 0.01}, {0.84, 0.03}}},
  };
}

std::vector<QualityLevel> menu_of(std::span<const QualityKnob> knobs, std::size_t most) {
  CORUN_ASSERT(!knobs.empty() && most >= 2, "{} knobs, {} settings", knobs.size(), most);
  std::vector<QualityLevel> menu(1);
  // What is beaten stays so whatever is added to both: knob by knob, few settings are left.
  for (const QualityKnob& knob : knobs) menu = unbeaten(combined(menu, knob));
  menu = spread_out(std::move(menu), most);
  for (QualityLevel& setting : menu) setting.name = fmt::format("{}", fmt::join(setting.knobs, "/"));
  return menu;
}

}  // namespace corun
