#include "experiments/question/experiment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "experiments/question/clients/client_fields.h"
#include "experiments/question/device_choice.h"
#include "experiments/question/policy_choice.h"
#include "experiments/question/set_option.h"
#include "experiments/base/terminal.h"
#include "traces/base/units.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestHorizon{std::chrono::hours{24 * 3650}};
constexpr Duration kLongestDelay = 1s;

/// A scenario as written: the values where they are plain, else the nodes, since those of the top level are the
/// defaults of every scenario.
struct ScenarioDraft {
  std::string name;
  std::string description;
  std::optional<Duration> horizon, warmup;
  std::optional<bool> is_seen;
  const Node *device = nullptr, *gate = nullptr, *seeds = nullptr, *clients = nullptr, *policies = nullptr, *expect = nullptr,
             *cluster = nullptr;
};

struct Draft : ScenarioDraft {
  const Node* sweep = nullptr;
  std::string output;
  RecordChoice record;
  const Node *defaults = nullptr, *scenarios = nullptr;
};

template <class T>
Field<T> text_field(std::string_view key, std::string ScenarioDraft::*member) {
  return {key, "text",
          [=](const Node& node, T& out, ScalarReader& read) { out.*member = read.text(node).value_or(""); }};
}

template <class T>
Field<T> node_field(std::string_view key, std::string_view type, const Node* ScenarioDraft::*member) {
  return {key, type, [=](const Node& node, T& out, ScalarReader&) { out.*member = &node; }};
}

template <class T>
Field<T> duration_field(std::string_view key, std::optional<Duration> ScenarioDraft::*member, Duration minimum) {
  return {key, "duration", [=](const Node& node, T& out, ScalarReader& read) {
            out.*member = read.duration(node, minimum, kLongestHorizon, "s");
          }};
}

/// The keys that a scenario and the top level share.
template <class T>
FieldTable<T> scenario_fields() {
  return {text_field<T>("name", &ScenarioDraft::name),
          text_field<T>("description", &ScenarioDraft::description),
          node_field<T>("device", "model or mapping", &ScenarioDraft::device),
          duration_field<T>("horizon", &ScenarioDraft::horizon, Duration(1us)),
          duration_field<T>("warmup", &ScenarioDraft::warmup, Duration(0)),
          node_field<T>("gate", "mapping", &ScenarioDraft::gate),
          node_field<T>("seeds", "count or list", &ScenarioDraft::seeds),
          node_field<T>("clients", "list", &ScenarioDraft::clients),
          node_field<T>("cluster", "mapping", &ScenarioDraft::cluster),
          node_field<T>("policies", "list", &ScenarioDraft::policies),
          node_field<T>("expect", "list", &ScenarioDraft::expect),
          {"seen", "true or false",
           [](const Node& node, T& out, ScalarReader& read) { out.is_seen = read.boolean(node); }}};
}

Field<GateDelays> delay_field(std::string_view key, Duration GateDelays::*member) {
  return {key, "duration", [=](const Node& node, GateDelays& out, ScalarReader& read) {
            if (const auto delay = read.duration(node, Duration{0}, kLongestDelay, "us")) out.*member = *delay;
          }};
}

bool read_all_or_none(const Node& node, bool fallback, ScalarReader& read) {
  constexpr std::array<std::string_view, 2> kChoices = {"none", "all"};
  const auto index = read.choice(node, kChoices);
  return index ? *index == 1 : fallback;
}

const FieldTable<GateDelays>& gate_fields() {
  static const FieldTable<GateDelays> table = {
      delay_field("frame_heard", &GateDelays::frame_heard),
      delay_field("end_heard", &GateDelays::end_heard),
      delay_field("answer", &GateDelays::answer),
      delay_field("wake", &GateDelays::wake),
  };
  return table;
}

