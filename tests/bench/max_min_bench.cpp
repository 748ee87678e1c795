// How fast shares are divided. The yardstick is sorting the demands: fair shares cannot be found without their order.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "sim/device/max_min.h"

namespace corun {
namespace {

std::vector<std::int64_t> draw_demands(std::int64_t count) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> demands(static_cast<std::size_t>(count));
  for (std::int64_t& demand : demands) demand = static_cast<std::int64_t>(random() % (1 << 20));
  return demands;
}

void BM_MaxMin(benchmark::State& state) {
  const auto demands = draw_demands(state.range(0));
  const std::int64_t capacity = std::accumulate(demands.begin(), demands.end(), std::int64_t{0}) / 2;
  for (auto _ : state) benchmark::DoNotOptimize(max_min_shares(demands, capacity));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_MaxMinLimit(benchmark::State& state) {
  const auto demands = draw_demands(state.range(0));
  for (auto _ : state) {
    std::vector<std::int64_t> sorted = demands;
    std::ranges::sort(sorted);
    benchmark::DoNotOptimize(sorted.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(BM_MaxMin)->Arg(4)->Arg(64)->Arg(1024);
BENCHMARK(BM_MaxMinLimit)->Arg(4)->Arg(64)->Arg(1024);

}  // namespace
}  // namespace corun

BENCHMARK_MAIN();
