#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corun {

/// One value a seed, in the order in which the seeds were planned.
using SeedValues = std::vector<std::pair<std::int64_t, double>>;

/// What a sweep varied. Empty of results that are no sweep.
struct SweptPoints {
  std::vector<std::string> parameters;
  std::vector<std::vector<std::string>> values;  ///< by point, in the order of `parameters`

  bool empty() const { return values.empty(); }
  /// "nvshare.quantum 10ms, horizon 2s"
  std::string text(std::size_t point) const;
};

/// The runs of one policy in one scenario, backend and, in a sweep, point.
struct PolicyRuns {
  std::string scenario, backend, policy;
  std::optional<std::size_t> point;          ///< a run that several points share is in a group of each
  std::map<std::int64_t, std::string> runs;  ///< id by seed
  std::set<std::string> revisions;           ///< of results (results_revision()), of the files that hold these
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
  SweptPoints points;
  std::vector<PolicyRuns> groups;     ///< in the order of the plan, and of the files
  std::vector<Sample> samples;        ///< in the order of first appearance
  std::vector<std::string> warnings;  ///< on horizons that are too short for what is said of the runs
};

/// Reads the runs of one backend, "" = of all. Throws Error(kInput) as `compare` does.
ResultSamples read_samples(const std::vector<std::string>& files, const std::string& backend = "");

}  // namespace corun
