#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "experiments/question/experiment.h"
#include "policies/builtin.h"
#include "tests/support/temporary_folder.h"

namespace corun::testing {

inline std::string write_text(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder / name;
  std::ofstream(path) << text;
  return path;
}

/// Reads an experiment from text; policies are the built-in ones and what it loads.
inline Experiment read_text(const std::string& text, const ExperimentOverrides& overrides = {}) {
  const TemporaryFolder folder;
  PolicyRegistry policies;
  add_builtin_policies(policies);
  return read_experiment(write_text(folder, "e.yaml", text), overrides, policies);
}

/// Every diagnostic of a text that must not be accepted, in short style without the folder: "line:column: code
/// message".
inline std::vector<std::string> complaints(const std::string& text, const ExperimentOverrides& overrides = {}) {
  try {
    read_text(text, overrides);
  } catch (const InvalidInput& invalid) {
    std::vector<std::string> lines;
    for (const Diagnostic& d : invalid.diagnostics())
      lines.push_back(fmt::format("{}:{}: {} {}{}{}", d.where.line, d.where.column, d.code, d.message,
                                  d.label.empty() ? "" : " / ", d.label));
    return lines;
  } catch (const Error& error) {
    return {error.what()};
  }
  return {};
}

/// A game and requests that need no file and little time to simulate.
inline constexpr char kTinyExperiment[] = R"(
name: tiny
device: h200
horizon: 500ms
seeds: 3
clients:
  - { name: game, synthetic: { game: { gpu: 4ms, cv: 0.1 } }, pacing: 60fps, duration_jitter: 5% }
  - { name: load, synthetic: { requests: { rate: 200/s, mean: 1ms } } }
policies: [passthrough, exclusive]
)";

}  // namespace corun::testing
