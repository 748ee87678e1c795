#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "policies/djay/knapsack.h"

namespace corun {

/// Kinds of menus that solvers are measured on; costs of an item are a few to some tens of milliseconds.
enum class MenuFamily : std::uint8_t {
  kConcave,    ///< quality rises ever more slowly with cost, as settings of dJay's kind do
  kConvex,     ///< ever faster: the hull drops the middle levels
  kStimpack,   ///< Stimpack's table: VMAF of four levels at four video qualities, cost in proportion to the level
  kPresets,    ///< dJay's presets: high, medium, low
  kKnobs,      ///< combinations of seven settings: costs multiply, losses of quality add up
  kScattered,  ///< dearer items are worth more, give or take a lot
  kNoise,      ///< value and cost have nothing to do with each other
};
inline constexpr MenuFamily kMenuFamilies[] = {MenuFamily::kConcave, MenuFamily::kConvex, MenuFamily::kStimpack,
                                               MenuFamily::kPresets, MenuFamily::kKnobs,  MenuFamily::kScattered,
                                               MenuFamily::kNoise};

constexpr std::string_view to_string(MenuFamily family) {
  constexpr std::string_view kNames[] = {"concave", "convex", "stimpack", "presets", "knobs", "scattered", "noise"};
  return kNames[static_cast<std::size_t>(family)];
}

/// Menus drawn at random; the same for every run and machine.
class RandomMenus {
 public:
  explicit RandomMenus(std::uint64_t seed) : random_(seed) {}

  /// Stimpack's menus have four items and dJay's presets three, whatever `items` says.
  std::vector<Menu> draw(MenuFamily family, std::size_t menus, std::size_t items) {
    std::vector<Menu> all;
    for (std::size_t i = 0; i < menus; ++i) all.push_back(menu(family, items));
    return all;
  }

  /// Anything between the cheapest items of all menus and the dearest.
  Duration budget(const std::vector<Menu>& menus) {
    Duration least{}, most{};
    for (const Menu& menu : menus) {
      const auto [cheapest, dearest] = std::ranges::minmax(menu, {}, &MenuItem::cost);
      least += cheapest.cost;
      most += dearest.cost;
    }
    return least + Duration{static_cast<std::int64_t>(static_cast<double>((most - least).count()) * between(0, 1))};
  }

  double between(double least, double most) {
    return least + (most - least) * static_cast<double>(random_() >> 11) / 9007199254740992.0;
  }
  std::size_t up_to(std::size_t most) { return random_() % (most + 1); }

 private:
  static MenuItem item(double cost_ns, double value) { return {Duration{static_cast<std::int64_t>(cost_ns)}, value}; }

  Menu menu(MenuFamily family, std::size_t items) {
    switch (family) {
      case MenuFamily::kStimpack:
        return stimpack();
      case MenuFamily::kPresets: {
        const double best = between(5e6, 20e6);
        return {item(best, 1.0), item(best * 0.62, 0.88), item(best * 0.33, 0.70)};
      }
      case MenuFamily::kConcave:
      case MenuFamily::kConvex:
        return levels(family, items);
      default:
        break;
    }
    Menu menu;
    const double best = between(5e6, 20e6);
    for (std::size_t i = 0; i < items; ++i) {
      const double cost = between(1e6, 16e6);
      if (family == MenuFamily::kKnobs) menu.push_back(knobs(best));
      if (family == MenuFamily::kScattered) menu.push_back(item(cost, cost / 20e6 + between(0, 0.3)));
      if (family == MenuFamily::kNoise) menu.push_back(item(cost, between(0, 1)));
    }
    return menu;
  }

  Menu levels(MenuFamily family, std::size_t items) {
    const double best = between(5e6, 20e6), worst_quality = between(0.2, 0.7), power = between(1.2, 3.0);
    Menu menu;
    for (std::size_t i = 0; i < items; ++i) {
      const double x = static_cast<double>(i + 1) / static_cast<double>(items);
      const double rise = family == MenuFamily::kConvex ? std::pow(x, power) : 1 - std::pow(1 - x, power);
      menu.push_back(item(best * (0.25 + 0.75 * x) * between(0.97, 1.03), worst_quality + (1 - worst_quality) * rise));
    }
    return menu;
  }

  Menu stimpack() {
    static constexpr double kVmaf[4][4] = {
        {24.3, 40.0, 55.7, 91.3}, {23.8, 39.2, 54.1, 85.9}, {20.6, 34.2, 44.4, 63.6}, {9.5, 17.4, 19.1, 23.6}};
    const double best = between(5e6, 20e6);
    const double(&vmaf)[4] = kVmaf[up_to(3)];
    Menu menu;
    for (std::size_t level = 0; level < 4; ++level)
      menu.push_back(item(best * 0.25 * static_cast<double>(level + 1) * between(0.95, 1.05), vmaf[level]));
    return menu;
  }

  MenuItem knobs(double best) {
    static constexpr double kCost[] = {1.0, 0.85, 0.72}, kLoss[] = {0.0, 0.02, 0.05};
    double cost = best, quality = 1.0;
    for (int knob = 0; knob < 7; ++knob) {
      const std::size_t level = up_to(2);
      cost *= kCost[level];
      quality -= kLoss[level] * (0.5 + 0.15 * knob);
    }
    return item(cost, quality);
  }

  std::mt19937_64 random_;
};

}  // namespace corun
