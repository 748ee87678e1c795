#include <fmt/format.h>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "experiments/question/plugin.h"
#include "experiments/question/policy_choice.h"
#include "policies/builtin.h"
#include "policies/catalogue.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"

namespace corun {

namespace {

struct PolicyOptions {
  std::string name;  ///< "" = all
  std::vector<std::string> plugins;
};

std::string_view type_name(ParameterType type) {
  switch (type) {
    case ParameterType::kDuration:
      return "duration";
    case ParameterType::kReal:
      return "number";
    case ParameterType::kInteger:
      return "integer";
    case ParameterType::kBoolean:
      return "boolean";
    case ParameterType::kChoice:
      return "choice";
    case ParameterType::kByClient:
      return "by client";
  }
  return "";
}

std::string range_text(const ParameterDescriptor& parameter) {
  switch (parameter.type) {
    case ParameterType::kDuration:
      return fmt::format("{} .. {}", format_duration(Duration{static_cast<std::int64_t>(parameter.minimum)}),
                         format_duration(Duration{static_cast<std::int64_t>(parameter.maximum)}));
    case ParameterType::kBoolean:
      return "true, false";
    case ParameterType::kChoice:
      return fmt::format("{}", fmt::join(parameter.choices, ", "));
    default:
      return fmt::format("{} .. {}{}{}", parameter.minimum, parameter.maximum, parameter.unit.empty() ? "" : " ",
                         parameter.unit);
  }
}

void print_one(const CommonOptions& common, const PolicyDescriptor& policy) {
  print_out("{}\n  {}\n\nsource\n  {}\n", policy.name, policy.summary, policy.source);
  print_out("\nneeds\n  {}\n", needs_text(policy));
  if (!policy.parameters.empty()) {
    std::vector<std::vector<std::string>> rows = {
        {"  parameter", "type", "default", "range", "meaning", "source of the default"}};
    for (const ParameterDescriptor& p : policy.parameters)
      rows.push_back({"  " + p.name, std::string(type_name(p.type)), format_parameter(p.default_value), range_text(p),
                      p.meaning + (p.is_adjustable ? " Adjustable in a run." : ""), p.source});
    print_out("\n{}", aligned(rows, {}, common.out.table_width()));
  }
  if (!policy.deviations.empty()) print_out("\ndeparts from its source\n");
  for (const std::string& deviation : policy.deviations) print_out("  - {}\n", deviation);
}

void add_json(Json& json, const PolicyDescriptor& policy) {
  json.object().field("name", policy.name).field("summary", policy.summary).field("source", policy.source);
  json.key("needs")
      .object()
      .field("frame_events", policy.needs.frame_events)
      .field("quality_levels", policy.needs.quality_levels);
  json.field("predictions", policy.needs.predictions).field("device_time", policy.needs.device_time).end();
  json.key("parameters").array();
  for (const ParameterDescriptor& p : policy.parameters)
    json.object()
        .field("name", p.name)
        .field("type", type_name(p.type))
        .field("default", format_parameter(p.default_value))
        .field("unit", p.unit)
        .field("range", range_text(p))
        .field("adjustable", p.is_adjustable)
        .field("meaning", p.meaning)
        .field("source", p.source)
        .end();
  json.end().key("deviations").array();
  for (const std::string& deviation : policy.deviations) json.value(deviation);
  json.end().end();
}

const PolicyDescriptor& find_policy(const PolicyRegistry& policies, const std::string& name) {
  if (const PolicyDescriptor* policy = policies.find(name)) return *policy;
  std::vector<std::string> names;
  for (const PolicyDescriptor& policy : policies.all()) names.push_back(policy.name);
  const std::string nearest = nearest_name(name, names), meant = policy_meant_by(name);
  throw Error(ErrorKind::kInput, {}, fmt::format("there is no policy `{}`; there are {}", name, fmt::join(names, ", ")),
              !meant.empty() || nearest.empty() ? meant : fmt::format("did you mean `{}`?", nearest));
}

int policy_list_command(const CommonOptions& common, const PolicyOptions& options) {
  PolicyRegistry policies = builtin_policies();
  for (const std::string& plugin : options.plugins) policies.add(load_policy_plugin(plugin));
  std::vector<const PolicyDescriptor*> chosen;
  if (!options.name.empty()) chosen.push_back(&find_policy(policies, options.name));
  if (options.name.empty())
    for (const PolicyDescriptor& policy : policies.all()) chosen.push_back(&policy);
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).key("policies").array();
    for (const PolicyDescriptor* policy : chosen) add_json(json, *policy);
    print_out("{}\n", json.end().end().text());
    return 0;
  }
  if (!options.name.empty()) {
    print_one(common, *chosen.front());
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"policy", "summary"}};
  for (const PolicyDescriptor* policy : chosen) rows.push_back({policy->name, policy->summary});
  put_out(aligned(rows, {}, common.out.table_width()));
  return 0;
}

}  // namespace

void add_policy_list(Commands& commands) {
  auto [command, options] = commands.add("list", "List policies, or describe one", &policy_list_command);
  command.option("NAME", &options.name, "A policy");
  command.option("--plugin", &options.plugins, "Shared library with a policy (repeatable)").repeatable();
}

}  // namespace corun
