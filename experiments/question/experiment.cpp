#include "experiments/question/experiment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "experiments/base/terminal.h"
#include "experiments/question/overrides/set_option.h"
#include "experiments/question/scenario_reader.h"
#include "experiments/question/written_experiment.h"
#include "traces/reader.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

void read_scenarios(const Node& root, const WrittenExperiment& top, ScenarioReader& scenarios, Experiment& out,
                    ScalarReader& reader) {
  if (top.scenarios == nullptr) {
    out.scenarios.push_back(scenarios.read(top, root));
    return;
  }
  if (!reader.expect(*top.scenarios, Node::Kind::kSequence, "scenarios: [{ name: alone, ... }]")) return;
  for (const Node& item : top.scenarios->items) {
    if (!reader.expect(item, Node::Kind::kMapping, "{ name: alone, clients: [...] }")) continue;
    WrittenScenario written;
    read_fields(item, scenario_fields(), "key", written, reader);
    if (written.name.empty()) reader.wrong(item, "a scenario needs a `name`");
    const bool is_new = std::ranges::find(out.scenarios, written.name, &Scenario::name) == out.scenarios.end();
    if (!is_new) reader.wrong(item, fmt::format("scenario `{}` is given twice", written.name));
    out.scenarios.push_back(scenarios.read(written, item));
  }
  if (top.scenarios->items.empty()) reader.wrong(*top.scenarios, "at least one scenario is needed");
}

/// Its results are in a file of this name.
void check_name(const Node& root, const std::string& name, ScalarReader& reader) {
  constexpr std::size_t kLongest = 200;
  if (name.empty()) return reader.wrong(root, "an experiment needs a `name`");
  const bool has_control = std::ranges::any_of(name, [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; });
  if (name.size() <= kLongest && name.find('/') == std::string::npos && !has_control && !name.starts_with('.')) return;
  const Node* where = root.find("name");
  reader.wrong(where == nullptr ? root : *where, fmt::format("`{}` cannot name an experiment", name), "",
               {fmt::format("a name has at most {} bytes, no slashes or control characters, and no dot in front: the "
                            "results are in a file of this name. Another file is named by `output`",
                            kLongest)});
}

/// Policies that an override gives the whole experiment, and that no scenario would take, would never run.
void check_policies_are_taken(const Node& root, ScalarReader& reader) {
  const Node *shared = root.find("policies"), *scenarios = root.find("scenarios");
  if (shared == nullptr || scenarios == nullptr || scenarios->items.empty()) return;
  if (shared->where.file == root.where.file) return;
  const auto has_own = [](const Node& scenario) { return scenario.find("policies") != nullptr; };
  if (!std::ranges::all_of(scenarios->items, has_own)) return;
  const Node* name = scenarios->items.front().find("name");
  reader.wrong(*shared, "every scenario has `policies` of its own: these would never run",
               fmt::format("did you mean `scenarios.{}.policies`?", name == nullptr ? "NAME" : name->text));
}

/// What is wrong is in `diagnostics`.
Experiment read_document(const Node& root, const std::string& path, PolicyRegistry& policies,
                         Diagnostics& diagnostics) {
  ScalarReader reader(diagnostics);
  Experiment out;
  out.file = path;
  if (!reader.expect(root, Node::Kind::kMapping, "name: my-experiment")) return out;
  WrittenExperiment top;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  read_fields(root, experiment_fields(), "key", top, reader);
  check_name(root, top.name, reader);
  check_policies_are_taken(root, reader);
  ScenarioReader scenarios(folder.string(), top, policies, reader);
  read_scenarios(root, top, scenarios, out, reader);
  scenarios.check_expectations();
  if (top.sweep != nullptr) out.sweep = read_sweep(*top.sweep, reader);
  out.name = top.name;
  out.description = top.description;
  out.record = top.record;
  if (!top.output.empty()) out.output = (folder / top.output).lexically_normal().string();
  return out;
}

/// Names of the scenarios that list a policy of that name themselves.
std::vector<std::string> scenarios_with_policy(const Node& root, const std::string& policy) {
  std::vector<std::string> found;
  const Node* scenarios = root.find("scenarios");
  if (scenarios == nullptr) return found;
  for (const Node& scenario : scenarios->items) {
    const Node* name = scenario.find("name");
    const Node* policies = scenario.find("policies");
    if (name == nullptr || policies == nullptr) continue;
    if (std::ranges::any_of(policies->items, [&](const Node& item) { return name_of_item(item) == policy; }))
      found.push_back(name->text);
  }
  return found;
}

/// Whether a path leads into what differs between the points of a sweep.
void check_swept(const Node& root, const SweptParameter& parameter, ScalarReader& reader) {
  constexpr std::array<std::string_view, 7> kShared = {"version", "name",  "description", "output",
                                                       "record",  "sweep", "expect"};
  const std::string first = parameter.path.substr(0, parameter.path.find_first_of(".["));
  if (std::ranges::find(kShared, first) != kShared.end())
    return reader.diagnostics().add(
        {"E0202", parameter.where, fmt::format("`{}` is one for all points: it cannot be swept", first)});
  std::vector<std::string_view> keys = keys_of(experiment_fields());
  std::vector<std::string> known(keys.begin(), keys.end());
  std::erase_if(known, [&](const std::string& key) { return std::ranges::find(kShared, key) != kShared.end(); });
  if (const Node* policies = root.find("policies"))
    for (const Node& item : policies->items) known.push_back(name_of_item(item));
  if (std::ranges::find(known, first) != known.end()) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const std::string& scenario : scenarios_with_policy(root, first))
    return reader.diagnostics().add({"E0201",
                                     parameter.where,
                                     fmt::format("`{}` is a policy of scenario `{}`", first, scenario),
                                     fmt::format("did you mean `scenarios.{}.policies.{}`?", scenario, parameter.path),
                                     {},
                                     ""});
  reader.unknown("first part of a swept parameter:", first, parameter.where, names);
}

