#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/run/runner.h"

namespace corun {

/// How far the figures of a sweep reach over its points. Collects outcomes as they are delivered; one thread.
class SweepSummary {
 public:
  SweepSummary(const Experiment& experiment, const Plan& plan);

  void add(const RunSpec& spec, const RunOutcome& outcome);

  /// The main figures of every client under every policy: lowest and highest mean over the seeds of a point, and the
  /// first points that have them. Aligned, for people.
  std::string table() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;  // scenario, policy, client, metric
  struct Mean {
    double sum = 0;
    std::size_t count = 0;
    double value() const { return sum / static_cast<double>(count); }
  };
  using ByPoint = std::map<std::size_t, Mean>;

  std::vector<std::string> row(const Key& key, const ByPoint& means) const;
  std::string point_text(std::size_t point) const;

  const Experiment& experiment_;
  std::map<std::string, std::vector<std::size_t>> points_;  ///< of a run, by its id
  std::vector<Key> order_;
  std::map<Key, ByPoint> figures_;
};

}  // namespace corun
