#pragma once

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/statistics.h"
#include "sim/metrics/metric.h"

namespace corun::validation {

/// Names a cell of a validation: a scenario under a policy.
struct CellKey {
  std::string scenario;
  std::string policy;  ///< its label
  auto operator<=>(const CellKey&) const = default;
};

/// What a world gave: for every figure of a cell one value for each run that did not fail. One thread.
class Figures {
 public:
  void add(const CellKey& cell, const std::vector<Metric>& metrics);
  void add_failure(const CellKey& cell, std::string reason) { failures_[cell].push_back(std::move(reason)); }

  /// In the order in which they were added; empty where no run has the figure.
  std::span<const double> values(const CellKey& cell, const std::string& client, const std::string& metric) const;
  /// Over the runs; nullopt where none has the figure.
  std::optional<Estimate> get(const CellKey& cell, const std::string& client, const std::string& metric) const;
  /// Why runs of the cell failed, one sentence each.
  std::span<const std::string> failures(const CellKey& cell) const;

 private:
  struct Key {
    CellKey cell;
    std::string client, metric;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<double>> values_;
  std::map<CellKey, std::vector<std::string>> failures_;
};

}  // namespace corun::validation
