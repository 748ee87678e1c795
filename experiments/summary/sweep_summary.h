#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/bands/figure_band.h"
#include "experiments/base/table.h"
#include "experiments/run/runner.h"

namespace corun {

/// How far the figures of a sweep reach over its points. Collects outcomes as they are delivered; one thread.
class SweepSummary {
 public:
  SweepSummary(const Experiment& experiment, const Plan& plan);

  void add(const RunSpec& spec, const RunOutcome& outcome);

  /// The main figures of every client under every policy: lowest and highest mean over the seeds of a point, with their
  /// bands (figure_band()) where there are some, and the first points that have them. Aligned, for people.
  std::string table(std::size_t width = kAnyWidth) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;  // scenario, policy, client, metric
  struct Mean {
    double sum = 0;
    std::size_t count = 0;
    double value() const { return sum / static_cast<double>(count); }
  };
  using ByPoint = std::map<std::size_t, Mean>;

  /// The runs of a policy at a point.
  struct AtPoint {
    std::size_t scenario = 0, policy = 0;
    std::vector<std::string> notes{};
  };

  std::vector<std::string> row(const Key& key, const ByPoint& means) const;
  std::string banded(const Key& key, std::size_t point, double value) const;
  std::string point_text(std::size_t point) const;

  const Experiment& experiment_;
  std::map<std::string, std::vector<std::size_t>> points_;  ///< of a run, by its id
  std::vector<Key> order_;
  std::map<Key, ByPoint> figures_;  ///< those that are shown, and those that bands ask for
  std::map<std::tuple<std::string, std::string, std::size_t>, AtPoint> runs_;  ///< by scenario, policy and point
};

}  // namespace corun
