#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/question/clients/canonical_client.h"
#include "experiments/question/experiment.h"

namespace corun {

/// Version of the program. Run ids name it together with kResultsRevision.
std::string_view engine_version();

/// One run: a scenario under a policy with a seed.
struct RunSpec {
  std::size_t scenario = 0;  ///< index into Experiment::scenarios
  std::size_t policy = 0;    ///< index into Scenario::policies
  std::uint64_t seed = 1;
  std::string id;  ///< hash of canonical_run
};

/// Every run of an experiment in a fixed order: scenarios as written, policies as written, seeds as written.
struct Plan {
  /// A place of the plan: several are one run where points of a sweep do not differ in what decides it.
  struct Place {
    std::size_t run = 0;               ///< index into `runs`
    std::optional<std::size_t> point;  ///< index into Experiment::points
  };

  std::vector<RunSpec> runs;  ///< each once
  FileHashes hashes;
  std::vector<Place> places{};  ///< in order; without a sweep one for each run
};

/// Reads the named files for their hashes. Throws Error(kInput), located in the experiment, where one is missing.
Plan make_plan(const Experiment& experiment);

/// Everything that decides a run's result, as sorted lines with every default filled in.
std::string canonical_run(const Scenario& scenario, const PolicyChoice& policy, std::uint64_t seed,
                          const FileHashes& hashes);

}  // namespace corun
