#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/fields.h"
#include "experiments/question/experiment.h"

namespace corun {

inline constexpr Duration kLongestHorizon{std::chrono::hours{24 * 3650}};

/// A scenario as its file writes it. Plain values are read; the rest are nodes of the document, which outlives this:
/// what they mean depends on those of the top level, the defaults of every scenario.
struct WrittenScenario {
  std::string name;
  std::string description;
  std::optional<Duration> horizon, warmup;
  std::optional<bool> is_seen;
  const Node *device = nullptr, *gate = nullptr, *seeds = nullptr, *clients = nullptr, *policies = nullptr,
             *expect = nullptr, *cluster = nullptr;
};

/// The top level of an experiment file, which has the keys of a scenario and some of its own.
struct WrittenExperiment : WrittenScenario {
  const Node* sweep = nullptr;
  std::string output;
  RecordChoice record;
  const Node *defaults = nullptr, *scenarios = nullptr;
};

/// The keys of each.
const FieldTable<WrittenScenario>& scenario_fields();
const FieldTable<WrittenExperiment>& experiment_fields();

}  // namespace corun
