#include "policies/djay/knapsack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "policies/djay/knapsack_offers.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr double kWorthASearch = 0.005;  // of the value that the greedy walk has found
constexpr std::size_t kGreedyWidth = 512;
constexpr double kRounding = 1e-9;  // of all menus' largest values together: more than sums of doubles are ever off

/// One offer of every menu, by index, and what they leave of the budget.
struct Standing {
  std::vector<std::size_t> at;
  Duration left;
};

Standing at_cheapest(std::span<const Offers> offers, Duration budget) {
  Standing standing{std::vector<std::size_t>(offers.size(), 0), budget};
  for (const Offers& menu : offers) standing.left -= menu.front().cost;
  return standing;
}

double value_of(std::span<const Offers> offers, const Standing& standing) {
  double value = 0.0;
  for (std::size_t i = 0; i < offers.size(); ++i) value += offers[i][standing.at[i]].value;
  return value;
}

MenuChoice priced(std::span<const Menu> menus, std::span<const Offers> offers, std::span<const std::size_t> at,
                  Duration budget) {
  std::vector<std::uint32_t> items;
  for (std::size_t i = 0; i < offers.size(); ++i) items.push_back(offers[i][at[i]].item);
  return price(menus, std::move(items), budget);
}

/// Takes the upgrades in their order. A menu whose next step does not fit stays where it is: the later ones cost more.
void walk(Standing& standing, std::span<const Upgrade> upgrades) {
  std::vector<bool> is_stuck(standing.at.size(), false);
  for (const Upgrade& upgrade : upgrades) {
    is_stuck[upgrade.menu] = is_stuck[upgrade.menu] || upgrade.cost > standing.left;
    if (is_stuck[upgrade.menu]) continue;
    standing.at[upgrade.menu] = upgrade.to;
    standing.left -= upgrade.cost;
  }
}

/// The menu's dearest offer that what is left pays for.
std::size_t dearest(const Offers& menu, std::size_t at, Duration left) {
  const auto beyond = std::ranges::upper_bound(menu, menu[at].cost + left, {}, &Offer::cost);
  return static_cast<std::size_t>(beyond - menu.begin()) - 1;
}

/// Spends what is left on single upgrades, hull or not, the largest gain first. What does not fit any more is looked at
/// anew when its turn comes.
void fill(Standing& standing, std::span<const Offers> offers) {
  struct Wish {
    double gain;
    std::size_t menu;
    std::size_t to;
    bool operator<(const Wish& other) const { return std::tie(gain, other.menu) < std::tie(other.gain, menu); }
  };
  std::priority_queue<Wish> wishes;
  const auto wish = [&](std::size_t i) {
    const std::size_t to = dearest(offers[i], standing.at[i], standing.left);
    if (to > standing.at[i]) wishes.push({offers[i][to].value - offers[i][standing.at[i]].value, i, to});
  };
  for (std::size_t i = 0; i < offers.size(); ++i) wish(i);
  while (!wishes.empty()) {
    const Wish best = wishes.top();
    wishes.pop();
    const Duration cost = offers[best.menu][best.to].cost - offers[best.menu][standing.at[best.menu]].cost;
    if (cost <= standing.left) {
      standing.at[best.menu] = best.to;
      standing.left -= cost;
    } else {
      wish(best.menu);
    }
  }
}

double rounding_of(std::span<const Offers> offers) {
  double sum = 0.0;
  for (const Offers& menu : offers) sum += std::max(std::abs(menu.front().value), std::abs(menu.back().value));
  return kRounding * sum;
}

/// The greedy answer, or the best that a search finds among those worth more than it by the fraction `worth_it`.
MenuChoice walk_fill_and_search(std::span<const Menu> menus, Duration budget, double worth_it, std::size_t width) {
  const std::vector<Offers> offers = undominated(menus);
  Standing standing = at_cheapest(offers, budget);
  if (standing.left < Duration::zero()) return priced(menus, offers, standing.at, budget);
  const std::vector<Upgrade> upgrades = hull_upgrades(offers);
  walk(standing, upgrades);
  fill(standing, offers);
  const double value = value_of(offers, standing);
  const double least = value + worth_it * std::abs(value) - rounding_of(offers);
  const std::vector<std::size_t> found = search(offers, upgrades, budget, least, width);
  return priced(menus, offers, found.empty() ? standing.at : found, budget);
}

/// Best sums over the first menus, by bins spent on upgrades, and which offers they took.
class BinTable {
 public:
  BinTable(std::span<const Offers> offers, std::size_t bins, Duration bin)
      : offers_(offers), bin_(bin), best_(bins + 1, 0.0) {
    for (const Offers& menu : offers) add(menu);
  }

  std::vector<std::size_t> chosen() const {
    std::vector<std::size_t> at(offers_.size());
    std::size_t left = best_.size() - 1;
    for (std::size_t i = offers_.size(); i-- > 0;) {
      at[i] = taken_[i][left];
      left -= bins_of(offers_[i], at[i]);
    }
    return at;
  }

