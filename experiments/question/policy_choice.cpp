#include "experiments/question/policy_choice.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "experiments/question/plugin.h"
#include "experiments/question/written_experiment.h"
#include "traces/base/units.h"

namespace corun {

namespace {

/// What other people call a policy, and what it is here.
struct OtherName {
  std::string_view name, policy, what;
};
constexpr OtherName kOtherNames[] = {
    {"mps", "mps_percentage", "MPS: kernels of all clients share the SMs"},
    {"cudamps", "mps_percentage", "MPS: kernels of all clients share the SMs"},
    {"spatial", "mps_percentage", "MPS: kernels of all clients share the SMs"},
    {"timeslicing", "passthrough", "the driver's own time slices"},
    {"timesliced", "passthrough", "the driver's own time slices"},
    {"timeslice", "passthrough", "the driver's own time slices"},
    {"timeslices", "passthrough", "the driver's own time slices"},
    {"timesharing", "passthrough", "the driver's own time slices"},
    {"temporal", "passthrough", "the driver's own time slices"},
    {"roundrobin", "passthrough", "the driver's own time slices"},
    {"default", "passthrough", "the driver alone"},
    {"driver", "passthrough", "the driver alone"},
    {"none", "passthrough", "the driver alone"},
    {"nopolicy", "passthrough", "the driver alone"},
    {"baseline", "passthrough", "the driver alone"},
    {"multiinstancegpu", "mig", "an instance for each client"},
    {"vcuda", "gaiagpu", "limits by vcuda-controller"},
    {"vgpu", "gaiagpu", "limits by vcuda-controller"},
    {"priority", "stream_priority", "priorities of streams"},
    {"priorities", "stream_priority", "priorities of streams"},
};

struct PluginReading {
  std::string file;
  std::string name;
  const Node* parameters = nullptr;
};

const FieldTable<PluginReading>& plugin_fields() {
  const auto parameters = [](const Node& node, PluginReading& out, ScalarReader&) { out.parameters = &node; };
  static const FieldTable<PluginReading> table = {
      {"file", "path",
       [](const Node& node, PluginReading& out, ScalarReader& read) { out.file = read.text(node).value_or(""); }},
      {"name", "text",
       [](const Node& node, PluginReading& out, ScalarReader& read) { out.name = read.text(node).value_or(""); }},
      {"parameters", "mapping", parameters},
  };
  return table;
}

void read_by_client(const ParameterDescriptor& parameter, const Node& node, Parameters& out, ScalarReader& reader) {
  if (!reader.expect(node, Node::Kind::kMapping, fmt::format("{}: {{ train: 0.4 }}", parameter.name))) return;
  ByClient values;
  for (const Node::Entry& entry : node.entries) {
    const auto value = reader.number(entry.value, parameter.minimum, parameter.maximum);
    if (value) values[entry.key] = *value;
  }
  out.set(parameter.name, std::move(values));
}

/// A scalar as the parameter types it; nullopt after a diagnostic.
std::optional<ParameterValue> read_value(const ParameterDescriptor& parameter, const Node& node, ScalarReader& reader) {
  if (!reader.expect(node, Node::Kind::kScalar, format_parameter(parameter.default_value))) return std::nullopt;
  try {
    return parse_parameter(parameter, node.text, node.where);
  } catch (const Error& error) {
    Diagnostic diagnostic = to_diagnostic(error);
    diagnostic.code = "E0204";
    std::swap(diagnostic.label, diagnostic.help);
    reader.diagnostics().add(std::move(diagnostic));
    return std::nullopt;
  }
}

void read_parameters(const PolicyDescriptor& policy, const Node& node, Parameters& out, ScalarReader& reader) {
  if (!reader.expect(node, Node::Kind::kMapping, fmt::format("{}: {{ parameter: value }}", policy.name))) return;
  std::vector<std::string_view> known;
  for (const ParameterDescriptor& parameter : policy.parameters) known.push_back(parameter.name);
  for (const Node::Entry& entry : node.entries) {
    const ParameterDescriptor* parameter = policy.find(entry.key);
    if (parameter == nullptr) {
      reader.unknown(fmt::format("parameter of policy `{}`:", policy.name), entry.key, entry.where, known, "E0203");
    } else if (parameter->type == ParameterType::kByClient) {
      read_by_client(*parameter, entry.value, out, reader);
    } else if (auto value = read_value(*parameter, entry.value, reader)) {
      out.set(parameter->name, std::move(*value));
    }
  }
}

void read_adjustment(const PolicyDescriptor& policy, std::span<const std::string_view> known, const Node& item,
                     std::vector<Adjustment>& out, ScalarReader& reader) {
  const Node* when = item.find("at");
  if (when == nullptr || item.entries.size() < 2)
    return reader.wrong(item, "an adjustment needs `at`, and a parameter's value from then on");
  const auto at = reader.duration(*when, Duration(0), kLongestHorizon, "s");
  if (!at) return;
  if (!out.empty() && *at <= out.back().at)
    reader.wrong(item, fmt::format("found an adjustment at {} after one at {}, expected a later one",
                                   format_duration(*at), format_duration(out.back().at)));
  for (const Node::Entry& entry : item.entries) {
    if (entry.key == "at") continue;
    const ParameterDescriptor* parameter = policy.find(entry.key);
    if (parameter == nullptr || !parameter->is_adjustable) {
      reader.unknown(fmt::format("adjustable parameter of policy `{}`:", policy.name), entry.key, entry.where, known,
                     "E0203");
    } else if (auto value = read_value(*parameter, entry.value, reader)) {
      out.push_back({*at, parameter->name, std::move(*value)});
    }
  }
}

void read_adjustments(const PolicyDescriptor& policy, const Node& node, std::vector<Adjustment>& out,
                      ScalarReader& reader) {
  constexpr std::string_view kExample = "{ at: 20s, quantum: 5s }";
  if (!reader.expect(node, Node::Kind::kSequence, fmt::format("[{}]", kExample))) return;
  std::vector<std::string_view> known;
  for (const ParameterDescriptor& parameter : policy.parameters)
    if (parameter.is_adjustable) known.push_back(parameter.name);
  if (known.empty())
    return reader.wrong(node, fmt::format("policy `{}` has no parameters that may change in a run", policy.name));
  for (const Node& item : node.items)
    if (reader.expect(item, Node::Kind::kMapping, kExample)) read_adjustment(policy, known, item, out, reader);
}

void refuse_policy(const std::string& name, const SourceLocation& where, const PolicyRegistry& registry,
                   ScalarReader& reader) {
  std::vector<std::string_view> names;
  for (const PolicyDescriptor& known : registry.all()) names.push_back(known.name);
  const std::string meant = policy_meant_by(name);
  if (meant.empty()) return reader.unknown("policy", name, where, names, "E0301");
  reader.diagnostics().add({"E0301",
                            where,
                            fmt::format("unknown policy `{}`", name),
                            meant,
                            {fmt::format("known: {}", fmt::join(names, ", "))},
                            ""});
}

std::optional<PolicyChoice> choose(const std::string& name, const SourceLocation& where, const Node* parameters,
                                   const PolicyRegistry& registry, ScalarReader& reader) {
  const PolicyDescriptor* policy = registry.find(name);
  if (policy == nullptr) {
    refuse_policy(name, where, registry, reader);
    return std::nullopt;
  }
  PolicyChoice choice{name, name, policy->defaults(), where, ""};
  if (parameters != nullptr && !parameters->is_absent())
    read_parameters(*policy, *parameters, choice.parameters, reader);
  return choice;
}

/// The name that the registry knows the plug-in's policy by; empty after a diagnostic.
std::string register_plugin(const PluginReading& plugin, const std::string& path, const Node& node,
                            PolicyRegistry& registry, ScalarReader& reader) {
  try {
    PolicyDescriptor descriptor = load_policy_plugin(path);
    if (!plugin.name.empty() && plugin.name != descriptor.name)
      throw_input(node.where, "plug-in `{}` holds policy `{}`, not `{}`", path, descriptor.name, plugin.name);
    const std::string name = descriptor.name;
    if (registry.find(name) == nullptr) registry.add(std::move(descriptor));
    return name;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    Diagnostic diagnostic{"E0305", node.where, fmt::format("{}: {}", path, error.message()), error.help(), {}, ""};
    reader.diagnostics().add(std::move(diagnostic));
    return "";
  }
}

std::optional<PolicyChoice> read_plugin(const Node& node, const std::string& folder, PolicyRegistry& registry,
                                        ScalarReader& reader) {
  PluginReading plugin;
  if (!reader.expect(node, Node::Kind::kMapping, "plugin: { file: ./my_policy.so }")) return std::nullopt;
  read_fields(node, plugin_fields(), "key", plugin, reader);
  if (plugin.file.empty()) {
    reader.wrong(node, "a plug-in needs its `file`");
    return std::nullopt;
  }
  const bool has_folder = plugin.file.find('/') != std::string::npos;
  const std::string path = has_folder ? (std::filesystem::path(folder) / plugin.file).string() : plugin.file;
  const std::string name = register_plugin(plugin, path, node, registry, reader);
  if (name.empty()) return std::nullopt;
  auto choice = choose(name, node.where, plugin.parameters, registry, reader);
  if (choice) choice->plugin = path;
  return choice;
}

}  // namespace

std::optional<PolicyChoice> read_policy(const Node& node, const std::string& folder, PolicyRegistry& registry,
                                        ScalarReader& reader) {
  if (node.is_scalar() && !node.is_absent()) return choose(node.text, node.where, nullptr, registry, reader);
  if (!reader.expect(node, Node::Kind::kMapping, "pilotfish: { margin: 300us }")) return std::nullopt;
  const Node::Entry* policy = nullptr;
  const Node* label = node.find("as");
  const Node* adjust = node.find("adjust");
  for (const Node::Entry& entry : node.entries)
    if (entry.key != "as" && entry.key != "adjust" && policy == nullptr) policy = &entry;
  const std::size_t others = (label != nullptr ? 1U : 0U) + (adjust != nullptr ? 1U : 0U);
  if (policy == nullptr || node.entries.size() > 1 + others) {
    reader.wrong(node, "one item of `policies` is one policy", "for example `- pilotfish: { margin: 300us }`");
    return std::nullopt;
  }
  auto choice = policy->key == "plugin" ? read_plugin(policy->value, folder, registry, reader)
                                        : choose(policy->key, policy->where, &policy->value, registry, reader);
  if (choice && adjust != nullptr)
    read_adjustments(*registry.find(choice->policy), *adjust, choice->adjustments, reader);
  if (choice && label != nullptr) choice->label = reader.text(*label).value_or(choice->label);
  if (choice && choice->label.find_first_of(". \t\n") != std::string::npos)
    reader.wrong(*label, fmt::format("`{}` cannot label a policy", choice->label), "",
                 {"labels have no dots and spaces"});
  return choice;
}

std::string policy_meant_by(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const OtherName& other : kOtherNames)
    if (other.name == plain) return fmt::format("did you mean `{}` ({})?", other.policy, other.what);
  return "";
}

}  // namespace corun
