#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "experiments/results/results.h"
#include "experiments/run/runner.h"
#include "tests/experiments/question/experiment_text.h"

namespace {

std::atomic<std::int64_t> allocations_left = INT64_MAX;

}  // namespace

/// Every allocation of this program; the one that was chosen fails.
void* operator new(std::size_t size) {
  if (allocations_left.fetch_sub(1) == 1) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocations_left.fetch_sub(1) == 1 ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace corun {
namespace {

constexpr char kShortExperiment[] = R"(
name: short
device: h200
horizon: 20ms
clients:
  - { name: game, synthetic: { game: { gpu: 4ms } }, pacing: 60fps }
  - { name: load, synthetic: { requests: { rate: 400/s, mean: 1ms } } }
policies: [pilotfish]
)";

/// Reads, plans, runs and writes an experiment while allocation number `chosen` fails. True if it never came to that.
bool survives(std::int64_t chosen) {
  const testing::TemporaryFolder folder;
  PolicyRegistry policies;
  add_builtin_policies(policies);
  const std::string path = folder / "r.sqlite";
  std::optional<Error> failure;
  bool is_out_of_memory = false;
  try {
    allocations_left = chosen;
    const Experiment experiment = parse_experiment(kShortExperiment, "e.yaml", {}, policies);
    const Plan plan = make_plan(experiment);
    RunInputs run_inputs(experiment, plan.hashes, policies);
    ResultsWriter results(path, false);
    const RunOutcome outcome = run_one(experiment, plan.runs[0], run_inputs, policies);
    failure = outcome.error;
    results.write(experiment, plan.hashes, plan.runs[0], outcome);
    results.close();
  } catch (const std::bad_alloc&) {
    is_out_of_memory = true;
  } catch (const Error& error) {
    failure = error;
  }
  const bool was_reached = allocations_left <= 0;
  allocations_left = INT64_MAX;
  EXPECT_TRUE(was_reached || (!is_out_of_memory && !failure)) << chosen;
  return !was_reached;
}

// Some allocations fail quietly where nothing depends on them; what must not happen is a crash, or a failure that is
// said to be something else than a machine's.
TEST(Allocation, AnyOneThatFailsIsAnErrorAndNeverACrash) {
  std::int64_t tried = 0;
  for (std::int64_t chosen = 1; !survives(chosen); chosen += 1 + chosen / 150) ++tried;
  EXPECT_GT(tried, 100);
  RecordProperty("tried", static_cast<int>(tried));
}

}  // namespace
}  // namespace corun
