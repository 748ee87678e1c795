#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/bands/basis.h"
#include "experiments/bands/figure_band.h"
#include "experiments/statistics/statistics.h"

namespace SQLite {
class Database;
}

namespace corun::report {

/// A run that went well.
struct Run {
  std::string id;
  std::int64_t seed = 0, warmup_ns = 0, horizon_ns = 0;
  std::optional<std::int64_t> recorded_until_ns;  ///< of holds and decisions; none: all of them were kept
  std::size_t file = 0;                           ///< index into Measured::files
};

/// The runs of one policy with one set of parameters, over the seeds. In a sweep that is one point or, where a point's
/// parameters are not its own, several.
struct Setting {
  std::string policy;
  std::string label;  ///< the policy, with what the sweep varied
  std::string parameters;
  std::map<std::string, double> swept;  ///< number by parameter, where the sweep's values are numbers
  std::vector<Run> runs;
  std::size_t failed = 0;
  std::string first_error;
  std::uint64_t events = 0;
  double wall_s = 0.0;
  std::map<std::string, ErrorClass>
      classes{};            ///< how predicted figures may be off, by client; none: too few were measured
  MechanismOn mechanism{};  ///< by which its clients share the device
};

struct Figure {
  std::string unit;
  std::vector<double> values;  ///< one a run
};

struct Scenario {
  std::string name, backend, device, trace_hashes;
  std::vector<Setting> settings;
  std::vector<std::string> clients;  ///< as they come first in the metrics; "device" and "cluster" are among them
  std::vector<std::string> notes;    ///< what was assumed, each once
  /// By setting, client, metric.
  std::map<std::size_t, std::map<std::pair<std::string, std::string>, Figure>> figures;

  /// Mean and interval over the seeds; a run without a figure that counts what rarely happens has 0 of it.
  std::optional<Estimate> get(std::size_t setting, const std::string& client, const std::string& metric) const;
  /// Where measured figures lie that were predicted so; nullopt: none was ever compared.
  std::optional<FigureBand> band(std::size_t setting, const std::string& client, const std::string& metric) const;
  /// How it is known what a setting's way of sharing does on the device.
  Basis basis(std::size_t setting) const;
  /// NaN where no run has it.
  double mean(std::size_t setting, const std::string& client, const std::string& metric) const;
};

struct Measured {
  std::vector<std::string> files;
  std::vector<std::unique_ptr<SQLite::Database>> databases;  ///< of the files
  std::vector<Scenario> scenarios;
  std::vector<std::string> versions;   ///< of the engine
  std::vector<std::string> revisions;  ///< of the results, by file
  bool is_sweep = false;
  bool has_classes = true;                         ///< of all files: older ones do not say how figures may be off
  std::map<std::string, std::string> swept_units;  ///< by parameter: "ns", "B", "/s", ""
};

/// Reads runs and metrics. Throws Error(kInput) for what is no results file or holds no run.
Measured read_measured(const std::vector<std::string>& files);

bool has_table(SQLite::Database& results, const std::string& table);

}  // namespace corun::report