 private:
  std::size_t bins_of(const Offers& menu, std::size_t at) const {
    return static_cast<std::size_t>((menu[at].cost - menu.front().cost + bin_ - Duration{1}) / bin_);
  }

  void add(const Offers& menu) {
    std::vector<double> best(best_.size(), -std::numeric_limits<double>::infinity());
    std::vector<std::uint32_t> taken(best_.size(), 0);
    for (std::uint32_t at = 0; at < menu.size(); ++at) {
      const std::size_t needed = bins_of(menu, at);
      for (std::size_t spent = needed; spent < best.size(); ++spent) {
        const double value = best_[spent - needed] + menu[at].value;
        if (value <= best[spent]) continue;
        best[spent] = value;
        taken[spent] = at;
      }
    }
    best_ = std::move(best);
    taken_.push_back(std::move(taken));
  }

  const std::span<const Offers> offers_;
  const Duration bin_;
  std::vector<double> best_;                       // by bins that may be spent
  std::vector<std::vector<std::uint32_t>> taken_;  // by menu, by bins
};

/// Bins that all upgrades together may fill: no more than the dearest offers need.
std::size_t bins_for(std::span<const Offers> offers, Duration left, Duration bin) {
  Duration most{};
  for (const Offers& menu : offers) most += menu.back().cost - menu.front().cost + bin;
  return static_cast<std::size_t>(std::min(left, most) / bin);
}

/// What the menus cost together if none is to be worth less than `least`, which each can reach.
Duration cost_of_at_least(std::span<const Offers> offers, double least) {
  Duration cost{};
  for (const Offers& menu : offers) cost += std::ranges::lower_bound(menu, least, {}, &Offer::value)->cost;
  return cost;
}

/// The largest value that every menu can have at once; minus infinity if not even the cheapest offers fit.
double fairest_least(std::span<const Offers> offers, Duration budget) {
  double most = std::numeric_limits<double>::infinity();
  for (const Offers& menu : offers) most = std::min(most, menu.back().value);
  std::vector<double> values;
  for (const Offers& menu : offers)
    for (const Offer& offer : menu)
      if (offer.value <= most) values.push_back(offer.value);
  std::ranges::sort(values);
  const auto beyond =
      std::ranges::partition_point(values, [&](double least) { return cost_of_at_least(offers, least) <= budget; });
  return beyond == values.begin() ? -std::numeric_limits<double>::infinity() : *std::prev(beyond);
}

}  // namespace

MenuChoice price(std::span<const Menu> menus, std::vector<std::uint32_t> items, Duration budget) {
  MenuChoice choice{std::move(items), Duration::zero(), 0.0, false};
  for (std::size_t i = 0; i < menus.size(); ++i) {
    choice.cost += menus[i][choice.items[i]].cost;
    choice.value += menus[i][choice.items[i]].value;
  }
  choice.fits = choice.cost <= budget;
  return choice;
}

MenuChoice choose_greedily(std::span<const Menu> menus, Duration budget) {
  return walk_fill_and_search(menus, budget, kWorthASearch, kGreedyWidth);
}

MenuChoice choose_exactly(std::span<const Menu> menus, Duration budget) {
  return walk_fill_and_search(menus, budget, 0.0, std::numeric_limits<std::size_t>::max());
}

MenuChoice choose_in_bins(std::span<const Menu> menus, Duration budget, Duration bin) {
  CORUN_ASSERT(bin > Duration::zero(), "bin of {} ns", bin.count());
  const std::vector<Offers> offers = undominated(menus);
  Standing standing = at_cheapest(offers, budget);
  if (standing.left < Duration::zero()) return priced(menus, offers, standing.at, budget);
  standing.at = BinTable(offers, bins_for(offers, standing.left, bin), bin).chosen();
  standing.left = budget - priced(menus, offers, standing.at, budget).cost;
  fill(standing, offers);
  return priced(menus, offers, standing.at, budget);
}

MenuChoice choose_fairest(std::span<const Menu> menus, Duration budget, Solver for_sum) {
  const std::vector<Offers> offers = undominated(menus);
  const double least = fairest_least(offers, budget);
  std::vector<Menu> fair;
  std::vector<std::vector<std::uint32_t>> items;  // of each fair menu, in the menu that it comes from
  for (const Offers& menu : offers) {
    fair.emplace_back();
    items.emplace_back();
    for (const Offer& offer : menu) {
      if (offer.value < least) continue;
      fair.back().push_back({offer.cost, offer.value});
      items.back().push_back(offer.item);
    }
  }
  std::vector<std::uint32_t> chosen = for_sum(fair, budget).items;
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = items[i][chosen[i]];
  return price(menus, std::move(chosen), budget);
}

std::vector<Menu> weighted(std::span<const Menu> menus, std::span<const double> weights) {
  CORUN_ASSERT(menus.size() == weights.size(), "{} menus, {} weights", menus.size(), weights.size());
  std::vector<Menu> scaled(menus.begin(), menus.end());
  for (std::size_t i = 0; i < scaled.size(); ++i)
    for (MenuItem& item : scaled[i]) item.value *= weights[i];
  return scaled;
}

}  // namespace corun
