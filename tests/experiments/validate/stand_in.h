#pragma once

#include <functional>
#include <string>

#include "experiments/validate/validation.h"
#include "policies/builtin.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun::testing {

/// A second simulation in place of hardware: `change` is what the models do not know of it.
inline ExecutionBackend stand_in(std::function<void(RunInput&)> change = [](RunInput&) {}) {
  return {"stand-in", [change](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
            RunInput changed = input;
            change(changed);
            notes.push_back("this is no hardware");
            return simulate(changed, recorder);
          }};
}

/// A program that keeps the device busy with one that waits for every short kernel, and a game with the former.
inline constexpr char kMixes[] = R"(
name: mixes
device: h200
horizon: 1s
warmup: 200ms
seeds: 3
policies: [passthrough]
scenarios:
  - name: pair
    policies: [passthrough, exclusive]
    clients:
      - { name: filler, synthetic: { kernels: { duration: 1ms, count: 20, blocks: 132, launch_gap: 5us } } }
      - { name: waiter, synthetic: { kernels: { duration: 300us, blocks: 132, launch_gap: 300us } }, pacing: sync_each_job }
  - name: game
    seen: true
    clients:
      - { name: game, synthetic: { game: { gpu: 4ms, cv: 0, visits: 2, later_visit: 5us } }, pacing: { rate: 60/s, vsync: false } }
      - { name: filler, synthetic: { kernels: { duration: 1ms, count: 20, blocks: 132, launch_gap: 5us } } }
)";

/// An experiment that is read, with the policies that it names.
struct Question {
  explicit Question(const std::string& text) {
    add_builtin_policies(policies);
    experiment = read_experiment(write_text(folder, "e.yaml", text), {}, policies);
  }
  TemporaryFolder folder;
  PolicyRegistry policies;
  Experiment experiment;
};

inline validation::ValidationOptions quickly(unsigned repetitions = 3) {
  validation::ValidationOptions options;
  options.repetitions = repetitions;
  options.jobs = 2;
  options.has_canary = false;
  options.has_budget = false;
  return options;
}

}  // namespace corun::testing