const FieldTable<RecordChoice>& record_fields() {
  static const FieldTable<RecordChoice> table = {
      {"frames", "all or none",
       [](const Node& node, RecordChoice& out, ScalarReader& read) {
         out.frames = read_all_or_none(node, true, read);
       }},
      {"operations", "all or none",
       [](const Node& node, RecordChoice& out, ScalarReader& read) {
         out.operations = read_all_or_none(node, false, read);
       }},
      {"decisions", "all, none or first N",
       [](const Node& node, RecordChoice& out, ScalarReader& read) {
         if (!node.is_scalar() || !node.text.starts_with("first ")) {
           out.decisions = read_all_or_none(node, true, read) ? UINT64_MAX : 0;
           return;
         }
         Node count = node;
         count.text.erase(0, 6);
         out.decisions = read.integer(count, 0, UINT64_MAX).value_or(0);
       }},
  };
  return table;
}

const FieldTable<Draft>& experiment_fields() {
  static const FieldTable<Draft> table = [] {
    FieldTable<Draft> fields = scenario_fields<Draft>();
    fields.push_back({"version", "1", [](const Node& node, Draft&, ScalarReader& read) { read.integer(node, 1, 1); }});
    fields.push_back(
        {"defaults", "mapping", [](const Node& node, Draft& out, ScalarReader&) { out.defaults = &node; }});
    fields.push_back({"scenarios", "list", [](const Node& node, Draft& out, ScalarReader&) { out.scenarios = &node; }});
    fields.push_back({"sweep", "mapping", [](const Node& node, Draft& out, ScalarReader&) { out.sweep = &node; }});
    fields.push_back({"output", "path", [](const Node& node, Draft& out, ScalarReader& read) {
                        out.output = read.text(node).value_or("");
                      }});
    fields.push_back({"record", "mapping", [](const Node& node, Draft& out, ScalarReader& read) {
                        if (read.expect(node, Node::Kind::kMapping, "{ frames: all, decisions: first 10000 }"))
                          read_fields(node, record_fields(), "key", out.record, read);
                      }});
    return fields;
  }();
  return table;
}

/// Turns drafts into scenarios.
class Assembly {
 public:
  Assembly(std::string folder, const Draft& top, PolicyRegistry& policies, ScalarReader& reader)
      : folder_(std::move(folder)), top_(top), policies_(policies), reader_(reader) {}

  Scenario scenario(const ScenarioDraft& draft, const Node& where) {
    Scenario out;
    out.name = draft.name;
    out.description = draft.description;
    out.is_seen = draft.is_seen.value_or(top_.is_seen.value_or(false));
    out.where = where.where;
    const bool is_cluster = draft.cluster != nullptr || (top_.cluster != nullptr && draft.clients == nullptr);
    if (is_cluster) {
      ClusterChoice& cluster = out.cluster.emplace();
      if (top_.cluster != nullptr) read_cluster(*top_.cluster, folder_, policies_, cluster, reader_);
      if (draft.cluster != nullptr && draft.cluster != top_.cluster)
        read_cluster(*draft.cluster, folder_, policies_, cluster, reader_);
      out.horizon = kLongestHorizon;
    }
    const bool has_clients = !is_cluster || draft.clients != nullptr || !out.cluster->pod_clients.empty();
    if (has_clients) {
      if (top_.device != nullptr) read_device(*top_.device, folder_, out.device, out.device_spreads, reader_);
      if (draft.device != nullptr && draft.device != top_.device)
        read_device(*draft.device, folder_, out.device, out.device_spreads, reader_);
      check_device(either(draft.device, top_.device), out.device, where);
    }
    if (const Node* node = either(draft.gate, top_.gate)) read_gate(*node, out.gate);
    out.horizon = draft.horizon.value_or(top_.horizon.value_or(out.horizon));
    out.warmup = draft.warmup ? draft.warmup : top_.warmup;
    if (out.warmup && *out.warmup >= out.horizon) reader_.wrong(where, "`warmup` is not shorter than `horizon`");
    if (const Node* node = either(draft.seeds, top_.seeds)) read_seeds(*node, out);
    if (has_clients) read_clients(either(draft.clients, top_.clients), where, out);
    if (is_cluster) check_cluster(*either(draft.cluster, top_.cluster), out, reader_);
    read_policies(either(draft.policies, top_.policies), where, out);
    check_clients_of_parameters(out);
    read_expectations(draft.expect != top_.expect ? draft.expect : nullptr, out, true);
    read_expectations(top_.expect, out, false);
    read_qos_of_clients(out);
    return out;
  }

