#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/base/time.h"

namespace corun {

/// One item of a menu: what it takes and what it is worth.
struct MenuItem {
  Duration cost;       ///< not negative
  double value = 0.0;  ///< any unit; larger is better
};

/// The items of one class, of which exactly one is chosen. Not empty; in any order.
using Menu = std::vector<MenuItem>;

/// An answer to a Multiple Choice Knapsack Problem: one item of every menu.
struct MenuChoice {
  std::vector<std::uint32_t> items;  ///< by menu, index into it
  Duration cost{};                   ///< sum
  double value = 0.0;                ///< sum
  bool fits = false;                 ///< cost <= budget
};

/// Upgrades along the upper convex hull of every menu, best value for its cost first, skipping what no longer fits;
/// then, with what is left of the budget, single upgrades to any item, largest gain first.
/// If even the cheapest items do not fit together, they are the answer and `fits` is false. Equal bargains go to the
/// menu that comes first.
MenuChoice choose_greedily(std::span<const Menu> menus, Duration budget);

/// The largest value that fits, by dynamic programming over undominated partial answers; among equal values the
/// cheapest. Exponential in the worst case, quick for a dozen menus of a dozen items. If nothing fits, the cheapest
/// items, as above.
MenuChoice choose_exactly(std::span<const Menu> menus, Duration budget);

/// Sums up a given answer.
MenuChoice price(std::span<const Menu> menus, std::vector<std::uint32_t> items, Duration budget);

}  // namespace corun