/// Puts the scenarios of every point in the place of the experiment's own.
void expand_sweep(const Node& root, PolicyRegistry& policies, Experiment& out, Diagnostics& diagnostics) {
  ScalarReader reader(diagnostics);
  const std::vector<SweptParameter>& parameters = out.sweep->parameters;
  for (const SweptParameter& parameter : parameters) check_swept(root, parameter, reader);
  if (!diagnostics.empty()) return;
  out.scenarios.clear();
  for (const std::vector<Node>& values : draw_points(*out.sweep)) {
    Node document = root;
    std::vector<PointValue>& point = out.points.emplace_back();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      point.push_back({parameters[i].path, flow_text(values[i]), parse_quantity(values[i].text)});
      if (!set_value(document, parameters[i].path, parameters[i].where, values[i], diagnostics)) return;
    }
    for (Scenario& scenario : read_document(document, out.file, policies, diagnostics).scenarios) {
      scenario.point = out.points.size() - 1;
      out.scenarios.push_back(std::move(scenario));
    }
    if (diagnostics.count() > Diagnostics::kMaxShown) return;
  }
}

/// As they stand on a command line.
std::vector<std::string> options_of(const ExperimentOverrides& overrides) {
  std::vector<std::string> options;
  for (const std::string& set : overrides.sets) options.push_back("--set " + shell_quoted(set));
  for (const std::string& sweep : overrides.sweeps) options.push_back("-L " + shell_quoted(sweep));
  for (const std::uint64_t seed : overrides.seeds) options.push_back(fmt::format("--seed {}", seed));
  if (overrides.until) options.push_back(fmt::format("--until {}ns", to_ns(*overrides.until)));
  return options;
}

void apply_overrides(const ExperimentOverrides& overrides, Experiment& experiment) {
  for (Scenario& scenario : experiment.scenarios) {
    if (!overrides.seeds.empty()) scenario.seeds = overrides.seeds;
    if (overrides.until && *overrides.until < scenario.horizon) {
      scenario.horizon = *overrides.until;
      if (scenario.warmup && *scenario.warmup >= scenario.horizon) scenario.warmup.reset();
    }
  }
}

/// A capture where an experiment is expected, which people try first.
void refuse_capture(const std::string& path) {
  if (path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".txt")) return;
  std::string format;
  try {
    const SourceFile source = read_source(path);
    for (const auto& importer : importers())
      if (importer->sniff(source) > 0) format = importer->name();
  } catch (const Error&) {
    return;  // what is wrong with the file is said when it is read
  }
  if (format.empty()) return;
  throw Error(
      ErrorKind::kInput, {path}, fmt::format("this is a capture ({}), expected an experiment, a YAML file", format),
      fmt::format("an experiment names it: `clients: [{{ name: mine, trace: {} }}]`, with a `device`, a `horizon` "
                  "and `policies` (docs/tutorial.md); `simcli info` describes a capture",
                  path));
}

}  // namespace

bool ClientChoice::draws_requests() const {
  return synthetic && std::holds_alternative<RequestProfile>(synthetic->numbers);
}

Replay ClientChoice::replay_or_default() const {
  return replay.value_or(draws_requests() ? Replay::kOpen : Replay::kClosed);
}

bool ClientChoice::accepts(Doubt doubt) const { return std::ranges::find(accepted, doubt) != accepted.end(); }

Duration Scenario::warmup_or_default() const { return warmup.value_or(std::min(Duration(1s), horizon / 10)); }

double Scenario::measured_s() const { return std::max(0.0, to_seconds(horizon - warmup_or_default())); }

Experiment read_experiment(const std::string& path, const ExperimentOverrides& overrides, PolicyRegistry& policies) {
  refuse_capture(path);
  return parse_experiment(read_text_file(path), path, overrides, policies);
}

namespace {

/// Where nothing is known of the power of any client, its device is one without a limit. Points of a sweep have the
/// same captures: each is looked at once.
void leave_out_unknown_power(Experiment& experiment) {
  std::map<std::string, bool> says_power = {{"", false}};  // by capture
  const auto is_known = [&](const ClientChoice& client) {
    if (client.power) return true;
    const auto [found, is_new] = says_power.try_emplace(client.trace);
    if (is_new) found->second = !recorded_power(client.trace).empty();
    return found->second;
  };
  for (Scenario& scenario : experiment.scenarios)
    if (scenario.device.power_limit_w > 0 && std::ranges::none_of(scenario.clients, is_known))
      scenario.device.power_limit_w = 0;
}

}  // namespace

Experiment parse_experiment(const std::string& text, const std::string& path, const ExperimentOverrides& overrides,
                            PolicyRegistry& policies) {
  Diagnostics diagnostics;
  Node root = parse_yaml(text, path, diagnostics);
  diagnostics.throw_if_any();
  apply_set_options(root, overrides.sets, diagnostics);
  apply_sweep_options(root, overrides.sweeps, diagnostics);
  diagnostics.throw_if_any();

  Experiment out = read_document(root, path, policies, diagnostics);
  out.text = text;
  out.changes = options_of(overrides);
  diagnostics.throw_if_any();
  if (overrides.expands_sweep && out.sweep) {
    expand_sweep(root, policies, out, diagnostics);
    diagnostics.throw_if_any();
  }
  apply_overrides(overrides, out);
  leave_out_unknown_power(out);
  return out;
}

}  // namespace corun
