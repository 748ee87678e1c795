// How fast quality levels are chosen, and what quick choices lose. Goals: choose_greedily takes less than 1 ms for 64
// players with 32 settings each, and is never more than 0.5 % below choose_exactly.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policies/djay/knapsack.h"
#include "tests/support/menu_families.h"

namespace corun {
namespace {

struct Instance {
  std::vector<Menu> menus;
  Duration budget;
};

/// The same ones for every solver: concave, convex and combined settings, a third each.
std::vector<Instance> draw_instances(std::size_t players, std::size_t settings) {
  constexpr MenuFamily kFamilies[] = {MenuFamily::kConcave, MenuFamily::kConvex, MenuFamily::kKnobs};
  RandomMenus random(1);
  std::vector<Instance> instances;
  for (int i = 0; i < 60; ++i) {
    std::vector<Menu> menus = random.draw(kFamilies[i % 3], players, settings);
    const Duration budget = random.budget(menus);
    instances.push_back({std::move(menus), budget});
  }
  return instances;
}

MenuChoice choose_in_usual_bins(std::span<const Menu> menus, Duration budget) { return choose_in_bins(menus, budget); }

void BM_Choose(benchmark::State& state, Solver solve) {
  const auto instances =
      draw_instances(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  std::size_t next = 0;
  for (auto _ : state) {
    const Instance& instance = instances[next++ % instances.size()];
    benchmark::DoNotOptimize(solve(instance.menus, instance.budget));
  }
  double worst = 0.0, sum = 0.0;
  for (const auto& [menus, budget] : instances) {
    const double gap = 1.0 - solve(menus, budget).value / choose_exactly(menus, budget).value;
    worst = std::max(worst, gap);
    sum += gap;
  }
  state.counters["worst_gap_percent"] = 100.0 * worst;
  state.counters["mean_gap_percent"] = 100.0 * sum / static_cast<double>(instances.size());
}

void players_and_settings(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"players", "settings"})->ArgsProduct({{4, 8, 16, 32, 64}, {3, 4, 8, 16, 32}});
  bench->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(BM_Choose, greedily, choose_greedily)->Apply(players_and_settings);
BENCHMARK_CAPTURE(BM_Choose, exactly, choose_exactly)->Apply(players_and_settings);
BENCHMARK_CAPTURE(BM_Choose, in_bins, choose_in_usual_bins)->Apply(players_and_settings);

}  // namespace
}  // namespace corun

BENCHMARK_MAIN();
