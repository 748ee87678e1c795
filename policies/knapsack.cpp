#include "policies/knapsack.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace corun {

namespace {

/// Items from the cheapest to the dearest, each worth more than the one before; ties go to the earlier item.
std::vector<std::uint32_t> undominated(const Menu& menu) {
  std::vector<std::uint32_t> order(menu.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return menu[a].cost != menu[b].cost ? menu[a].cost < menu[b].cost : menu[a].value > menu[b].value;
  });
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t item : order)
    if (kept.empty() || menu[item].value > menu[kept.back()].value) kept.push_back(item);
  return kept;
}

double bargain(const MenuItem& from, const MenuItem& to) {
  return (to.value - from.value) / static_cast<double>((to.cost - from.cost).count());
}

/// Those of the undominated items that lie on the upper hull: each next step is a worse bargain than the one before.
std::vector<std::uint32_t> upper_hull(const Menu& menu) {
  std::vector<std::uint32_t> hull;
  for (const std::uint32_t item : undominated(menu)) {
    while (hull.size() > 1 && bargain(menu[hull[hull.size() - 2]], menu[hull.back()]) <
                                  bargain(menu[hull.back()], menu[item]))
      hull.pop_back();
    hull.push_back(item);
  }
  return hull;
}

double gain(const MenuItem& from, const MenuItem& to) { return to.value - from.value; }

/// A change of one menu's item.
struct Step {
  std::size_t menu;
  std::uint32_t item;
};

/// The upgrade with the largest merit among those that fit; of equal ones the first.
std::optional<Step> best_step(std::span<const Menu> menus, const std::vector<std::vector<std::uint32_t>>& candidates,
                              const MenuChoice& choice, Duration budget,
                              double (*merit)(const MenuItem& from, const MenuItem& to)) {
  std::optional<Step> best;
  double best_merit = 0.0;
  for (std::size_t i = 0; i < menus.size(); ++i) {
    const MenuItem& now = menus[i][choice.items[i]];
    for (const std::uint32_t item : candidates[i]) {
      const MenuItem& next = menus[i][item];
      if (next.value <= now.value || choice.cost + next.cost - now.cost > budget) continue;
      if (merit(now, next) <= best_merit) continue;
      best = Step{i, item};
      best_merit = merit(now, next);
    }
  }
  return best;
}

MenuChoice taken(std::span<const Menu> menus, MenuChoice choice, const Step& step, Duration budget) {
  choice.items[step.menu] = step.item;
  return price(menus, std::move(choice.items), budget);
}

std::vector<std::uint32_t> cheapest(std::span<const Menu> menus) {
  std::vector<std::uint32_t> items;
  for (const Menu& menu : menus) items.push_back(undominated(menu).front());
  return items;
}

/// A partial answer over the first menus: it chose `item` after the partial answer `before` of the layer below.
struct Partial {
  Duration cost;
  double value;
  std::size_t before;
  std::uint32_t item;
};

std::vector<Partial> extend(const std::vector<Partial>& layer, const Menu& menu, Duration budget) {
  std::vector<Partial> all;
  for (std::size_t before = 0; before < layer.size(); ++before)
    for (const std::uint32_t item : undominated(menu)) {
      const Duration cost = layer[before].cost + menu[item].cost;
      if (cost <= budget) all.push_back({cost, layer[before].value + menu[item].value, before, item});
    }
  std::ranges::stable_sort(all, [](const Partial& a, const Partial& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.value > b.value;
  });
  std::vector<Partial> kept;
  for (const Partial& partial : all)
    if (kept.empty() || partial.value > kept.back().value) kept.push_back(partial);
  return kept;
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
  std::vector<std::vector<std::uint32_t>> hulls;
  for (const Menu& menu : menus) hulls.push_back(upper_hull(menu));
  MenuChoice choice = price(menus, cheapest(menus), budget);
  while (const auto step = best_step(menus, hulls, choice, budget, bargain))
    choice = taken(menus, choice, *step, budget);
  // What is left of the budget may still pay for items below the hull, whatever bargain they are.
  std::vector<std::vector<std::uint32_t>> all;
  for (const Menu& menu : menus) all.push_back(undominated(menu));
  while (const auto step = best_step(menus, all, choice, budget, gain)) choice = taken(menus, choice, *step, budget);
  return choice;
}

MenuChoice choose_exactly(std::span<const Menu> menus, Duration budget) {
  std::vector<std::vector<Partial>> layers{{{Duration::zero(), 0.0, 0, 0}}};
  for (const Menu& menu : menus) layers.push_back(extend(layers.back(), menu, budget));
  if (layers.back().empty()) return price(menus, cheapest(menus), budget);
  std::vector<std::uint32_t> items(menus.size());
  std::size_t at = layers.back().size() - 1;
  for (std::size_t i = menus.size(); i-- > 0;) {
    items[i] = layers[i + 1][at].item;
    at = layers[i + 1][at].before;
  }
  return price(menus, std::move(items), budget);
}

}  // namespace corun
