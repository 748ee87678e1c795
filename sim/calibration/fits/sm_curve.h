#pragma once

#include <vector>

#include "sim/calibration/probes/sample.h"
#include "sim/calibration/probes/work_kind.h"

namespace corun::calibration {

/// Rate of a kind of work, of that with all of a resource, over the fraction of it that is left.
struct Curve {
  std::vector<double> fractions, rates;
  bool empty() const { return rates.empty(); }
  double exponent() const;  ///< of the power law through (1, 1), at most 1; not of an empty one
};

/// Over the fraction of the multiprocessors that a client may use (probe `rates`).
Curve curve_over_multiprocessors(const Samples& samples, WorkKind kind);

/// Over the fraction of the blocks that a multiprocessor may hold (probe `fills`).
Curve curve_over_blocks(const Samples& samples, WorkKind kind);

}  // namespace corun::calibration
