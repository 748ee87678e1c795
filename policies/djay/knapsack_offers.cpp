#include "policies/djay/knapsack_offers.h"

#include <algorithm>
#include <limits>

namespace corun {

namespace {

Offers undominated(const Menu& menu) {
  Offers all;
  for (std::uint32_t item = 0; item < menu.size(); ++item) all.push_back({menu[item].cost, menu[item].value, item});
  std::ranges::sort(all, [](const Offer& a, const Offer& b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    return a.value != b.value ? a.value > b.value : a.item < b.item;
  });
  std::size_t kept = 0;
  for (const Offer& offer : all)
    if (kept == 0 || offer.value > all[kept - 1].value) all[kept++] = offer;
  all.resize(kept);
  return all;
}

double bargain(const Offer& from, const Offer& to) {
  return (to.value - from.value) / static_cast<double>((to.cost - from.cost).count());
}

/// Indices of the offers on the upper hull: each next step is no better a bargain than the one before.
std::vector<std::size_t> upper_hull(const Offers& offers) {
  std::vector<std::size_t> hull;
  for (std::size_t next = 0; next < offers.size(); ++next) {
    while (hull.size() > 1 &&
           bargain(offers[hull[hull.size() - 2]], offers[hull.back()]) < bargain(offers[hull.back()], offers[next]))
      hull.pop_back();
    hull.push_back(next);
  }
  return hull;
}

/// A partial answer over the first menus: it chose offer `at` after the partial answer `before` of the layer below.
struct Partial {
  Duration cost;
  double value;
  double promise;  // most that it can come to
  std::size_t before;
  std::size_t at;
};
using Layer = std::vector<Partial>;

/// Sorts by cost and keeps those worth more than every cheaper one.
void drop_dominated(Layer& layer) {
  std::ranges::sort(layer, [](const Partial& a, const Partial& b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    if (a.value != b.value) return a.value > b.value;
    return a.before != b.before ? a.before < b.before : a.at < b.at;
  });
  std::size_t kept = 0;
  for (const Partial& partial : layer)
    if (kept == 0 || partial.value > layer[kept - 1].value) layer[kept++] = partial;
  layer.resize(kept);
}

void keep_most_promising(Layer& layer, std::size_t width) {
  if (layer.size() <= width) return;
  std::ranges::stable_sort(layer, [](const Partial& a, const Partial& b) { return a.promise > b.promise; });
  layer.resize(width);
  std::ranges::sort(layer, {}, &Partial::cost);
}

Layer extend(const Layer& below, const Offers& offers, const LinearBound& rest, Duration budget, double least) {
  Layer layer;
  for (std::size_t at = 0; at < offers.size(); ++at)
    for (std::size_t before = 0; before < below.size(); ++before) {
      const Duration cost = below[before].cost + offers[at].cost;
      if (cost > budget) break;
      const double value = below[before].value + offers[at].value;
      const double promise = value + rest.most(budget - cost);
      if (promise >= least) layer.push_back({cost, value, promise, before, at});
    }
  drop_dominated(layer);
  return layer;
}

}  // namespace

std::vector<Offers> undominated(std::span<const Menu> menus) {
  std::vector<Offers> offers;
  for (const Menu& menu : menus) offers.push_back(undominated(menu));
  return offers;
}

std::vector<Upgrade> hull_upgrades(std::span<const Offers> offers) {
  std::vector<Upgrade> upgrades;
  for (std::size_t menu = 0; menu < offers.size(); ++menu) {
    const std::vector<std::size_t> hull = upper_hull(offers[menu]);
    for (std::size_t step = 1; step < hull.size(); ++step) {
      const Offer& from = offers[menu][hull[step - 1]];
      const Offer& to = offers[menu][hull[step]];
      upgrades.push_back({menu, hull[step], to.cost - from.cost, to.value - from.value, bargain(from, to)});
    }
  }
  std::ranges::stable_sort(upgrades, std::ranges::greater{}, &Upgrade::bargain);
  return upgrades;
}

LinearBound::LinearBound(std::span<const Offers> offers, std::span<const Upgrade> upgrades, std::size_t first) {
  Corner corner{Duration::zero(), 0.0, 0.0};
  for (const Offers& menu : offers.subspan(first)) {
    corner.cost += menu.front().cost;
    corner.value += menu.front().value;
  }
  for (const Upgrade& upgrade : upgrades) {
    if (upgrade.menu < first) continue;
    corner.bargain = upgrade.bargain;
    corners_.push_back(corner);
    corner.cost += upgrade.cost;
    corner.value += upgrade.gain;
  }
  corner.bargain = 0.0;
  corners_.push_back(corner);
}

double LinearBound::most(Duration budget) const {
  const auto beyond = std::ranges::upper_bound(corners_, budget, {}, &Corner::cost);
  if (beyond == corners_.begin()) return -std::numeric_limits<double>::infinity();
  const Corner& corner = *std::prev(beyond);
  return corner.value + corner.bargain * static_cast<double>((budget - corner.cost).count());
}

std::vector<std::size_t> search(std::span<const Offers> offers, std::span<const Upgrade> upgrades, Duration budget,
                                double least, std::size_t width) {
  std::vector<Layer> layers{{{Duration::zero(), 0.0, 0.0, 0, 0}}};
  for (std::size_t menu = 0; menu < offers.size(); ++menu) {
    layers.push_back(extend(layers.back(), offers[menu], {offers, upgrades, menu + 1}, budget, least));
    keep_most_promising(layers.back(), width);
    if (layers.back().empty()) return {};
  }
  std::vector<std::size_t> chosen(offers.size());
  std::size_t at = layers.back().size() - 1;
  for (std::size_t menu = offers.size(); menu-- > 0;) {
    chosen[menu] = layers[menu + 1][at].at;
    at = layers[menu + 1][at].before;
  }
  return chosen;
}

}  // namespace corun
