#include "sim/policy/adjustable.h"

#include <algorithm>

#include "traces/base/units.h"

namespace corun {

namespace {

std::string assigned(const std::string& name, const ParameterValue& value) {
  return fmt::format("{}={}", name, format_parameter(value));
}

}  // namespace

AdjustableParameters::AdjustableParameters(const PolicyDescriptor& policy, const Parameters& values)
    : policy_(policy.name) {
  for (const ParameterDescriptor& row : policy.parameters) {
    if (!row.is_adjustable) continue;
    rows_.push_back(row);
    values_.set(row.name, values.values().find(row.name)->second);
  }
}

Adjustment AdjustableParameters::read(std::string_view assignment) const {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    throw Error(ErrorKind::kInput, {}, fmt::format("found '{}', expected a parameter and its value", assignment),
                "for example quantum=5s");
  const std::string name(assignment.substr(0, equals));
  const auto row = std::ranges::find(rows_, name, &ParameterDescriptor::name);
  if (row != rows_.end()) return {Duration{0}, name, parse_parameter(*row, assignment.substr(equals + 1), {})};
  std::vector<std::string> names;
  for (const ParameterDescriptor& known : rows_) names.push_back(known.name);
  if (names.empty())
    throw Error(ErrorKind::kInput, {}, fmt::format("policy '{}' has no parameter that may change in a run", policy_));
  const std::string nearest = nearest_name(name, names);
  throw Error(ErrorKind::kInput, {},
              fmt::format("policy '{}' has no parameter '{}' that may change in a run; there are {}", policy_, name,
                          fmt::join(names, ", ")),
              nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
}

std::vector<std::string> AdjustableParameters::texts() const {
  std::vector<std::string> texts;
  for (const ParameterDescriptor& row : rows_)
    texts.push_back(assigned(row.name, values_.values().find(row.name)->second));
  return texts;
}

std::string to_text(const Adjustment& adjustment) { return assigned(adjustment.parameter, adjustment.value); }

}  // namespace corun
