#pragma once

#include <optional>
#include <string>
#include <vector>

namespace corun::validation {

/// Rivals of the simulator that know nothing but how each client does alone: a prediction is worth something where it
/// beats all of them.

/// A client alone.
struct SoloFigure {
  double rate_per_s = 0.0;
  double busy = 0.0;  ///< fraction of its time in which it is on the device, (0, 1]
};

/// Rates of all clients of a cell, in their order, as a rule without a simulator gives them.
struct NullModel {
  std::string name;
  std::vector<double> rates_per_s;
};

/// `no interference`: as alone. `equal share`: each gets the nth part of the device, and one that needs less is as
/// alone. `proportional share`: all are slowed alike where together they need more than one device. `serialised`: only
/// one program goes on at a time, hosts included.
std::vector<NullModel> null_models(const std::vector<SoloFigure>& alone);

/// Fraction of its rate that a client kept when co-located with its neighbours.
struct KeptRate {
  std::vector<std::string> company;  ///< all clients of its cell, sorted by what they are alone
  double own_busy = 0.0;             ///< alone
  double others_busy = 0.0;          ///< the sum, each alone
  double kept = 0.0;                 ///< measured rate over measured rate alone
};

/// The value for `row` of a linear model of `kept` in own_busy and others_busy, fitted to rows of other client sets.
/// nullopt where fewer than six other rows are left.
std::optional<double> linear_model(const std::vector<KeptRate>& rows, const KeptRate& row);

}  // namespace corun::validation
