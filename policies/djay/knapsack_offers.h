#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/djay/knapsack.h"

namespace corun {

/// An item of a menu that no other item of it beats in cost and value.
struct Offer {
  Duration cost;
  double value = 0.0;
  std::uint32_t item = 0;  ///< index into the menu
};

/// Those of one menu, from the cheapest to the dearest, each worth more than the one before. Not empty. Of items alike
/// the first stays.
using Offers = std::vector<Offer>;

std::vector<Offers> undominated(std::span<const Menu> menus);

/// A step from one offer of a menu to a dearer one.
struct Upgrade {
  std::size_t menu = 0;
  std::size_t to = 0;  ///< index into the menu's offers
  Duration cost{};     ///< of the step
  double gain = 0.0;
  double bargain = 0.0;  ///< gain per nanosecond
};

/// The steps along every menu's upper convex hull, from its cheapest offer to its dearest: the best bargain first, of
/// equal ones the first menu's. Within a menu they come in the order of the walk.
std::vector<Upgrade> hull_upgrades(std::span<const Offers> offers);

/// The most that menus could be worth together if the last upgrade might be taken in part: the linear relaxation.
class LinearBound {
 public:
  /// Of the menus from `first` on. `upgrades` are those of all menus, by hull_upgrades.
  LinearBound(std::span<const Offers> offers, std::span<const Upgrade> upgrades, std::size_t first);

  /// Minus infinity if not even the cheapest offers fit in the budget.
  double most(Duration budget) const;

 private:
  struct Corner {
    Duration cost;
    double value;
    double bargain;  // of the upgrade that leads on from here
  };
  std::vector<Corner> corners_;  // by cost
};

/// The most valuable choice of one offer per menu that fits in the budget and is worth `least` or more; among equal
/// values the cheapest. Indices into the offers, by menu; empty if there is none.
///
/// Dynamic programming over undominated partial answers, without those that cannot reach `least`. If more than `width`
/// partial answers are left after a menu, only those that promise most are followed up, and the best choice may be
/// missed.
std::vector<std::size_t> search(std::span<const Offers> offers, std::span<const Upgrade> upgrades, Duration budget,
                                double least, std::size_t width);

}  // namespace corun
