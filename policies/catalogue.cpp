#include "policies/catalogue.h"

#include "traces/base/units.h"

namespace corun {

namespace {

constexpr char kIntroduction[] = R"(# Policies

What can be done about several programs on one GPU. A policy sees what an interposer sees, and opens gates, closes
them, admits single launches, chooses quality levels, or asks the driver for a mechanism; `sim/policy` says exactly
what. Policies that need a cluster place pods on nodes and cards instead ([cluster](../docs/cluster.md)).

This page is generated from the descriptors in this folder; the test `PoliciesReadmeEqualsTheDescriptors` keeps it
so, and rewrites it when it runs with `CORUN_UPDATE=1`. To add a policy to the project, write one file here and one
line in `builtin.cpp`. To build one outside the project, see [example](example/README.md).
)";

std::string in_notation(const ParameterDescriptor& parameter, double value) {
  if (parameter.type == ParameterType::kDuration) return format_duration(Duration{static_cast<std::int64_t>(value)});
  return fmt::format("{}", value);
}

std::string range_text(const ParameterDescriptor& parameter) {
  switch (parameter.type) {
    case ParameterType::kBoolean:
      return "true, false";
    case ParameterType::kChoice:
      return fmt::format("{}", fmt::join(parameter.choices, ", "));
    default:
      break;
  }
  const std::string unit = parameter.unit.empty() ? "" : " " + parameter.unit;
  const std::string each = parameter.type == ParameterType::kByClient ? "by client: " : "";
  return fmt::format("{}{} to {}{}", each, in_notation(parameter, parameter.minimum),
                     in_notation(parameter, parameter.maximum), unit);
}

std::string parameter_table(const PolicyDescriptor& policy) {
  if (policy.parameters.empty()) return "Parameters: none.\n";
  std::string text = "| parameter | default | values | meaning | source |\n| --- | --- | --- | --- | --- |\n";
  for (const ParameterDescriptor& parameter : policy.parameters)
    text += fmt::format("| `{}` | `{}` | {} | {}{} | {} |\n", parameter.name, format_parameter(parameter.default_value),
                        range_text(parameter), parameter.meaning,
                        parameter.is_adjustable ? " Adjustable in a run." : "", parameter.source);
  return text;
}

std::string deviation_list(const PolicyDescriptor& policy) {
  if (policy.deviations.empty()) return "Departs from its source: nowhere known.\n";
  std::string text = "Departs from its source:\n\n";
  for (std::size_t i = 0; i < policy.deviations.size(); ++i)
    text += fmt::format("{}. {}\n", i + 1, policy.deviations[i]);
  return text;
}

}  // namespace

std::string needs_text(const PolicyDescriptor& policy) {
  const Needs& needs = policy.needs;
  std::vector<std::string_view> words;
  if (policy.create_placement) words.push_back("a cluster");
  if (needs.frame_events) words.push_back("frame events");
  if (needs.quality_levels) words.push_back("quality levels");
  if (needs.predictions) words.push_back("predictions");
  if (needs.device_time) words.push_back("device time per client");
  if (needs.shared_context) words.push_back("one context for all clients");
  if (needs.oracle) words.push_back("exact durations, which nothing real can know");
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

std::string policy_catalogue_markdown(const PolicyRegistry& registry) {
  std::string text = kIntroduction;
  for (const PolicyDescriptor& policy : registry.all())
    text += fmt::format("\n## {}\n\n{}\n\nSource: {}.\nNeeds: {}.\n\n{}\n{}", policy.name, policy.summary,
                        policy.source, needs_text(policy), parameter_table(policy), deviation_list(policy));
  return text;
}

}  // namespace corun
