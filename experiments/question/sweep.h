#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/fields.h"

namespace corun {

/// A number as people write it, in its base unit.
struct Quantity {
  double number = 0;
  std::string unit;  ///< "ns", "B", "/s", or "" for plain numbers and shares
};

/// nullopt where the text is no number: a name, a choice.
std::optional<Quantity> parse_quantity(const std::string& text);

/// A value of a document as YAML in one line.
std::string flow_text(const Node& node);

/// Values without gaps from one end to the other.
struct SweptRange {
  Quantity from, to;
  bool is_log = false;
};

/// A parameter that a sweep varies: the values that are listed or stepped through, or else a range to draw from.
struct SweptParameter {
  std::string path;  ///< as in `--set`
  SourceLocation where;
  std::vector<Node> values;
  std::optional<SweptRange> range;
};

enum class Sampling : std::uint8_t {
  kGrid,            ///< every combination, the first parameter varying slowest
  kRandom,          ///< every parameter drawn by itself, uniformly over its values or its range
  kLatinHypercube,  ///< as many strata of each parameter as points, each stratum in one point
};

/// The section `sweep` of an experiment.
struct Sweep {
  std::vector<SweptParameter> parameters;
  Sampling sampling = Sampling::kGrid;
  std::uint64_t points = 0;  ///< to draw; of a grid, as its values make
  std::uint64_t seed = 1;
};

inline constexpr std::uint64_t kMostPoints = 100'000;

/// Reads the section. What is wrong in it is added to the reader's diagnostics; what is right is returned.
Sweep read_sweep(const Node& section, ScalarReader& reader);

/// Puts `-L path=values` options into the document's section `sweep`, in place of parameters of the same path. Values
/// are "a,b,c", a YAML list or "{from: 0s, to: 1s, step: 100ms}".
void apply_sweep_options(Node& root, const std::vector<std::string>& options, Diagnostics& diagnostics);

/// The points, each with one value a parameter, in the order of the parameters. The same sweep gives the same points.
std::vector<std::vector<Node>> draw_points(const Sweep& sweep);

}  // namespace corun
