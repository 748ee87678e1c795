#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/statistics/statistics.h"
#include "sim/metrics/metric.h"

namespace corun::validation {

/// Names a cell of a validation: a scenario under a policy.
struct CellKey {
  std::string scenario;
  std::string policy;  ///< its label
  auto operator<=>(const CellKey&) const = default;
};

/// What a backend gave: for every figure of a cell one value for each run that did not fail. One thread.
class Figures {
 public:
  void add(const CellKey& cell, std::uint64_t seed, const std::vector<Metric>& metrics);
  void add_failure(const CellKey& cell, std::string reason) { failures_[cell].push_back(std::move(reason)); }

  /// In the order in which they were added; empty where no run has the figure.
  std::span<const double> values(const CellKey& cell, const std::string& client, const std::string& metric) const;
  /// Of the runs that gave these values.
  std::span<const std::uint64_t> seeds(const CellKey& cell, const std::string& client, const std::string& metric) const;
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
  struct Series {
    std::vector<double> values;
    std::vector<std::uint64_t> seeds;
  };
  const Series* find(const CellKey& cell, const std::string& client, const std::string& metric) const;
  std::map<Key, Series> series_;
  std::map<CellKey, std::vector<std::string>> failures_;
};

}  // namespace corun::validation
