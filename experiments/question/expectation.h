#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/base/fields.h"

namespace corun {

/// Names a figure of a scenario: "pilotfish.game.frame_time_p99_ms".
struct MetricPath {
  std::string policy;
  std::string client;  ///< "device" for the device's own
  std::string metric;  ///< full name, of the metric table; the text may leave off _ms, _ratio, _per_s and _mean
  std::string text() const { return policy + "." + client + "." + metric; }
};

/// A threshold on a figure: "pilotfish.game.frame_time_p99 <= 16.7ms", "a.train.throughput >= 1.5 *
/// b.train.throughput".
struct Expectation {
  enum class Relation : std::uint8_t { kLess, kAtMost, kAtLeast, kMore };

  std::string text;  ///< as written
  SourceLocation where;
  MetricPath left;
  Relation relation = Relation::kAtMost;
  double factor = 1.0;  ///< of `right`; the threshold itself where there is no `right`
  std::optional<MetricPath> right;

  bool holds(double left_value, double right_value) const;
};

/// "<=", "<", ">=" or ">".
std::string_view to_string(Expectation::Relation relation);
std::optional<Expectation::Relation> parse_relation(std::string_view text);
bool holds(double value, Expectation::Relation relation, double threshold);

/// Reads one; nullopt after a diagnostic.
std::optional<Expectation> read_expectation(const Node& node, ScalarReader& reader);
/// Reads the short form of a client's `qos`: metric and condition. The policy is left empty.
std::optional<Expectation> read_qos(const std::string& client, const std::string& metric, const Node& node,
                                    ScalarReader& reader);

}  // namespace corun