 private:
  static const Node* either(const Node* own, const Node* shared) { return own != nullptr ? own : shared; }

  void read_gate(const Node& node, GateDelays& gate) {
    if (reader_.expect(node, Node::Kind::kMapping, "gate: { frame_heard: 30us, wake: 50us }"))
      read_fields(node, gate_fields(), "key", gate, reader_);
  }

  void check_device(const Node* node, const DeviceSpec& device, const Node& where) {
    const bool has_model =
        node != nullptr && (node->is_scalar() || node->find("model") != nullptr || node->find("file") != nullptr);
    if (!has_model && device.name.empty())
      reader_.wrong(node == nullptr ? where : *node, "no device is named", "for example `device: h200`");
  }

  void read_seeds(const Node& node, Scenario& out) {
    out.seeds.clear();
    if (node.is_scalar()) {
      const std::uint64_t count = reader_.integer(node, 1, 100'000).value_or(1);
      for (std::uint64_t seed = 1; seed <= count; ++seed) out.seeds.push_back(seed);
      return;
    }
    if (!reader_.expect(node, Node::Kind::kSequence, "seeds: 5, or seeds: [1, 2, 3]")) return;
    for (const Node& item : node.items) {
      const auto seed = reader_.integer(item, 0, UINT64_MAX);
      const bool is_new = seed && std::ranges::find(out.seeds, *seed) == out.seeds.end();
      if (is_new) out.seeds.push_back(*seed);
      if (seed && !is_new) reader_.wrong(item, fmt::format("seed {} is given twice", *seed));
    }
    if (out.seeds.empty()) reader_.wrong(node, "at least one seed is needed");
  }

  void read_clients(const Node* node, const Node& where, Scenario& out) {
    if (node == nullptr)
      return reader_.wrong(where, "no clients are given", "for example `clients: [{ name: game, trace: game.corun }]`");
    if (!reader_.expect(*node, Node::Kind::kSequence, "clients: [{ name: game, trace: game.corun }]")) return;
    ClientReading defaults;
    defaults.folder = folder_;
    if (top_.defaults != nullptr &&
        reader_.expect(*top_.defaults, Node::Kind::kMapping, "defaults: { host_jitter: 3% }"))
      read_fields(*top_.defaults, client_fields(), "key", defaults, reader_);
    for (const Node& item : node->items) {
      ClientChoice client;
      if (!read_client(item, defaults, client, reader_)) continue;
      for (std::uint32_t i = 0; i < client.count; ++i) add_client(item, numbered(client, i), out);
    }
    if (node->items.empty()) reader_.wrong(*node, "at least one client is needed");
  }

  /// The one client, or the i-th of several that are alike.
  static ClientChoice numbered(ClientChoice client, std::uint32_t i) {
    if (client.count > 1) client.name += std::to_string(i + 1);
    client.arrival += i * client.every;
    return client;
  }

  void add_client(const Node& item, ClientChoice client, Scenario& out) {
    const bool is_new = std::ranges::find(out.clients, client.name, &ClientChoice::name) == out.clients.end();
    if (!is_new) reader_.wrong(item, fmt::format("client `{}` is given twice", client.name));
    if (is_new) out.clients.push_back(std::move(client));
  }

  void read_policies(const Node* node, const Node& where, Scenario& out) {
    if (node == nullptr)
      return reader_.wrong(where, "no policies are given", "for example `policies: [passthrough, pilotfish]`");
    if (!reader_.expect(*node, Node::Kind::kSequence, "policies: [passthrough, pilotfish]")) return;
    for (const Node& item : node->items) {
      auto choice = read_policy(item, folder_, policies_, reader_);
      if (!choice) continue;
      const bool is_new = std::ranges::find(out.policies, choice->label, &PolicyChoice::label) == out.policies.end();
      if (!is_new)
        reader_.wrong(item, fmt::format("policy `{}` is listed twice", choice->label),
                      "tell them apart with `as: another-name`");
      if (is_new) out.policies.push_back(std::move(*choice));
    }
    if (node->items.empty()) reader_.wrong(*node, "at least one policy is needed");
  }

  void check_clients_of_parameters(const Scenario& scenario) {
    std::vector<std::string_view> names;
    for (const ClientChoice& client : scenario.clients) names.push_back(client.name);
    for (const PolicyChoice& policy : scenario.policies)
      for (const auto& [parameter, value] : policy.parameters.values())
        if (const auto* by_client = std::get_if<ByClient>(&value))
          for (const auto& [client, number] : *by_client)
            if (std::ranges::find(names, client) == names.end())
              reader_.unknown(fmt::format("client in parameter `{}` of policy `{}`:", parameter, policy.label), client,
                              policy.where, names, "E0306");
  }

  /// Expectations of the top level hold for every scenario that has their policy and client.
  void read_expectations(const Node* node, Scenario& out, bool must_apply) {
    for (const PolicyChoice& policy : out.policies) policies_read_.insert(policy.label);
    for (const ClientChoice& client : out.clients) clients_read_.insert(client.name);
    clients_read_.insert(others_name(out));
    if (node == nullptr || !reader_.expect(*node, Node::Kind::kSequence, "expect: [pilotfish.game.fps_mean >= 55fps]"))
      return;
    for (const Node& item : node->items) {
      const auto expectation = read_expectation(item, reader_);
      if (!expectation) applied_.insert(&item);  // its mistake has been told
      if (!expectation) continue;
      const bool applies = has(out, expectation->left) && (!expectation->right || has(out, *expectation->right));
      if (applies) out.expectations.push_back(*expectation);
      if (applies) applied_.insert(&item);
      if (!applies && must_apply) refuse_expectation(item);
    }
  }

 public:
  /// Called when every scenario has been read: an expectation that applied nowhere is a mistake.
  void check_expectations() {
    if (top_.expect == nullptr) return;
    for (const Node& item : top_.expect->items)
      if (!applied_.contains(&item)) refuse_expectation(item);
  }

 private:
  void refuse_expectation(const Node& item) {
    reader_.wrong(item, "no scenario has this policy and client", nearest_policy_and_client(item),
                  {"an expectation is `policy.client.metric <= value`"});
  }

  /// "no policy is called `pilotfsh`: did you mean `pilotfish`?", of the first name that is nowhere.
  std::string nearest_policy_and_client(const Node& item) const {
    const auto missing = [](std::string_view what, const std::string& name, const std::set<std::string>& known) {
      const std::string nearest = nearest_name(name, known);
      return fmt::format("no {} is called `{}`{}", what, name,
                         nearest.empty() ? fmt::format("; there are {}", fmt::join(known, ", "))
                                         : fmt::format(": did you mean `{}`?", nearest));
    };
    Diagnostics ignored;
    ScalarReader reader(ignored);
    const auto expectation = read_expectation(item, reader);
    for (const auto& path : {std::optional(expectation->left), expectation->right}) {
      if (!path) continue;
      if (!policies_read_.contains(path->policy)) return missing("policy", path->policy, policies_read_);
      if (!clients_read_.contains(path->client)) return missing("client", path->client, clients_read_);
    }
    return "";
  }

  /// What an expectation calls the figures that are no client's.
  static const char* others_name(const Scenario& scenario) { return scenario.cluster ? "cluster" : "device"; }

  static bool has(const Scenario& scenario, const MetricPath& path) {
    const bool has_policy =
        std::ranges::find(scenario.policies, path.policy, &PolicyChoice::label) != scenario.policies.end();
    const bool has_client =
        std::ranges::find(scenario.clients, path.client, &ClientChoice::name) != scenario.clients.end();
    const bool has_other = path.client == others_name(scenario);
    return has_policy && (has_client || has_other);
  }

  void read_qos_of_clients(Scenario& out) {
    for (const ClientChoice& client : out.clients)
      for (const auto& [metric, condition] : client.qos)
        if (const auto wish = read_qos(client.name, metric, condition, reader_))
          for (const PolicyChoice& policy : out.policies) {
            out.qos.push_back(*wish);
            out.qos.back().left.policy = policy.label;
            if (out.qos.back().right) out.qos.back().right->policy = policy.label;
          }
  }

  std::string folder_;
  const Draft& top_;
  PolicyRegistry& policies_;
  ScalarReader& reader_;
  std::set<const Node*> applied_;
  std::set<std::string> policies_read_, clients_read_;  ///< of all scenarios so far
};

void read_scenarios(const Node& root, const Draft& top, Assembly& assembly, Experiment& out, ScalarReader& reader) {
  if (top.scenarios == nullptr) {
    ScenarioDraft only = top;
    out.scenarios.push_back(assembly.scenario(only, root));
    return;
  }
  if (!reader.expect(*top.scenarios, Node::Kind::kSequence, "scenarios: [{ name: alone, ... }]")) return;
  static const FieldTable<ScenarioDraft> fields = scenario_fields<ScenarioDraft>();
  for (const Node& item : top.scenarios->items) {
    if (!reader.expect(item, Node::Kind::kMapping, "{ name: alone, clients: [...] }")) continue;
    ScenarioDraft draft;
    read_fields(item, fields, "key", draft, reader);
    if (draft.name.empty()) reader.wrong(item, "a scenario needs a `name`");
    const bool is_new = std::ranges::find(out.scenarios, draft.name, &Scenario::name) == out.scenarios.end();
    if (!is_new) reader.wrong(item, fmt::format("scenario `{}` is given twice", draft.name));
    out.scenarios.push_back(assembly.scenario(draft, item));
  }
  if (top.scenarios->items.empty()) reader.wrong(*top.scenarios, "at least one scenario is needed");
}

/// What is wrong is in `diagnostics`.
Experiment read_document(const Node& root, const std::string& path, PolicyRegistry& policies,
                         Diagnostics& diagnostics) {
  ScalarReader reader(diagnostics);
  Experiment out;
  out.file = path;
  if (!reader.expect(root, Node::Kind::kMapping, "name: my-experiment")) return out;
  Draft top;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  read_fields(root, experiment_fields(), "key", top, reader);
  if (top.name.empty()) reader.wrong(root, "an experiment needs a `name`");
  Assembly assembly(folder.string(), top, policies, reader);
  read_scenarios(root, top, assembly, out, reader);
  assembly.check_expectations();
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
    return reader.diagnostics().add(
        {"E0201", parameter.where, fmt::format("`{}` is a policy of scenario `{}`", first, scenario),
         fmt::format("did you mean `scenarios.{}.policies.{}`?", scenario, parameter.path), {}, ""});
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

}  // namespace

bool ClientChoice::draws_requests() const {
  return synthetic && std::holds_alternative<RequestProfile>(synthetic->numbers);
}

Replay ClientChoice::replay_or_default() const {
  return replay.value_or(draws_requests() ? Replay::kOpen : Replay::kClosed);
}

Duration Scenario::warmup_or_default() const { return warmup.value_or(std::min(Duration(1s), horizon / 10)); }

Experiment read_experiment(const std::string& path, const ExperimentOverrides& overrides, PolicyRegistry& policies) {
  return parse_experiment(read_text_file(path), path, overrides, policies);
}

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
  return out;
}

}  // namespace corun
