#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "experiments/bands/figure_band.h"

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
  std::map<std::string, ErrorClass> classes{};  ///< of a run of simulation: how its figures may be off, by client
  std::vector<std::string> notes{};             ///< what the runs assumed
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
  bool has_classes = true;            ///< of all files: older ones do not say how figures may be off
  std::map<std::tuple<std::size_t, std::string, std::string>, std::size_t>
      places;  ///< of samples: group, client, metric

  /// Of a sample: see figure_band().
  std::optional<FigureBand> band(const Sample& sample) const;
};

/// Reads the runs of one backend, "" = of all. Throws Error(kInput) as `compare` does. Warnings need all frames.
ResultSamples read_samples(const std::vector<std::string>& files, const std::string& backend = "",
                           bool has_warnings = true);

}  // namespace corun
