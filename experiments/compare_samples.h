#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace corun {

/// One value a seed, in the order in which the seeds were planned.
using SeedValues = std::vector<std::pair<std::int64_t, double>>;

/// The runs of one policy in one scenario and backend.
struct PolicyRuns {
  std::string scenario, backend, policy;
  std::map<std::int64_t, std::string> runs;  ///< id by seed
  std::size_t failed = 0;
  std::string first_error;
};

/// A figure of a client under a policy.
struct Sample {
  std::size_t group = 0;  ///< index into ResultSamples::groups
  std::string client, metric, unit;
  SeedValues values;
};

/// What several results files measured, each run once.
struct ResultSamples {
  std::vector<PolicyRuns> groups;     ///< in the order of the plan, and of the files
  std::vector<Sample> samples;        ///< in the order of first appearance
  std::vector<std::string> warnings;  ///< on horizons that are too short for what is said of the runs
};

/// Throws Error(kInput) as `compare` does.
ResultSamples read_samples(const std::vector<std::string>& files);

}  // namespace corun
